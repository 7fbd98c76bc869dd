"""`acausal check`: translate only, and say everything that is wrong."""

from __future__ import annotations

import json as json_format

from . import show
from .common import Json, ModelArgument, Quiet, Traceback, translated
from .exits import Exit
from .summary import duration, number


def check(model: ModelArgument, quiet: Quiet = False, json: Json = False, traceback: Traceback = False) -> Exit:
    """Translate a model without simulating it, and list what is wrong.

    [dim]acausal check house.py[/dim]
    """
    found = translated(model, quiet=quiet or json).info()
    if json:
        told = {"model": found.title, "unknowns": found.unknowns, "computed": found.computed, "states": found.states}
        print(json_format.dumps({"ok": True, "errors": [], **told}))
    elif not quiet:
        from rich.text import Text

        parts = [number(found.components, "component")] if found.components else []
        parts += [f"{number(found.equations, 'equation')} for {number(found.unknowns, 'unknown')}", number(found.states, "state")]
        parts += [f"{number(found.computed)} computed"] if found.computed else []
        parts += [f"translated in {duration(sum(found.seconds.values()))}"]
        line = Text.assemble(("✓ ", "bold green"), (found.title, "bold"), " is fine: ", ", ".join(parts))
        show.screen().print(line, soft_wrap=True)
    return Exit.FINE
