"""What editors know of a model file: Jedi completes names and knows what `ac.compile` gives, without running anything."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

jedi = pytest.importorskip("jedi", reason="comes with ipykernel")

PROGRAM = '''import acausal as ac
from acausal.library.thermal import HeatPort

class Wall(ac.Component):
    """A wall."""
    port = HeatPort()
    G = ac.Parameter(1.0, unit="W/K")

    def equations(self):
        yield self.port.Q_flow == self.G
        {inside}

model = ac.compile(Wall())
result = model.simulate(1.0)
{after}
'''


@pytest.fixture(scope="module")
def script() -> Any:
    """Jedi for a program with a `|` where the cursor is. (The finder of an editable installation shows Jedi no sources.)"""
    root, kept = Path(__file__).parents[1], sys.meta_path[:]
    sys.meta_path[:] = [finder for finder in kept if "Redirecting" not in type(finder).__name__]
    project = jedi.Project(str(root), sys_path=[str(root / "src"), *sys.path])

    def at(inside: str = "pass", after: str = "") -> tuple[Any, int, int]:
        lines = PROGRAM.format(inside=inside, after=after).splitlines()
        row = next(k for k, line in enumerate(lines) if "|" in line)
        column = lines[row].index("|")
        text = "\n".join(lines).replace("|", "") + "\n"
        return jedi.Script(text, project=project, environment=jedi.InterpreterEnvironment()), row + 1, column

    yield at
    sys.meta_path[:] = kept


def completed(found: tuple[Any, int, int]) -> set[str]:
    program, line, column = found
    return {c.name for c in program.complete(line, column)}


def test_names_are_completed(script: Any) -> None:
    assert {"compile", "compare", "Component"} <= completed(script(after="ac.comp|"))
    assert {"T", "Q_flow"} <= completed(script(inside="self.port.|"))
    assert {"simulate", "steady_state", "explain", "catalogue"} <= completed(script(after="model.|"))
    assert {"plot", "to_pandas", "at", "events"} <= completed(script(after="result.|"))


def test_what_compile_gives_is_known(script: Any) -> None:
    program, line, column = script(after="mode|l")
    assert [found.full_name for found in program.infer(line, column)] == ["acausal.model.model.Model"]


def test_what_plots_want_of_a_result_is_declared_as_pyright_reads_it() -> None:
    """To pyright a cached property is not what a protocol calls a property: `result.plot` would be an error in every editor."""
    from functools import cached_property
    from inspect import getattr_static

    from acausal.results.phases import PhasesResult
    from acausal.results.result import Result
    from acausal.results.series import Trajectories
    from acausal.results.store import LoadedResult

    wanted = [name for name, member in vars(Trajectories).items() if isinstance(member, property)]
    assert len(wanted) > 5
    for kind in (Result, LoadedResult, PhasesResult):
        cached = [name for name in wanted if isinstance(getattr_static(kind, name, None), cached_property)]
        assert not cached, (kind, cached)
