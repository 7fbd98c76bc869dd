"""Studies and analyses: sensitivities, gradients, fits and turning points against closed forms, differences and one plain run.

Each record has what was reached and, as `bar`, what is asked for; `ok` says whether it is met. Costs are multiples of one run.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE
from typing import Any

import numpy as np

import acausal as ac
from benchmarks import compiled, literature, models

PLANT = 20  # cells of a chain with 41 unknowns
CASES, STREAMED = 1_000, 100_000
CELLS = 1_000
END = 100.0
REPEATS = 5
STARTS = 50  # of a fit; 45 of them are to end at the right parameters
Record = dict[str, Any]


def run(sizes: list[int] | None = None) -> Iterator[Record]:
    """`sizes`: the number of random starts of each fit, and of cases that are streamed to disk (50 and 100 000)."""
    starts = sizes[0] if sizes else STARTS
    yield from _many_cases()
    yield from _ensembles()
    yield from _streamed(sizes[1] if sizes and len(sizes) > 1 else STREAMED)
    yield from _forward()
    yield from _backward()
    yield from _bounces()
    yield from _thermostat()
    yield from _peaks()
    yield from _turning_points()
    yield from _literature()
    for case in (_prey, _exchanger, _battery):
        yield case(starts)


def _record(case: str, n: int, reached: float, bar: float, at_least: bool = False, seconds: float | None = None) -> Record:
    ok = reached >= bar if at_least else reached <= bar
    ratio = float(np.divide(bar, reached) if at_least else np.divide(reached, bar)) if reached or bar else 0.0
    return {
        "suite": "studies",
        "case": case,
        "n": n,
        "seconds": seconds,
        "ratio": ratio,
        "reached": reached,
        "bar": bar,
        "ok": bool(ok),
    }


def _best(*works: Callable[[], Any], rounds: int = REPEATS) -> tuple[float, ...]:
    """Seconds of each, the least of several rounds in turn."""
    found = np.full((rounds, len(works)), np.inf)
    for row in found:
        for k, work in enumerate(works):
            begun = time.perf_counter()
            work()
            row[k] = time.perf_counter() - begun
    return tuple(found.min(axis=0).tolist())


# --- many cases -------------------------------------------------------------------------------------------------------------


def _ensembles() -> Iterator[Record]:
    """Cases in one solve over one by one: with a measured input, and of a model whose index was reduced."""
    t = np.linspace(0.0, 300.0, 61)
    alike: dict[str, Any] = {"until": 20.0, "rtol": 1e-7}
    measured: dict[str, Any] = {"until": 300.0, "rtol": 1e-7, "inputs": {"i": (t, np.sin(t / 30.0))}}
    for case, component, cases, path, asked, bar in (
        ("128 cases with a measured input", Battery(), {"tau1": np.linspace(1.0, 4.0, 128).tolist()}, "v", measured, 0.6),
        (
            "128 cases of a gear (index 3)",
            Gear(),
            {"J": np.linspace(0.5, 2.0, 128).tolist()},
            "a",
            alike,
            1.0,
        ),
    ):
        model = ac.compile(component)
        works = [
            lambda g=g, a=asked, c=cases, m=model, p=path: ac.study(m, c, p, executor="serial", together=g, **a)
            for g in (False, True)
        ]
        tables = [work()[path] for work in works]
        one, many = _best(*works, rounds=3)
        yield _record(f"{case} in one solve, over one by one", 128, many / one, bar, seconds=many)
        yield _record("… and how far the tables are apart", 128, float(np.abs(tables[1] - tables[0]).max()), 1e-5)


class Gear(ac.Component):
    """Two inertias on one gear and a spring."""

    J = ac.Parameter(1.0)
    a, wa = ac.Variable(start=0.5, fixed=True), ac.Variable(start=0.0, fixed=True)
    b, wb, M = ac.Variable(), ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.a) == self.wa
        yield ac.der(self.b) == self.wb
        yield self.J * ac.der(self.wa) == self.M
        yield 2.0 * ac.der(self.wb) == -20.0 * self.b - 3.0 * self.M
        yield self.a == 3.0 * self.b


def _peaks() -> Iterator[Record]:
    """The largest value of a swing and its derivative, with rows a hundred times as far apart as it lasts."""
    worst = [0.0, 0.0]
    q, d = np.sqrt(9.0 - 0.01), 0.1
    t = np.arctan2(q, d) / q
    exact = np.exp(-d * t) * np.sin(q * t) / q
    slope = 3.0 / q * np.exp(-d * t) * (t * np.cos(q * t) / q - np.sin(q * t) / q**2)
    model = ac.compile(Swing())
    for points in (2, 50, 501):
        found = model.gradient(ac.max("x"), ["w"], until=500.0, points=points, rtol=1e-8)
        worst = [max(worst[0], float(abs(found.values[0] / exact - 1))), max(worst[1], float(abs(found["max x", "w"] / slope - 1)))]
    yield _record("ac.max between rows, 2 to 501 of them", 3, worst[0], 1e-6)
    yield _record("… and its gradient", 3, worst[1], 1e-6)


class Swing(ac.Component):
    w = ac.Parameter(3.0)
    x, v = ac.Variable(start=0.0, fixed=True), ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -(self.w**2) * self.x - 0.2 * self.v


def _many_cases() -> Iterator[Record]:
    """A thousand cases on two cores, against two bare programs in C at once that integrate five hundred times each."""
    model, end = ac.compile(models.chain(PLANT)), 1000.0
    cases = ac.grid({"conductor[3].G": np.linspace(8.0, 12.0, CASES).tolist()})
    asked: dict[str, Any] = {"until": end, "points": compiled.OUTPUT_POINTS}
    try:
        compiled.build("chain")
    except compiled.NoReference as missing:
        yield {"suite": "studies", "case": "1000 cases", "n": CASES, "seconds": None, "message": str(missing)}
        return
    bare, threads = _best(_two_programs, lambda: ac.study(model, cases, "cell[19].T", workers=2, **asked), rounds=3)
    yield _record("1000 cases on 2 cores, over C on 2 cores", CASES, threads / bare, 1.3, seconds=threads)
    few = ac.grid({"conductor[3].G": np.linspace(8.0, 12.0, 256).tolist()})
    tables = [ac.study(model, few, "cell[19].T", executor="serial", together=t, **asked) for t in (True, False)]
    one, many = _best(
        *(lambda t=t: ac.study(model, few, "cell[19].T", executor="serial", together=t, **asked) for t in (False, True)), rounds=3
    )
    yield _record("256 cases in one solve for 64 each, over one by one", 256, many / one, 0.6, seconds=many)
    error = float(np.abs(tables[0]["cell[19].T"] / tables[1]["cell[19].T"] - 1).max())
    yield _record("… and how far the tables are apart", 256, error, 1e-6)
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        return
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        ac.study(model, ac.grid({"conductor[3].G": [10.0] * 20}), "cell[19].T", executor=client, **asked)  # workers import once
        bare, dask = _best(_two_programs, lambda: ac.study(model, cases, "cell[19].T", executor=client, **asked), rounds=3)
    yield _record("… on a Dask cluster of two", CASES, dask / bare, 1.6, seconds=dask)


def _two_programs() -> None:
    command = [str(compiled.build("chain")), str(PLANT), str(CASES // 2)]
    programs = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [program.wait() for program in programs] == [0, 0]


def _streamed(count: int) -> Iterator[Record]:
    """A hundred thousand cases to disk: how much memory grows after the first tenth; killed on the way, how many rows differ."""
    with tempfile.TemporaryDirectory() as folder:
        whole, broken = Path(folder) / "whole", Path(folder) / "broken"
        begun = time.perf_counter()
        grown = int(subprocess.run([sys.executable, "-c", STREAM, str(whole), str(count)], check=True, stdout=PIPE).stdout)
        seconds = time.perf_counter() - begun
        yield _record(f"{count} cases to disk: memory after the first tenth, MB", count, grown / 2**20, 10.0, seconds=seconds)
        rng = np.random.default_rng(3)
        for share in np.sort(rng.uniform(0.1, 0.9, 3)):
            program = subprocess.Popen([sys.executable, "-c", STREAM, str(broken), str(count)], stdout=PIPE)
            while program.poll() is None and _lines(broken) < share * count:
                time.sleep(0.2)
            program.kill()
            program.wait()
        subprocess.run([sys.executable, "-c", STREAM, str(broken), str(count)], check=True, stdout=PIPE)
        tables = [(place / "table.npy").read_bytes() for place in (whole, broken)]
        differing = float(sum(a != b for a, b in zip(*tables, strict=True)))
        yield _record("… killed three times and continued: bytes of the table that differ", count, differing, 0.0)


def _lines(folder: Path) -> int:
    place = folder / "rows.jsonl"
    return place.read_bytes().count(b"\n") if place.exists() else 0


STREAM = """
import resource, sys
import numpy as np
import acausal as ac

