"""The plug-in for mypy: misspelt arguments of constructors are errors, right ones are not."""

from __future__ import annotations

from pathlib import Path

import pytest

api = pytest.importorskip("mypy.api")

PROGRAM = """
import acausal as ac
from acausal.library import thermal

class Wall(ac.Component):
    G, C = ac.Parameter(1.0, unit="W/K"), ac.Parameter(2.0)
    T = ac.Variable(start=300.0)

class Plant(Wall):
    def __init__(self, n: int = 3) -> None:
        self.n = n

Wall(G=2.0, T=ac.start(290.0))
Wall(g=2.0)
Plant(n=2, G=3.0)
Plant(n="two")
Plant(cells=2)
thermal.HeatCapacitor(C=2.0)
thermal.HeatCapacitor(c=2.0)
"""


@pytest.mark.slow  # unless `mypy src` has run before
def test_misspelt_arguments_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[1])  # with the settings and the cache of the project, which has the plug-in
    file = tmp_path / "plant.py"
    file.write_text(PROGRAM)
    said, _, _ = api.run([str(file)])
    wrong = [line.split(": error: ")[1] for line in said.splitlines() if ": error: " in line]
    assert wrong == [
        'Unexpected keyword argument "g" for "Wall"  [call-arg]',
        'Argument "n" to "Plant" has incompatible type "str"; expected "int"  [arg-type]',
        'Unexpected keyword argument "cells" for "Plant"  [call-arg]',
        'Unexpected keyword argument "c" for "HeatCapacitor"  [call-arg]',
    ]
