"""Studies of the literature, and how near to the printed figures they come: eigenvalues of Tummescheit's circuit (2002); of the 6th
Modelica conference (2008) an orbit in other states, paths of CO2 abatement, random parameters of an amplifier, cases of a
spreadsheet.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import acausal as ac
from benchmarks.structure.thesis import TwoCapacitors, circuit_poles

# --- Orbits in equinoctial elements (p. 505, table 3) -------------------------------------------------------------------------

MU = 3.986004418e14  # the paper prints none
GEO = {"x": 4.21641e7, "y": 0.0, "vx": 0.0, "vy": 3074.66}


class Orbit(ac.Component):
    """A body around the earth, in its plane: Cartesian coordinates are states."""

    x, y = ac.Variable(start=GEO["x"], fixed=True, nominal=1e7), ac.Variable(start=GEO["y"], fixed=True, nominal=1e7)
    vx, vy = ac.Variable(start=GEO["vx"], fixed=True, nominal=1e3), ac.Variable(start=GEO["vy"], fixed=True, nominal=1e3)

    def equations(self) -> Any:
        cube = (self.x**2 + self.y**2) ** 1.5
        yield ac.der(self.x) == self.vx
        yield ac.der(self.y) == self.vy
        yield ac.der(self.vx) == -MU * self.x / cube
        yield ac.der(self.vy) == -MU * self.y / cube


class Equinoctial(Orbit):
    """The same body with elements of its orbit as preferred states: x = g(z) is all that is added."""

    a = ac.Variable(start=4.2164e7, nominal=1e7, state="always")
    h, k = ac.Variable(start=0.0, state="always"), ac.Variable(start=0.0, state="always")
    mean, K = ac.Variable(start=0.0, state="always"), ac.Variable(start=0.0)

    def equations(self) -> Any:
        yield from super().equations()
        sin, cos, a, h, k = ac.sin(self.K), ac.cos(self.K), self.a, self.h, self.k
        beta = 1 / (1 + ac.sqrt(1 - h**2 - k**2))
        r = a * (1 - k * cos - h * sin)
        speed = ac.sqrt(MU * a) / r
        yield self.mean == self.K + h * cos - k * sin
        yield self.x == a * ((1 - h**2 * beta) * cos + h * k * beta * sin - k)
        yield self.y == a * ((1 - k**2 * beta) * sin + h * k * beta * cos - h)
        yield self.vx == speed * (h * k * beta * cos - (1 - h**2 * beta) * sin)
        yield self.vy == speed * ((1 - k**2 * beta) * cos - h * k * beta * sin)


def period() -> float:
    semi = 1 / (2 / GEO["x"] - GEO["vy"] ** 2 / MU)
    return float(2 * np.pi * np.sqrt(semi**3 / MU))


ALONE: dict[str, Any] = {"suppress_algebraic": True, "initial_step": 3000.0, "max_nonlinear_iterations": 20}


def orbits() -> tuple[ac.Result, ac.Result]:
    """One period, with Cartesian states and with elements.

    What the states do not say, x(t) and the like, is left out of the error test, as in a solver that sees the states alone.
    """
    plain = ac.compile(Orbit()).simulate(period(), points=5, rtol=1e-12)
    return plain, ac.compile(Equinoctial()).simulate(period(), points=5, rtol=1e-12, **ALONE)


def closing_error(run: ac.Result) -> float:
    """How far the body is from where it began, in m."""
    return float(np.hypot(run["x"][-1] - GEO["x"], run["y"][-1]))


# --- Eigenvalues of the circuit of Tummescheit's thesis (figure 2.8) ------------------------------------------------------------


def eigenvalue_error() -> float:
    """The largest relative error, over resistances down to none, where one state and the eigenvalue -1/3 are left."""
    found = [1.0, 10.0, 100.0, 500.0, 1000.0, 1e4]
    pairs = [(np.sort(ac.compile(TwoCapacitors(R2)).linearise().poles().real), circuit_poles(R2)) for R2 in found]
    pairs.append((ac.compile(TwoCapacitors()).linearise().poles().real, np.array([-1 / 3])))
    return max(float(np.abs(ours / theirs - 1).max()) if len(ours) == len(theirs) else np.inf for ours, theirs in pairs)


# --- A path of CO2 abatement (CarbonWorldXIIa) ----------------------------------------------------------------------------------

PLANS = np.array(
    [
        [[0.22, 0.69, 0.2], [0, 0, 0.76]], [[0.22, 0.69, 0.2], [0, 0, 0.76]], [[0.57, 5.33, 0.56], [0.72, 15.23, 1.11]],
        [[1.07, 10.64, 0.58], [1.01, 17.76, 0.86]], [[1.16, 14.02, 0.65], [0.99, 19.04, 0.83]],
        [[1.69, 23.47, 0.72], [1.52, 25.11, 0.78]], [[1.84, 28.18, 0.76], [1.84, 28.18, 0.76]],
        [[1.52, 25.11, 0.78], [1.69, 23.47, 0.72]], [[0.99, 19.04, 0.83], [1.16, 14.02, 0.65]],
        [[1.01, 17.76, 0.86], [1.07, 10.64, 0.58]], [[0.72, 15.23, 1.11], [0.57, 5.33, 0.56]],
        [[0, 0, 0.76], [0.22, 0.69, 0.2]],
    ]
)  # fmt: skip


class Abatement(ac.Component):
    """Energy use, its price, abatement and the concentration of CO2; time in years."""

    gamma, absorbed, ppm = ac.Parameter(0.006725), ac.Parameter(0.5), ac.Parameter(0.127365)
    use0, emission0, growth, learning = ac.Parameter(411.0), ac.Parameter(40.0), ac.Parameter(20.0), ac.Parameter(0.02)
    abated0, price0 = ac.Parameter(5.0), ac.Parameter(80 / 3.6)
    abate, save, save_co2 = ac.Input(0.0), ac.Input(0.0), ac.Input(0.0)
    conc, use = ac.Variable(start=384.0, fixed=True), ac.Variable(start=411.0, fixed=True)
    abated, saved = ac.Variable(start=5.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    saved_co2, value = ac.Variable(start=0.0, fixed=True), ac.Variable(start=31.06, fixed=True)
    price, carbon_price = ac.Variable(start=80 / 3.6, fixed=True), ac.Variable(start=0.0, fixed=True)
    zero, emission, cost, relative = ac.Variable(), ac.Variable(), ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        intensity = self.emission0 / self.use0
        yield self.zero == (self.abated - self.saved_co2) / intensity
        yield self.emission == (self.use - self.saved - self.zero) * intensity
        yield self.cost == self.value * (ac.sqrt(self.abated / self.abated0) - 1)
        yield self.relative == self.price / self.price0
        yield ac.der(self.conc) == self.ppm * self.emission * self.absorbed - self.gamma * self.conc
        yield ac.der(self.use) == self.growth
        yield ac.der(self.abated) == self.abate
        yield ac.der(self.saved) == self.save
        yield ac.der(self.saved_co2) == self.save_co2
        yield ac.der(self.value) == -self.learning * self.value
        yield ac.der(self.price) == self.price0 + self.carbon_price * intensity - self.price
        yield ac.der(self.carbon_price) == self.cost - self.carbon_price


def plan(scenario: int) -> dict[str, Any]:
    """Rates that hold for ten years each, from the second row on (the digest's reading that gives the published peaks)."""
    rows = PLANS[np.minimum(np.arange(11) + 1, 11), scenario]
    years = 10.0 * np.arange(11)
    return {name: ac.hold(years, rows[:, k]) for k, name in enumerate(("abate", "save", "save_co2"))}


def abatement() -> ac.Study:
    cases = [{"name": "early", **plan(0)}, {"name": "late", **plan(1)}, {"name": "none"}]
    outputs = {
        "peak": ac.max("conc"), "end": "conc", "zero": ac.min("zero"), "first": ac.first("emission"), "price": "relative",
        "when": lambda r: r.time[np.argmax(r["conc"])],
    }  # fmt: skip
    return ac.compile(Abatement()).study(cases, outputs, until=100.0, points=1001, rtol=1e-9)


def abatement_error(study: ac.Study) -> float:
    """Against the figures of the paper, each over its last digit."""
    printed = {
        "peak": ([448.4, 451.3], 0.1),
        "when": ([56.5, 55.6], 0.1),
        "zero": ([51.4, -66.8], 0.1),
        "price": ([1.071] * 2, 1e-3),
    }
    errors = [float(np.abs(study[name][:2] - values).max() / digit) for name, (values, digit) in printed.items()]
    return max(*errors, abs(float(study["end"][2]) - 859.6) / 0.1)


# --- Random parameters (SAE J2748), a difference amplifier ----------------------------------------------------------------------


class Amplifier(ac.Component):
    """v = -R2/R1 v1 + (1 + R2/R1) R4/(R3 + R4) v2. `tight` is bound to `p1`, so that the two go together."""

    R1, R3, R4 = ac.Parameter(10.0), ac.Parameter(10.0), ac.Parameter(100.0)
    R2 = ac.Parameter(100.0, distribution=ac.uniform(95.0, 105.0))
    p1, share = ac.Parameter(1.0, distribution=ac.uniform(0.9, 1.1)), ac.Parameter(0.0, distribution=ac.uniform(-0.01, 0.01))
    tight = ac.Parameter(p1 * (1 + share))
    v1, v2 = ac.Parameter(0.1), ac.Parameter(0.2)
    output, plus, lag = ac.Variable(), ac.Variable(), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield self.plus == self.v2 * self.R4 / (self.R3 + self.R4)
        yield self.output == -self.R2 / self.R1 * self.v1 + (1 + self.R2 / self.R1) * self.plus
        yield ac.der(self.lag) == self.output - self.lag


def monte_carlo() -> ac.Study:
    return ac.compile(Amplifier()).study(ac.draws(200, seed=2), ["output", "plus", "tight"], until=1.0, points=3)


def monte_carlo_error(study: ac.Study) -> float:
    """Against the closed form of each draw; infinite if draws leave their ranges or what is bound does not go along."""
    within = 95.0 <= study["R2"].min() < 95.1 and 104.9 < study["R2"].max() <= 105.0
    together = np.abs(study["tight"] / study["p1"] - 1).max() <= 0.01 and np.ptp(study["plus"]) < 1e-12
    exact = -study["R2"] / 100 + (1 + study["R2"] / 10) * 0.2 * 10 / 11
    return float(np.abs(study["output"] / exact - 1).max()) if within and together else np.inf


# --- A batch of cases in a spreadsheet (ExcelInterface) -------------------------------------------------------------------------


class Cooler(ac.Component):
    """Air is cooled by a loop that takes minutes to settle; at rest T = (G T_air + K T_loop) / (G + K)."""

    C, G, K, T_loop = ac.Parameter(2e4), ac.Parameter(150.0), ac.Parameter(50.0), ac.Parameter(275.0)
    T_air, T = ac.Parameter(300.0, unit="K", min=200.0), ac.Variable(start=320.0, fixed=True, unit="K")

    def equations(self) -> Any:
        yield self.C * ac.der(self.T) == self.G * (self.T_air - self.T) + self.K * (self.T_loop - self.T)


AIR = np.array([25.0, 30.0, 35.0, -400.0, 40.0])  # one of them cannot be
AT_REST = (150.0 * (AIR + 273.15) + 50.0 * 275.0) / 200.0


def spreadsheet(folder: Path) -> Path:
    import pandas

    place = folder / "cases.xlsx"
    pandas.DataFrame({"case": [f"air {t:g}" for t in AIR], "T_air [degC]": AIR}).to_excel(place, index=False)
    return place


def spreadsheet_error(folder: Path) -> float:
    """Cases from a file, states of rest, and the table back in a file: the largest error of those that can be."""
    import pandas

    study = ac.compile(Cooler()).study(spreadsheet(folder), "T", steady=True)
    study.save(folder / "table.xlsx")
    back = pandas.read_excel(folder / "table.xlsx", index_col="case")
    good = AIR > -273
    return float(np.abs(back["T"][good] / AT_REST[good] - 1).max()) if study.ok.tolist() == good.tolist() else np.inf
