"""Models of the same plant translated in another way: such that it slides along surfaces, or for certain values of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UsageError
from ..program.program import sliding_along, with_values
from ..results.result import Result
from ..runtime.outcome import Outcome
from ..runtime.parameters import by_name

if TYPE_CHECKING:
    from .model import Model

_MOST = 20  # values of parameters that are remembered


class Variants:
    """The variants of a model that came up."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._slides: Model | None = None
        self._coincidence = model.system.coincidence if model.program.before is not None else None
        self._regular: set[bytes] = set()  # values of parameters with which the model is as it should be
        self._others: list[_Valued] = []

    def suiting(self, changes: Mapping[str, Any] | None, differentiated: bool = False) -> Model:
        """The model to run with these changes of parameters: another one where values make equations depend on each other, which
        cannot be differentiated by parameters."""
        if self._coincidence is None:
            return self.model
        parameters = self.model._parameters
        known = parameters.known(parameters.split(by_name(changes or {}, "set"))[0], for_a_run=True)
        read = known[self._coincidence.read].tobytes()
        if read in self._regular or known.tobytes() in self._regular:
            return self.model
        other = next((o for o in self._others if o.holds_for(known)), None) or self._made(known, read)
        if other is not None and differentiated:
            from ..families.coincidence import no_derivatives

            raise no_derivatives("A run with these values has no derivatives by parameters, and none can be found with it")
        return self.model if other is None else other.with_numbers_of(self.model)

    def _made(self, known: np.ndarray, read: bytes) -> _Valued | None:
        doubtful = self.model._preparation.doubtful(known)
        program = with_values(self.model.program, known) if doubtful else None
        if program is None:
            if len(self._regular) >= _MOST:
                self._regular.clear()
            self._regular.add(known.tobytes() if doubtful else read)  # why nothing came of it may lie in any parameter
            return None
        other = _Valued(type(self.model)(program), self.model)
        self._others = [other, *self._others[: _MOST - 1]]
        return other

    def sliding(self, how: str, asked: dict[str, Any]) -> Result:
        """Run; where it chatters, translate once more such that the solution can slide along that surface, and run again."""
        if how != "filippov":
            raise UsageError(f'`sliding` is "filippov" or None, got {how!r}.')
        model = self.model if self._slides is None else self._slides
        while True:
            result = model.set(self.model._changes).simulate(**asked, on_failure="keep")
            surfaces = result.chattering
            if result.outcome is not Outcome.CHATTERING or surfaces <= model.program.sliding:
                return result
            model = self._slides = type(model)(sliding_along(self.model.program, model.program.sliding | surfaces))


class _Valued:
    """A model that holds for some values of parameters."""

    def __init__(self, model: Model, of: Model) -> None:
        self.model = model
        assert of.program.before is not None
        self._count = of.program.before.known_count  # cells that both have; behind them are numbers of either translation

    def holds_for(self, known: np.ndarray) -> bool:
        system = self.model.system
        if not system.holds_for(known):
            return False
        every = self.model._parameters.values.cells.copy()  # behind those of both: numbers in its own equations
        every[: self._count] = known[: self._count]
        return not self.model._preparation.doubtful(every)

    def with_numbers_of(self, model: Model) -> Model:
        """This model with the parameters that were set in another."""
        own, other = self.model._parameters, model._parameters
        own.values.cells[: self._count] = other.values.cells[: self._count]
        own.overridden[: self._count] = other.overridden[: self._count]
        own.starts = dict(other.starts)
        self.model._changes = dict(model._changes)
        return self.model
