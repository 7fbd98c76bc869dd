"""The example at the top of a module runs."""

from __future__ import annotations

import inspect
import re
import textwrap
from types import ModuleType
from typing import Any

import pytest

import acausal as ac
from acausal.library import sampled, switching
from acausal.library.mechanics import friction, stops


@pytest.mark.parametrize("module", [switching, sampled, friction, stops], ids=lambda m: m.__name__.rpartition(".")[2])
def test_it_runs(module: ModuleType, tmp_path: Any) -> None:
    text = inspect.getdoc(module) or ""
    found = re.search(r"^    import acausal as ac\n(?:    .*\n|\n)+", text + "\n", re.MULTILINE)
    assert found is not None
    file = tmp_path / "example.py"
    file.write_text(textwrap.dedent(found.group()))
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(file.read_text(), str(file), "exec"), names)
    (model,) = (v for v in names.values() if inspect.isclass(v) and issubclass(v, ac.Component))
    result = ac.compile(model()).simulate(until=3.0 if module is not switching else 0.04)
    assert result.outcome is ac.Outcome.FINISHED
    assert len(result.events) >= 1
