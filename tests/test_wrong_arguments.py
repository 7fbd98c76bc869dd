"""No call of a public function with arguments that it is not made for ends in an exception from inside."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from wrong_arguments import Found, Tank, attempt, walked

import acausal as ac
from acausal.arguments import checked

# Methods that only other parts of the program call, and classes that are made by functions.
INSIDE = {
    *("Model.prepare", "Model.problem", "Session.go", "Session.switched", "Session.wrapped", "Result.values", "Result.widget"),
    *("Model.diagram", "Outcome", "Session", "Result", "Diagnostic", "Independent"),
}
DATA = {"time": [0.0, 1.0], "T": [300.0, 299.9]}


@cache
def model() -> ac.Model:
    return ac.compile(Tank())


@cache
def result() -> ac.Result:
    return model().simulate(until=2.0, points=5)


def usual(name: str) -> dict[str, Any]:
    """Arguments as they are meant; those that are not here are left out, or wrong together with the one that is tried."""
    return {
        "Model.simulate": {"until": 1.0},
        "Model.fit": {"data": DATA, "parameters": ["k"]},
        "Model.optimise": {"objective": "T", "over": {"k": (0.1, 1.0)}},
        "Model.explain": {"path": "T"},
        "Model.study": {"cases": [{"k": 1.0}], "outputs": "T", "until": 1.0},
        "Model.find_steady_states": {"spread": {"T": (280.0, 300.0)}, "count": 2},
        "Model.steady_states": {"over": {"k": [0.5, 1.0]}},
        "Model.gradient": {"parameters": ["k"], "objective": "T", "until": 1.0},
        "Session.advance": {"to": 1.0},
        "Result.at": {"time": 1.0},
        "Result.in_unit": {"name": "T", "unit": "degC"},
        "Result.crossing_of": {"name": "T", "level": 299.95},
        "Result.extreme_of": {"name": "T"},
        "Result.state_at": {"path": "mode", "time": 1.0},
        "Result.resample": {"every": 0.5},
        "Result.export": {"path": "run.csv"},
        "Result.save": {"path": "run.acr"},
        "Result.plot": {"names": "T", "show": False},
        "study": {"model": model(), "cases": [{"k": 1.0}], "outputs": "T", "until": 1.0},
        "sobol_indices": {"model": model(), "distributions": {"k": ac.uniform(0.4, 0.6)}, "outputs": "T", "count": 2},
        "worst_case": {"model": model(), "output": "T", "intervals": {"k": (0.4, 0.6)}},
        "compare": {"a": result(), "b": result()},
        "report": {"result": result(), "file": "run.html"},
        "draws": {"distributions": {"k": ac.uniform(0.4, 0.6)}, "count": 3},
        "Table": {"x": [0.0, 1.0], "y": [0.0, 1.0]},
        "Table2D": {"x": [0.0, 1.0], "y": [0.0, 1.0], "values": [[0.0, 1.0], [1.0, 2.0]]},
        "Phases": {"initial": "a"},
        "compile": {"component": Tank()},
        "external": {"arity": 1},
    }.get(name, {})


def members(owner: type[Any], held: Callable[[], Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in dir(owner):
        if not name.startswith("_") and f"{owner.__name__}.{name}" not in INSIDE and callable(getattr(owner, name)):
            yield f"{owner.__name__}.{name}", getattr(held(), name)


def calls() -> Iterator[tuple[str, Callable[..., Any]]]:
    yield from members(ac.Model, model)
    yield from members(ac.Result, result)
    yield from members(ac.Session, lambda: model().start())
    yield from members(ac.Phases, lambda: ac.Phases(a=Tank(), b=Tank(), initial="a"))
    yield "result[…]", lambda key: result()[key]
    yield "session[…]", lambda key: model().start()[key]
    for name in dir(ac):
        what = getattr(ac, name)
        is_error = inspect.isclass(what) and issubclass(what, BaseException)
        if callable(what) and not name.startswith("_") and not is_error and name not in INSIDE:
            yield name, what


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")


@pytest.mark.parametrize("part", range(6))
def test_wrong_arguments_are_told(part: int) -> None:
    found: list[Found] = []
    for name, call in list(calls())[part::6]:
        found += walked(call, name, usual(name))
    assert not found, "\n".join(map(str, found))


def test_the_walk_finds_what_it_looks_for() -> None:
    def careless(size: Any, names: Any = ()) -> None:
        len(names) + size

    found = list(walked(careless, "careless", {"size": 3}))
    assert {one.parameter for one in found} == {"size", "names"} and any("TypeError" in one.error for one in found)
    assert attempt(lambda: careless(3)) == ""


def test_what_is_said() -> None:
    for call, words in (
        (lambda: result().export(3), "`path` of `export` is a text or a path, got 3 (int)."),  # type: ignore[arg-type]
        (lambda: result().save(5), "`path` of `save` is a text or a path, got 5 (int)."),  # type: ignore[arg-type]
        (lambda: ac.load(3.5), "`path` of `load` is a text or a path, got 3.5 (float)."),  # type: ignore[arg-type]
        (lambda: result().names(3), "`pattern` of `names` is a text, got 3 (int)."),  # type: ignore[arg-type]
    ):
        with pytest.raises(ac.UsageError) as caught:
            call()
        assert caught.value.diagnostics[0].what == words
        assert caught.value.diagnostics[0].remedy


def test_numbers_of_numpy_are_numbers() -> None:
    @checked
    def asked(count: int, size: float, names: list[str] | tuple[str, ...] = (), last: bool = False) -> int:
        return int(count + size)

    assert asked(np.int64(3), np.float32(2.0), last=np.bool_(True)) == 5  # type: ignore[arg-type]
    assert asked(3, np.array(2.0)) == 5  # type: ignore[arg-type]
    with pytest.raises(ac.UsageError, match="`size` of `asked` is a number, got 'x'"):
        asked(3, "x")  # type: ignore[arg-type]


def test_what_works_works_and_what_the_user_s_own_function_raises_is_hers() -> None:
    @checked
    def called(function: Callable[[], Any], size: float) -> Any:
        return function()

    assert called(lambda: 3, "no number") == 3  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="mine"):
        called(_raises, "no number")  # type: ignore[arg-type]


def _raises() -> None:
    raise TypeError("mine")
