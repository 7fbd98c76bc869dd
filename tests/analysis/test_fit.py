"""Fits and optimisations against known parameters and closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import acausal as ac
from acausal.errors import ModelError, RunWarning, UsageError


class Prey(ac.Component):
    """Lotka and Volterra."""

    a, b = ac.Parameter(1.0, min=0), ac.Parameter(0.1, min=0)
    c, d = ac.Parameter(1.5, min=0), ac.Parameter(0.075, min=0)
    x, y = ac.Variable(start=10.0, fixed=True), ac.Variable(start=5.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.a * self.x - self.b * self.x * self.y
        yield ac.der(self.y) == -self.c * self.y + self.d * self.x * self.y


class Room(ac.Component):
    C, G = ac.Parameter(1e5, unit="J/K", min=0), ac.Parameter(50.0, unit="W/K", min=0)
    eta = ac.Parameter(1.0)
    P, T_out = ac.Input(1000.0, unit="W"), ac.Input(273.15, unit="K")
    T = ac.Variable(start=283.15, fixed=True, unit="K", nominal=300.0)
    share = ac.Variable(doc="of 50 K above the outside")

    def equations(self) -> Any:
        self.load = ac.named(self.G * (self.T - self.T_out), unit="W")
        yield self.C * ac.der(self.T) == self.eta * self.P - self.load
        yield self.share == (self.T - self.T_out) / 50.0


BOUNDS = {"a": (0.01, 10.0), "b": (0.001, 1.0), "c": (0.01, 10.0), "d": (0.001, 1.0)}


@pytest.fixture(scope="module")
def prey() -> tuple[ac.Model, dict[str, Any]]:
    model = ac.compile(Prey())
    t = np.linspace(0.0, 15.0, 61)
    run = model.simulate(15.0, at=t, rtol=1e-8)
    noise = np.random.default_rng(1).standard_normal((2, 61))
    return model, {"time": t, "x": run["x"] * (1 + 0.02 * noise[0]), "y": run["y"] * (1 + 0.02 * noise[1])}


@pytest.mark.parametrize("factors", [(2.0, 0.6, 0.7, 1.8), (0.5, 1.9, 1.9, 0.55), (0.6, 0.6, 2.0, 2.0)])
def test_lotka_volterra_from_far_away(prey: Any, factors: tuple[float, ...]) -> None:
    model, data = prey
    start = dict(zip("abcd", np.array([1.0, 0.1, 1.5, 0.075]) * factors, strict=True))
    fit = model.fit(data, BOUNDS, start=start)
    assert fit.explained > 0.99
    for name, (low, high) in fit.confidence(0.999).items():
        assert low < model.get(name) < high
    assert fit.converged and "x" not in str(fit.diagnostics)


def test_standard_errors_are_those_of_repeated_experiments() -> None:
    model, t = ac.compile(Room()), np.linspace(0.0, 7200.0, 25)
    exact, rng = model.simulate(7200.0, at=t, rtol=1e-8)["T"], np.random.default_rng(3)
    fits = [model.fit({"time": t, "T": exact + 0.1 * rng.standard_normal(25)}, ["G", "C"], rtol=1e-5) for _ in range(40)]
    for name in ("G", "C"):
        spread = np.std([f[name] for f in fits])
        assert spread == pytest.approx(np.mean([f.deviations[name] for f in fits]), rel=0.3)


def test_several_experiments_measured_inputs_units_and_gaps(tmp_path: Any) -> None:
    model, t = ac.compile(Room()), np.linspace(0.0, 3600.0, 19)
    power = 1000.0 + 500.0 * np.sin(t / 500.0)
    first = model.simulate(3600.0, at=t, inputs={"P": (t, power)}, set={"G": 70.0, "C": 2e5}, rtol=1e-9)
    second = model.simulate(3600.0, at=t, inputs={"P": 0.0}, set={"G": 70.0, "C": 2e5, "T": 300.0}, rtol=1e-9)
    frame = pd.DataFrame({"time [min]": t / 60, "P [kW]": power / 1000, "T [degC]": first["T"] - 273.15})
    frame.loc[3:5, "T [degC]"] = np.nan
    frame.to_csv(tmp_path / "first.csv", index=False)
    cooling = ac.experiment({"time": t, "T": second["T"]}, inputs={"P": 0.0}, set={"T": 300.0}, name="cooling")
    fit = model.fit([tmp_path / "first.csv", cooling], ["G", "C"])
    assert fit["G"] == pytest.approx(70.0, rel=1e-4)
    assert fit["C"] == pytest.approx(2e5, rel=1e-4)
    assert len(fit.residuals) == 19 + 16
    figure = fit.plot(tmp_path / "fit.png")
    assert (tmp_path / "fit.png").exists() and len(figure.axes) == 2


@pytest.mark.parametrize("time", ["time_min", "minutes", "time (min)"])
def test_files_are_read_as_those_of_inputs_are(tmp_path: Any, time: str) -> None:
    """Units at the end of names, decimal commas, Windows' encoding, comments, empty cells: one reader for all of it."""
    model, t = ac.compile(Room()), np.linspace(0.0, 3600.0, 19)
    run = model.simulate(3600.0, at=t, inputs={"P": (t, 1000.0 + t / 10)}, set={"G": 70.0, "C": 2e5}, rtol=1e-9)
    rows = [f"{s / 60};{1.0 + s / 1e4};{T - 273.15 if k != 4 else ''}" for k, (s, T) in enumerate(zip(t, run["T"], strict=True))]
    text = "\n".join(["# Prüfstand 3", f"{time};P_kW;T_degC", *rows]).replace(".", ",")
    (tmp_path / "test.csv").write_bytes(text.encode("cp1252"))
    fit = model.fit(tmp_path / "test.csv", ["G", "C"])
    assert (fit["G"], fit["C"]) == (pytest.approx(70.0, rel=1e-4), pytest.approx(2e5, rel=1e-4))
    assert len(fit.residuals) == 18


