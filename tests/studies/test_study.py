"""Studies against closed forms and against a loop of runs."""

from __future__ import annotations

import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import acausal as ac

from .plants import Decay, Fragile


@pytest.fixture(scope="module")
def decay():
    return ac.compile(Decay())


RATES = [0.5, 1.0, 2.0]


@pytest.mark.parametrize("executor", [None, "threads", "serial", ThreadPoolExecutor(2)])
def test_a_study_gives_the_closed_form_in_the_order_of_its_cases(decay, executor):
    study = ac.study(decay, {"k": RATES}, ["x", ac.mean("x")], until=2.0, points=4001, rtol=1e-9, executor=executor)
    np.testing.assert_allclose(study["x"], np.exp(-2 * np.array(RATES)), rtol=1e-7)
    np.testing.assert_allclose(study["mean x"], (1 - np.exp(-2 * np.array(RATES))) / (2 * np.array(RATES)), rtol=1e-6)
    assert study.ok.all()
    assert study.unit("k") == "1/s"


def test_reductions(decay):
    outputs = {
        "first": ac.first("x"), "max": ac.max("x"), "min": ac.min("x"), "area": ac.integral("x"),
        "half": ac.when_first("x", below=0.5), "never": ac.when_first("x", above=2.0), "own": lambda r: r["x"][0] + 1,
    }  # fmt: skip
    study = ac.study(decay, [{}], outputs, until=2.0, points=4001, rtol=1e-9)
    expected = [1.0, 1.0, np.exp(-2), 1 - np.exp(-2), np.log(2), np.nan, 2.0]
    np.testing.assert_allclose([study[name][0] for name in outputs], expected, rtol=1e-6)
    assert study.unit("half") == "s"


def test_inputs_and_units_may_be_changed(decay):
    study = ac.study(decay, [{"u": 1.0, "k": "60 1/min"}], "x", until=2.0)
    np.testing.assert_allclose(study["x"], [1.0])
    assert study["k"][0] == pytest.approx(1.0)


def test_a_case_that_fails_is_a_row(decay):
    study = ac.study(ac.compile(Fragile()), {"r": [0.1, 1.0, 0.2]}, "x", until=2.0)
    assert study.ok.tolist() == [True, False, True]
    row = study.failed[0]
    assert row.reached == pytest.approx(1.0, abs=1e-3)
    assert row.message
    assert "finished" in str(study)


def test_values_out_of_range_fail_in_their_own_case(decay):
    study = ac.study(decay, {"k": [1.0, 200.0]}, "x", until=1.0)
    assert study.ok.tolist() == [True, False]
    assert "out of its range" in study.failed[0].message


def test_each_case_may_begin_from_another(decay):
    fresh = ac.study(decay, {"k": RATES}, "x", until=1.0, rtol=1e-9)
    chained = ac.study(decay, {"k": RATES}, "x", until=1.0, rtol=1e-9, each_from="previous")
    np.testing.assert_allclose(chained["x"], np.exp(-np.cumsum(RATES)), rtol=1e-6)
    first = ac.study(decay, {"k": RATES}, "x", until=1.0, rtol=1e-9, each_from="first")
    np.testing.assert_allclose(first["x"][1:], fresh["x"][1:] * fresh["x"][0], rtol=1e-6)
    for study in (chained, first):  # a whole result begins where its case began
        assert [study.result(k)["x"][-1] for k in (2, 0, 1)] == [study["x"][k] for k in (2, 0, 1)]


def test_start_values_are_cases_too(decay):
    study = ac.study(decay, {"x": [1.0, 3.0]}, "x", until=1.0, rtol=1e-9)
    np.testing.assert_allclose(study["x"], [np.exp(-1), 3 * np.exp(-1)], rtol=1e-7)
    np.testing.assert_allclose(study["x (start)"], [1.0, 3.0])  # the table has both
    assert list(study.to_pandas().columns[:2]) == ["x (start)", "x"] and "x (start)" in str(study)


def test_a_function_of_a_result_has_the_rows_that_were_asked_for(decay):
    outputs = {"second": lambda r: r["x"][1], "mean": ac.mean("x")}
    study = ac.study(decay, {"k": [1.0]}, outputs, until=1.0, points=3, rtol=1e-9)
    np.testing.assert_allclose(study["second"], np.exp(-0.5), rtol=1e-7)
    np.testing.assert_allclose(study["mean"], 1 - np.exp(-1), rtol=1e-3)


@pytest.mark.parametrize("nothing", [None, float("nan"), "NA"])
def test_an_empty_cell_of_a_frame_is_as_the_model_has_it(decay, nothing):
    pandas = pytest.importorskip("pandas")
    column = pandas.array([2, None], dtype="Int64") if nothing == "NA" else [2.0, nothing]
    study = ac.study(decay, pandas.DataFrame({"k": column}), "x", until=1.0, rtol=1e-9)
    np.testing.assert_allclose(study["x"], np.exp(-study["k"].astype(float)), rtol=1e-7)


