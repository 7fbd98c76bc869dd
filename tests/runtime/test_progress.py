"""Progress: quiet unless asked, a user's function as it is, a bar only on a terminal and only after a while."""

from __future__ import annotations

import sys

import pytest

from acausal.runtime import progress
from acausal.runtime.progress import reported


def test_a_function_is_passed_on():
    def own(t):
        return None

    with reported(own, 0.0, 1.0, "x") as found:
        assert found is own


@pytest.mark.parametrize("wanted", [True, False])
def test_without_a_terminal_there_is_nothing(wanted, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with reported(wanted, 0.0, 1.0, "x") as found:
        assert found is None


def test_a_bar_appears_late_and_goes(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with reported(True, 0.0, 10.0, "plant") as bar:
        assert bar(1.0) is True and bar.bar is None  # short runs stay quiet
        monkeypatch.setattr(progress, "_PATIENCE", -1.0)
        assert bar(5.0) is True and bar.bar is not None
        assert bar.bar.tasks[0].completed == pytest.approx(0.5)
    assert bar.bar.finished or not bar.bar.live.is_started


def test_the_bar_is_closed_when_the_run_fails(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    with pytest.raises(ValueError), reported(True, 0.0, 10.0, "plant") as bar:
        bar(5.0)
        raise ValueError
    assert not bar.bar.live.is_started
