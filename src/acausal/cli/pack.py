"""`acausal pack` and `acausal unpack`: component classes in one file, for those who have no source."""

from __future__ import annotations

import ast
import json as json_format
from typing import Annotated, Any

import typer

from ..errors import Diagnostic
from . import show
from .common import Json, Quiet, Traceback
from .exits import Exit
from .guard import Stop, blamed


def pack(
    classes: Annotated[
        list[str], typer.Argument(metavar="CLASS…", help="plant.py:Compressor, or package.module:Pipe.", show_default=False)
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where the components go: vendor.acp.")],
    variants: Annotated[
        list[str] | None,
        typer.Option("--variants", "-v", metavar="CLASS.NAME=LIST", help='Structural choices to pack: "Pipe.n=[10, 20, 50]".'),
    ] = None,
    show_equations: Annotated[
        bool, typer.Option("--show-equations", metavar="", help="Whoever has the file may read the equations.")
    ] = False,
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> Exit:
    """Write component classes to one file that is used without their source.

    [dim]acausal pack compressor.py:Compressor pipe.py:Pipe --variants "Pipe.n=[10, 20]" -o vendor.acp[/dim]
    """
    from ..program.pack import pack as write
    from ..program.pack import variants as with_choices
    from .load import load_class

    choices = _choices(variants or [])
    found: list[Any] = []
    for text in classes:
        cls = load_class(text)
        found.append(with_choices(cls, **choices.pop(cls.__name__)) if cls.__name__ in choices else cls)
    if choices:
        raise Stop(Exit.USAGE, Diagnostic(f"`--variants {next(iter(choices))}…` names a class that is not packed."))
    with blamed(Exit.MODEL):
        write(output, *found, show_equations=show_equations)
    if not quiet:
        names = ", ".join(getattr(f, "__name__", None) or f.what.__name__ for f in found)
        show.screen().print(f"{output} has {names}.", highlight=False)
    return Exit.FINE


def unpack(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of components: vendor.acp.", show_default=False)],
    list_: Annotated[bool, typer.Option("--list", "-l", metavar="", help="Say what is in it (this is all there is to do).")] = True,
    json: Json = False,
    traceback: Traceback = False,
) -> Exit:
    """Say what a file of components has: classes, connectors, parameters with units and documentation.

    [dim]acausal unpack --list vendor.acp[/dim]
    """
    from ..program.pack import load

    with blamed(Exit.USAGE):
        found = load(file)
    if json:
        print(json_format.dumps(found.listing))
        return Exit.FINE
    for entry in found.listing:
        print(_described(entry))
    return Exit.FINE


def _choices(given: list[str]) -> dict[str, dict[str, list[Any]]]:
    """`Pipe.n=[10, 20]` each; nothing typed is ever executed."""
    found: dict[str, dict[str, list[Any]]] = {}
    for text in given:
        path, equals, values = text.partition("=")
        cls, dot, name = path.strip().rpartition(".")
        try:
            listed = ast.literal_eval(values.strip()) if equals and dot else None
        except (ValueError, SyntaxError):
            listed = None
        if not isinstance(listed, (list, tuple)):
            what = f"`--variants {text}` is not a class, a choice and a list."
            raise Stop(Exit.USAGE, Diagnostic(what, remedy='--variants "Pipe.n=[10, 20]"'))
        found.setdefault(cls, {})[name] = list(listed)
    return found


def _described(entry: dict[str, Any]) -> str:
    lines = [entry["name"] + (f": {entry['doc'].splitlines()[0]}" if entry["doc"] else "")]
    lines += [f"  variant     {', '.join(f'{n}={v!r}' for n, v in choices.items())}" for choices in entry["variants"]]
    lines += [f"  connector   {name} ({port['class']})" for name, port in entry["connectors"].items()]
    for name, said in entry["parameters"].items():
        value = f" = {said['value']:g}" if isinstance(said.get("value"), (int, float)) else ""
        unit = f" {said['unit']}" if said["unit"] and value else f" [{said['unit']}]" if said["unit"] else ""
        lines.append(f"  parameter   {name}{value}{unit}{'  ' + said['doc'] if said['doc'] else ''}")
    names = ", ".join(entry["variables"])
    return "\n".join([*lines, *([f"  variables   {names}"] if names else [])])