def test_dates_are_times() -> None:
    model, t = ac.compile(Room()), np.linspace(0.0, 3600.0, 19)
    values = model.simulate(3600.0, at=t, set={"G": 70.0}, rtol=1e-9)["T"]
    frame = pd.DataFrame({"T_degC": values - 273.15}, index=pd.Timestamp("2024-01-31 12:00") + pd.to_timedelta(t, unit="s"))
    assert model.fit(frame, ["G"])["G"] == pytest.approx(70.0, rel=1e-4)


@pytest.mark.parametrize(
    ("header", "cell", "said"),
    [
        ("T_C", "20", r"`T_C` of experiment 1 names nothing in the model; its end may be a unit.(.|\n)*Call it `T \[degC\]`"),
        ("T_bar", "20", "A column of experiment 1 names nothing in the model"),
        ("T [bar]", "20", "is needed in K"),
        ("T", "warm", r"test.csv`, line 3, column `T`: expected a number, got 'warm'"),
        ("T_degC,T [K]", "20,293", "Two columns of experiment 1 are `T`"),
        ("T,P [W],P_kW", "20,0,0", "Two columns of experiment 1 are `P`"),
        ("share [K]", "0.5", "is needed without a unit"),
        ("load [K]", "0.5", "is needed in W"),
    ],
)
def test_columns_that_cannot_be_read_are_refused(tmp_path: Any, header: str, cell: str, said: str) -> None:
    (tmp_path / "test.csv").write_text(f"time,{header}\n0,{cell.replace('warm', '')}\n10,{cell}\n")
    with pytest.raises(ModelError, match=said):
        ac.compile(Room()).fit(tmp_path / "test.csv", ["G"])


