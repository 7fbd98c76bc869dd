"""Media: fluid tables against their equations of state: accuracy, borders, derivatives, time a look-up, making and loading.

Each record has a `case`, the fluid, the `value` reached, its `bar` and whether it is `ok`. States are drawn at random over a whole
table (uniform in ln p; as many in liquid, vapour and two phases). T and rho of the table go into the equation of state, whose
(p, h) must lead back to them: one evaluation a state, and no flash of somebody else's in between. `sizes` are numbers of states
(1 000 000 in the table of figures).
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

import acausal as ac
from acausal.media.functions import look_ups
from benchmarks.fluids import CYCLES, Cycle, Ring, Volume, exact_cop, tespy_cop

FLUIDS = (
    "Water", "R134a", "R290", "R600a", "R717", "R744", "R1234yf", "R32", "R410A", "Nitrogen", "Oxygen", "Hydrogen", "Helium",
)  # fmt: skip
STATES = 20_000
Record = dict[str, Any]


def run(sizes: list[int] | None = None) -> Iterator[Record]:
    """`sizes`: how many random states a fluid."""
    n = (sizes or [STATES])[0]
    for name in FLUIDS:
        yield from _making(name)
        fluid = ac.media.fluid(name)
        yield from _accuracy(fluid, n)
        yield _thin_gas(fluid)
        yield _borders(fluid)
        yield from _derivatives(fluid, min(n, 100_000))
        yield from _times(fluid)
    yield from _isochores()
    yield from _cycles()
    yield from _ring()


def _record(case: str, fluid: str, value: float, bar: float | None, **more: Any) -> Record:
    ok = None if bar is None else bool(value <= bar)
    return {"suite": "media", "case": case, "fluid": fluid, "value": float(value), "bar": bar, "ok": ok} | more


def _making(name: str) -> Iterator[Record]:
    """Building into an empty cache, and loading again, in CPU seconds of this process."""
    from acausal.media.names import coolprop_name
    from acausal.media.store import table_of

    key, before = coolprop_name(name), os.environ.get("ACAUSAL_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ACAUSAL_CACHE"] = folder
        try:
            start = time.process_time()
            table = table_of(key, (None, None, None), lambda share: None)
            yield _record("building, s", name, time.process_time() - start, 8.0)
            loads = []
            for _ in range(5):
                start = time.process_time()
                table_of(key, (None, None, None), lambda share: None)
                loads.append(time.process_time() - start)
            yield _record("loading, s", name, min(loads), 0.020)
            yield _record("size, bytes", name, table.nbytes, 1e6)
        finally:
            if before is None:
                del os.environ["ACAUSAL_CACHE"]
            else:
                os.environ["ACAUSAL_CACHE"] = before


def random_states(fluid: Any, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p, h and region: 0 liquid, 1 two phases, 2 vapour, 3 above the critical pressure."""
    rng = np.random.default_rng(seed)
    p = np.exp(rng.uniform(np.log(fluid.p_min), np.log(fluid.p_max), n))
    highest = fluid.function("h_pT")(p, fluid.T_max)[0]
    low, high = fluid.function("saturation")(p)[:2]
    which = np.where(p < fluid.p_critical, rng.integers(0, 3, n), 3)
    start = np.choose(which, [np.full(n, fluid.h_min), low, high, np.full(n, fluid.h_min)])
    end = np.choose(which, [low, high, highest, highest])
    return p, start + rng.random(n) * (end - start), which


def _phases(which: np.ndarray) -> np.ndarray:
    return np.choose(which, [-1.0, 0.0, 1.0, 2.0])


@dataclass
class Compared:
    """States of a table beside those of the equation: what `error` is of, relative, T, rho and s of each."""

    p: np.ndarray
    h: np.ndarray
    which: np.ndarray
    exact: np.ndarray
    error: np.ndarray


def compared(fluid: Any, n: int, seed: int = 0) -> Compared:
    """Random states, each with what CoolProp makes of it, without those that it does not find or that may be solid."""
    import CoolProp as cp

    p, h, which = random_states(fluid, n, seed)
    found = fluid.function("state").evaluate(p, h, _phases(which))
    exact = np.full((n, 3), np.nan)
    single, flash = cp.AbstractState("HEOS", fluid.name), cp.AbstractState("HEOS", fluid.name)
    single.specify_phase(cp.iphase_gas)
    for k in range(n):
        if which[k] == 1:
            exact[k] = _two_phases(flash, p[k], h[k])
        elif found[k, 0] >= fluid.T_min:  # colder, a liquid under pressure may be solid
            single.update(cp.DmassT_INPUTS, found[k, 1], found[k, 0])
            p[k], h[k] = single.p(), single.hmass()
            exact[k] = found[k, 0], found[k, 1], single.smass()
    again = fluid.function("state").evaluate(p, h, _phases(which))[:, :3]
    error = np.abs(again - exact) / np.maximum(np.abs(exact), [0, 0, 5 * fluid.gas_constant])
    there = np.isfinite(exact[:, 0])
    return Compared(p[there], h[there], which[there], exact[there], error[there])


