"""What several commands share: their common arguments, and the way from a name on the command line to a compiled model."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Annotated

import typer

from . import show
from .exits import Exit
from .guard import blamed

if TYPE_CHECKING:
    from ..language.component import Component
    from ..model.model import Model

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="plant.py, plant.py:House, 'plant.py:House(rooms=3)', package.module:House or plant.acm",
        show_default=False,
    ),
]
# An empty `metavar` keeps the word `<bool>` out of the help of flags.
Json = Annotated[bool, typer.Option("--json", metavar="", help="Machine-readable: one JSON object on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="Say nothing unless something is wrong.")]
Traceback = Annotated[bool, typer.Option("--traceback", metavar="", help="Show where in the program an error came from.")]


def translated(text: str, *, quiet: bool = False) -> Model:
    """The model that the command line names, compiled; a model file has it already."""
    if text.endswith(".acm"):
        from ..model.model import load_model

        with blamed(Exit.MODEL):
            return load_model(text)
    from .load import load_component

    component = load_component(text)
    with working(f"translating {type(component).__name__}", quiet):
        model = compiled(component)
    if not quiet:
        _note_open_connectors(model)
    return model


def _note_open_connectors(model: Model) -> None:
    """Legal, but more often forgotten than meant."""
    names = model.open_connectors()
    if names:
        told = ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
        show.screen(errors=True).print(f"[yellow]![/yellow] Nothing is connected to {told}: no flow passes there.", soft_wrap=True)


def compiled(component: Component) -> Model:
    from ..errors import ModelWarning
    from ..model.model import compile

    with blamed(Exit.MODEL), redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # all open connectors are noted, in our own words
        return compile(component)


@contextmanager
def working(what: str, quiet: bool = False) -> Iterator[None]:
    """A sign of life on a terminal while nothing else is shown."""
    console = show.screen(errors=True)
    if quiet or not console.is_terminal:
        yield
    else:
        with console.status(what, spinner="dots"):
            yield