@pytest.mark.parametrize(
    ("header", "path", "factor"),
    [
        ("share", "share", 1.0),
        ("share [%]", "share", 100.0),
        ("share_percent", "share", 100.0),
        ("load [kW]", "load", 1e-3),
        ("load_kW", "load", 1e-3),
        ("der(T) [K/h]", "der(T)", 3600.0),
    ],
)
def test_units_of_shares_expressions_and_rates_count(header: str, path: str, factor: float) -> None:
    """They were ignored in a fit, but for those of declared units."""
    model, t = ac.compile(Room()), np.linspace(0.0, 3600.0, 19)
    run = model.simulate(3600.0, at=t, set={"G": 70.0}, rtol=1e-9)
    assert model.fit({"time": t, header: factor * run[path]}, ["G"])["G"] == pytest.approx(70.0, rel=1e-4)


class Boiler(ac.Component):
    """Names of its own that look like times, and like units at their ends."""

    k = ac.Parameter(0.5, unit="1/s", min=0.01, max=10.0)
    p_bar = ac.Variable(unit="Pa", start=1e5, fixed=True, nominal=1e5)
    date, t = ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.p_bar) == -self.k * self.p_bar
        yield self.date == self.p_bar / 5e4
        yield self.t == 2 * self.date


@pytest.mark.parametrize(
    ("header", "factor"),
    [("p_bar", 1.0), ("p_bar [bar]", 1e-5), ("p_bar_kPa", 1e-3), ("date", 1.0), ("t", 1.0), ("date [%]", 100.0)],
)
@pytest.mark.parametrize("kind", ["mapping", "frame", "file"])
def test_a_column_with_the_name_of_a_variable_is_that_variable(tmp_path: Any, header: str, factor: float, kind: str) -> None:
    """`p_bar` in Pa was divided by 1e5, and `date` beside `time` was a second column of times."""
    model, at = ac.compile(Boiler()), np.linspace(0.0, 4.0, 20)
    run = model.simulate(4.0, at=at, set={"k": 0.8}, rtol=1e-9)
    data: Any = {"time": at, header: factor * run[header.split(" ")[0].removesuffix("_kPa")]}
    if kind != "mapping":
        data = pd.DataFrame(data)
    if kind == "file":
        data.to_csv(tmp_path / "test.csv", index=False)
        data = tmp_path / "test.csv"
    assert model.fit(data, ["k"])["k"] == pytest.approx(0.8, rel=1e-4)


def test_a_variable_is_not_the_time() -> None:
    model, at = ac.compile(Boiler()), np.linspace(0.0, 4.0, 20)
    run = model.simulate(4.0, at=at, set={"k": 0.8}, rtol=1e-9)
    for time, frame in (("time_s", None), ("seconds", None), ("", pd.DataFrame({"date": run["date"]}, index=at))):
        data = {time: at, "date": run["date"]} if frame is None else frame
        assert model.fit(data, ["k"])["k"] == pytest.approx(0.8, rel=1e-4)
    for data in ({"t": at, "p_bar": run["p_bar"]}, pd.DataFrame({"t": at, "p_bar": run["p_bar"]})):
        with pytest.raises(UsageError, match=r"no column `time`(.|\n)*`t` is a variable of the model"):
            model.fit(data, ["k"])


@pytest.mark.parametrize("index", ["numbered", "named time", "dates", "named dates", "called T"])
def test_a_column_of_times_goes_before_the_index(index: str) -> None:
    model, at = ac.compile(Room()), np.linspace(0.0, 3600.0, 19)
    frame = pd.DataFrame({"time": at, "T": model.simulate(3600.0, at=at, set={"G": 70.0}, rtol=1e-9)["T"]})
    if "dates" in index:
        frame.index = pd.Timestamp("2024-01-31") + pd.to_timedelta(2 * at, unit="s")
    frame.index.name = {"numbered": "sample", "named time": "time", "named dates": "stamp", "called T": "T"}.get(index)
    assert model.fit(frame, ["G"])["G"] == pytest.approx(70.0, rel=1e-4)