def _two_phases(flash: Any, p: float, h: float) -> tuple[float, float, float]:
    import CoolProp as cp

    try:
        ends = []
        for quality in (0.0, 1.0):
            flash.update(cp.PQ_INPUTS, p, quality)
            ends.append((flash.T(), 1 / flash.rhomass(), flash.smass(), flash.hmass()))
    except ValueError:
        return (np.nan, np.nan, np.nan)
    (Tl, vl, sl, hl), (Tv, vv, sv, hv) = ends
    if Tv - Tl > 1e-9 * Tl and p > 0.998 * flash.p_critical():  # a mixture by nature, whose liquid CoolProp has lost
        return (np.nan, np.nan, np.nan)
    x = (h - hl) / (hv - hl)
    return Tl + x * (Tv - Tl), 1 / (vl + x * (vv - vl)), sl + x * (sv - sl)


def _accuracy(fluid: Any, n: int) -> Iterator[Record]:
    got = compared(fluid, n)
    near = (np.abs(got.exact[:, 0] / fluid.T_critical - 1) < 0.02) & (np.abs(got.p / fluid.p_critical - 1) < 0.15)
    for k, name in enumerate(("T", "rho", "s")):
        for place, mask, bar in (("away from the critical point", ~near, 1e-5), ("within 2 % of it", near, 1e-3)):
            picked = got.error[mask, k]
            if len(picked):
                more = {"median": float(np.median(picked)), "states": len(picked)}
                yield _record(f"{name}, {place}", fluid.name, float(picked.max()), bar, **more)
    saturation = _saturation(fluid)
    yield _record("saturation, T and rho", fluid.name, saturation.max(), 1e-6, median=float(np.median(saturation)))


def _saturation(fluid: Any) -> np.ndarray:
    """Relative errors of T and rho of liquid and vapour, up to 0.98 of the critical pressure."""
    import CoolProp as cp

    flash = cp.AbstractState("HEOS", fluid.name)
    pressures = np.exp(np.linspace(np.log(fluid.p_min), np.log(0.98 * fluid.p_critical), 300))
    ends = fluid.saturation(p=pressures)
    errors = np.zeros((len(pressures), 4))
    for k, pressure in enumerate(pressures):
        for quality, end in ((0.0, ends.liquid), (1.0, ends.vapour)):
            flash.update(cp.PQ_INPUTS, pressure, quality)
            errors[k, int(2 * quality) :][:2] = abs(end.T[k] / flash.T() - 1), abs(end.rho[k] / flash.rhomass() - 1)
    return errors


def _thin_gas(fluid: Any, n: int = 2000) -> Record:
    """T, rho and s of gas below the lowest saturation pressure, down to a good vacuum."""
    import CoolProp as cp

    rng = np.random.default_rng(3)
    p = fluid.p_min * 10.0 ** rng.uniform(-6, 0, n)
    T = fluid.T_min + (fluid.T_max - fluid.T_min) * rng.random(n) ** 2
    states = fluid.state(p=p, T=T)
    exact = np.empty((n, 3))
    gas = cp.AbstractState("HEOS", fluid.name)
    gas.specify_phase(cp.iphase_gas)
    for k in range(n):
        gas.update(cp.DmassT_INPUTS, states.rho[k], states.T[k])
        exact[k] = gas.p(), gas.hmass(), gas.smass()
    again = fluid.state(p=exact[:, 0], h=exact[:, 1], phase="vapour")
    found = np.stack([again.T / states.T - 1, again.rho / states.rho - 1, again.s / exact[:, 2] - 1])
    return _record("gas below the lowest saturation pressure", fluid.name, float(np.abs(found).max()), 1e-5)


def _borders(fluid: Any) -> Record:
    p = np.exp(np.linspace(np.log(fluid.p_min), np.log(0.9999 * fluid.p_critical), 5_000))
    ends = fluid.saturation(p=p)
    worst = 0.0
    for end, phase in ((ends.liquid, "liquid"), (ends.vapour, "vapour")):
        one, two = fluid.state(p=p, h=end.h, phase=phase), fluid.state(p=p, h=end.h, phase="two-phase")
        for name in ("T", "rho", "s", "cp", "cv", "viscosity", "conductivity", "speed_of_sound"):
            a, b = getattr(one, name), getattr(two, name)
            worst = max(worst, float(np.nanmax(np.abs(a - b) / np.maximum(np.abs(a), fluid.gas_constant if name == "s" else 0))))
    return _record("jump at a border", fluid.name, worst, 1e-12)


