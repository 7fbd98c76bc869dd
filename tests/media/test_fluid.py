"""Tables of fluids against the equations of state they were made of, and against themselves."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.interpolate import BSpline

import acausal as ac
from acausal.media.splines import Axis, graded

CoolProp = pytest.importorskip("CoolProp")
CP = pytest.importorskip("CoolProp.CoolProp")

FLUIDS = ("R134a", "R744")
PAIRS = {"p": "P", "h": "H", "T": "T", "s": "S", "x": "Q", "rho": "D", "u": "U"}


@pytest.fixture(scope="session", params=FLUIDS)
def fluid(request):
    return ac.media.fluid(request.param)


def random_states(fluid, n, seed=0, near=0.0):
    """(p, h) in all regions, as many in liquid, vapour and two phases below the critical pressure, and their phases."""
    rng = np.random.default_rng(seed)
    p = np.exp(rng.uniform(np.log(fluid.p_min), np.log(fluid.p_max), n))
    hmax = fluid.function("h_pT")(p, fluid.T_max)[0]
    low, high = fluid.function("saturation")(p)[:2]
    below = p < fluid.p_critical
    which = np.where(below, rng.integers(0, 3, n), 3)
    start = np.choose(which, [np.full(n, fluid.h_min), low, high, np.full(n, fluid.h_min)])
    end = np.choose(which, [low, high, hmax, hmax])
    return p, start + rng.random(n) * (end - start), which


def reference(fluid):
    return CoolProp.AbstractState("HEOS", fluid.name)


def test_homogeneous_states_agree_with_the_equation_of_state(fluid):
    """Forward: T and rho of the table go into the equation, whose (p, h) must lead back to them."""
    p, h, which = random_states(fluid, 3000)
    state = fluid.state(p=p, h=h)
    single = (which != 1) & (state.T > fluid.T_min)
    near = (np.abs(state.T / fluid.T_critical - 1) < 0.02) & (np.abs(p / fluid.p_critical - 1) < 0.15)
    exact = reference(fluid)
    exact.specify_phase(CoolProp.iphase_gas)
    for k in np.flatnonzero(single):
        exact.update(CoolProp.DmassT_INPUTS, state.rho[k], state.T[k])
        phase = {0: "liquid", 2: "vapour"}.get(int(which[k]), "any")
        found = fluid.state(p=exact.p(), h=exact.hmass(), phase=phase)
        bar = 1e-3 if near[k] else 1e-5
        assert found.T == pytest.approx(state.T[k], rel=bar)
        assert found.rho == pytest.approx(state.rho[k], rel=bar)
        assert found.s == pytest.approx(exact.smass(), rel=bar)
        if not near[k]:
            assert found.speed_of_sound == pytest.approx(exact.speed_sound(), rel=1e-4)
            assert found.cp == pytest.approx(exact.cpmass(), rel=1e-3)
            assert found.viscosity == pytest.approx(exact.viscosity(), rel=1e-3)


def test_saturation_agrees_with_the_equation_of_state(fluid):
    exact = reference(fluid)
    pressures = np.exp(np.linspace(np.log(fluid.p_min), np.log(0.97 * fluid.p_critical), 60))
    ends = fluid.saturation(p=pressures)
    for k, p in enumerate(pressures):
        for quality, end in ((0.0, ends.liquid), (1.0, ends.vapour)):
            exact.update(CoolProp.PQ_INPUTS, p, quality)
            assert end.T[k] == pytest.approx(exact.T(), rel=1e-6)
            assert end.rho[k] == pytest.approx(exact.rhomass(), rel=1e-6)
            assert end.h[k] == pytest.approx(exact.hmass(), rel=1e-6, abs=1e-6 * 1e5)
        assert ends.surface_tension[k] == pytest.approx(exact.surface_tension(), rel=1e-3)


def test_nothing_jumps_at_a_border(fluid):
    pressures = np.exp(np.linspace(np.log(fluid.p_min), np.log(0.999 * fluid.p_critical), 500))
    ends = fluid.saturation(p=pressures)
    for end, phase in ((ends.liquid, "liquid"), (ends.vapour, "vapour")):
        one, two = fluid.state(p=pressures, h=end.h, phase=phase), fluid.state(p=pressures, h=end.h, phase="two-phase")
        for name in ("T", "rho", "s", "cp", "cv", "viscosity", "conductivity", "speed_of_sound"):
            np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("kind", ["state", "more", "saturation", "saturation_more", "h_pT", "h_ps", "p_Tx", "ph_rhoT", "ph_rhou"])
def test_derivatives_against_differences(fluid, kind):
    function = fluid.function(kind)
    p, h, which = random_states(fluid, 400, seed=3)
    quiet = (np.abs(p / fluid.p_critical - 1) > 0.15) & (p > 2 * fluid.p_min) & (which != 1)
    p, h, which = p[quiet], h[quiet], which[quiet]
    state = fluid.state(p=p, h=h)
    if kind.startswith("ph_"):  # a liquid's density says its pressure only just: see the next test for those
        thin = state.rho < fluid.rho_critical
        p, h, which = p[thin], h[thin], which[thin]
        state = fluid.state(p=p, h=h)
    phase = np.choose(which, [-1.0, 0.0, 1.0, 2.0])
    arguments = {
        "state": (p, h, phase), "more": (p, h, phase), "saturation": (p,), "saturation_more": (p,), "h_pT": (p, state.T),
        "h_ps": (p, state.s), "p_Tx": (state.T, np.full(len(p), 0.3)), "ph_rhoT": (state.rho, state.T),
        "ph_rhou": (state.rho, state.u),
    }[kind]  # fmt: skip
    if kind.startswith("saturation") or kind == "p_Tx":
        use = (p < 0.85 * fluid.p_critical) & (state.T < 0.95 * fluid.T_critical) & (state.T > fluid.T_min + 5)
        arguments = tuple(a[use] for a in arguments)
    n, m = function.differentiated, len(function.results)
    smooth = (0,) if kind == "p_Tx" else range(n)  # of a pure fluid, p hardly depends on x
    found = function.evaluate(*arguments)
    assert np.isfinite(found).all()
    spans = {"p": 1.0, "h": 3e5, "phase": 1.0, "T": 1.0, "s": 1e3, "x": 1.0, "rho": 1.0, "u": 3e5}
    for k in smooth:
        size = np.abs(arguments[k]) if function.arguments[k] in "pTrho" else np.full(len(found), spans[function.arguments[k]])
        step = 1e-5 * size
        ahead, behind = (
            function.evaluate(*(a + sign * step if j == k else a for j, a in enumerate(arguments))) for sign in (1, -1)
        )
        slope = (ahead - behind) / (2 * step[:, None])
        ok = np.isfinite(slope).all(axis=1)
        first = found[:, m * (1 + k) : m * (2 + k)]
        scale = np.abs(found[:, :m]) / size[:, None] + np.abs(first)
        error = np.abs(slope[:, :m] - first)[ok] / scale[ok]
        assert np.quantile(error, 0.99) < 1e-6
        for j in smooth:  # second derivatives are the slopes of the first
            a, b = min(j, k), max(j, k)
            place = 1 + n + (b if n == 1 else [(0, 0), (0, 1), (1, 1)].index((a, b)))
            second = found[:, m * place : m * (place + 1)]
            numeric = slope[:, m * (1 + j) : m * (2 + j)]
            scale = np.abs(found[:, m * (1 + j) : m * (2 + j)]) / size[:, None] + np.abs(second)
            assert np.quantile(np.abs(numeric - second)[ok] / scale[ok], 0.98) < 1e-4, (k, j)


@pytest.mark.parametrize("kind", ["ph_rhoT", "ph_rhou"])
def test_inverse_maps_have_inverse_derivatives(fluid, kind):
    p, h, which = random_states(fluid, 400, seed=4)
    keep = np.abs(p / fluid.p_critical - 1) > 0.15
    if kind == "ph_rhoT":
        keep &= which != 1  # T alone says p there
    state = fluid.state(p=p[keep], h=h[keep])
    out = fluid.function("state").evaluate(state.p, state.h, np.full(keep.sum(), 2.0))
    rho_p, rho_h = out[:, 5], out[:, 9]
    if kind == "ph_rhoT":
        second, slopes = state.T, (out[:, 4], out[:, 8])
    else:
        second, slopes = state.u, (-1 / state.rho + state.p / state.rho**2 * rho_p, 1 + state.p / state.rho**2 * rho_h)
    forward = np.stack([np.stack([rho_p, rho_h], -1), np.stack(slopes, -1)], -2)
    found = fluid.function(kind).evaluate(state.rho, second)
    np.testing.assert_allclose(found[:, 1], state.h, rtol=1e-8, atol=1e-3)
    backward = np.stack([found[:, 2:4], found[:, 4:6]], -1)
    product = backward @ forward
    scale = np.abs(backward) @ np.abs(forward)
    assert np.max(np.abs(product - np.eye(2)) / scale) < 1e-5


def test_maxwell_relations(fluid):
    """T ds = dh - v dp: the tables of T, rho and s were fitted apart and must still agree."""
    p, h, which = random_states(fluid, 60_000, seed=5)
    keep = (which != 1) & ((p < 0.995 * fluid.p_critical) | (p > 1.2 * fluid.p_critical))
    p, h, which = p[keep], h[keep], which[keep]
    out = fluid.function("state").evaluate(p, h, np.choose(which, [-1.0, 0.0, 1.0, 2.0]))
    T, rho = out[:, 0], out[:, 1]
    s_p, s_h = out[:, 6], out[:, 10]
    liquid = rho > fluid.rho_critical
    for error in (np.abs(s_h * T - 1), np.abs(s_p * rho * T + 1)):
        assert error[~liquid].max() < 1e-5
        assert error[liquid].max() < 1e-4


@pytest.mark.parametrize(
    "pair",
    [
        {"p": 1e6, "T": 400.0}, {"p": 1e6, "s": 1500.0}, {"p": 1e6, "x": 0.25}, {"T": 260.0, "x": 0.5}, {"rho": 40.0, "T": 400.0},
        {"rho": 300.0, "T": 260.0}, {"rho": 300.0, "u": 3.5e5}, {"rho": 30.0, "u": 4.2e5}, {"p": 2e7, "T": 320.0},
    ],
)  # fmt: skip
def test_states_from_other_pairs(fluid, pair):
    if pair.get("p", 0) > fluid.p_max:
        pytest.skip("beyond the table")
    exact = CoolProp.CoolProp
    listed = [part for name, value in pair.items() for part in (PAIRS[name], value)]
    found = fluid.state(**pair)
    for name in ("p", "h", "T"):
        assert getattr(found, name) == pytest.approx(exact.PropsSI(PAIRS[name], *listed, fluid.name), rel=1e-6)


def test_isochores_of_co2_invert_through_the_critical_point():
    co2 = ac.media.fluid("CO2")
    for share in (0.6, 0.9, 0.98, 1.0, 1.02, 1.1, 1.4):
        for u in np.linspace(2.3e5, 3.4e5, 40):
            found = co2.state(rho=share * 467.6, u=u)
            assert found.rho == pytest.approx(share * 467.6, rel=1e-9)
            assert found.u == pytest.approx(u, rel=1e-9)


def test_numbers_and_arrays():
    water = ac.media.fluid("water")
    assert isinstance(water.state(p=1e5, T=300.0).rho, float)
    state = water.state(p=np.array([1e5, 1e6]), T=300.0)
    assert state.rho.shape == (2,)
    assert water.state(p=np.full((2, 3), 1e5), h=1e5).T.shape == (2, 3)
    assert state.prandtl == pytest.approx(state.cp * state.viscosity / state.conductivity)
    assert water.state(p=1e5, h=1e6).phase == 0.0
    assert water.state(p=1e5, x=0.5).x == pytest.approx(0.5, abs=1e-12)


def test_water_against_the_industrial_formulation():
    """IAPWS-IF97 agrees with IAPWS-95, on which the table rests, within its own uncertainty."""
    water, steam = ac.media.fluid("water"), CoolProp.CoolProp
    for p, T in ((1e5, 300.0), (1e7, 350.0), (1e6, 500.0), (5e6, 800.0), (2.5e7, 900.0), (5e7, 500.0)):
        state = water.state(p=p, T=T)
        assert state.rho == pytest.approx(steam.PropsSI("D", "P", p, "T", T, "IF97::Water"), rel=1e-3)
        assert state.h == pytest.approx(steam.PropsSI("H", "P", p, "T", T, "IF97::Water"), rel=1e-3, abs=500)


# --- bad input ------------------------------------------------------------------------------------------------------------

REFUSED = {
    'above the highest pressure of the table of R134a, 1e\\+07 Pa; `ac.media.fluid\\("R134a", p_max=…\\)`': {"p": 1e9, "h": 3e5},
    "T = 900 K is above the highest temperature": {"p": 1e5, "T": 900.0},
    "hotter than the table of R134a reaches, 450 K": {"p": 1e5, "h": 1e6},
    "p = 1e-09 Pa is below the lowest pressure": {"p": 1e-9, "h": 4e5},
    "p = -1 Pa is below the lowest pressure": {"p": -1.0, "T": 300.0},
    "colder than gas in the table of R134a: below .* Pa, where its liquid ends, there is gas from": {"p": 1.0, "h": 2e5},
    "R134a has no two phases at p = 1 Pa": {"p": 1.0, "x": 0.5},
    "R134a has no two phases at T = 400 K": {"T": 400.0, "x": 0.5},
    "R134a has no two phases at p = 5e\\+06 Pa": {"p": 5e6, "x": 0.5},
    "x = 1.5 is no quality": {"p": 1e6, "x": 1.5},
    "is outside the table of R134a": {"rho": 5000.0, "T": 300.0},
    "below the lowest enthalpy": {"p": 1e6, "h": -1e5},
    "cannot be found from \\(p, q\\)": {"p": 1e6, "q": 0.5},
    "A phase is one of": {"p": 1e6, "h": 4e5, "phase": "solid"},
}


@pytest.mark.parametrize("message", REFUSED)
def test_states_that_are_refused(message):
    with pytest.raises(ac.ModelError, match=message):
        ac.media.fluid("R134a").state(**REFUSED[message])


def test_saturation_above_the_critical_point_is_refused():
    with pytest.raises(ac.ModelError, match="no two phases at T = 400 K"):
        ac.media.fluid("R134a").saturation(T=400.0)
    with pytest.raises(ac.ModelError, match="at a pressure or at a temperature"):
        ac.media.fluid("R134a").saturation()


@pytest.mark.parametrize(("name", "near"), [("R134", "R134a"), ("watr", "Water"), ("R1234y", "R1234yf")])
def test_unknown_fluids_get_near_matches(name, near):
    with pytest.raises(ac.ModelError, match=f"CoolProp knows no fluid `{name}`. Did you mean .*`{near}`"):
        ac.media.fluid(name)


def test_a_fluid_is_known_by_all_its_names():
    assert ac.media.fluid("r744") is ac.media.fluid("CO2") is ac.media.fluid("CarbonDioxide")
    with pytest.raises(ac.ModelError, match="known by its name, got 134"):
        ac.media.fluid(134)


# --- keeping --------------------------------------------------------------------------------------------------------------


def test_a_fluid_survives_pickling_and_copying():
    import copy

    fluid = ac.media.fluid("R134a")
    assert pickle.loads(pickle.dumps(fluid)) is fluid
    assert copy.deepcopy(fluid) is fluid
    assert pickle.loads(pickle.dumps(fluid.function("state"))) is fluid.function("state")


def test_a_damaged_table_is_not_believed(monkeypatch, tmp_path):
    from acausal.media import cache

    monkeypatch.setenv("ACAUSAL_CACHE", str(tmp_path))
    cache.write("a.fluid", b"12345678")
    assert bytes(cache.read("a.fluid")) == b"12345678"
    path = tmp_path / "a.fluid"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    assert cache.read("a.fluid") is None
    assert cache.read("missing.fluid") is None


def test_importing_acausal_does_not_import_coolprop():
    code = "import sys, acausal; acausal.media; assert not any('CoolProp' in m for m in sys.modules), 'imported'"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_both_builds_of_the_native_code_agree(fluid):
    p, h, _ = random_states(fluid, 2000, seed=9)
    rows = np.ascontiguousarray(np.stack([p, h, np.full(len(p), 2.0)], axis=1))
    one, other = np.empty((len(p), 24)), np.empty((len(p), 24))
    fluid.native.evaluate(0, rows, one, False)
    fluid.native.evaluate(0, rows, other, True)
    np.testing.assert_allclose(one[:, :4], other[:, :4], rtol=1e-12)


def test_not_a_number_comes_out_as_it_went_in(fluid):
    found = fluid.function("state").evaluate(np.array([np.nan, 1e6, -1e5]), np.array([3e5, np.nan, 3e5]), np.full(3, 2.0))
    assert np.isnan(found).all()


def test_water_is_that_of_if97_and_reaches_down_to_ice():
    """The industrial formulation differs from the scientific one by some hundredths of a percent; CoolProp has both."""
    water = ac.media.fluid("water")
    assert water.T_min < 273.17
    for p, T in ((1e5, 275.15), (1e5, 293.15), (3e5, 353.15), (1e7, 473.15), (1e5, 423.15), (5e6, 623.15), (1e7, 873.15)):
        state = water.state(p=p, T=T)
        rho, h, s, cp = (CP.PropsSI(k, "P", p, "T", T, "IF97::Water") for k in ("D", "H", "S", "C"))
        assert state.rho == pytest.approx(rho, rel=3e-4)
        assert state.h == pytest.approx(h, rel=3e-4, abs=30.0)
        assert state.s == pytest.approx(s, rel=3e-4, abs=0.2)
        assert state.cp == pytest.approx(cp, rel=3e-3)
    for p in (1e3, 1e5, 1e6, 1.5e7):
        assert water.saturation(p=p).T == pytest.approx(CP.PropsSI("T", "P", p, "Q", 0, "IF97::Water"), rel=5e-5)


def test_nan_is_not_above_a_limit():
    with pytest.raises(ac.ModelError, match="T is not a number"):
        ac.media.fluid("R134a").state(p=1e5, T=float("nan"))


@pytest.mark.parametrize("name", ["Air", "Argon", "Methane", "CarbonMonoxide"])
def test_gases_with_a_low_critical_point_reach_a_warm_room(name: str) -> None:
    from acausal.media.equation_of_state import EquationOfState
    from acausal.media.ranges import range_of

    assert range_of(EquationOfState(name)).T_max >= 400.0


# --- gas below the lowest saturation pressure -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["R134a", "Water"])
def test_thin_gas_is_that_of_the_equation_of_state(name):
    import CoolProp.CoolProp as cp

    fluid = ac.media.fluid(name)
    for share, T in ((0.99, 1.3), (0.3, 1.1), (1e-3, 1.5), (1e-6, 1.2)):
        p, T = share * fluid.p_min, T * fluid.T_min
        state = fluid.state(p=p, T=T)
        exact = [cp.PropsSI(what, "P", p, "T|gas", T, fluid.name) for what in ("D", "S", "H", "C", "A")]
        found = [state.rho, state.s, state.h, state.cp, state.speed_of_sound]
        np.testing.assert_allclose(found, exact, rtol=2e-6)
        assert state.phase == 1.0


def test_thin_gas_is_found_from_all_pairs():
    fluid = ac.media.fluid("R134a")
    state = fluid.state(p=3.0, T=280.0)
    for pair in (
        {"p": 3.0, "s": state.s},
        {"rho": state.rho, "T": 280.0},
        {"rho": state.rho, "u": state.u},
        {"p": 3.0, "h": state.h},
    ):
        again = fluid.state(**pair)
        np.testing.assert_allclose([again.p, again.T, again.rho, again.s], [3.0, 280.0, state.rho, state.s], rtol=1e-11)


def test_nothing_jumps_where_thin_gas_meets_vapour():
    fluid = ac.media.fluid("R134a")
    h = np.linspace(fluid.h_gas, fluid.state(p=fluid.p_min, T=440.0).h, 50)
    above, below = (
        fluid.function("state").evaluate(np.full(50, fluid.p_min * (1 + s * 1e-13)), h, np.full(50, 1.0)) for s in (1, -1)
    )
    np.testing.assert_allclose(below[:, :4], above[:, :4], rtol=1e-11)
    assert np.all(np.abs(below[:, 4:8] - above[:, 4:8]) * fluid.p_min < 1e-7 * np.abs(above[:, :4]))
    np.testing.assert_allclose(below[:, 8:12], above[:, 8:12], rtol=1e-7)


def test_a_leak_empties_a_vessel_to_vacuum():
    fluid = ac.media.fluid("R134a")

    class Vessel(ac.Component):
        p = ac.Variable(start=2e4, fixed=True, unit="Pa", nominal=1e4)
        h = ac.Variable(start=4.2e5, unit="J/kg", nominal=1e5)
        M = ac.Variable(unit="kg", nominal=1e-3, state="prefer")
        T = ac.Variable(unit="K", start=300.0, fixed=True)
        U = ac.Variable(unit="J", nominal=100.0, state="prefer")

        def equations(self):
            state = fluid.state(p=self.p, h=self.h)
            yield self.M == 0.01 * state.rho
            yield self.U == self.M * self.h - self.p * 0.01
            yield self.T == state.T
            yield ac.der(self.M) == -1e-8 * self.p
            yield ac.der(self.U) == -1e-8 * self.p * self.h + 0.2 * (300.0 - self.T)

    result = ac.compile(Vessel()).simulate(until=3000.0, every=10.0)
    assert abs(result["p"][-1]) < 1e-3
    np.testing.assert_allclose(result["T"][-1], 300.0, atol=1e-3)
    then = result.at(200.0)
    assert 1.0 < then["p"] < fluid.p_min
    np.testing.assert_allclose(then["M"], 0.01 * fluid.state(p=then["p"], T=then["T"]).rho, rtol=1e-6)


@pytest.mark.parametrize("name", ["R134a", "Water", "R744"])
def test_first_derivatives_alone_are_the_same(name):
    fluid = ac.media.fluid(name)
    pressures = np.array(
        [0.2 * fluid.p_min, 3 * fluid.p_min, 0.5 * fluid.p_critical, 0.9 * fluid.p_critical, 1.3 * fluid.p_critical]
    )

    class Point(ac.Component):
        p, h = ac.Parameter(1e5, unit="Pa"), ac.Parameter(4e5, unit="J/kg")
        a, b = ac.Variable(unit="K"), ac.Variable(unit="kg/m^3")

        def equations(self):
            state = fluid.state(p=self.p, h=self.h, phase="any")
            yield self.a == state.T
            yield self.b == state.rho

    model = ac.compile(Point())
    for p in pressures:
        for h in np.linspace(fluid.h_min if p > fluid.p_min else fluid.h_gas, 1.1 * fluid.h_gas, 7):
            result = model.steady_state(set={"p": p, "h": h})
            exact = fluid.state(p=p, h=h, phase="any")
            np.testing.assert_allclose([result["a"][0], result["b"][0]], [exact.T, exact.rho], rtol=1e-13)


def test_basis_functions_agree_at_their_knots_to_rounding():
    axis = Axis(graded(0.0, 1.0, 60, lambda x: 1 / (x + 0.01)))
    found = axis.polynomials()[:, :, :6]
    at_the_end, at_the_start = found[:-1].sum(axis=1), found[1:, 0]
    assert np.abs(at_the_end[:, 1:] - at_the_start[:, :5]).max() < 5e-15 and np.abs(at_the_end[:, 0]).max() < 5e-15
    values, span = axis.rows(np.linspace(0.0, 1.0, 301))
    np.testing.assert_allclose(values.sum(axis=1), 1.0, atol=1e-14)
    slopes, _ = axis.rows(np.linspace(0.0, 1.0, 301), 1)
    greville = np.array([axis.t[k + 1 : k + 6].mean() for k in range(axis.count)])  # coefficients of x itself
    np.testing.assert_allclose((slopes * greville[span[:, None] + np.arange(6)]).sum(axis=1), 1.0, atol=1e-10)


def test_a_curve_in_pieces_is_its_spline():
    axis = Axis(graded(0.0, 1.0, 40, lambda x: 1 / (x + 0.02)))
    nodes = axis.fit(np.stack([np.sqrt(axis.points + 0.1), np.sin(axis.points)], axis=1))
    pieces, spline = axis.pieces(nodes), BSpline(axis.t, nodes, 5)
    s = np.linspace(0.0, 1.0, 7)
    for k in range(axis.spans):
        x = axis.knots[k] + s * (axis.knots[k + 1] - axis.knots[k])
        np.testing.assert_allclose(s[:, None] ** np.arange(6) @ pieces[k], spline(x), atol=1e-14)
    np.testing.assert_array_equal(axis.pieces(nodes[:, 0])[:, :6], pieces[:, :, 0])


@pytest.mark.parametrize("name", ["R134a", "Water"])
def test_both_sides_of_every_knot_agree(name):
    """A point finds its span through buckets: where two spans meet the surface has no gap."""
    fluid = ac.media.fluid(name)
    start = int(fluid.table[20])  # the first axis: ln p of vapour
    knots = fluid.table[start + 8 :][: int(fluid.table[start])]
    p = np.exp(knots[1:-1])
    sides = [fluid.state(p=p * (1 + e), h=fluid.h_gas * 1.2, phase="vapour") for e in (-1e-13, 0.0, 1e-13)]
    for what in ("T", "rho", "s"):
        below, at, above = (getattr(side, what) for side in sides)
        np.testing.assert_allclose([below, above], [at, at], rtol=1e-10)  # rounding: 3e-12, between knots as well