def test_tables_of_several_levels_are_refused() -> None:
    frame = pd.DataFrame({"time": [0.0, 1.0], "T": [280.0, 281.0]})
    across, down = frame.copy(), frame.copy()
    across.columns = pd.MultiIndex.from_arrays([["a", "a"], ["time", "T"]])
    down.index = pd.MultiIndex.from_arrays([["a", "a"], [0, 1]])
    for data, said in ((across, "a header of 2 levels"), (down, "an index of 2 levels")):
        with pytest.raises(UsageError, match=said):
            ac.compile(Room()).fit(data, ["G"])
    twice = pd.concat([frame, frame[["T"]]], axis=1)
    with pytest.raises(UsageError, match="Two columns of experiment 1 are `T`"):
        ac.compile(Room()).fit(twice, ["G"])


def test_a_start_value_is_fitted_and_applied() -> None:
    model, t = ac.compile(Room()), np.linspace(60.0, 3600.0, 12)
    data = {"time": t, "T": model.simulate(3600.0, at=t, set={"T": 290.0, "G": 60.0}, rtol=1e-9)["T"]}
    fit = model.fit(data, ["T", "G"], apply=True)
    assert fit["T"] == pytest.approx(290.0, rel=1e-6)
    assert model.get("G") == pytest.approx(60.0, rel=1e-5)


def test_parameters_that_cannot_be_told_apart_are_named() -> None:
    model, t = ac.compile(Room()), np.linspace(0.0, 7200.0, 13)
    data = {"time": t, "T": model.simulate(7200.0, at=t, rtol=1e-8)["T"]}
    with pytest.warns(RunWarning, match="`C`, `G`, `eta` cannot be told apart"):
        fit = model.fit(data, ["C", "G", "eta"])
    worst, combination = fit.identifiability()[0]
    assert worst < 1e-6 * fit.identifiability()[-1][0]
    assert np.ptp(list(combination.values())) < 1e-3  # all three in proportion


class Surrounded(ac.Component):
    """The power and the temperature outside act as one: P + G·T_out, 273 K being much beside what the power makes."""

    C, G, P = (
        ac.Parameter(1e5, unit="J/K", min=0),
        ac.Parameter(50.0, unit="W/K", min=0),
        ac.Parameter(1000.0, unit="W"),
    )
    T_out = ac.Input(273.15, unit="K")
    T = ac.Variable(start=283.15, fixed=True, unit="K")
    spare, other = ac.Parameter(3.0), ac.Parameter(2.0)
    z = ac.Variable()

    def equations(self):
        yield self.C * ac.der(self.T) == self.P - self.G * (self.T - self.T_out)
        yield self.z == self.spare * self.other


def test_a_parameter_with_an_effect_is_not_said_to_have_none() -> None:
    model, t = ac.compile(Surrounded()), np.linspace(0.0, 7200.0, 25)
    noise = 0.05 * np.random.default_rng(1).standard_normal(25)
    data = {"time": t, "T": model.simulate(7200.0, at=t, set={"G": 65.0})["T"] + noise}
    with pytest.warns(RunWarning):
        fit = model.fit(data, ["G", "C", "P", "T_out"])
    assert np.isinf(list(fit.deviations.values())).all()  # T_out, too, whose relative changes are small
    assert not any("say nothing" in said for said in fit.diagnostics)
    assert all(any(f"`{name}`" in said for said in fit.diagnostics) for name in fit.parameters)
    with pytest.warns(RunWarning):
        fit = model.fit(data, ["G", "spare", "other"])
    assert [said.split("`")[1] for said in fit.diagnostics] == ["spare", "other"]
    assert np.isfinite(fit.deviations["G"]) and np.isinf(fit.deviations["spare"])


