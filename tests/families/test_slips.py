"""Slips of Python that explain a wrong count: an equation without `yield`, a base class whose equations are not stated."""

from __future__ import annotations

from pathlib import Path

import pytest

import acausal as ac
from acausal.families.slips import equation_without_yield, forgotten_base, methods_of


class Base(ac.Component):
    x, y = ac.Variable(), ac.Variable()

    def equations(self):
        yield self.x == 1


class Stated(Base):
    def equations(self):
        yield from super().equations()
        if len("ab") == 2:  # a comparison that something is done with
            yield self.y == 2


class Forgotten(Base):
    def equations(self):
        yield self.y == 2


class NotYielded(Base):
    def equations(self):
        yield from super().equations()
        self.y == 2  # noqa: B015


def of(cls):
    return methods_of(cls, "equations")


def places(component):
    return [equation.location for equation in component.equations()]


def test_an_equation_without_yield_is_found_with_its_line():
    found = equation_without_yield(of(NotYielded))
    assert found is not None and found.source == "self.y == 2"
    assert Path(found.file).name == Path(__file__).name


def test_what_is_stated_is_no_slip():
    assert equation_without_yield(of(Stated)) is None
    assert equation_without_yield(of(Base)) is None
    assert equation_without_yield(of(ac.Component)) is None


def test_a_base_class_whose_equations_are_not_stated():
    assert forgotten_base(of(Forgotten), places(Forgotten())) == "Base"
    assert forgotten_base(of(Stated), places(Stated())) == ""
    assert forgotten_base(of(Base), places(Base())) == ""


def test_without_a_source_nothing_is_claimed():
    scope = {"ac": ac}
    exec("class Hidden(ac.Component):\n    x = ac.Variable()\n    def equations(self):\n        self.x == 1\n", scope)
    assert equation_without_yield(of(scope["Hidden"])) is None


def test_what_is_asked_of_a_quantity_is_a_function():
    class Asked(ac.Component):
        x = ac.Variable(start=1.0)

        def equations(self):
            yield self.x.der == -self.x

    with pytest.raises(ac.ModelError, match=r"asks `x` for `der`(.|\n)*ac\.der\(…\)"):
        ac.compile(Asked())
