"""A method that is short for a function of the package's face."""

from __future__ import annotations

import inspect
import subprocess
import sys

import acausal as ac


class Decay(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)
    k = ac.Parameter(1.0)

    def equations(self):  # type: ignore[no-untyped-def]
        yield ac.der(self.x) == -self.k * self.x


def test_a_study_of_a_model_is_that_of_the_face() -> None:
    model = ac.compile(Decay())
    one, other = model.study({"k": [0.5, 2.0]}, "x", until=1.0), ac.study(model, {"k": [0.5, 2.0]}, "x", until=1.0)
    assert one["x"].tolist() == other["x"].tolist()
    assert inspect.signature(ac.Model.study) == inspect.signature(ac.study) and ac.Model.study.__doc__ == ac.study.__doc__
    assert "cases" in inspect.signature(model.study).parameters and "model" not in inspect.signature(model.study).parameters


def test_nobody_imports_it_before_it_is_used() -> None:
    code = (
        "import sys; from acausal.model.model import Model; print('acausal.studies' in sys.modules); "
        "Model.study; print('acausal.studies' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
