"""A study written down in a TOML file, so that it can be run from the command line, kept beside the model and run again.

model = "house.py:House"
until = "1 day"
outputs = ["room.T", "max heater.Q_flow", "time of room.T > 22 degC"]

[grid]
"wall.G" = [100, 200, "0.3 kW/K"]
"""

from __future__ import annotations

import ast
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UsageError, near_matches
from ..language import distributions
from ..language.reductions import Reduction
from .cases import cases_of, draws, grid, one_at_a_time

_KINDS = ("final", "first", "max", "min", "mean", "integral")
_CROSSING = re.compile(r"time of (?P<path>.+?)\s*(?P<way>[<>])\s*(?P<level>.+)")
_NAME = re.compile(r"[^\W\d]\w*")
_CALL = re.compile(r"\s*(uniform|normal|lognormal|triangular|choice)\s*\(")
_TABLES = ("grid", "one_at_a_time", "draws", "cases")
_KEYS = ("model", "until", "steady", "outputs", "keep", "table", "executor", "each_from", "options", *_TABLES)
_DRAWING = ("count", "method", "seed", "correlation")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a file says: which model, which cases, what is kept of each, and how."""

    model: str = ""
    cases: Any = None
    outputs: tuple[str, ...] = ()
    until: str | float | None = None
    steady: bool = False
    keep: str | None = None
    table: str | None = None
    executor: str | None = None
    each_from: str = "start"
    options: Mapping[str, Any] = field(default_factory=dict)


def read_plan(file: str | os.PathLike[str]) -> Plan:
    """The plan in a TOML file. Files that it names are looked for beside it."""
    path = Path(file)
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"There is no file `{file}`.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"`{file}` is not a TOML file: {error}.") from None
    for key in found:
        if key not in _KEYS:
            raise UsageError(f"`{file}` says `{key}`, which means nothing. {near_matches(key, _KEYS)}".rstrip())
    said = [key for key in _TABLES if key in found]
    if len(said) != 1:
        what = "no cases" if not said else f"cases in {len(said)} ways: {', '.join(said)}"
        raise UsageError(f"`{file}` has {what}.", remedy='One of [grid], [one_at_a_time], [draws], or cases = "cases.csv".')
    outputs = found.get("outputs", [])
    others = {key: found[key] for key in ("until", "steady", "keep", "table", "executor", "each_from", "options") if key in found}
    model = _beside(path, str(found.get("model", "")))
    several = tuple(outputs) if isinstance(outputs, list) else (outputs,)
    return Plan(model=model, cases=_cases(said[0], found[said[0]], path), outputs=several, **others)


def _beside(plan: Path, model: str) -> str:
    """A model's file is named as seen from the plan."""
    file, colon, name = model.partition(":")
    return f"{plan.parent / file}{colon}{name}" if file.endswith((".py", ".acm")) else model


def _cases(way: str, said: Any, path: Path) -> Any:
    if way == "cases":
        return path.parent / said if isinstance(said, str) else cases_of(said, lambda name: "")
    if way == "draws":
        drawn = {name: distribution(text) for name, text in said.items() if name not in _DRAWING}
        given = {name: said[name] for name in _DRAWING if name in said}
        if "count" not in given:
            raise UsageError("[draws] does not say how many cases are drawn.", remedy="count = 100")
        return draws(drawn, **given)
    return grid(said) if way == "grid" else one_at_a_time(said)


def distribution(text: Any) -> distributions.Distribution:
    """A distribution as it is written in a file; nothing in it is executed.

    >>> distribution("uniform(1.0, '20 kN/m')").numbers
    (1.0, '20 kN/m')
    """
    if isinstance(text, str) and _CALL.match(text):
        try:
            call = ast.parse(text.strip(), mode="eval").body
            assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
            arguments = [ast.literal_eval(a) for a in call.args]
            named = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
            made: distributions.Distribution = getattr(distributions, call.func.id)(*arguments, **named)
            return made
        except (SyntaxError, ValueError, TypeError, AssertionError):
            pass
    raise UsageError(f"{text!r} is not a distribution.", remedy='"uniform(1.0, 2.0)", "normal(20.0, 0.5)", "choice(1, 2)", …')


def output(text: str) -> Reduction:
    """An output as it is written in a file or on the command line.

    >>> output("max room.T").kind, output("room.T").kind, output("time of room.T > 22 degC").level
    ('max', 'final', '22 degC')
    """
    if not isinstance(text, str):
        raise UsageError(f"An output is written as a text such as `max room.T`, got {text!r}.")
    crossing = _CROSSING.fullmatch(text.strip())
    if crossing:
        way = "first above" if crossing["way"] == ">" else "first below"
        level = crossing["level"].strip()
        return Reduction(way, crossing["path"], _number(level))
    kind, space, path = text.strip().partition(" ")
    if space and kind not in _KINDS and _NAME.fullmatch(kind) and _NAME.match(path.strip()):
        raise UsageError(
            f"`{text}` is no output: `{kind}` is nothing that is taken of a quantity. {near_matches(kind, _KINDS)}".rstrip(),
            remedy=f"`{path.strip()}` for the final value, or one of {', '.join(_KINDS)} before it, or `time of … > …`.",
        )
    return Reduction(kind, path.strip()) if space and kind in _KINDS else Reduction("final", text.strip())


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
