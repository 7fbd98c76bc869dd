"""`acausal show`: what a model consists of, part by part, with the values of its parameters. It reads the model's catalogue."""

from __future__ import annotations

import json as json_format
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from . import show as screens
from .common import Json, ModelArgument, Traceback, translated
from .exits import Exit

_SHOWN = ("parameter", "constant", "input", "discrete")
_MOST = 6  # values of an array


Flat = Annotated[
    bool, typer.Option("--flat", help="List the equations as they are solved, with full names, and what happens at events.")
]


def show(model: ModelArgument, flat: Flat = False, json: Json = False, traceback: Traceback = False) -> Exit:
    """Show the parts of a model with their parameters, inputs and connections; or its equations, flattened.

    [dim]acausal show plant.py:House[/dim], [dim]acausal show --flat plant.acm[/dim]
    """
    read = translated(model, quiet=True)
    if flat:
        from ..diagnosis.flat import flat as flattened

        told = flattened(read)
        print(json_format.dumps(told) if json else "\n".join(told))
        return Exit.FINE
    found = read.catalogue()
    if json:
        print(json_format.dumps(found))
        return Exit.FINE
    console = screens.screen()
    for line in lines(found):
        console.print(line, soft_wrap=True, markup=False)
    return Exit.FINE


def lines(found: dict[str, Any]) -> Iterator[str]:
    """The tree as text, one line for each part and each value."""
    yield from _node(found, found["tree"], found["title"], 0)


def _node(found: dict[str, Any], node: dict[str, Any], name: str, depth: int) -> Iterator[str]:
    kind, indent = found["kinds"][node["kind"]], "  " * depth
    times = f" × {' × '.join(map(str, node['shape']))}" if "shape" in node else ""
    what = f"  {kind['class']}" if name != kind["class"] else ""
    doc = kind["documentation"].split("\n")[0]
    yield f"{indent}{name}{what}{times}{f'  ({doc})' if doc else ''}"
    for choice, value in kind["structural"].items():
        yield f"{indent}  {choice} = {value}  structural"
    for quantity in kind["quantities"]:
        if quantity["role"] in _SHOWN and quantity["name"] in node.get("values", {}):
            yield f"{indent}  {_value(quantity, node['values'][quantity['name']])}"
    for connection in kind["connections"]:
        yield f"{indent}  {' — '.join(_end(end) for end in connection['ends'])}"
    for part in node.get("parts", ()):
        position = f"[{part['position']}]" if "position" in part else ""
        yield from _node(found, part, f"{part['name']}{position}", depth + 1)


def _value(quantity: dict[str, Any], value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    told = ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values[:_MOST]) + (", …" if len(values) > _MOST else "")
    unit = f" {quantity['unit']}" if quantity["unit"] else ""
    doc = f"  {quantity['documentation']}" if quantity["documentation"] else ""
    return f"{quantity['name']} = {told}{unit}{doc}"


def _end(end: dict[str, Any]) -> str:
    elements = end["elements"]
    few = [] if elements is None else elements[:_MOST]
    picked = f"[{', '.join(map(str, few))}{', …' if elements is not None and len(elements) > _MOST else ''}]" if few else ""
    return f"{end['part']}.{end['name']}{picked}" if end["part"] else f"{end['name']}{picked}"
