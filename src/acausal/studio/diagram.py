"""The inside of a component as a diagram: parts, ports and wires, from the catalogue alone.

A picture that leaves something out lies. Every end that a class connects gets a wire, or making the diagram is an error: states and
signals as connectors, ends of the component's own ports (which become parts at the border), and ends deep within a part, which are
ports of that part under their longer names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import NameNotFound
from ..language.icons import initials, is_drawing
from ..results.circuits import labelled
from .describe import is_difference, starred
from .protocol import Diagram, DiagramPart, Port, Shown, Wire

Json = dict[str, Any]

_MOST_SHOWN = 3  # values on a part


def diagram(catalogue: Json, path: str = "") -> Diagram:
    """The diagram of the component at a path (`""` is the model itself; stars stand for indices)."""
    node, full = _node_at(catalogue, path)
    kind = catalogue["kinds"][node["kind"]]
    parts = {labelled(child): _part(catalogue, child, full) for child in node.get("parts", [])}
    wires = list(_wires(kind, parts))
    connections = sum(len(c["ends"]) - 1 for c in kind["connections"])
    assert len(wires) == connections, f"the diagram of {kind['class']} has {len(wires)} wires for {connections} connections"
    return Diagram(path, kind["class"], list(parts.values()), wires, connections)


def _node_at(catalogue: Json, path: str) -> tuple[Json, str]:
    node, full = catalogue["tree"], ""
    for name in [p for p in path.split(".") if p]:
        wanted = name.replace("*", "").replace(",", "").replace("[]", "")
        found = [child for child in node.get("parts", []) if labelled(child) == wanted or child["name"] == wanted]
        if not found:
            raise NameNotFound(f"`{path}` has no part `{name}`.")
        node = found[0]
        own = f"{labelled(node)}{starred(node.get('shape', []))}"
        full = f"{full}.{own}" if full else own
    return node, full


# --- parts -------------------------------------------------------------------------------------------------------------------


def _part(catalogue: Json, node: Json, above: str) -> DiagramPart:
    kind, label, shape = catalogue["kinds"][node["kind"]], labelled(node), node.get("shape", [])
    path = f"{above}.{label}{starred(shape)}" if above else f"{label}{starred(shape)}"
    ports = [Port(c["name"], c["class"], "", c["documentation"], flow=_flow(c, path)) for c in kind["connectors"]]
    ports += [_signal(q) for q in kind["quantities"] if q["role"] in ("input", "output") or q.get("states")]
    summary = kind["documentation"].split("\n")[0]
    return DiagramPart(
        label,
        path,
        label,
        kind["class"],
        summary,
        shape,
        bool(node.get("parts")),
        False,
        icon_of(kind["class"], kind["icon"]),
        ports,
        list(_shown(kind, path, shape)),
    )


def _flow(connector: Json, path: str) -> str:
    """What flows through a port: it is one quantity, of one port."""
    flows = [q["name"] for q in connector["quantities"] if q.get("flow") and not q["shape"]]
    return f"{path}.{flows[0]}" if len(flows) == 1 and not connector["shape"] and "*" not in path else ""


def _signal(quantity: Json) -> Port:
    """An input, an output or a state, which may be connected."""
    given = quantity["role"] == "input" or quantity.get("of") == "InputStates"
    what = "states" if quantity.get("states") else "signals"
    return Port(quantity["name"], what, "in" if given else "out", quantity["documentation"], free=True)


def icon_of(name: str, drawing: str) -> str:
    """A picture for a class: its drawing, if it is more than its initials, or one of the page's own by the words of its name."""
    if is_drawing(drawing) and drawing != initials(name):
        return drawing
    name = name.casefold()
    words = {
        "heatcapac": "mass", "resistor": "resistor", "capacitor": "capacitor", "inductor": "inductor", "ground": "ground",
        "source": "source",
        "voltage": "source", "current": "source", "conductor": "conductor", "convection": "conductor",
        "wall": "wall", "room": "room", "tank": "tank", "pump": "pump", "compressor": "pump", "valve": "valve", "pipe": "pipe",
        "evaporator": "exchanger", "condenser": "exchanger", "exchanger": "exchanger", "sensor": "sensor", "weather": "weather",
        "thermostat": "control", "control": "control", "pid": "control", "add": "sum", "gain": "sum", "spring": "spring",
        "damper": "damper", "mass": "mass", "inertia": "mass", "fixed": "ground", "prescribed": "source", "switch": "switch",
        "door": "door", "diode": "diode", "motor": "motor", "emf": "motor", "fan": "fan", "heater": "heater", "table": "table",
    }  # fmt: skip
    return next((icon for word, icon in words.items() if word in name), drawing if is_drawing(drawing) else "")


