"""Water tube system, index 2: 18 tubes between 13 nodes, two of them buffer tanks; inflow and demand vary over 17 hours.

Statement: Test Set for IVP Solvers, problem "water". Flow in a tube is laminar or turbulent; the resistance coefficient lam of
each tube is an unknown of its own (Colebrook), its friction jumps where the flow becomes turbulent. Node balances hold flows that
are all states: their derivatives are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import acausal as ac

from .raw import RawProblem

TUBES = (
    (1, 2), (2, 3), (2, 6), (3, 4), (3, 5), (4, 5), (5, 10), (6, 5), (7, 4), (7, 8), (8, 5), (8, 10), (9, 8), (11, 9), (11, 12),
    (12, 7), (12, 8), (13, 11),
)  # fmt: skip
TANKS = (5, 8)
NODES = range(1, 14)
PARAMETERS = {
    "nu": 1.31e-6, "g": 9.8, "rho": 1e3, "rcrit": 2.3e3, "length": 1e3, "k": 2e-4, "d": 1.0, "b": 200.0, "a": math.pi / 4
}  # fmt: skip
LAMINAR = 0.47519404529185289807e-1


def residuals(t: Any, dy: Any, y: Any, p: Any) -> Iterator[Any]:
    for i, j in TUBES:
        flow, lam = y[f"phi_{i}_{j}"], y[f"lam_{i}_{j}"]
        reynolds = ac.abs(flow * p.d / (p.nu * p.a))
        turbulent = lam * p.rho * p.length * flow**2 / (p.a**2 * p.d)
        laminar = 32 * p.nu * p.rho * p.length * flow / (p.a * p.d**2)
        friction = ac.where(reynolds > p.rcrit, turbulent, laminar)
        yield p.rho * p.length / p.a * dy[f"phi_{i}_{j}"] == y[f"p_{i}"] - y[f"p_{j}"] - friction
        root = ac.sqrt(lam)
        yield 1 / root == 1.74 - 2 * ac.log10(2 * p.k / p.d + 18.7 / (ac.max(reynolds, p.rcrit) * root))
    for node in NODES:
        stored = p.b / (p.rho * p.g) * dy[f"p_{node}"] if node in TANKS else 0.0
        yield _net_inflow(node, t, y) == stored


def _net_inflow(node: int, t: Any, y: Any) -> Any:
    hours = t / 3600
    supply = 1 - ac.cos(ac.exp(-hours) - 1)
    outside = {1: supply / 200, 13: supply / 80, 10: -(hours**2) * (3 * hours**2 - 92 * hours + 720) / 1e6}
    into = [y[f"phi_{i}_{j}"] for i, j in TUBES if j == node]
    out = [y[f"phi_{i}_{j}"] for i, j in TUBES if i == node]
    return ac.sum(into + [-flow for flow in out]) + outside.get(node, 0.0)


_FLOWS = (
    0.2298488296477430e-2, 0.1188984650746585e-2, 0.1109503645730845e-2, 0.1589620100314825e-3, 0.1030022640715102e-2,
    0.8710606306836165e-3, 0.3243571480903489e-2, 0.1109503645730845e-2, 0.7120986206521341e-3, 0.6414613963833099e-3,
    0.9416978549524347e-3, 0.3403428519096511e-2, 0.2397639310739395e-2, 0.2397639310739395e-2, 0.3348581430454180e-2,
    0.1353560017035444e-2, 0.1995021413418736e-2, 0.5746220741193575e-2,
)  # fmt: skip
_PRESSURES = {
    5: 0.1111268591478108e6, 8: 0.1111270045592387e6, 1: 0.1111271078730254e6, 2: 0.1111269851929858e6, 3: 0.1111269255355337e6,
    4: 0.1111269322658045e6, 6: 0.1111269221703983e6, 7: 0.1111270121140691e6, 9: 0.1111274419515807e6, 10: 0.1111255158881087e6,
    11: 0.1111278793439227e6, 12: 0.1111270995171642e6, 13: 0.1111298338971779e6,
}  # fmt: skip
_RESISTANCES = {
    (5, 10): 0.4311196778792902e-1, (8, 10): 0.4249217433601160e-1, (9, 8): 0.4732336439609648e-1, (11, 9): 0.4732336439609648e-1,
    (11, 12): 0.4270002118868241e-1, (13, 11): 0.3651427026675656e-1,
}  # fmt: skip
_flow_names = [f"phi_{i}_{j}" for i, j in TUBES]
_resistance_names = [f"lam_{i}_{j}" for i, j in TUBES]

water_tube = RawProblem(
    name="water tube",
    residuals=residuals,
    index=2,
    degrees_of_freedom=9,
    states=dict.fromkeys(_flow_names, 0.0) | {f"p_{k}": 109800.0 for k in TANKS},
    others=dict.fromkeys(_resistance_names, LAMINAR) | {f"p_{k}": 109800.0 for k in NODES if k not in TANKS},
    parameters=PARAMETERS,
    end=17 * 3600.0,
    reference=dict(zip(_flow_names, _FLOWS, strict=True))
    | {f"lam_{i}_{j}": _RESISTANCES.get((i, j), 0.4751940452918529e-1) for i, j in TUBES}
    | {f"p_{k}": value for k, value in _PRESSURES.items()},
    scale={f"p_{k}": 1e6 for k in NODES},
)