class Decay(ac.Component):
    k = ac.Parameter(1.0)
    x = ac.Variable(start=1.0, fixed=True)
    def equations(self):
        yield ac.der(self.x) == -self.k * self.x

folder, count = sys.argv[1], int(sys.argv[2])
seen = []
def progress(done, of):
    if done > of / 10:
        with open("/proc/self/statm") as file:
            seen.append(int(file.read().split()[1]) * resource.getpagesize())
cases = ac.draws({"k": ac.uniform(0.5, 2.0)}, count, seed=1)
study = ac.study(ac.compile(Decay()), cases, ["x", ac.max("x")], until=1.0, points=3, keep=folder, progress=progress)
np.save(folder + "/table.npy", np.array([study["k"], study["x"], study["max x"]]))
print(max(seen) - seen[0] if seen else 0)
"""


# --- cost -------------------------------------------------------------------------------------------------------------------


def _forward() -> Iterator[Record]:
    model, options = ac.compile(models.chain(CELLS)), {"points": 51, "rtol": 1e-8}
    names = [f"conductor[{k}].G" for k in range(20)]  # heat comes no further within the run
    run = model.simulate(END, sensitivities=names, **options)
    one, many = _best(lambda: model.simulate(END, **options), lambda: model.simulate(END, sensitivities=names, **options))
    yield _record("20 sensitivities of the chain, in runs", CELLS, many / one, 8.0, seconds=many)
    errors = []
    for name in (names[0], names[5], names[10]):
        value, h = model.get(name), 1e-3 * model.get(name)
        high, low = (model.simulate(END, points=51, rtol=1e-10, set={name: value + d})["cell.T"] for d in (h, -h))
        difference = (high - low) / (2 * h)
        errors.append(np.abs(run.sensitivity("cell.T", name) - difference).max() / np.abs(difference).max())
    yield _record("… against differences at 1e-10", CELLS, float(max(errors)), 1e-5)


def _backward() -> Iterator[Record]:
    model, options = ac.compile(models.chain(CELLS)), {"points": 51, "rtol": 1e-6}
    names = [f"conductor[{k}].G" for k in range(CELLS)]
    found = model.gradient("cell[10].T", names, until=END, **options)
    one, many = _best(lambda: model.simulate(END, **options), lambda: model.gradient("cell[10].T", names, until=END, **options))
    yield _record("gradient by 1000 parameters, in runs", CELLS, many / one, 6.0, seconds=many)
    run = model.simulate(END, sensitivities=names[:3], **options)
    exact = [run.sensitivity("cell[10].T", n)[-1] for n in names[:3]]
    error = float(np.abs(found.data[0, :3] - exact).max() / np.abs(exact).max())
    yield _record("… against forward sensitivities", CELLS, error, 1e-9)


# --- events -----------------------------------------------------------------------------------------------------------------


class Ball(ac.Component):
    g, e = ac.Parameter(9.81), ac.Parameter(0.9)
    h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -self.g

    def events(self) -> Any:
        yield ac.when(self.h < 0, ac.reinit(self.v, -self.e * self.v))


def _bounces() -> Iterator[Record]:
    first = np.sqrt(2 / 9.81)
    end = first + sum(2 * 0.9**k * first for k in range(1, 20)) + 0.005

    def flown(g: Any = 9.81, e: Any = 0.9) -> Any:
        hit = np.sqrt(2 / g)
        v = e * g * hit
        while np.real(hit) <= end:
            last, speed = hit, v
            hit, v = hit + 2 * v / g, v * e
        return speed * (end - last) - g * (end - last) ** 2 / 2

    found = ac.compile(Ball()).simulate(end, points=11, rtol=1e-10, sensitivities=["g", "e"])
    exact = {"g": np.imag(flown(g=9.81 + 1e-30j)) / 1e-30, "e": np.imag(flown(e=0.9 + 1e-30j)) / 1e-30}
    error = max(abs(found.sensitivity("h", n)[-1] / v - 1) for n, v in exact.items())
    yield _record("sensitivities through 20 bounces", 20, float(error), 1e-6)
    back = ac.compile(Ball()).gradient("h", ["g", "e"], until=end, points=11, rtol=1e-10)
    yield _record("… backward", 20, float(max(abs(back["h", n] / v - 1) for n, v in exact.items())), 1e-6)


class Thermostat(ac.Component):
    k, P = ac.Parameter(0.1), ac.Parameter(5.0)
    low, high = ac.Parameter(19.0), ac.Parameter(21.0)
    T, on = ac.Variable(start=20.0, fixed=True), ac.Boolean(start=True)

    def equations(self) -> Any:
        yield ac.der(self.T) == -self.k * self.T + ac.where(self.on, self.P, 0.0)

    def events(self) -> Any:
        yield ac.when(self.T < self.low, ac.assign(self.on, True)).elsewhen(self.T > self.high, ac.assign(self.on, False))


def _thermostat() -> Iterator[Record]:
    end, values = 41.4, {"k": 0.1, "P": 5.0, "low": 19.0, "high": 21.0}

    def switched(k: Any, P: Any, low: Any, high: Any) -> Any:
        t, T, on = 0.0, 20.0, True
        while True:
            rest, goal = (P / k, high) if on else (0.0, low)
            later = t + np.log((T - rest) / (goal - rest)) / k
            if np.real(later) > end:
                return rest + (T - rest) * np.exp(-k * (end - t))
            t, T, on = later, goal, not on

    found = ac.compile(Thermostat()).simulate(end, points=11, rtol=1e-9, sensitivities=list(values))
    exact = {n: np.imag(switched(**{**values, n: v + 1e-30j})) / 1e-30 for n, v in values.items()}
    error = max(abs(found.sensitivity("T", n)[-1] / v - 1) for n, v in exact.items())
    yield _record("sensitivities through 50 switches", len(found.events), float(error), 1e-6)
    back = ac.compile(Thermostat()).gradient("T", list(values), until=end, points=11, rtol=1e-9)
    yield _record("… backward", len(back.result.events), float(max(abs(back["T", n] / v - 1) for n, v in exact.items())), 1e-6)


# --- curves -----------------------------------------------------------------------------------------------------------------


class Spring(ac.Component):
    """SimulationX' example of the Modelica conference 2008: several answers between 0.397 and 0.426 Hz."""

    f = ac.Parameter(0.36)
    phi, w = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.phi) == self.w
        yield ac.der(self.w) + 0.1 * self.w + 8.0 * self.phi - self.phi**2 == ac.sin(2 * ac.pi * self.f * ac.time)