@pytest.mark.parametrize(
    ("data", "parameters", "options", "said"),
    [
        ({"time": [0.0, 1.0], "TT": [1.0, 2.0]}, ["G"], {}, "names nothing.*TT"),
        ({"time": [0.0, 2.0, 1.0], "T": [1.0, 2.0, 3.0]}, ["G"], {}, "do not grow: 1 s comes after 2 s"),
        ({"time": [0.0, np.nan], "T": [1.0, 2.0]}, ["G"], {}, "have a gap in row 2"),
        ({"time": [0.0, 1.0], "T": [np.nan, np.nan]}, ["G"], {}, "no number at all"),
        ({"T": [1.0, 2.0]}, ["G"], {}, "no column `time`"),
        ({"time": [0.0, 1.0], "T [kg]": [1.0, 2.0]}, ["G"], {}, "kg"),
        ({"time": [0.0, 1.0], "P": [1.0, 2.0]}, ["G"], {}, "no column that is a variable"),
        ({"time": [0.0, 1.0, 2.0], "T": [1.0, 2.0]}, ["G"], {}, "has 2 values, its time has 3"),
        (
            ac.experiment({"time": [0.0, 1.0], "T": [1.0, 2.0], "P_kW": [1.0, 2.0]}, inputs={"P": 0.0}),
            ["G"],
            {},
            "`P` of experiment 1 is given twice: by the column `P_kW` and by `inputs`",
        ),
        ({"time": [0.0, 1.0], "T": [1.0, 2.0]}, ["G"], {"inputs": {"P": 0.0}}, r"`inputs` belongs to the data(.|\n)*ac.experiment"),
        ({"time": [0.0, 1.0], "T": [1.0, 2.0]}, ["G"], {"set": {"C": 1e4}}, "`set` belongs to the data"),
        (3.0, ["G"], {}, "columns by name, a frame or a CSV file"),
        ("nowhere.csv", ["G"], {}, "cannot be read: No such file"),
        ({"time": [0.0, 1.0], "T": [1.0, 2.0]}, [], {}, "No parameter"),
        ({"time": [0.0, 1.0], "T": [1.0, 2.0]}, ["GG"], {}, "GG"),
        ({"time": [0.0, 1.0], "T": [1.0, 2.0]}, {"G": (3.0, 1.0)}, {}, "must grow"),
        ({"time": [0.0, 1.0], "T": [1.0, 2.0]}, {"G": 3.0}, {}, "a pair of numbers"),
        ({"time": [0.0, 1.0], "T": [1.0, 2.0]}, ["G"], {"start": {"C": 1.0}}, "`start` names `C`"),
        ({"time": [0.0, 1.0], "T": [1.0, 2.0]}, ["G"], {"weights": {"Q": 1.0}}, "`weights` names `Q`"),
        (["G"], {"time": [0.0, 1.0], "T": [1.0, 2.0]}, {}, "The data come first"),
        ({"time": [0.0, 1.0], "T": [1.0, 2.0]}, ["G"], {"start": {"G": "thick"}}, "such as `20 degC`, got 'thick'"),
        ({"time": [0.0, 1.0], "T": [1.0, 2.0]}, ["G"], {"start": {"G": [1.0]}}, "begins with a number"),
        ({"time": [0.0, 1.0], "T": [1.0, 2.0]}, ["G"], {"starts": 0}, "`starts` is how many points"),
        ({"time": [0.0, 1.0], "T": [1.0, 2.0]}, ["G"], {"loss": "luck"}, "`loss` is one of linear, soft_l1"),
        ({"time": [0.0, 1.0], "T": [1.0, 2.0]}, ["G"], {"rtol": "fine"}, "`rtol` is the relative tolerance"),
        ({"time": [0.0, 1.0], "T": ["a", "b"]}, ["G"], {}, "not a number|not numbers|no number"),
        (["G"], pd.DataFrame({"time": [0.0, 1.0], "T": [1.0, 2.0]}), {}, "The data come first"),
        ({"G": None}, "measured.csv", {}, "The data come first"),
    ],
)
def test_bad_input(data: Any, parameters: Any, options: Any, said: str) -> None:
    with pytest.raises((UsageError, ModelError), match=said):
        ac.compile(Room()).fit(data, parameters, **options)


