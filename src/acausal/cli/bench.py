"""`acausal bench`: run a benchmark suite of the source checkout. Records are shown as they come: a suite may take minutes."""

from __future__ import annotations

import ast
import importlib
import inspect
import json as json_format
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import Diagnostic, near_matches
from . import show
from .common import Traceback
from .exits import Exit
from .guard import Stop

FIRST = ("case", "n", "program", "seconds", "ratio")
HIDDEN = ("suite", "message")


def bench(
    suite: Annotated[
        str | None, typer.Argument(metavar="SUITE", help="Which suite; all are listed without it.", show_default=False)
    ] = None,
    sizes: Annotated[list[str] | None, typer.Option("--sizes", metavar="N,…", help="Only these sizes: 10,100,1000.")] = None,
    json: Annotated[bool, typer.Option("--json", metavar="", help="One JSON object per line.")] = False,
    traceback: Traceback = False,
) -> Exit:
    """Run a benchmark suite, or list them.

    [dim]acausal bench limit --sizes 10,100[/dim]
    """
    suites = _suites(find_checkout())
    if suite is None:
        _list(suites, json)
        return Exit.FINE
    if suite not in suites:
        what = f"There is no suite `{suite}`. {near_matches(suite, suites)}".rstrip()
        raise Stop(Exit.USAGE, Diagnostic(what, details=(f"there are:  {', '.join(suites)}",)))
    records = _records(suite, _numbers(sizes or []))
    if json:
        for record in records:
            print(json_format.dumps(record), flush=True)
    else:
        _show(records)
    return Exit.FINE


def find_checkout() -> Path:
    """The folder that holds `benchmarks/`: beside the sources of an installation in place, or around the working folder."""
    here = Path.cwd()
    for folder in (Path(__file__).resolve().parents[3], here, *here.parents):
        if (folder / "benchmarks" / "suites").is_dir():
            return folder
    what = "Benchmarks are run from a checkout of the sources; they are no part of the installed package."
    raise Stop(
        Exit.USAGE,
        Diagnostic(what, remedy="get the sources, install them in place (`pip install -e .`), and run this in their folder"),
    )


def _suites(root: Path) -> dict[str, str]:
    """Name and first sentence of each suite, without importing any."""
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    files = sorted((root / "benchmarks" / "suites").glob("[a-z]*.py"))
    return {
        f.stem: (ast.get_docstring(ast.parse(f.read_text(encoding="utf-8"))) or "").split("\n\n")[0].replace("\n", " ")
        for f in files
    }


def _list(suites: dict[str, str], json: bool) -> None:
    from .summary import facts

    if json:
        print(json_format.dumps(suites))
        return
    console = show.screen()
    console.print(
        "Benchmark suites, run by [bold]acausal bench SUITE[/bold]:"
        if console.is_terminal
        else "Benchmark suites, run by `acausal bench SUITE`:"
    )
    facts(console, suites.items())


def _numbers(given: list[str]) -> list[int] | None:
    texts = [part.strip() for text in given for part in text.split(",") if part.strip()]
    for text in texts:
        if not text.replace("_", "").isdigit() or int(text) < 1:
            raise Stop(
                Exit.USAGE, Diagnostic(f"`--sizes {text}` is not a whole number of at least 1.", remedy="--sizes 10,100,1000")
            )
    return [int(text) for text in texts] or None


def _records(suite: str, sizes: list[int] | None) -> Iterator[dict[str, Any]]:
    module = importlib.import_module(f"benchmarks.suites.{suite}")
    if "sizes" in inspect.signature(module.run).parameters:
        yield from module.run(sizes)
    elif sizes is None:
        yield from module.run()
    else:
        raise Stop(Exit.USAGE, Diagnostic(f"The suite `{suite}` has cases of one size only; it takes no `--sizes`."))


# ---------------------------------------------------------------- rows, one at a time


def _show(records: Iterator[dict[str, Any]]) -> None:
    from rich.text import Text

    console = show.screen()
    columns: list[str] = []
    shown: list[str] = []
    for record in records:
        wanted = _columns(record)
        if not columns or not set(wanted) <= set(columns):
            columns = wanted
            shown = _fitting(columns, console.width)
            console.print(Text("  ".join(_cell(c, c) for c in shown).rstrip(), "dim"), soft_wrap=True)
        line = Text("  ".join(_cell(c, record.get(c)) for c in shown))
        if record.get("message"):
            line.append(f"  {record['message']}", "yellow")
        line.rstrip()
        console.print(line, soft_wrap=True)


def _columns(record: dict[str, Any]) -> list[str]:
    """The columns people look for first, then the record's own numbers."""
    own = [k for k, v in record.items() if k not in FIRST and k not in HIDDEN and isinstance(v, int | float | str | None)]
    return [c for c in FIRST if c in record] + own


def _fitting(columns: list[str], width: int) -> list[str]:
    """As many columns as a terminal has room for; a pipe has room for all, and `--json` gives all."""
    used, shown = 0, []
    for column in columns:
        used += len(_cell(column, column)) + 2
        if used <= width + 2 or column in FIRST:
            shown.append(column)
    return shown


def _cell(column: str, value: Any) -> str:
    width = max(len(column), 9)
    if isinstance(value, str):
        return value.ljust(max(width, 18)) if column in ("case", "program") else value.rjust(width)
    if value is None:
        return "–".rjust(width)
    return (f"{value:.4g}" if isinstance(value, float) else str(value)).rjust(width)
