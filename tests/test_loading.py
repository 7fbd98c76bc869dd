"""What reading a model file takes: no module that translates, finds events or draws."""

import subprocess
import sys

import acausal as ac


class Cooling(ac.Component):
    T = ac.Variable(start=1.0)

    def equations(self):
        yield ac.der(self.T) == -self.T


NOT_NEEDED = (
    "families.assemble",
    "families.census",
    "families.reduction",
    "runtime.events.driver",
    "runtime.states",
    "results.plot",
)


def test_a_loaded_model_runs_without_the_modules_that_translate(tmp_path):
    ac.compile(Cooling()).save(tmp_path / "cooling.acm")
    code = f"""
import sys, acausal as ac
print(ac.load("cooling.acm").simulate(until=1.0)["T"][-1])
print([m for m in {NOT_NEEDED!r} if "acausal." + m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    value, modules = done.stdout.splitlines()
    assert abs(float(value) - 0.36788) < 1e-3 and modules == "[]"
