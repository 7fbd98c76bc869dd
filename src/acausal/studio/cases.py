"""Cases as text beside the model: `plant.cases.toml`. Whoever likes an editor better may write it there.

[[case]]
name = "colder winter"
until = "3 day"

[case.set]
"wall.G" = 3.0
"""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..errors import Diagnostic, Location, ModelError
from .placing import placed
from .protocol import Case

_HEADING = (
    "# Cases of {name} for the acausal studio: layers of changes over the model. Edit as you like; the studio reads it again.\n"
)
_DEFAULTS = Case("")


def file_of(target: str) -> Path | None:
    """Where the cases of a model are kept: beside its file; None for a model without one."""
    text = target.partition(".py:")[0] + (".py" if ".py:" in target else "")
    path = Path(text)
    return path.with_suffix(".cases.toml") if path.suffix in (".py", ".acm", ".acapp") else None


def read(path: Path | None) -> list[Case]:
    """The cases in a file; none if there is no file."""
    if path is None or not path.is_file():
        return []
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8")).get("case", [])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelError(
            Diagnostic(
                f"The cases in `{path.name}` cannot be read: {error}.", location=Location(str(path), 1), remedy="mend the file"
            )
        ) from error
    known = {f.name for f in fields(Case)}
    cases = []
    for entry in found if isinstance(found, list) else []:
        what = _wrong(entry, known)
        if what:
            raise ModelError(
                Diagnostic(f"`{path.name}` {what}.", location=Location(str(path), 1), remedy=f"keys are {', '.join(sorted(known))}")
            )
        cases.append(Case(**entry))
    return cases


def _wrong(entry: Any, known: set[str]) -> str:
    """What a file does that a case does not allow; empty if nothing."""
    if not isinstance(entry, dict):
        return "has a case that is no table"
    unknown = sorted(set(entry) - known)
    if unknown:
        return f"does not know `{unknown[0]}`"
    if not isinstance(entry.get("name"), str):
        return "has a case without a name"
    flat = [n for n in ("set", "inputs", "choices") if not isinstance(entry.get(n, {}), dict)]
    return f"has a case whose `{flat[0]}` is no table" if flat else ""


def write(path: Path | None, name: str, cases: list[Case]) -> None:
    """All cases at once, or the file stays as it was."""
    if path is None:
        return
    text = _HEADING.format(name=name) + "".join(_text(case) for case in cases)
    tomllib.loads(text)
    placed(path, text, sure=True)


def _text(case: Case) -> str:
    lines = ["", "[[case]]"]
    tables = []
    for f in fields(Case):
        value = getattr(case, f.name)
        if isinstance(value, dict):
            if value:
                tables += ["", f"[case.{f.name}]", *(f"{_key(k)} = {_value(v)}" for k, v in value.items())]
        elif f.name == "name" or value != getattr(_DEFAULTS, f.name):
            lines.append(f"{f.name} = {_value(value)}")
    return "\n".join([*lines, *tables]) + "\n"


def seconds_of(text: str, unit: str) -> float:
    """A time as it was typed, in seconds or in the unit over which the model is integrated."""
    from ..runtime.storage import seconds
    from .worker import _timed

    return float(seconds(_timed(text) or 0.0, "until", unit))


def _key(text: str) -> str:
    return _value(text)


def _value(value: Any) -> str:
    """A value in TOML.

    >>> _value("a\\n\\"b\\""), _value([1, True, "x"]), _value({"times": [0.0]})
    ('"a\\\\n\\\\"b\\\\""', '[1, true, "x"]', '{ "times" = [0.0] }')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(_value(v) for v in value)}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    escaped = "".join(_ESCAPES.get(c) or (c if c.isprintable() else f"\\U{ord(c):08x}") for c in str(value))
    return f'"{escaped}"'


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