class Tank(ac.Component):
    """A pump fills a tank that leaks; at rest h = (u / k)², and what it costs is u³ + w / h."""

    k, u, w = ac.Parameter(0.5), ac.Parameter(1.0, min=0.05, max=10.0), ac.Parameter(2.0)
    h = ac.Variable(start=1.0, fixed=True)
    cost = ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.h) == self.u - self.k * ac.sqrt(self.h)
        yield self.cost == self.u**3 + self.w / self.h


def test_a_state_of_rest_is_optimised() -> None:
    model = ac.compile(Tank())
    best = model.optimise("cost", ["u"], steady=True)
    u = (2 * 2.0 * 0.25 / 3) ** 0.2  # d/du (u³ + w k² / u²) = 0
    assert best["u"] == pytest.approx(u, rel=1e-4)
    assert best.converged and "objective" in str(best)
    limited = model.optimise("cost", {"u": (0.1, 5.0)}, subject_to={"h": (4.0, None)}, steady=True)
    assert limited["u"] == pytest.approx(1.0, rel=1e-6)
    assert limited.limited["h"] == pytest.approx(4.0, rel=1e-6)


def test_ipopt_where_it_is_installed() -> None:
    model = ac.compile(Tank())
    try:
        best = model.optimise("cost", {"u": (0.1, 5.0)}, subject_to={"h": (4.0, None)}, steady=True, method="ipopt")
    except UsageError as error:
        assert "needs cyipopt" in str(error)
        return
    assert best["u"] == pytest.approx(1.0, rel=1e-4)


class Bounded(ac.Component):
    u, edge = ac.Parameter(1.0, min=0.0, max=5.0), ac.Parameter(10.0)
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.u * self.x - ac.sqrt(self.edge - self.u)


