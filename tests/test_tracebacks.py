"""What a user sees of an error ends in a line of her own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import acausal as ac


def shown(program: str, **environment: str) -> str:
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert found.returncode == 1
    return found.stderr


@pytest.mark.parametrize(
    "program",
    [
        "import acausal as ac\nmodel = ac.compile(3)",
        "import acausal as ac\nfrom acausal.library.electrical import Resistor\nResistor(RR=1.0)",
        "import acausal as ac\nclass A(ac.Component):\n    x = ac.Variable()\nac.compile(A())",
        "from acausal.language.plain import plain\nplain(3)",
    ],
)
def test_the_last_frame_is_the_user_s(program):
    frames = [line for line in shown(program).splitlines() if line.startswith('  File "')]
    assert len(frames) == 1 and '"<string>"' in frames[0]


def test_everything_is_shown_to_who_asks():
    assert "model.py" in shown("import acausal as ac\nac.compile(3)", ACAUSAL_TRACEBACK="full")


def test_other_errors_are_shown_whole():
    assert "ZeroDivisionError" in shown("import acausal\n1/0")


def test_a_hook_of_somebody_else_is_left_alone():
    text = shown("import sys\nsys.excepthook = lambda *e: sys.stderr.write('mine')\nimport acausal as ac\nac.compile(3)")
    assert text == "mine"


def test_what_notebooks_show():
    try:
        ac.compile(3)
    except ac.ModelError as error:
        lines = error._render_traceback_()
    assert not any("acausal/runtime" in line for line in lines) and any("test_tracebacks.py" in line for line in lines)
