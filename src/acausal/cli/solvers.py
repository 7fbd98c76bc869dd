"""`acausal solvers`: the solver plug-ins with their options, as each of them declares them."""

from __future__ import annotations

import json as json_format
from typing import TYPE_CHECKING, Any

from . import show
from .common import Json, Traceback
from .exits import Exit
from .summary import print_tidy

if TYPE_CHECKING:
    from ..runtime.solver import Option, Solver


def solvers(json: Json = False, traceback: Traceback = False) -> Exit:
    """List the solvers and their options.

    [dim]acausal run plant.py --until 1h --solver ida --option max_step=10[/dim]
    """
    from ..runtime.solver import default_solver, find_solver, solver_names

    found = [find_solver(name) for name in solver_names()]
    if json:
        print(json_format.dumps([_as_json(s, s.name == default_solver()) for s in found]))
        return Exit.FINE
    for number, solver in enumerate(found):
        _show(solver, solver.name == default_solver(), first=number == 0)
    return Exit.FINE


def _show(solver: Solver, is_default: bool, first: bool) -> None:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = show.screen()
    if not first:
        console.print()
    console.print(Text.assemble((solver.name, "bold"), ("  the default" if is_default else "", "green")))
    print_tidy(console, Padding(solver.doc, (0, 0, 0, 2), expand=False))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("option", style="cyan", no_wrap=True)
    table.add_column("default", justify="right", no_wrap=True)
    table.add_column("allowed", style="dim")
    table.add_column("meaning")
    for option in solver.options:
        table.add_row(option.name, _default(option), option.allowed, option.doc)
    print_tidy(console, Padding(table, (0, 0, 0, 2), expand=False))


def _default(option: Option) -> str:
    return f"{option.default:g}" if option.type is float else str(option.default)


def _as_json(solver: Solver, is_default: bool) -> dict[str, Any]:
    options = [
        {
            "name": o.name,
            "type": o.type.__name__,
            "default": o.default,
            "minimum": o.minimum,
            "maximum": o.maximum,
            "choices": list(o.choices),
            "doc": o.doc,
        }
        for o in solver.options
    ]
    return {"name": solver.name, "default": is_default, "doc": solver.doc, "options": options}
