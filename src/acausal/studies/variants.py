"""Structural parameters in a study: arguments of a class or a function that makes the plant. Each combination is compiled once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..errors import ModelError, UsageError
from ..language.component import Component
from .cases import Cases

Choices = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, eq=False)
class Variants:
    """Models of one plant for several structural choices; where a choice cannot be, the reason stands in its place."""

    arguments: tuple[str, ...]  # columns of the cases that are structural
    models: dict[Choices, Any] = field(default_factory=dict)

    def of(self, changes: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The model of a case, and what is left to be changed in it."""
        model = self.models[self.choices(changes)]
        if isinstance(model, ModelError):
            raise model
        return model, {path: v for path, v in changes.items() if path not in self.arguments}

    def choices(self, changes: Mapping[str, Any]) -> Choices:
        return tuple((name, changes[name]) for name in self.arguments if name in changes)

    @property
    def first(self) -> Any:
        """A model that stands for all: what units and roles are looked up in."""
        for model in self.models.values():
            if not isinstance(model, ModelError):
                return model
        raise next(iter(self.models.values()))


def variants_of(make: Callable[..., Component], cases: Cases, compiled: Callable[[Component], Any]) -> Variants:
    """A model for each combination of structural choices among the cases."""
    names = arguments_of(make)
    columns = tuple(path for path in cases.columns if path in names)
    found = Variants(columns)
    for changes in cases:
        choices = found.choices(changes)
        if choices not in found.models:
            found.models[choices] = _made(make, dict(choices), compiled)
    return found


def _made(make: Callable[..., Component], choices: dict[str, Any], compiled: Callable[[Component], Any]) -> Any:
    choices = {name: _whole(value) for name, value in choices.items()}
    said = ", ".join(f"{name} = {value!r}" for name, value in choices.items())
    try:
        component = make(**choices)
        if not isinstance(component, Component):
            raise UsageError(f"`{_name(make)}` gave {component!r}; a component was expected.")
        return compiled(component)
    except ModelError as error:
        return error
    except Exception as error:  # whatever a user's class says of a number that it cannot use
        return ModelError(f"`{_name(make)}` cannot be made with {said or 'its defaults'}: {type(error).__name__}: {error}")


def _whole(value: Any) -> Any:
    """Tables and files make 10.0 of 10; a structural choice that is a whole number is meant as one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def arguments_of(make: Callable[..., Component]) -> list[str]:
    """What a class or function that makes a plant can be asked for."""
    if isinstance(make, partial):
        given = inspect.signature(make.func).bind_partial(*make.args).arguments  # by place: nobody can give them once more
        return [name for name in arguments_of(make.func) if name not in given]
    what: Any = make.__init__ if isinstance(make, type) else make  # type: ignore[misc]
    if what is Component.__init__:
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [p.name for p in inspect.signature(what).parameters.values() if p.kind in kinds]
    return names[1:] if isinstance(make, type) else names


def _name(make: Any) -> str:
    return str(getattr(make, "__name__", make))
