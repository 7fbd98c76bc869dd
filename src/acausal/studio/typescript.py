"""The page's types, generated from `protocol.py`: `python -m acausal.studio.typescript > studio/src/protocol.ts`."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from . import protocol

_PLAIN = {str: "string", float: "number", int: "number", bool: "boolean", type(None): "null", None: "null", Any: "unknown"}


def written(kind: Any) -> str:
    """A Python type in TypeScript.

    >>> written(list[float | None]), written(dict[str, str])
    ('(number | null)[]', 'Record<string, string>')
    """
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is list:
        inner = written(args[0])
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if origin is dict:
        return f"Record<string, {written(args[1])}>"
    if origin is typing.Literal:
        return " | ".join(f"'{a}'" for a in args)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(dict.fromkeys(written(a) for a in args))
    return kind.__name__


def lines() -> Iterator[str]:
    yield "// Generated from src/acausal/studio/protocol.py by `python -m acausal.studio.typescript`. Change it there."
    for kind in protocol.EXPORTED:
        hints = typing.get_type_hints(kind)
        yield ""
        yield f"export interface {kind.__name__} {{"
        yield from (f"  {f.name}: {written(hints[f.name])}" for f in fields(kind))
        yield "}"
    yield ""
    yield "export interface Asks {"
    for name, (arguments, answer) in protocol.ASKS.items():
        given = "; ".join(f"{a}: {written(k)}" for a, k in arguments.items())
        yield (
            f"  {name}: {{ given: {{ {given} }}; answer: {written(answer)} }}"
            if given
            else (f"  {name}: {{ given: Record<string, never>; answer: {written(answer)} }}")
        )
    yield "}"
    yield ""
    yield "export interface Notices {"
    yield from (f"  {name}: {written(kind)}" for name, kind in protocol.NOTICES.items())
    yield "}"


if __name__ == "__main__":
    print("\n".join(lines()))
