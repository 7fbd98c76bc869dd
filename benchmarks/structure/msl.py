"""Two examples of the Modelica Standard Library 4.1.0, built of library components, with their published trajectories.

`First`: two inertias joined by an ideal gear, a spring to a third, a damper to the ground; six candidates for states, four states.
`CauerLowPass`: a ladder filter in which two loops of three capacitors leave three independent voltages; two inductors.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import acausal as ac
from acausal.library import electrical, signal
from acausal.library.mechanics import rotational

FOLDER = Path(__file__).parents[3] / "shared" / "reference" / "msl-4.1.0"


class First(ac.Component):
    """Modelica.Mechanics.Rotational.Examples.First."""

    def __init__(self) -> None:
        self.sine, self.torque = signal.Sine(amplitude=10.0, f=5.0), rotational.Torque()
        self.inertia1 = rotational.Inertia(J=0.1)
        self.gear = rotational.IdealGear(ratio=10.0)
        self.inertia2 = rotational.Inertia(J=2.0)
        self.spring = rotational.Spring(c=1e4)
        self.inertia3 = rotational.Inertia(J=2.0)
        self.damper, self.fixed = rotational.Damper(d=10.0), rotational.Fixed()

    def connections(self) -> Iterator[Any]:
        yield self.sine.y, self.torque.tau
        yield self.torque.flange, self.inertia1.a
        yield self.inertia1.b, self.gear.a
        yield self.gear.b, self.inertia2.a
        yield self.inertia2.b, self.spring.a, self.damper.a
        yield self.spring.b, self.inertia3.a
        yield self.damper.b, self.fixed.flange


class CauerLowPass(ac.Component):
    """Modelica.Electrical.Analog.Examples.CauerLowPassAnalog from its step at t = 1 s on; everything is at rest before."""

    l1, l2 = ac.Parameter(1.304, unit="H"), ac.Parameter(0.8586, unit="H")

    def __init__(self) -> None:
        self.source, self.ground = electrical.ConstantVoltage(V=1.0), electrical.Ground()
        self.R1, self.R2 = electrical.Resistor(R=1.0), electrical.Resistor(R=1.0)
        self.L1, self.L2 = electrical.Inductor(L=self.l1), electrical.Inductor(L=self.l2)
        self.C1, self.C3, self.C5 = electrical.Capacitor(C=1.072), electrical.Capacitor(C=1.682), electrical.Capacitor(C=0.7262)
        self.C2 = electrical.Capacitor(C=1 / (1.704992**2 * self.l1))
        self.C4 = electrical.Capacitor(C=1 / (1.179945**2 * self.l2))

    def connections(self) -> Iterator[Any]:
        yield self.source.p, self.R1.p
        yield self.R1.n, self.C1.p, self.L1.p, self.C2.p
        yield self.L1.n, self.C2.n, self.C3.p, self.L2.p, self.C4.p
        yield self.L2.n, self.C4.n, self.C5.p, self.R2.p
        yield self.source.n, self.C1.n, self.C3.n, self.C5.n, self.R2.n, self.ground.p


def trajectories(name: str) -> dict[str, np.ndarray]:
    """The columns of a published file by name."""
    path = FOLDER / f"{name}.csv"
    names = [n.strip('"') for n in path.read_text(encoding="utf-8").split("\n", 1)[0].split(",")]
    columns = np.loadtxt(path, delimiter=",", skiprows=1, unpack=True)
    return dict(zip(names, columns, strict=True))


def worst_deviation(result: Any, at: np.ndarray, published: dict[str, np.ndarray]) -> float:
    """Largest difference over all signals and points, in parts of each signal's range; `at` picks points of the file."""
    worst = 0.0
    for name, values in published.items():
        if name != "time":
            worst = max(worst, float(np.abs(np.asarray(result[name]) - values[at]).max() / np.ptp(values)))
    return worst
