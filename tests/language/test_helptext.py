"""What editors and `help` know of component classes."""

from __future__ import annotations

import inspect
import pydoc

import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.library import electrical, fluid


class Wall(ac.Component):
    """A wall of layers."""

    G = ac.Parameter(10.0, unit="W/K", min=0, doc="conductance")
    area = ac.Parameter(unit="m^2", min=0.1, max=100.0)
    T = ac.Variable(start=293.15, unit="K", doc="temperature in the middle")
    sun = ac.Input(0.0, unit="W")

    def __init__(self, layers: int = 3) -> None:
        self.layers = layers

    def equations(self):
        yield self.G * ac.der(self.T) == self.sun


def test_the_signature_has_every_parameter():
    found = inspect.signature(Wall).parameters
    assert list(found) == ["layers", "G", "area", "sun", "T"]
    assert found["layers"].default == 3 and found["G"].kind is inspect.Parameter.KEYWORD_ONLY
    assert found["area"].default is inspect.Parameter.empty  # it has to be given
    assert str(inspect.signature(electrical.Resistor)) == "(*, R: float [ohm] = 1, v: float [V] = …, i: float [A] = …)"


def test_a_fluid_component_says_what_else_it_takes():
    found = inspect.signature(fluid.Volume).parameters
    assert str(found["p"]) == "p: float [Pa] = start(p_start)" and str(found["medium"]) == "medium: Medium | str = …"
    assert "p: starts at p_start; pressure" in pydoc.plain(pydoc.render_doc(fluid.Volume))


def test_help_lists_what_is_declared_and_stated():
    text = pydoc.plain(pydoc.render_doc(Wall))
    for line in (
        "A wall of layers.",
        "G: 10 W/K, ≥ 0; conductance",
        "area: to be given m^2, 0.1 … 100",
        "T: starts at 293.15 K; temperature in the middle",
        "sun: 0 W",
        "G * der(T) == sun",
    ):
        assert line in text
    assert vars(Wall)["__doc__"] == "A wall of layers."
    assert "p: Pin" in electrical.Resistor.__doc__


def test_every_class_of_the_library_can_be_asked():
    from acausal.library import mechanics, signal, thermal  # noqa: F401

    seen = [ac.Component]
    for cls in seen:
        seen += [c for c in type.__subclasses__(cls) if c not in seen]
        if cls is not ac.Component:
            assert str(inspect.signature(cls)).startswith("(") and isinstance(cls.__doc__ or "", str)
    assert len(seen) > 50


def test_a_misspelt_parameter_is_told_at_once():
    with pytest.raises(UsageError, match=r"Wall has no `g`.* Did you mean `G`"):
        Wall(g=3.0)


def test_equations_that_a_class_replaces_are_not_listed():
    class Base(ac.Component):
        x = ac.Variable()

        def equations(self):
            yield self.x == 1

    class Replaced(Base):
        def equations(self):
            yield self.x == 2

    class Added(Base):
        y = ac.Variable()

        def equations(self):
            yield from super().equations()
            yield self.y == 3

    assert "x == 2" in Replaced.__doc__ and "x == 1" not in Replaced.__doc__
    assert Added.__doc__.index("x == 1") < Added.__doc__.index("y == 3")