def _derivatives(fluid: Any, n: int) -> Iterator[Record]:
    """Analytic ones against central differences of the table itself, and T ds = dh - v dp."""
    p, h, which = random_states(fluid, n, seed=1)
    keep = (which != 1) & ~((p > 0.995 * fluid.p_critical) & (p < 1.005 * fluid.p_critical)) & (p > 1.001 * fluid.p_min)
    p, h, which = p[keep], h[keep], which[keep]
    function = fluid.function("state")
    out = function.evaluate(p, h, _phases(which))
    usable = out[:, 0] >= fluid.T_min
    unit = float(fluid.table[9])
    errors = []
    for k, step in ((1, 1e-5 * p), (2, np.full(len(p), 1e-5 * unit))):
        moved = [(p + s * step, h) if k == 1 else (p, h + s * step) for s in (1, -1)]
        ahead, behind = (function.evaluate(*m, _phases(which)) for m in moved)
        slope = (ahead[:, :3] - behind[:, :3]) / (2 * step[:, None])
        analytic = out[:, 4 * k : 4 * k + 3]
        floor = 1e-9 * np.abs(out[:, :3]) / step[:, None]  # what rounding leaves of a difference
        errors.append(np.abs(slope - analytic) / (np.abs(analytic) + floor))
    worst = np.max(errors, axis=(0, 2))
    liquid = out[:, 1] > fluid.rho_critical
    maxwell = np.maximum(np.abs(out[:, 10] * out[:, 0] - 1), np.abs(out[:, 6] * out[:, 0] * out[:, 1] + 1))
    below = p < fluid.p_critical
    for name, mask, bar in (
        ("", ~liquid & usable & below, 1e-5),
        (" in liquid", liquid & usable & below, 1e-4),
        (" above the critical pressure", usable & ~below, None),
    ):
        for what, error in (("derivatives against differences", worst), ("Maxwell", maxwell)):
            picked = error[mask]
            more = {"median": float(np.median(picked)), "99.9 %": float(np.quantile(picked, 0.999))}
            yield _record(what + name, fluid.name, float(picked.max()), bar, **more)