def _turning_points() -> Iterator[Record]:
    response = ac.compile(Spring()).harmonic_balance("f", between=(0.36, 0.5), harmonics=9)
    error = float(np.abs(np.sort(response.folds) / [0.397, 0.426] - 1).max()) if len(response.folds) == 2 else np.inf
    yield _record("turning points by harmonic balance", len(response), error, 5e-3)
    branch = ac.compile(Spring()).periodic_states("f", between=(0.36, 0.5))
    error = float(np.abs(np.sort(branch.folds) / [0.397, 0.426] - 1).max()) if len(branch.folds) == 2 else np.inf
    yield _record("… by shooting and arc length", len(branch), error, 5e-3)


# --- figures of the literature ------------------------------------------------------------------------------------------------


def _literature() -> Iterator[Record]:
    yield _record("eigenvalues of the thesis' circuit down to R2 = 0", 7, literature.eigenvalue_error(), 1e-9)
    plain, other = literature.orbits()
    steps = plain.statistics["steps"] / other.statistics["steps"]
    yield _record("steps of an orbit, Cartesian over elements (793 / 20)", 4, steps, 793 / 20, at_least=True)
    yield _record("… steps in elements", 4, float(other.statistics["steps"]), 25.0)
    yield _record("… how far from where it began, in m", 4, literature.closing_error(other), 8.9e-5)
    yield _record("CO2 abatement, in last printed digits", 3, literature.abatement_error(literature.abatement()), 1.0)
    yield _record("Monte Carlo of an amplifier", 200, literature.monte_carlo_error(literature.monte_carlo()), 1e-9)
    with tempfile.TemporaryDirectory() as folder:
        yield _record("cases of a spreadsheet", 5, literature.spreadsheet_error(Path(folder)), 1e-9)