def test_a_number_that_is_none_is_told_before_the_first_run(decay):
    with pytest.raises(ac.ModelError, match="Case 2: `k` cannot be nan"):
        ac.study(decay, {"k": np.array([1.0, np.nan], dtype=np.float32)}, "x", until=1.0)


def test_steady_states_are_cases_too(decay):
    study = ac.study(decay, {"u": [1.0, 2.0]}, "x", steady=True)
    np.testing.assert_allclose(study["x"], [1.0, 2.0])


def test_random_cases_find_what_matters(decay):
    drawn = ac.draws({"k": ac.uniform(0.5, 2.0), "u": ac.uniform(0.0, 1e-3)}, 64, method="sobol", seed=3)
    study = ac.study(decay, drawn, "x", until=1.0)
    strength = study.correlations("x")
    assert next(iter(strength)) == "k"
    assert strength["k"] < -0.99
    low, middle, high = study.percentiles("x")
    assert study.percentiles("x", 50) == middle
    assert low < middle < high


def test_a_whole_result_can_be_looked_at(decay):
    study = ac.study(decay, {"k": RATES}, "x", until=1.0)
    assert study.result(1)["x"][-1] == study["x"][1]
    assert study.result("2") is study.result(1)


def test_whole_results_go_to_disk_beyond_memory(decay, tmp_path, monkeypatch):
    study = ac.study(decay, {"k": RATES}, "x", until=1.0, keep=tmp_path / "kept")
    study._results.most = 1
    for _ in range(2):
        assert [study.result(k)["x"][-1] for k in range(3)] == study["x"].tolist()
    assert len(study._results._held) == 1
    monkeypatch.setattr(type(study._job), "solve", None)  # nothing is run once more
    again = ac.study(decay, {"k": RATES}, "x", until=1.0, keep=tmp_path / "kept")
    assert again.result(1)["x"][-1] == study["x"][1]
    (tmp_path / "kept" / "results" / "3.acausal").write_bytes(b"damaged")
    monkeypatch.undo()
    assert again.result(2)["x"][-1] == study["x"][2]


def test_a_study_can_be_sent_elsewhere(decay):
    study = ac.study(decay, {"k": [1.0, 200.0]}, "x", until=1.0)
    there = pickle.loads(pickle.dumps(study))
    assert (
        str(there) == str(study)
        and there.failed[0].message == study.failed[0].message
        and there.result(0)["x"][-1] == study["x"][0]
    )


