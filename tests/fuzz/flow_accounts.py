"""What is asked of a run of a random circuit: that mass and energy are accounted for, that nothing which fluid passes without being
stored destroys entropy, that what leaves an exchanger is no warmer and no colder than what comes, that rest is the steady state,
and that a run which ends early ends where a plant does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

import acausal as ac
from acausal.library import fluid

if TYPE_CHECKING:
    from .flows import Drawn, Medium, Stored

CHAMBERS = {"three ways": ("chamber.h", "common"), "four ways": ("h", "discharge suction indoor outdoor")}  # and their ports


def values(result: Any, path: str) -> np.ndarray:
    return np.asarray(result[path], dtype=float).reshape(len(result.time), -1).sum(axis=1)


def stored(result: Any, name: str, what: str | Stored) -> np.ndarray:
    """Mass or energy of a part."""
    return what(result, name) if callable(what) else values(result, f"{name}.{what}")


def accounts(drawn: Drawn, result: Any) -> Iterator[str]:
    """What is not accounted for of mass and energy."""
    M, E, exact, size_E = 0.0, 0.0, True, 1.0
    for name, (_, part, _) in drawn.parts.items():
        for path in part.mass:
            M = M + values(result, f"{name}.{path}")
        for path in part.energy:
            held = stored(result, name, path)
            E, size_E = E + held, size_E + float(np.abs(held).max())
        exact = exact and part.exact
    energy = not any(kind == "cross" for kind, _, _ in drawn.exchangers.values())
    through, gap = values(result, "M_through"), values(result, "M_in")
    missing = float(np.abs((M - M[0] if np.ndim(M) else 0.0) - gap).max())
    held = float(np.abs(M).max()) if np.ndim(M) else 0.0
    allowed = (1e-9 if exact else 2e-4) * (held + float(through[-1])) + 1e-9
    if missing > allowed:
        yield f"mass is not accounted for: {missing:.3g} kg of {held:.3g} held and {through[-1]:.3g} passed"
    if energy:
        gap = values(result, "E_in")
        missing = float(np.abs((E - E[0] if np.ndim(E) else 0.0) - gap).max())
        sized = size_E + float(np.abs(gap).max()) + 4e5 * float(through[-1])
        if missing > (1e-8 if exact else 2e-4) * sized + 1e-3:
            yield f"energy is not accounted for: {missing:.3g} J of {sized:.3g}"


def entropy(drawn: Drawn, result: Any) -> Iterator[str]:
    """Passages that destroy entropy."""
    for name, (kind, part, medium) in drawn.parts.items():
        if part.mass or part.heat or kind == "turbo" or "stiff" in medium.kinds or "moist" in medium.kinds:
            continue  # the gas in a turbo compressor has speed, which drives it on against a pressure
        if kind == "map" and any(d.component.startswith(f"{name} (") and "any losses" in d.what for d in result.diagnostics):
            continue  # told: a polynomial may say anything beyond what was measured
        ports = [*part.way, *part.others]
        held = chambers(result, name, medium, *CHAMBERS[kind]) if kind in CHAMBERS else 0.0
        yield from _made(result, f"{name} ({kind}, {medium.name})", [(f"{name}.{port}", medium) for port in ports], held)
    for name, (kind, one, two) in drawn.exchangers.items():
        if kind != "cross" and not {"moist", "stiff"} & (one.kinds | two.kinds):
            sides = [(f"{name}.{port}", one if port[1] == "1" else two) for port in ("a1", "b1", "a2", "b2")]
            yield from _made(result, f"{name} ({kind})", sides)


def chambers(result: Any, name: str, medium: Medium, held: str, ports: str) -> np.ndarray:
    """The entropy that the chambers of a valve gain: ``M·dh/T``, with a constant mass."""
    h, gains = (np.asarray(result[q]).reshape(len(result.time), -1) for q in (f"{name}.{held}", f"der({name}.{held})"))
    p = np.stack([result[f"{name}.{port}.p"] for port in ports.split()], axis=-1)
    return np.asarray((float(result[f"{name}.M"][0]) * gains / medium.make().state(p=p, h=h).T).sum(axis=1))


def _made(result: Any, name: str, ports: list[tuple[str, Medium]], held: Any = 0.0) -> Iterator[str]:
    made, through = held, 0.0
    for port, medium in ports:
        m, p = (np.asarray(result[f"{port}.{q}"], dtype=float) for q in ("m_flow", "p"))
        h = np.where(m > 0, result[f"{port}.h.inflow"], result[f"{port}.h.outflow"])
        moving = np.abs(m) > 1e-9 * medium.m
        s = np.zeros_like(m)
        try:
            s[moving] = medium.make().state(p=p[moving], h=h[moving]).s
        except ac.UsageError:  # what leaves a compressor that hardly pumps is hotter than the table reaches
            return
        made, through = made - m * s, through + np.abs(m)
    allowed = 1e-2 * through + 1e-3 * max(medium.m for _, medium in ports)  # W/K, of flows with some thousand J/(kg K)
    worst = int(np.argmin(made + allowed))
    if made[worst] < -allowed[worst]:
        yield f"{name} destroys entropy: {made[worst]:.3g} W/K of a flow of {through[worst]:.3g} kg/s at {result.time[worst]:g} s"


def between(drawn: Drawn, result: Any) -> Iterator[str]:
    """Exchangers that store nothing and from which something leaves warmer or colder than all that comes.

    Those by effectiveness take the heat capacity of what comes for that of the whole way."""
    for name, (kind, one, two) in drawn.exchangers.items():
        if kind == "cross":
            continue
        sides = [_temperatures(result, name, side, medium) for side, medium in (("1", one), ("2", two))]
        comes, leaves, flowing = zip(*sides, strict=True)
        low, high, moving = np.minimum(*comes), np.maximum(*comes), flowing[0] & flowing[1]
        beyond = np.maximum(low - np.minimum(*leaves), np.maximum(*leaves) - high) - (1e-3 if kind == "mean" else 2e-2) * (
            high - low
        )
        beyond[~moving] = 0.0
        worst = int(np.argmax(beyond))
        if beyond[worst] > 0.05:
            yield f"{name} ({kind}) heats or cools {beyond[worst]:.3g} K beyond what comes at {result.time[worst]:g} s"


def _temperatures(result: Any, name: str, side: str, medium: Medium) -> tuple[Any, Any, Any]:
    """With which the fluid of a side comes and leaves, at one pressure, and where it flows."""
    a, b = f"{name}.a{side}", f"{name}.b{side}"
    m, p = (np.asarray(result[f"{a}.{q}"], dtype=float) for q in ("m_flow", "p"))
    ways = ((a, b, "inflow"), (b, a, "outflow"))
    enters, leaves = (np.where(m > 0, result[f"{forth}.h.{way}"], result[f"{back}.h.{way}"]) for forth, back, way in ways)
    flowing = np.abs(m) > 1e-2 * medium.m
    T = np.full((2, len(m)), 300.0)
    for row, h in zip(T, (enters, leaves), strict=True):
        if "moist" not in medium.kinds:
            row[flowing] = medium.make().state(p=p[flowing], h=h[flowing]).T
            continue
        for k in np.flatnonzero(flowing):
            X = np.ravel(result[f"{a if m[k] > 0 else b}.X.inflow"][k])
            row[k] = medium.make().state(p=float(p[k]), h=float(h[k]), X=X.tolist()).T
    return T[0], T[1], flowing


def at_rest(drawn: Drawn, model: Any, result: Any) -> Iterator[str]:
    """A run that has come to rest is at the steady state."""
    first, last = (np.array([float(result[f"{e}.port.m_flow"][k]) for e in drawn.circuit._ends]) for k in (-40, -1))
    held = [stored(result, n, q) for n, (_, part, _) in drawn.parts.items() for q in (*part.mass, *part.energy)]
    held += [values(result, f"{n}.T") for n, (kind, _, _) in drawn.parts.items() if kind == "stratified"]
    moved = max((abs(x[-1] - x[-40]) / (abs(x[-1]) + 1e-9) for x in held), default=0.0)
    flow = np.abs(last).max() + 1e-6
    if moved > 1e-6 or np.abs(last - first).max() > 1e-5 * flow or any(p.drains for _, p, _ in drawn.parts.values()):
        return
    steady = model.steady_state(inputs=drawn.inputs, at=result.time[-1], start_from=result)
    found = np.array([float(steady[f"{e}.port.m_flow"][-1]) for e in drawn.circuit._ends])
    sized = max(medium.m for _, _, medium in drawn.parts.values())
    if np.abs(found - last).max() > 1e-3 * flow + 1e-6 * sized:
        yield f"the run comes to rest at {last}, `steady_state` at {found}"


def explained(drawn: Drawn, result: Any) -> bool:
    """A run that ends where a plant ends, and says so: a machine pumps until the table of the medium does, liquid that is shut in
    becomes warmer, or a condenser is filled until its pressure is critical."""
    said = str(result.diagnostics[-1].what) if result.diagnostics else ""
    if result.outcome is ac.Outcome.ASSERTION:
        return "comes to the critical one" in said
    if result.outcome is ac.Outcome.NOT_FINITE and "ethylene glycol" in said:  # hot enough gas boils it
        return "holds from" in said
    machines = any("compressor" in kind or kind in ("map", "turbo") for kind, _, _ in drawn.parts.values())
    return result.outcome is ac.Outcome.NOT_FINITE and "table of" in said and (machines or "highest pressure" in said)


def hammered(drawn: Drawn, result: Any) -> bool:
    """A run that was still following the waves of a pipe with inertia when its steps were used up: in liquid that is shut in
    they take minutes to die out, and each wants its steps."""
    pipes = (part.component for _, part, _ in drawn.parts.values())
    waves = any(isinstance(pipe, fluid.DistributedPipe) and pipe.momentum == "dynamic" for pipe in pipes)
    return result.outcome is ac.Outcome.TOO_MANY_STEPS and waves
