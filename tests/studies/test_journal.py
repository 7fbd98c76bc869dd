"""A study that was stopped goes on where it stopped, and the table is the same to the bit."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest

import acausal as ac

from .plants import Decay


@pytest.fixture(scope="module")
def decay():
    return ac.compile(Decay())


def cases():
    return ac.draws({"k": ac.uniform(0.1, 3.0)}, 40, seed=2)


def begun(model, folder, **options):
    return ac.study(model, cases(), ["x", ac.mean("x")], until=1.0, keep=folder, **options)


run = begun


class Stop(Exception):
    pass


@pytest.mark.parametrize(("seed", "each_from"), [(0, "start"), (1, "start"), (2, "first"), (3, "previous"), (4, "previous")])
def test_stopped_anywhere_and_continued_the_table_is_the_same(decay, tmp_path, seed, each_from):
    run = partial(begun, each_from=each_from)
    whole = run(decay, tmp_path / "whole")
    generator = random.Random(seed)
    rows = tmp_path / "parts" / "rows.jsonl"
    run(decay, tmp_path / "parts")
    content = rows.read_bytes()
    rows.write_bytes(content[: generator.randrange(len(content))])  # cut off in the middle of a line
    ran = []
    again = run(decay, tmp_path / "parts", progress=lambda done, total: ran.append(done))
    assert ran
    for name in ("x", "mean x"):
        np.testing.assert_array_equal(again[name], whole[name])
    np.testing.assert_array_equal(run(decay, tmp_path / "parts")["x"], whole["x"])


def test_a_damaged_line_is_run_again(decay, tmp_path):
    whole = run(decay, tmp_path)
    rows = tmp_path / "rows.jsonl"
    content = bytearray(rows.read_bytes())
    content[len(content) // 2] ^= 1
    rows.write_bytes(content)
    np.testing.assert_array_equal(run(decay, tmp_path)["x"], whole["x"])


def test_an_exception_in_the_progress_function_loses_no_row(decay, tmp_path):
    def stop(done, total):
        raise Stop

    with pytest.raises(Stop):
        run(decay, tmp_path, progress=stop)
    assert (tmp_path / "rows.jsonl").read_bytes().count(b"\n") > 0


def test_another_study_in_the_same_folder_is_refused(decay, tmp_path):
    run(decay, tmp_path)
    with pytest.raises(ac.AcausalError, match="holds another study"):
        ac.study(decay, {"k": [1.0]}, "x", until=1.0, keep=tmp_path)


class Once(ac.Component):
    """What happens at an event, at the start, and what is computed beside: three places where a study may differ."""

    y, n = ac.Variable(), ac.Discrete(0.0)

    def __init__(self, start=0.0, jump=1.0, factor=2.0):
        self.x = ac.Variable(start=start, fixed=True)
        self._jump, self._factor = jump, factor

    def equations(self):
        yield ac.der(self.x) == 1.0
        yield self.y == self._factor * self.x
        yield ac.when(self.x > 0.5, ac.assign(self.n, self._jump))


TIMES = np.linspace(0.0, 1.0, 2001)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"plant": Once()}, {"plant": Once(start=0.1)}),
        ({"plant": Once()}, {"plant": Once(jump=2.0)}),
        ({"plant": Once()}, {"plant": Once(factor=3.0)}),
        ({"outputs": {"a": lambda r: r["x"][-1]}}, {"outputs": {"a": lambda r: r["x"][0]}}),
        ({"inputs": {"u": (TIMES, 0 * TIMES)}}, {"inputs": {"u": (TIMES, TIMES * (TIMES > 0.3) * (TIMES < 0.6))}}),
        ({"start_from": 1.0}, {"start_from": 2.0}),
    ],
)
def test_a_study_that_differs_in_anything_is_another(decay, tmp_path, one, other):
    def kept(plant=None, outputs="x", start_from=None, **options):
        model = decay if plant is None else ac.compile(plant)
        if start_from is not None:
            options["start_from"] = decay.simulate(1e-9, set={"x": start_from})
        return ac.study(model, [{}], outputs, until=1.0, keep=tmp_path, **options)

    np.testing.assert_array_equal(kept(**one).rows.values, kept(**one).rows.values)
    with pytest.raises(ac.AcausalError, match="holds another study"):
        kept(**other)


def test_a_folder_that_cannot_be_written_is_said(decay, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(ac.AcausalError, match="cannot be kept in"):
        run(decay, file)


class Latch(ac.Component):
    """x' = -k x, and how often x was small: cases that begin where the one before ended tell of discrete values, too."""

    k = ac.Parameter(1.0)
    x, count = ac.Variable(start=1.0, fixed=True), ac.Discrete(0.0)

    def equations(self):
        yield ac.der(self.x) == -self.k * self.x

    def events(self):
        yield ac.when(self.x < 0.5, ac.reinit(self.x, 1.0), ac.assign(self.count, ac.pre(self.count) + 1.0))


