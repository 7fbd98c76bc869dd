"""Options as they are typed, turned into what `Model.simulate` takes. Nothing typed is ever executed."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Diagnostic, ModelError
from .exits import Exit
from .guard import Stop

if TYPE_CHECKING:
    from ..model.model import Model


def seconds(text: str, option: str, unit: str = "s") -> float:
    """A time with or without a unit; `unit`: of what the model is integrated over.

    >>> seconds("10", "--until"), seconds("2 h", "--until"), seconds("1.5min", "--until")
    (10.0, 7200.0, 90.0)
    """
    from ..language.units import quantity

    try:
        return float(quantity(text, unit))
    except ModelError as error:
        what = f"`{option} {text}` is not a time." if unit == "s" else f"`{option} {text}` is no quantity in {unit}."
        remedy = "a number of seconds, or a number with a unit: 90, 1.5e3, 2h, 1day"
        if unit != "s":
            remedy = f"The model is integrated over a quantity in {unit}: a number of it, or a number with a unit: 2{unit}."
        raise Stop(Exit.USAGE, Diagnostic(what, remedy=remedy)) from error


def early_seconds(text: str, option: str) -> float | None:
    """What a time would be in seconds, before the model is known; None: it has a unit that is none of time."""
    from ..language.units import dimension, split_quantity

    try:
        written = split_quantity(text)[1]
        if written and dimension(written) != dimension("s"):
            return None
    except ModelError:
        pass
    return seconds(text, option)


def pairs(given: Iterable[str], option: str, example: str) -> dict[str, str]:
    """`name=text` each; a name given twice keeps the last."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise Stop(Exit.USAGE, Diagnostic(f"`{option} {text}` lacks its name or its value.", remedy=f"{option} {example}"))
        found[name.strip()] = value.strip()
    return found


def literal(text: str) -> Any:
    """A number or a list of numbers; anything else stays a text, such as `21 degC`.

    >>> literal("2.5"), literal("[1, 2]"), literal("21 degC")
    (2.5, [1, 2], '21 degC')
    """
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def names(given: Iterable[str]) -> list[list[str]]:
    """Each option's names, separated by commas outside of brackets.

    >>> names(["room.T, T_out", "wall.T[0,1]"])
    [['room.T', 'T_out'], ['wall.T[0,1]']]
    """
    groups = [[part for part in (p.strip() for p in _outside_brackets(text)) if part] for text in given]
    return [group for group in groups if group]


def _outside_brackets(text: str) -> list[str]:
    parts, depth = [""], 0
    for letter in text:
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def options_of(solver: str | None, given: dict[str, str]) -> dict[str, Any]:
    """Solver options in their types, checked; a misspelt one is an error with near matches."""
    from ..runtime.solver import check_options, find_solver

    if solver is None and not given:
        return {}
    chosen = find_solver(solver)
    types = {option.name: option.type for option in chosen.options}
    values = {name: _typed(text, types.get(name, str)) for name, text in given.items()}
    check_options(chosen, values)
    return values


def _typed(text: str, wanted: type) -> Any:
    if wanted is bool and text.lower() in ("true", "yes", "on", "1", "false", "no", "off", "0"):
        return text.lower() in ("true", "yes", "on", "1")
    if wanted is int and text.isdigit():
        return int(text)
    if wanted is float:
        try:
            return float(text)
        except ValueError:
            return text
    return text


def inputs_of(model: Model, given: dict[str, str]) -> dict[str, Any]:
    """Inputs: a number, a number with a unit, a CSV file, or a column of one (`weather.csv:T_out`)."""
    return {path: _input(model, path, text) for path, text in given.items()}


def _input(model: Model, path: str, text: str) -> Any:
    from ..runtime.given import as_signal

    located = model.system.plant.locate(path)
    found = located.kind.quantities.get(located.name)
    if found is None or found.role != "input":
        what = f"`--input {path}={text}`: {path} is not an input."
        raise Stop(Exit.USAGE, Diagnostic(what, remedy="`--set` is for parameters; an input is declared with `ac.Input(…)`"))
    unit, over = found.declaration.unit, model.system.plant.independent[:2]
    return as_signal(_given(path, text, unit), path, unit=unit, over=over)


def _given(path: str, text: str, unit: str) -> Any:
    from ..language.units import quantity

    file, colon, column = text.rpartition(":")
    if colon and Path(file).suffix:
        return (file, column)
    if Path(text).suffix.lower() == ".csv" or Path(text).exists():
        return text
    try:
        return quantity(text, unit)
    except ModelError as error:
        what = f"`--input {path}={text}`: {text!r} is neither a number nor a file that exists."
        raise Stop(Exit.USAGE, Diagnostic(what, remedy="a number (20, `20 degC`), a CSV file, or `file.csv:column`")) from error
