"""Options as they are typed."""

from __future__ import annotations

import doctest

import pytest

from acausal.cli import arguments, load, summary
from acausal.cli.guard import Stop


@pytest.mark.parametrize("module", [arguments, load, summary])
def test_examples_of_the_docstrings(module) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("text", ["C", "=3", "C=", ""])
def test_a_pair_needs_both_sides(text: str) -> None:
    with pytest.raises(Stop, match="lacks its name or its value"):
        arguments.pairs([text], "--set", "C=3")


def test_the_value_may_hold_an_equals_sign() -> None:
    assert arguments.pairs(["name=a=b", "name=c=d"], "--set", "") == {"name": "c=d"}


def test_literals_are_never_executed() -> None:
    assert arguments.literal("__import__('os').getpid()") == "__import__('os').getpid()"


def test_names_keep_commas_in_brackets() -> None:
    assert arguments.names(["a, b[0, 1].T", " ", "c"]) == [["a", "b[0, 1].T"], ["c"]]


def test_options_of_a_solver_have_their_types() -> None:
    given = {"max_step": "0.5", "max_order": "2", "suppress_algebraic": "no", "ordering": "colamd"}
    assert arguments.options_of("ida", given) == {
        "max_step": 0.5,
        "max_order": 2,
        "suppress_algebraic": False,
        "ordering": "colamd",
    }


def test_a_time_that_is_none() -> None:
    with pytest.raises(Stop, match="`--until soon` is not a time"):
        arguments.seconds("soon", "--until")
