"""The components of a run that a medium passes or fills: their ports, their heat, their power, and what is known at these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..errors import AcausalError, UsageError, near_matches
from ..families.plant import MEDIA, Kind
from ..families.tree import Node

_LISTED = 12  # ports that a message names
HEAT_GIVEN = ("Q_wall",)  # heat that comes into a component by an input, not by a port: of moisture and frost, of a heater


@dataclass(frozen=True, slots=True)
class Part:
    """A component with ports of a medium."""

    path: str
    class_name: str
    kind: Kind
    fluid_ports: dict[str, tuple[str, str]]  # name, and the medium's name and class
    heat_ports: tuple[str, ...]

    def name(self, of: str) -> str:
        return f"{self.path}.{of}" if self.path else of

    def has(self, quantity: str, unit: str) -> bool:
        """Whether it has a scalar or array of that name and unit."""
        if quantity in self.kind.quantities:
            return self.kind.quantities[quantity].declaration.unit == unit
        return quantity in self.kind.named and self.kind.units_of_named.get(quantity, ("", ""))[0] == unit

    def passed_by(self, medium: str) -> dict[str, str]:
        """Paths of the ports of a medium, by their names."""
        return {port: self.name(port) for port, (name, _) in self.fluid_ports.items() if name == medium}

    def each_port(self) -> Iterator[tuple[str, str]]:
        """The names of all ports, elements of arrays one by one, with the medium that passes each."""
        for port, (medium, _) in self.fluid_ports.items():
            shape = self.kind.ports[port].shape
            for element in product(*map(range, shape)):
                yield self.name(port) + (f"[{', '.join(map(str, element))}]" if shape else ""), medium

    @property
    def is_composite(self) -> bool:
        return bool(self.kind.representative.children)

    @property
    def sides(self) -> bool:
        """Whether two fluids pass it side by side."""
        return set(self.fluid_ports) == {"a1", "b1", "a2", "b2"}

    def tells(self, number: str) -> bool:
        """Whether the temperatures at the ends of one of its sides are known: by the name of the medium, or by their own."""
        cls = self.fluid_ports[f"a{number}"][1]
        return cls in ("Fluid", "MoistAir") or all(self.has(f"T_{end}{number}", "K") for end in "ab")

    @property
    def at_one_temperature(self) -> bool:
        """Whether it exchanges heat with one temperature."""
        return not self.is_composite and len(self.heat_ports) == 1 and self.kind.ports[self.heat_ports[0]].shape == ()

    @property
    def way(self) -> str | None:
        """How the second of two fluids goes along the first, "counter" or "co"; None where it does not."""
        said = self.kind.attributes.get("arrangement", "counter")
        return said if said in ("counter", "co") else None

    @property
    def is_boundary(self) -> bool:
        """Whether it is where a medium comes from or goes to: one port, and nothing that holds it, heats it or works on it."""
        single = len(self.fluid_ports) == 1 and all(self.kind.ports[name].shape == () for name in self.fluid_ports)
        return single and not self.heat_ports and not any(self.has(*q) for q in (("charge", "kg"), ("M", "kg"), ("P", "W")))


def fluid_parts(result: Any) -> list[Part]:
    """All components of a run with ports of media, elements of arrays one by one; composites, which only hand on, are left out."""
    return [part for part in all_parts(result) if not part.is_composite]


def all_parts(result: Any) -> list[Part]:
    """As `fluid_parts`, with composites."""
    system = getattr(result, "_system", None)
    if system is None:
        raise UsageError(
            "Accounts are made of a run with its model; this result has only columns.", remedy="Use the result of `simulate`."
        )
    return list(_walk(system.plant.root, ""))


def _walk(node: Node, path: str) -> Iterator[Part]:
    media = node.kind.attributes.get(MEDIA, {})
    if media:
        ports = {name: tuple(media[name]) for name in node.kind.ports if name in media}
        heat = tuple(name for name, port in node.kind.ports.items() if set(port.members) == {"T", "Q_flow"})
        if ports:
            yield Part(path, node.class_name, node.kind, ports, heat)
    for child in node.parts():
        stem = f"{path}.{child.name}" if path else child.name
        own = stem if child.position is None else f"{stem}[{child.position}]"
        for element in product(*map(range, child.shape)):
            yield from _walk(child, own + (f"[{', '.join(map(str, element))}]" if element else ""))


def refrigerants(result: Any) -> list[str]:
    """Media with liquid and vapour that flow in a run, the one with the most ports first."""
    counts: dict[str, int] = {}
    for part in fluid_parts(result):
        for name, cls in part.fluid_ports.values():
            if cls == "Fluid":
                counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: -counts[name])


def one_fluid(result: Any, medium: Any) -> Any:
    """The medium that is meant: the one given, or the only one that boils in this run."""
    from ..media import fluid

    found = refrigerants(result)
    if medium is not None:
        meant = fluid(medium) if isinstance(medium, str) else medium
        if not isinstance(getattr(meant, "name", None), str):
            raise UsageError(f"`medium` is a fluid or its name, got {medium!r} ({type(medium).__name__}).", remedy='medium="R134a"')
        if not any(part.passed_by(meant.name) for part in fluid_parts(result)):
            listed = ", ".join(dict.fromkeys(name for part in fluid_parts(result) for name, _ in part.fluid_ports.values()))
            raise UsageError(f"No {meant.name} flows in this run.", remedy=f"There flows {listed or 'nothing'}.")
        return meant
    if len(found) != 1:
        listed = ", ".join(found) or "none"
        raise UsageError(
            f"The medium is not clear: with liquid and vapour flow {listed}.",
            remedy=f'Say which: medium="{found[0] if found else "R134a"}".',
        )
    return fluid(found[0])


def checked_ports(result: Any, medium: str, ports: Sequence[str] | str) -> Sequence[str]:
    """Ports that a medium passes, as they were named; a run that does not know its parts is believed."""
    ports = [ports] if isinstance(ports, str) else ports
    if not hasattr(result, "program"):
        return ports
    known = {name: found for part in all_parts(result) for name, found in part.each_port()}
    for port in ports:
        found = known.get(port)
        if found is None and not _reads_as_port(result, port):
            listed = [name for name, other in known.items() if other == medium]
            more = f", and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
            raise UsageError(
                f"`{port}` is not one port that a medium passes. {near_matches(str(port), listed)}".rstrip(),
                remedy=f"{medium} passes {', '.join(listed[:_LISTED])}{more}.",
            )
        if found not in (None, medium):
            raise UsageError(f"At `{port}` flows {found}, not {medium}.", remedy=f'Say medium="{found}", or name other ports.')
    return ports


def _reads_as_port(result: Any, port: Any) -> bool:
    """Whether something has a flow and an enthalpy however it is written, as `pump[-1].a`."""
    try:
        return all(np.ndim(result[f"{port}.{member}"]) == 1 for member in ("m_flow", "h.inflow"))
    except AcausalError:
        return False


def flows(result: Any, port: str) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Pressure, enthalpy of what passes, and mass flow into the component over time, of a port or of each of an array of them."""
    p, m = np.asarray(result[f"{port}.p"]), np.asarray(result[f"{port}.m_flow"])
    h = np.where(m > 0, result[f"{port}.h.inflow"], result[f"{port}.h.outflow"])
    if p.ndim == 1:
        return [(p, h, m)]
    flat = [v.reshape(len(v), -1) for v in (p, h, m)]
    return [(flat[0][:, k], flat[1][:, k], flat[2][:, k]) for k in range(flat[0].shape[1])]