def _shown(kind: Json, path: str, shape: list[int]) -> Iterator[Shown]:
    """What is written on a part: its states, discrete states and outputs; if it has none, what its first connector carries."""
    if shape:
        return
    scalars = [q for q in kind["quantities"] if not q["shape"] and q["role"] in ("variable", "output", "discrete")]
    ranked = sorted(scalars, key=_rank)
    if not ranked or not any(_rank(q) < 3 for q in ranked):
        carried = [q for c in kind["connectors"][:1] if not c["shape"] for q in c["quantities"] if not q["shape"]]
        ranked = [*carried, *ranked]
    for quantity in ranked[:_MOST_SHOWN]:
        yield Shown(f"{path}.{quantity['name']}", quantity["name"], quantity["unit"], is_difference(quantity))


def _rank(quantity: Json) -> int:
    if quantity.get("states"):
        return 0
    if quantity.get("state"):
        return 1
    return 2 if quantity["role"] == "output" else 3


# --- wires -------------------------------------------------------------------------------------------------------------------


def _wires(kind: Json, parts: dict[str, DiagramPart]) -> Iterator[Wire]:
    for number, connection in enumerate(kind["connections"]):
        first, *others = connection["ends"]
        place = connection["location"]
        where = "" if place is None else f"{place['file']}:{place['line']}"
        source = _end(kind, parts, connection, first, "out")
        for k, other in enumerate(others):
            target = _end(kind, parts, connection, other, "in")
            what = connection["joins"]
            drawn = _kind_of(parts, source) if what == "connectors" else what
            flow = _through(parts, target) or (_through(parts, source) if len(others) == 1 else "")
            yield Wire(f"{number}.{k}", source[0], source[1], target[0], target[1], drawn, where, flow)


def _through(parts: dict[str, DiagramPart], end: tuple[str, str]) -> str:
    """What flows through the end of a wire: all of it is that of the wire, where the end has no other."""
    return next((p.flow for p in parts[end[0]].ports if p.name == end[1]), "")


def _kind_of(parts: dict[str, DiagramPart], end: tuple[str, str]) -> str:
    return next((p.kind for p in parts[end[0]].ports if p.name == end[1]), "connectors")


def _end(kind: Json, parts: dict[str, DiagramPart], connection: Json, end: Json, side: str) -> tuple[str, str]:
    """Part and port of one end; a port that no declaration shows (a signal, a state, one deep within) is added where it is used."""
    name = end["name"]
    if not end["part"]:
        return _border(kind, parts, connection, name, side)
    # a part is a direct one, or lies within one
    label = max((p for p in parts if end["part"] == p or end["part"].startswith(f"{p}.")), key=len)
    inside = end["part"][len(label) :].lstrip(".")
    port = f"{inside}.{name}" if inside else name
    part = parts[label]
    known = next((p for p in part.ports if p.name == port), None)
    if known is None:
        direction = side if connection["joins"] != "connectors" else ""
        part.ports.append(Port(port, connection["joins"], direction))  # type: ignore[arg-type]
    else:
        known.free = False
    return label, port


def _border(kind: Json, parts: dict[str, DiagramPart], connection: Json, name: str, side: str) -> tuple[str, str]:
    """A port, signal or state of the component itself."""
    key = f":{name}"
    if key not in parts:
        declared = next((c["class"] for c in kind["connectors"] if c["name"] == name), connection["joins"])
        doc = next((q["documentation"] for q in [*kind["connectors"], *kind["quantities"]] if q["name"] == name), "")
        port = Port(name, declared, side if connection["joins"] != "connectors" else "")  # type: ignore[arg-type]
        parts[key] = DiagramPart(key, name, name, declared, doc, [], False, True, "port", [port], [])
    return key, name
