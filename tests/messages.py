"""What a mistake is answered with, for tests of bad input."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import acausal as ac


def message(make: Callable[[], object], error: type[Exception] = ac.ModelError) -> str:
    """What is said; never anything but an error of our own."""
    with pytest.raises(error) as found:
        make()
    assert found.value.diagnostics  # type: ignore[attr-defined]
    assert "Traceback" not in str(found.value)
    return str(found.value)


def holds(text: str, *parts: str) -> None:
    missing = [p for p in parts if p not in text]
    assert not missing, f"{missing} not in:\n{text}"


class Base(ac.Component):
    """A good model, to do wrong things with."""

    x = ac.Variable(start=0.0, fixed=True)
    z = ac.Variable()
    k = ac.Parameter(2.0)
    u = ac.Input()
    n = ac.Integer(start=0)
    b = ac.Boolean(start=False)
    d = ac.Discrete(start=0.0)
    row = ac.Integer(start=0, shape=5)

    def equations(self):
        yield ac.der(self.x) == 1.0
        yield self.z == 2 * self.x


def stopped(component: ac.Component, outcome: ac.Outcome, until: float = 3.0, **options: object) -> tuple[str, ac.Result]:
    """What is said about a run that an event ended, and what was computed until then."""
    result = ac.compile(component).simulate(until=until, **options)  # type: ignore[arg-type]
    assert result.outcome is outcome
    return "\n".join(map(str, result.diagnostics)), result


def wrong(statement, equation=None):
    """The good model with one statement more."""

    class Wrong(Base):
        def equations(self):
            yield from super().equations()
            if equation is not None:
                yield equation(self)

        def events(self):
            if statement is not None:
                yield statement(self)

    return Wrong()