def work_in(result: Any, part: Part) -> np.ndarray:
    """The power that a component takes in over time; that of a turbine, which gives its `P`, is negative.

    Which of the two it is, is told by the energy that all its media and heat ports bring: of a pump they bring ``-P``.
    """
    zero = np.zeros(len(result.time))
    if not part.has("P", "W"):
        return zero
    power, brought = total(result, part.name("P")), heat_in(result, part)
    return -power if np.abs(brought - power).sum() < np.abs(brought + power).sum() else power


def heat_in(result: Any, part: Part, medium: str = "") -> np.ndarray:
    """The heat that comes into a component over time: through its heat ports, by an input, and with media other than the one
    named."""
    heat = np.zeros(len(result.time))
    names = [f"{port}.Q_flow" for port in part.heat_ports] + [name for name in HEAT_GIVEN if part.has(name, "W")]
    for name in names:
        heat = heat + total(result, part.name(name))
    for port, (name, _) in part.fluid_ports.items():
        if name != medium:
            heat = heat + brought(result, part.name(port))
    return heat


def brought(result: Any, port: str) -> np.ndarray:
    """The energy that flows into a component through a port or an array of them, over time."""
    return sum((m * h for _, h, m in flows(result, port)), np.zeros(len(result.time)))


def heat_of_side(result: Any, part: Part, number: str) -> np.ndarray:
    """The energy that the fluid on one side of an exchanger leaves in it, over time."""
    first, last = (brought(result, part.name(f"{end}{number}")) for end in "ab")
    return first + last


def end_temperatures(result: Any, part: Part, number: str) -> tuple[np.ndarray, np.ndarray]:
    """The temperatures at both ends of a side of an exchanger, over time, of a fluid that does not boil."""
    if part.fluid_ports[f"a{number}"][1] == "MoistAir":
        first, last = (_of_moist_air(result, part.name(f"{end}{number}")) for end in "ab")
    else:
        first, last = (np.asarray(result[part.name(f"T_{end}{number}")]) for end in "ab")
    return first, last


def _of_moist_air(result: Any, port: str) -> np.ndarray:
    from ..media import moist_air

    ((p, h, m),) = flows(result, port)
    x = np.where(m > 0, *(np.asarray(result[f"{port}.X.{way}"])[:, 0] for way in ("inflow", "outflow")))
    return np.asarray(moist_air().state(p=p, h=h, X=[x]).T)


def total(result: Any, name: str) -> np.ndarray:
    """A quantity over time, summed over its elements."""
    values = np.asarray(result[name])
    return values if values.ndim == 1 else values.reshape(len(values), -1).sum(axis=1)