def test_ipopt_keeps_bounds_and_tells_what_is_wrong(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("casadi")
    model = ac.compile(Bounded())
    best = model.optimise("x", ["u"], until=1.0, method="ipopt", maximise=True)
    assert best["u"] == pytest.approx(5.0, rel=1e-6) and best["u"] <= 5.0
    with pytest.raises(ac.ModelError, match="sqrt"):
        model.optimise("x", ["u"], until=1.0, method="ipopt", set={"edge": 2.0}, start={"u": 1.0}, maximise=True)
    assert not "".join(capfd.readouterr())


def test_a_run_is_optimised() -> None:
    model = ac.compile(Room())
    best = model.optimise("T", {"G": (10.0, 100.0)}, maximise=True, until="2 h", points=11)
    assert best["G"] == pytest.approx(10.0)
    held = model.optimise(
        "T", {"G": (10.0, 100.0)}, maximise=True, until="2 h", subject_to={ac.max("T"): (None, "22 degC")}, points=11
    )
    assert held.result["T"].max() == pytest.approx(295.15, rel=1e-6)


class Heating(ac.Component):
    P = ac.Parameter(1000.0, unit="W")
    T = ac.Variable(start=283.15, fixed=True, unit="K")

    def equations(self) -> Any:
        yield 1e5 * ac.der(self.T) == self.P - 50.0 * (self.T - 273.15)


def test_limits_are_in_the_unit_of_what_they_limit() -> None:
    """A time until it is warm, an energy: not the unit of the quantity that they are taken of."""
    model, over = ac.compile(Heating()), {"P": (850.0, 3000.0)}
    in_time = {ac.when_first("T", above="17 degC"): (None, "30 min")}
    least = model.optimise("P", over, until="2 h", rtol=1e-8, subject_to=in_time)
    decay = np.exp(-1800.0 / 2000.0)  # T = T_end + (T_0 - T_end) e^(-t/2000 s)
    assert least["P"] == pytest.approx(50.0 * ((290.15 - decay * 283.15) / (1 - decay) - 273.15), rel=1e-5)
    most = model.optimise("T", over, maximise=True, until="2 h", subject_to={ac.integral("P"): (None, "3 kWh")})
    assert most["P"] == pytest.approx(1500.0, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (("cost", ["u"]), {}, "is of runs"),
        (("cost", ["u"]), {"steady": True, "until": 1.0}, "is of runs"),
        ((3.0, ["u"]), {"steady": True}, "An objective is a path"),
        ((ac.mean("cost"), ["u"]), {"steady": True}, "no means or maxima"),
        (("cost", ["u"]), {"steady": True, "subject_to": {"h": 3.0}}, "are a pair"),
        (("cost", ["u"]), {"steady": True, "method": "luck"}, "`method` is one of SLSQP, ipopt"),
        (("cost", ["w"]), {"steady": True}, "unbounded: `cost` becomes smaller and smaller as `w` falls without end"),
        (("cost", ["w"]), {"until": 1.0, "maximise": True}, "unbounded: `cost` becomes larger and larger as `w` grows"),
        (
            ("cost", ["w"]),
            {"steady": True, "method": "ipopt"},
            "unbounded: `cost` becomes smaller and smaller as `w` falls|needs cyip",
        ),
        (
            ("cost", ["w"]),
            {"until": 1.0, "method": "ipopt"},
            "unbounded: `cost` becomes smaller and smaller as `w` falls|needs cyip",
        ),
    ],
)
def test_bad_optimisations(arguments: Any, options: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ac.compile(Tank()).optimise(*arguments, **options)


def test_bounds_may_have_units() -> None:
    model = ac.compile(Room())
    t = np.linspace(0.0, 3600.0, 9)
    data = {"time": t, "T": model.simulate(3600.0, at=t, set={"G": 65.0})["T"]}
    assert model.fit(data, {"G": ("0.01 kW/K", "200 W/K")})["G"] == pytest.approx(65.0, rel=1e-3)
    assert model.fit(data, {"G": ("0.01 kW/K", "0.06 kW/K")})["G"] == pytest.approx(60.0, rel=1e-6)
    with pytest.raises(UsageError, match="cannot be converted"):
        model.fit(data, {"G": ("10 W", None)})


def test_limits_of_an_optimum_have_names() -> None:
    with pytest.raises(UsageError, match="`subject_to` takes limits by name"):
        ac.compile(Room()).optimise("T", {"G": (10.0, 100.0)}, subject_to=["T"], steady=True)  # type: ignore[arg-type]


def test_limits_that_cannot_be_met_are_named() -> None:
    best = ac.compile(Room()).optimise("G", {"G": (10.0, 100.0)}, subject_to={"T": (None, 280.0)}, steady=True)
    assert not best.converged and "with `T` ≤ 280; it came to 283.15" in str(best)


class Heated(ac.Component):
    """C T' = P - G (T - 280): only the ratios P / G and C / G show in T."""

    C, G, P = ac.Parameter(1e5), ac.Parameter(50.0), ac.Parameter(1000.0)
    T = ac.Variable(start=283.0, fixed=True)

    def equations(self) -> Any:
        yield self.C * ac.der(self.T) == self.P - self.G * (self.T - 280.0)


def test_what_cannot_be_told_apart_has_no_confidence() -> None:
    model, t = ac.compile(Heated()), np.linspace(0.0, 7200.0, 30)
    data = {"time": t, "T": model.simulate(7200.0, at=t, rtol=1e-9)["T"]}
    with pytest.warns(ac.RunWarning, match="cannot be told apart"):
        fit = model.fit(data, ["C", "G", "P"], start={"G": 60.0})
    assert all(np.isinf(d) for d in fit.deviations.values())
    fit = model.fit(data, ["C", "G"], start={"G": 60.0}, rtol=1e-9)
    assert fit["G"] == pytest.approx(50.0, rel=1e-5) and fit.deviations["G"] < 0.1
