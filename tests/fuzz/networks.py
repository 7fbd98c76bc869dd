"""Random thermal networks and mechanisms on a line, as objects, arrays and composites.

The second opinion has as few coordinates as there are: temperatures of nodes with a capacity, positions of rigid groups. Whatever
the component model makes of capacitors at one node, or of masses joined by rods, must agree with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import expm

import acausal as ac
from acausal.library import thermal as th
from acausal.library.mechanics import translational as tr

FORMS = ("objects", "arrays", "composites")


class Element:
    """A component to be made: its class, its numbers, and the nodes of its pins."""

    def __init__(self, kind: type, ends: dict[str, int], starts: dict[str, float] | None = None, **numbers: float) -> None:
        self.kind, self.ends, self.starts, self.numbers = kind, ends, starts or {}, numbers

    def __repr__(self) -> str:
        return f"{self.kind.__name__}{tuple(self.ends.values())} {self.numbers} {self.starts or ''}"


def made(elements: list[Element]) -> Any:
    """One component of one element, or an array of several of a class."""
    first = elements[0]
    if len(elements) == 1:
        return first.kind(**first.numbers, **{n: ac.start(v) for n, v in first.starts.items()})
    numbers: dict[str, Any] = {n: np.array([e.numbers[n] for e in elements]) for n in first.numbers}
    numbers |= {n: ac.start(np.array([e.starts[n] for e in elements])) for n in first.starts}
    return ac.array(first.kind, len(elements), **numbers)


class Network(ac.Component):
    """Elements joined at nodes. `groups`: which of them are made together, as an array."""

    def __init__(self, elements: list[Element], groups: list[list[int]]) -> None:
        self.nodes: dict[int, list[tuple[str, int, str]]] = {}
        for g, members in enumerate(groups):
            setattr(self, f"g{g}", made([elements[k] for k in members]))
            for j, k in enumerate(members):
                for pin, node in elements[k].ends.items():
                    self.nodes.setdefault(node, []).append((f"g{g}", j if len(members) > 1 else -1, pin))

    def connections(self) -> Any:
        for pins in self.nodes.values():
            ends = [getattr(getattr(self, g) if j < 0 else getattr(self, g)[j], pin) for g, j, pin in pins]
            if len(ends) > 1:
                yield tuple(ends)


class Part(ac.Component):
    def __init__(self, elements: list[Element], members: list[int], connector: type) -> None:
        self.members = [(k, elements[k].ends) for k in members]
        self.at = sorted({q for _, ends in self.members for q in ends.values()})
        for q in self.at:
            setattr(self, f"n{q}", connector())
        for k in members:
            setattr(self, f"e{k}", made([elements[k]]))

    def connections(self) -> Any:
        for k, ends in self.members:
            for pin, q in ends.items():
                yield getattr(getattr(self, f"e{k}"), pin), getattr(self, f"n{q}")


class Composites(ac.Component):
    def __init__(self, elements: list[Element], groups: list[list[int]], connector: type) -> None:
        self.parts = [Part(elements, members, connector) for members in groups]

    def connections(self) -> Any:
        for q in sorted({q for p in self.parts for q in p.at}):
            pins = [getattr(p, f"n{q}") for p in self.parts if q in p.at]
            if len(pins) > 1:
                yield tuple(pins)


class Case:
    """`exact(times)` gives what `watched` elements show: one row for each."""

    runs = True

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.elements, self.watched, self.quantity, self.connector, self.system = (mechanism if seed % 2 else thermal)(rng)
        self.group(rng)

    def group(self, rng: np.random.Generator) -> None:
        """Which elements stand together, in composites and in arrays."""
        count = int(rng.integers(1, 4))
        self.groups = [sorted(g.tolist()) for g in np.array_split(rng.permutation(len(self.elements)), count) if len(g)]
        alike: dict[Any, list[int]] = {}
        for k, e in enumerate(self.elements):
            alike.setdefault((e.kind, tuple(e.starts)), []).append(k)
        self.alike = list(alike.values())

    def __repr__(self) -> str:
        return f"{self.elements} in {self.groups}"

    def build(self, form: str) -> ac.Component:
        if form == "objects":
            return Network(self.elements, [[k] for k in range(len(self.elements))])
        if form == "arrays":
            return Network(self.elements, self.alike)
        return Composites(self.elements, self.groups, self.connector)

    def path(self, form: str, k: int) -> str:
        if form == "objects":
            return f"g{k}"
        groups = self.alike if form == "arrays" else self.groups
        g = next(g for g, members in enumerate(groups) if k in members)
        if form == "composites":
            return f"parts[{g}].e{k}"
        return f"g{g}[{groups[g].index(k)}]" if len(groups[g]) > 1 else f"g{g}"

    def options(self) -> dict[str, Any]:
        return {"until": 2.0, "rtol": 1e-8, "points": 21}

    def check(self, results: dict[str, Any]) -> None:
        for form, result in results.items():
            assert result.outcome.ok, f"{form}: {result.outcome.name}"
            exact = self.exact(result.time)
            found = np.array([result[f"{self.path(form, k)}.{self.quantity}"] for k in self.watched])
            wrong = float(np.abs(found - exact).max()) / max(1.0, float(np.abs(exact).max()))
            assert wrong < 1e-5, f"{form}: wrong by {wrong:.1e}"

    def exact(self, times: np.ndarray) -> np.ndarray:
        """x' = M x + b from x0; watched values are rows of `show` (x, 1)."""
        M, b, x0, show = self.system
        n = len(x0)
        whole = np.zeros((n + 1, n + 1))
        whole[:n, :n], whole[:n, n] = M, b
        return np.array([show @ (expm(whole * t) @ np.append(x0, 1.0)) for t in times]).T