def test_the_table_goes_to_pandas_and_to_files(decay, tmp_path):
    study = ac.study(decay, {"k": RATES}, ac.max("x"), until=1.0)
    frame = study.to_pandas()
    assert list(frame.columns) == ["k", "max x", "outcome", "time reached", "message"]
    assert frame.attrs["units"]["k"] == "1/s"
    study.save(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text().splitlines()[0].startswith("case,k [1/s],max x")


def test_pictures_are_drawn(decay, tmp_path):
    study = ac.study(decay, ac.grid({"k": RATES, "u": [0.0, 1.0]}), "x", until=1.0)
    study.heat_map("k", "u", "x", file=tmp_path / "map.png")
    study.plot("k", "x", file=tmp_path / "lines.png")
    study.scatter("x", file=tmp_path / "scatter.png")
    study.overlay("x", file=tmp_path / "overlay.png")
    study.bands("x", file=tmp_path / "bands.png")
    ac.study(decay, ac.one_at_a_time({"k": RATES, "u": [1.0]}), "x", until=1.0).tornado("x", file=tmp_path / "tornado.png")
    assert len(list(tmp_path.iterdir())) == 6


def test_lines_go_through_cases_that_differ_in_one_thing_and_are_named_by_the_rest(decay):
    """A notebook shows every picture by itself."""
    study = ac.study(decay, ac.grid({"k": [2.0, 1.0, 3.0], "u": [0.0, 1.0]}), "x", until=1.0)
    figure = study.plot("k", "x")
    lines = figure.axes[0].lines
    assert [line.get_label() for line in lines] == ["u = 0", "u = 1"] and figure._repr_png_()[:4] == b"\x89PNG"
    for line, u in zip(lines, (0.0, 1.0), strict=True):
        assert line.get_xdata().tolist() == [1.0, 2.0, 3.0] and line.get_linewidth() > 0
        own = {float(study["k"][j]): study["x"][j] for j in range(6) if study["u"][j] == u}
        assert line.get_ydata().tolist() == [own[k] for k in (1.0, 2.0, 3.0)]
    scattered = ac.study(decay, [{"k": 1.0, "u": 0.0}, {"k": 2.0, "u": 1.0}, {"k": 3.0, "u": 2.0}], "x", until=1.0)
    (points,) = scattered.plot("k", "x").axes[0].lines
    assert points.get_linewidth() == 0 and len(points.get_xdata()) == 3
    assert next(iter(scattered.overlay("x").axes[0].lines)).get_label() == "k = 1, u = 0"
    named = ac.study(decay, [{"k": 1.0, "name": "slow"}], "x", until=1.0)
    assert named.overlay("x").axes[0].lines[0].get_label() == "slow"


@pytest.mark.parametrize(
    ("cases", "outputs", "options", "said"),
    [
        ([{"kk": 1.0}], "x", {"until": 1.0}, "`kk` does not exist.*Did you mean `k`"),
        ([{"k": "1 kg"}], "x", {"until": 1.0}, "`kg` cannot be converted"),
        ([{"x": "3 kg"}], "x", {"until": 1.0}, "kg"),
        ([{"k": 1.0}], "x", {}, "needs an end for its runs"),
        ([{"k": 1.0}], ["x", "x"], {"until": 1.0}, "Two outputs are called `x`"),
        ([{"k": 1.0}], [3], {"until": 1.0}, "An output is a path"),
        ([{"k": 1.0}], "x", {"until": 1.0, "executor": 5}, "`executor` cannot be 5"),
        ([{"k": 1.0}], "x", {"until": 1.0, "each_from": "last"}, "`each_from` is"),
    ],
)
def test_what_a_study_cannot_do_is_said(decay, cases, outputs, options, said):
    with pytest.raises(ac.AcausalError, match=f"(?s){said}"):
        ac.study(decay, cases, outputs, **options)


def test_an_output_that_names_nothing_is_told_before_the_first_run(decay):
    with pytest.raises(ac.AcausalError, match="An output: `y` does not exist"):
        ac.study(decay, {"k": RATES}, ["x", ac.max("y")], until=1.0)


def test_headings_have_the_unit_of_what_is_integrated_over(decay):
    study = ac.study(decay, {"k": [1.0]}, [ac.when_first("x", below=0.5), ac.integral("x")], until=1.0)
    assert [study.unit(name) for name in study.outputs] == ["s", "s"]
    assert "time of x < 0.5 [s]" in str(study) and "integral x [s]" in str(study)


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_workers_are_a_number(decay, workers):
    with pytest.raises(ac.ModelError, match="`workers` is how many"):
        ac.study(decay, {"k": [1.0]}, "x", until=1.0, workers=workers)


def test_a_table_that_cannot_be_written_is_told(decay, tmp_path):
    study = ac.study(decay, {"k": [1.0]}, "x", until=1.0)
    with pytest.raises(ac.ModelError, match="The table cannot be written to"):
        study.save(tmp_path / "nowhere" / "table.csv")
    with pytest.raises(ac.ModelError, match="A table is written to"):
        study.save(tmp_path / "table.txt")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"until": "1 kg"}, "`until` cannot be '1 kg'"),
        ({"until": -1.0}, "A simulation runs forward"),
        ({"until": 1.0, "points": -3}, "`points` is a whole number"),
        ({"until": 1.0, "pionts": 3}, "Did you mean `points`"),
        ({"until": 1.0, "options": {}}, "no argument `options`"),
        ({"until": 1.0, "rtol": "small"}, "`rtol` is a positive number"),
        ({"until": 1.0, "solver": "euler"}, "There is no solver `euler`"),
        ({"until": 1.0, "atol": {"y": 1.0}}, "`y` does not exist"),
        ({"until": 1.0, "set": {"kk": 1.0}}, "`kk` does not exist"),
        ({"until": 1.0, "inputs": {"v": 1.0}}, "`v` does not exist"),
        ({"until": 1.0, "store": ["y"]}, "`y` does not exist"),
        ({"until": 1.0, "start_from": 3.0}, "`start_from` takes an earlier result"),
        ({"until": 1.0, "initial": "rest"}, "`initial` is"),
        ({"until": 1.0, "on_failure": "stop"}, "`on_failure` is"),
        ({"until": 1.0, "failures": {"y": (1.0, 2.0)}}, "`y` does not exist"),
        ({"until": 1.0, "steady": True}, "not of both"),
        ({"steady": True, "poinst": 3}, "`steady_state` has no argument `poinst`"),
        ({"until": 1.0, "each_from": "last"}, "`each_from` is"),
    ],
)
def test_a_wrong_option_is_told_once_and_before_the_first_run(decay, options, said):
    ran = []
    with pytest.raises(ac.AcausalError, match=re.escape(said)):
        ac.study(decay, {"k": [1.0, 2.0]}, lambda result: ran.append(result) or 0.0, **options)
    assert not ran


def test_the_legend_of_bands_shows_each_in_its_own_colour(decay):
    study = ac.study(decay, ac.draws({"k": ac.uniform(0.5, 2.0)}, 8), "x", until=1.0, points=5)
    patches = study.bands("x").axes[0].get_legend().get_patches()
    assert [p.get_alpha() for p in patches] == [None, None]
    assert patches[0].get_facecolor() != patches[1].get_facecolor()
