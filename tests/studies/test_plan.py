"""Studies written down in a file."""

from __future__ import annotations

import pytest

from acausal.errors import UsageError
from acausal.studies.cases import Cases, Draws
from acausal.studies.plan import distribution, output, read_plan

WHOLE = """
model = "plant.py:Decay"
until = "2 s"
outputs = ["x", "mean x", "time of x < 0.5"]
[{way}]
"""

DRAWN = """count = 8
seed = 3
k = "uniform(1.0, '120 1/min')"
"""


def plan(tmp_path, text):
    file = tmp_path / "study.toml"
    file.write_text(text, encoding="utf-8")
    return read_plan(file)


def test_a_plan_is_read_and_its_model_is_beside_it(tmp_path):
    found = plan(tmp_path, WHOLE.format(way="grid") + "k = [1, 2]\nu = [0, 1]\n")
    assert found.model == f"{tmp_path / 'plant.py'}:Decay"
    assert (found.until, found.outputs, len(found.cases)) == ("2 s", ("x", "mean x", "time of x < 0.5"), 4)


def test_draws_are_written_as_they_are_called(tmp_path):
    found = plan(tmp_path, WHOLE.format(way="draws") + DRAWN)
    assert isinstance(found.cases, Draws)
    assert len(found.cases.cases(lambda path: "1/s")) == 8


def test_one_at_a_time(tmp_path):
    found = plan(tmp_path, WHOLE.format(way="one_at_a_time") + "k = [1, 2]\n")
    assert isinstance(found.cases, Cases)
    assert found.cases.names[0] == "base"


def test_outputs_say_what_is_kept():
    assert [output(t).kind for t in ("x", "max x", "integral x", "time of x > 1")] == ["final", "max", "integral", "first above"]
    assert output("time of room.T > 22 degC").level == "22 degC"


def test_nothing_in_a_file_is_executed():
    with pytest.raises(UsageError, match="is not a distribution"):
        distribution("uniform(__import__('os').getcwd(), 2)")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model = 3 4", "is not a TOML file"),
        ('modell = "x"\n', "says `modell`, which means nothing. Did you mean `model`"),
        ('model = "x"\n', "has no cases"),
        ('model = "x"\n[grid]\na = [1]\n[draws]\ncount = 3\n', "cases in 2 ways"),
        ('model = "x"\n[draws]\na = "uniform(0, 1)"\n', "does not say how many"),
        ('model = "x"\n[draws]\ncount = 3\na = "even(0, 1)"\n', "is not a distribution"),
    ],
)
def test_what_a_plan_cannot_say_is_told(tmp_path, text, said):
    with pytest.raises(UsageError, match=said):
        plan(tmp_path, text)