# --- fits -------------------------------------------------------------------------------------------------------------------


def _fits(case: str, component: ac.Component, true: dict[str, float], data: Any, factor: float, near: float, starts: int) -> Record:
    """How many fits, from random values within a factor, come to the parameters that the data were made with."""
    model, rng, good, begun = ac.compile(component), np.random.default_rng(7), 0, time.perf_counter()
    measured = data(model, true)
    bounds = {name: (value / 20, value * 20) for name, value in true.items()}
    for _ in range(starts):
        start = {name: value * factor ** rng.uniform(-1.0, 1.0) for name, value in true.items()}
        try:
            fit = model.fit(measured, bounds, start=start, rtol=1e-5)
        except ac.AcausalError:
            continue
        good += all(abs(fit[name] / value - 1) < near for name, value in true.items())
    seconds = time.perf_counter() - begun
    return _record(f"{case}: right of {starts}", len(true), float(good), 0.9 * starts, at_least=True, seconds=seconds)


class Prey(ac.Component):
    a, b, c, d = ac.Parameter(1.0), ac.Parameter(0.1), ac.Parameter(1.5), ac.Parameter(0.075)
    x, y = ac.Variable(start=10.0, fixed=True), ac.Variable(start=5.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.a * self.x - self.b * self.x * self.y
        yield ac.der(self.y) == -self.c * self.y + self.d * self.x * self.y


def _prey(starts: int) -> Record:
    def data(model: ac.Model, true: dict[str, float]) -> Any:
        t, noise = np.linspace(0.0, 15.0, 61), np.random.default_rng(1).standard_normal((2, 61))
        found = model.simulate(15.0, at=t, rtol=1e-9, set=true)
        return {"time": t, "x": found["x"] * (1 + 0.02 * noise[0]), "y": found["y"] * (1 + 0.02 * noise[1])}

    return _fits("fit of Lotka and Volterra", Prey(), {"a": 1.0, "b": 0.1, "c": 1.5, "d": 0.075}, data, 2.0, 0.05, starts)


class Exchanger(ac.Component):
    """Counter flow in ten cells: two heat transfers and a wall."""

    hot, cold, wall = ac.Parameter(2000.0), ac.Parameter(3000.0), ac.Parameter(5e4)
    m, T_hot, T_cold = ac.Input(0.5), ac.Input(360.0), ac.Input(290.0)
    T_h, T_c, T_w = (ac.Variable(shape=10, start=300.0, fixed=True) for _ in range(3))

    def equations(self) -> Any:
        hot, cold = self.hot / 10 * (self.T_h - self.T_w), self.cold / 10 * (self.T_w - self.T_c)
        flow = 4200.0 * self.m
        yield self.wall / 10 * ac.der(self.T_w) == hot - cold
        yield 4200.0 * ac.der(self.T_h[0]) == flow * (self.T_hot - self.T_h[0]) - hot[0]
        yield 4200.0 * ac.der(self.T_h[1:]) == flow * (self.T_h[:-1] - self.T_h[1:]) - hot[1:]
        yield 4200.0 * ac.der(self.T_c[-1]) == 2100.0 * (self.T_cold - self.T_c[-1]) - cold[-1]
        yield 4200.0 * ac.der(self.T_c[:-1]) == 2100.0 * (self.T_c[1:] - self.T_c[:-1]) - cold[:-1]


def _exchanger(starts: int) -> Record:
    def data(model: ac.Model, true: dict[str, float]) -> Any:
        t, noise = np.linspace(0.0, 600.0, 61), np.random.default_rng(2).standard_normal((2, 61))
        flow = 0.5 + 0.3 * np.sin(t / 40.0)
        found = model.simulate(600.0, at=t, rtol=1e-8, set=true, inputs={"m": (t, flow)})
        paths = ("T_h[9]", "T_c[0]")
        return {"time": t, "m": flow, **{p: found[p] + 0.1 * noise[k] for k, p in enumerate(paths)}}

    true = {"hot": 2000.0, "cold": 3000.0, "wall": 5e4}
    return _fits("fit of a heat exchanger with noise", Exchanger(), true, data, 4.0, 0.1, starts)


class Battery(ac.Component):
    """An equivalent circuit: a polynomial of the open voltage, a resistance that grows with the current, three pairs of R and C.

    The capacity is no parameter of the fit: it cannot be told apart from the coefficients of the polynomial.
    """

    V0, V1, V2, V3 = ac.Parameter(3.0), ac.Parameter(1.2), ac.Parameter(-0.9), ac.Parameter(0.6)
    Q, R0, growth = ac.Parameter(7200.0), ac.Parameter(0.02), ac.Parameter(0.1)
    R1, R2, R3 = ac.Parameter(0.015), ac.Parameter(0.01), ac.Parameter(0.02)
    tau1, tau2, tau3 = ac.Parameter(2.0), ac.Parameter(20.0), ac.Parameter(200.0)
    i = ac.Input(0.0)
    s = ac.Variable(start=0.9, fixed=True)
    u1, u2, u3 = (ac.Variable(start=0.0, fixed=True) for _ in range(3))
    v = ac.Variable()

    def equations(self) -> Any:
        yield self.Q * ac.der(self.s) == -self.i
        for u, R, tau in ((self.u1, self.R1, self.tau1), (self.u2, self.R2, self.tau2), (self.u3, self.R3, self.tau3)):
            yield tau * ac.der(u) == R * self.i - u
        open_voltage = self.V0 + self.V1 * self.s + self.V2 * self.s**2 + self.V3 * self.s**3
        yield self.v == open_voltage - self.R0 * (1 + self.growth * self.i) * self.i - self.u1 - self.u2 - self.u3


def _battery(starts: int) -> Record:
    names = ("V0", "V1", "V2", "V3", "growth", "R0", "R1", "R2", "R3", "tau1", "tau2", "tau3")
    true = dict(zip(names, (3.0, 1.2, 0.9, 0.6, 0.1, 0.02, 0.015, 0.01, 0.02, 2.0, 20.0, 200.0), strict=True))

    def data(model: ac.Model, given: dict[str, float]) -> Any:
        t = np.linspace(0.0, 3000.0, 601)
        current = 3.0 * (np.sin(t / 15.0) + np.sin(t / 3.0) > 0) + 2.0 * np.sin(t / 300.0) + 0.6
        found = model.simulate(3000.0, at=t, rtol=1e-9, set=given, inputs={"i": (t, current)})
        return {"time": t, "i": current, "v": found["v"]}

    return _fits("fit of a battery with 12 parameters", Battery(), true, data, 1.3, 0.1, starts)