@pytest.mark.parametrize("component", [Decay, Latch])
def test_what_begins_from_the_previous_case_is_not_run_twice(component, tmp_path, monkeypatch):
    from acausal.studies import chain

    model, ran = ac.compile(component()), []
    run_case = chain.run_case

    def counted(job, number, *rest):
        if len(ran) == 7:
            raise Stop
        ran.append(number)
        return run_case(job, number, *rest)

    outputs = ["x"] if component is Decay else ["x", "count"]
    study = partial(ac.study, model, cases(), outputs, until=1.0, each_from="previous")
    whole = study(keep=tmp_path / "whole")
    monkeypatch.setattr(chain, "run_case", counted)
    with pytest.raises(Stop):
        study(keep=tmp_path / "parts")
    assert ran == list(range(7))
    monkeypatch.setattr(chain, "run_case", lambda *given: ran.append(given[1]) or run_case(*given))
    again = study(keep=tmp_path / "parts")
    assert ran == list(range(len(cases())))
    for name in outputs:
        np.testing.assert_array_equal(again[name], whole[name])
    (tmp_path / "parts" / "rows.jsonl").write_bytes(b"")  # the end is known, but what led there is not
    for place in (tmp_path / "parts").glob("end-of-*"):
        place.write_bytes(b"damaged")
    np.testing.assert_array_equal(study(keep=tmp_path / "parts")["x"], whole["x"])


def test_a_disk_that_is_full_at_the_beginning_leaves_nothing_in_the_way(decay, tmp_path, monkeypatch):
    from pathlib import Path

    def full(place, text, **_):
        place.write_bytes(text.encode()[:20])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        with pytest.raises(ac.AcausalError, match="No space left on device"):
            run(decay, tmp_path)
    assert run(decay, tmp_path).ok.all()


FACTOR = 1.0


def _scaled(result):
    return FACTOR * result["x"][-1]


def _again(model, folder, change, outputs=("x",), **options):
    """A study, and the same after something has changed: the second is refused in the first's folder."""
    ac.study(model, {"k": [1.0, 2.0]}, outputs, until=1.0, keep=folder, **options)
    changed = change() or model
    with pytest.raises(ac.UsageError, match="holds another study"):
        ac.study(changed, {"k": [1.0, 2.0]}, outputs, until=1.0, keep=folder, **options)


def test_a_start_value_that_the_model_was_given_makes_another_study(tmp_path):
    model = ac.compile(Decay())
    _again(model, tmp_path, lambda: model.set({"x": 2.0}))


def test_what_is_in_a_file_counts_not_its_name(tmp_path):
    class Fed(ac.Component):
        x, k, u = ac.Variable(start=1.0, fixed=True), ac.Parameter(1.0), ac.Input(0.0)

        def equations(self):
            yield ac.der(self.x) == self.u - self.k * self.x

    file = tmp_path / "in.csv"
    for number, given in enumerate((file, str(file), ac.data(file, "u"), (file, "u"))):
        file.write_text("t,u\n0,1\n1,1\n")
        _again(ac.compile(Fed()), tmp_path / str(number), lambda: file.write_text("t,u\n0,5\n1,5\n") and None, inputs={"u": given})


def _calling(function):
    class Calling(ac.Component):
        x, k = ac.Variable(start=1.0, fixed=True), ac.Parameter(1.0)

        def equations(self):
            yield ac.der(self.x) == -self.k * function(self.x)

    return ac.compile(Calling())


def _table(value, method="linear"):
    return ac.Table([0.0, 1.0, 2.0], [0.0, value, 3.0], method=method)


def _python(factor):
    return ac.function(lambda x: factor * x, opaque=True)


@pytest.mark.parametrize(
    "first, second",
    [(_table(1.0), _table(2.0)), (_table(1.0), _table(1.0, "monotone")), (_python(1.0), _python(2.0))],
    ids=["numbers of a table", "how it goes on", "a function of Python"],
)
def test_what_equations_call_makes_another_study(tmp_path, first, second):
    _again(_calling(first), tmp_path, lambda: _calling(second))


def test_what_an_output_has_from_around_it_makes_another_study(tmp_path, monkeypatch):
    outputs = {"a": lambda result: _scaled(result)}
    _again(ac.compile(Decay()), tmp_path, lambda: monkeypatch.setitem(globals(), "FACTOR", 2.0), outputs)


def test_a_function_that_calls_itself_is_an_output(tmp_path):
    def power(value, n):
        return value * power(value, n - 1) if n else 1.0

    table = ac.study(ac.compile(Decay()), {"k": [1.0]}, {"a": lambda r: power(float(r["x"][-1]), 2)}, until=1.0, keep=tmp_path)
    assert table["a"][0] == pytest.approx(np.exp(-2.0), abs=1e-5)