def thermal(rng: np.random.Generator) -> tuple[Any, ...]:
    """Capacities at some nodes (perhaps several at one), conductors between all, a fixed temperature, heat flows."""
    n = int(rng.integers(3, 7))
    capacity, flow = np.zeros(n), np.zeros(n)
    G, start = np.zeros((n, n)), rng.uniform(280, 320, n).round(1)
    elements, watched = [Element(th.FixedTemperature, {"port": 0}, T=300.0)], []
    stores = rng.random(n) < 0.6
    stores[1] = True
    for q in range(1, n):
        for _ in range(int(rng.integers(1, 3)) if stores[q] else 0):
            C = round(rng.uniform(0.5, 2.0), 2)
            watched.append(len(elements))
            elements.append(Element(th.HeatCapacitor, {"port": q}, {"T": float(start[q])}, C=C))
            capacity[q] += C
        if rng.random() < 0.4:
            Q = round(rng.uniform(-2, 2), 2)
            elements.append(Element(th.FixedHeatFlow, {"port": q}, Q_flow=Q))
            flow[q] += Q
    for k in range(1, 2 * n):
        a, b = (k, int(rng.integers(k))) if k < n else rng.choice(n, 2, replace=False).tolist()
        value = round(rng.uniform(0.3, 2.0), 2)
        elements.append(Element(th.ThermalConductor, {"a": a, "b": b}, G=value))
        G[[a, b], [a, b]] += value
        G[[a, b], [b, a]] -= value
    has, none = np.flatnonzero(capacity), np.flatnonzero(capacity[1:] == 0) + 1
    pull = flow - G[:, 0] * 300.0  # C T' = pull - G T over all nodes but the first
    inner = np.linalg.solve(G[np.ix_(none, none)], np.column_stack([-G[np.ix_(none, has)], pull[none]]))
    matrix = -(G[np.ix_(has, has)] + G[np.ix_(has, none)] @ inner[:, :-1]) / capacity[has, None]
    constant = (pull[has] - G[np.ix_(has, none)] @ inner[:, -1]) / capacity[has]
    place = {int(q): j for j, q in enumerate(has)}
    show = np.zeros((len(watched), len(has) + 1))
    for row, k in enumerate(watched):
        show[row, place[elements[k].ends["port"]]] = 1.0
    return elements, watched, "T", th.HeatPort, (matrix, constant, start[has], show)


def mechanism(rng: np.random.Generator) -> tuple[Any, ...]:
    """Masses on rigid groups of nodes, joined by rods; springs and dampers between groups, one of which is held."""
    count = int(rng.integers(2, 5))
    elements, watched, node = [Element(tr.Fixed, {"flange": 0})], [], 1
    group_of, offset = [0], [0.0]
    mass, x0, v0 = np.zeros(count), rng.uniform(-1, 1, count).round(2), rng.uniform(-1, 1, count).round(2)
    x0[0] = v0[0] = 0.0
    for g in range(1, count):
        own: list[int] = []
        for _ in range(int(rng.integers(1, 4))):
            group_of.append(g)
            offset.append(0.0)
            if own:
                L, a = round(rng.uniform(0.2, 1.0), 2), int(rng.choice(own))
                offset[node] = offset[a] + L
                elements.append(Element(tr.Rod, {"a": a, "b": node}, L=L))
            own.append(node)
            node += 1
        for at in own if rng.random() < 0.5 else own[:1]:
            m = round(rng.uniform(0.5, 2.0), 2)
            watched.append(len(elements))
            elements.append(Element(tr.Mass, {"a": at}, {"s": float(x0[g] + offset[at]), "v": float(v0[g])}, m=m))
            mass[g] += m
    K, D, pull = np.zeros((count, count)), np.zeros((count, count)), np.zeros(count)
    for k in range(1, 2 * count):
        g = (k, int(rng.integers(k))) if k < count else tuple(rng.choice(count, 2, replace=False).tolist())
        a, b = (int(rng.choice([q for q in range(node) if group_of[q] == h])) for h in g)
        c, d = round(rng.uniform(0.5, 3.0), 2), round(rng.uniform(0.0, 1.0), 2)
        elements.append(Element(tr.SpringDamper, {"a": a, "b": b}, c=c, d=d, s_rel0=0.3))
        for matrix, value in ((K, c), (D, d)):
            matrix[[g[0], g[1]], [g[0], g[1]]] += value
            matrix[[g[0], g[1]], [g[1], g[0]]] -= value
        force = c * (offset[b] - offset[a] - 0.3)  # pulls a towards b
        pull[g[0]] += force
        pull[g[1]] -= force
    free, n = slice(1, count), count - 1
    M = np.zeros((2 * n, 2 * n))
    M[:n, n:] = np.eye(n)
    M[n:, :n], M[n:, n:] = -K[free, free] / mass[free, None], -D[free, free] / mass[free, None]
    show = np.zeros((len(watched), 2 * n + 1))
    for row, k in enumerate(watched):
        at = elements[k].ends["a"]
        show[row, group_of[at] - 1], show[row, -1] = 1.0, offset[at]
    start = np.concatenate([x0[free], v0[free]])
    return elements, watched, "s", tr.Flange, (M, np.concatenate([np.zeros(n), pull[free] / mass[free]]), start, show)


def generate(seed: int) -> Case:
    return Case(seed)