def _times(fluid: Any) -> Iterator[Record]:
    """A look-up with first derivatives by the code for this processor and by that for any, and CoolProp's of the same vapour."""
    import CoolProp as cp

    p, h, which = random_states(fluid, 4_000, seed=2)
    cases = [(name, which == k) for k, name in enumerate(("liquid", "two phases", "vapour", "supercritical")) if (which == k).any()]
    best: dict[tuple[str, bool, int], float] = {}
    for _ in range(8):  # the quickest of times that lie apart: a machine may have other work for a while
        for name, mask in cases:
            rows = np.ascontiguousarray(np.stack([p[mask], h[mask], np.full(int(mask.sum()), 2.0)], axis=1))
            for portable, order in ((False, 1), (True, 1), (False, 2), (True, 2)):
                found = fluid.native.nanoseconds(0, rows, 40, portable, order)
                best[name, portable, order] = min(found, best.get((name, portable, order), np.inf))
    for name, mask in cases:
        shared = np.stack([p[mask][np.arange(mask.sum()) // 8 * 8], h[mask], np.full(int(mask.sum()), 2.0)], axis=1)
        eight = min(fluid.native.nanoseconds(0, np.ascontiguousarray(shared), 40, False, 1) for _ in range(8))
        for where, portable in (("", False), (" on any processor", True)):
            second = best[name, portable, 2]
            yield _record(f"look-up in {name}{where}, ns", fluid.name, best[name, portable, 1], 150.0, second_derivatives=second)
        yield _record(f"look-up in {name}, eight at one pressure, ns", fluid.name, eight, None)
    ours = best["vapour", False, 1]
    keep = which == 2
    yield from _ratio("HEOS", 300.0, fluid, p[keep][:200], h[keep][:200], ours)
    try:
        cp.AbstractState("BICUBIC&HEOS", fluid.name).update(cp.HmassP_INPUTS, h[keep][0], p[keep][0])
    except ValueError:
        return
    yield from _ratio("BICUBIC&HEOS", 10.0, fluid, p[keep][:1000], h[keep][:1000], ours)


def _ratio(backend: str, least: float, fluid: Any, p: np.ndarray, h: np.ndarray, ours: float) -> Iterator[Record]:
    """How much longer CoolProp takes, called from Python, for the same results; `values_alone`: without their derivatives."""
    import CoolProp as cp

    state = cp.AbstractState(backend, fluid.name)
    by = ((cp.iP, cp.iHmass), (cp.iHmass, cp.iP))
    slopes = [(of, *pair) for of in (cp.iT, cp.iDmass, cp.iSmass) for pair in by]
    values, all_results = [], []
    for a, b in zip(p.tolist(), h.tolist(), strict=True):
        tries = []
        for _ in range(3):
            start = time.perf_counter()
            try:
                state.update(cp.HmassP_INPUTS, b, a)
                state.T(), state.rhomass(), state.smass()
                between = time.perf_counter()
                for slope in slopes:
                    state.first_partial_deriv(*slope)
            except ValueError:
                break
            tries.append((between - start, time.perf_counter() - start))
        if tries:
            values.append(min(v for v, _ in tries))
            all_results.append(min(v for _, v in tries))
    if values:
        alone, took = float(np.median(values)) * 1e9, float(np.median(all_results)) * 1e9
        record = _record(f"CoolProp {backend.split('&')[0]} over ours", fluid.name, took / ours, least, microseconds=took / 1e3)
        yield record | {"ok": record["value"] >= least, "values_alone": alone / ours}


def _isochores() -> Iterator[Record]:
    from CoolProp.CoolProp import PropsSI

    model = ac.compile(Volume(ac.media.fluid("CO2")))
    for share in (0.6, 0.9, 0.98, 1.0, 1.02, 1.1, 1.4):
        rho = share * 467.6
        result = model.simulate(until=1880.0, rtol=1e-6, set={"M0": rho * 1e-3}, on_failure="keep")
        picked = range(0, len(result.time), 5)
        error = max(abs(result["T"][k] / PropsSI("T", "D", rho, "U", result["U"][k] / result["M"][k], "CO2") - 1) for k in picked)
        value = error if result.outcome else float("inf")
        yield _record(f"isochore of {share:g} critical densities", "CO2", value, 1e-5, steps=result.statistics.steps)


def _least(action: Callable[[], Any], repeats: int = 5) -> tuple[float, Any]:
    """CPU time, and what came out."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        result = action()
        found.append(time.process_time() - start)
    return min(found), result


def _cycles() -> Iterator[Record]:
    for fluid, given in CYCLES.items():
        result = ac.compile(Cycle(ac.media.fluid(fluid))).simulate(until=1.0, set=given)
        error = abs(float(result["COP"][-1]) / exact_cop(fluid, **given) - 1)
        yield _record("COP of a steady cycle", fluid, error, 1e-6)
        if find_spec("tespy"):
            theirs, cop = _least(lambda f=fluid, g=given: tespy_cop(f, **g))
            ours, _ = _least(lambda f=fluid, g=given: ac.compile(Cycle(ac.media.fluid(f))).set(g).steady_state())
            yield _record("COP of a steady cycle against TESPy", fluid, abs(float(result["COP"][-1]) / cop - 1), 1e-8)
            yield _record("a steady cycle, made and solved: times faster than TESPy", fluid, theirs / ours, None, seconds=ours)


def _ring(n: int = 2000) -> Iterator[Record]:
    """Reversing flow in a ring of volumes and pipes: what is conserved, and what translation costs beside a tenth of it."""
    ac.compile(Ring(n // 100))
    seconds = []
    for count in (n // 10, n):
        start = time.process_time()
        model = ac.compile(Ring(count))
        seconds.append(time.process_time() - start)
    look_ups()
    result = model.simulate(until=20.0, points=101)
    counts = look_ups()
    mass, energy = result["volumes.M"].sum(axis=1), result["volumes.U"].sum(axis=1)
    turns = int((np.sign(result["pipes.m"][1:]) != np.sign(result["pipes.m"][:-1])).sum())
    yield _record("ring of 2 000, mass", "R134a", float(np.ptp(mass) / mass[0]), 1e-12, turns=turns)
    yield _record("ring of 2 000, energy", "R134a", float(np.ptp(energy) / abs(energy[0])), 1e-12)
    yield _record("ring, translation of ten times as many", "R134a", seconds[1] / seconds[0], 10.0, seconds=seconds[1])
    evaluations, steps = (result.statistics[name] for name in ("residual_evaluations", "steps"))
    (calls, found), (_, borders) = counts["state"], counts["borders"]
    yield _record("ring, look-ups a residual and volume", "R134a", found / evaluations / n, 1.05, calls=calls / evaluations / n)
    yield _record("ring, borders looked up a step and volume", "R134a", borders / steps / n, None)
