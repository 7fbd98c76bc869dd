"""The commands put together. Only typer and rich are imported here: what a command needs, it imports when it runs."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .bench import bench
from .check import check
from .demo import demo
from .diagnose import diagnose
from .exits import EPILOG
from .guard import guarded
from .info import info
from .listing import show
from .pack import pack, unpack
from .report import report
from .run import run
from .solvers import solvers
from .studio import studio
from .study import study


class _Command(TyperCommand):
    def get_help_option(self, ctx: Any) -> Any:
        return _flag(super().get_help_option(ctx))


class _Group(TyperGroup):
    def get_help_option(self, ctx: Any) -> Any:
        return _flag(super().get_help_option(ctx))


def _flag(option: Any) -> Any:
    """The help option without the word `<bool>`, as all our flags."""
    if option is not None:
        option.metavar = ""
    return option


app = typer.Typer(
    name="acausal",
    cls=_Group,
    help="Component modelling and simulation of physical systems: equations in Python classes, trajectories at the speed of C.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for command in (run, report, studio, study, check, show, info, diagnose, pack, unpack, solvers, demo, bench):
    app.command(name=command.__name__, cls=_Command, epilog=EPILOG if command is run else None)(guarded(command))


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        print(f"acausal {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    warnings.showwarning = _show_warning


def _show_warning(message: Any, category: Any, *_: Any, **__: Any) -> None:
    """A warning as a sentence, without the line of ours that raised it."""
    from rich.text import Text

    from .show import screen

    screen(errors=True).print(Text.assemble(("! ", "bold yellow"), str(message)))
