"""What a run did, for people (a few aligned lines and a table) and for programs (`--json`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ModelError
from . import show
from .keep import Kept

if TYPE_CHECKING:
    from rich.console import Console

    from ..model.model import Model
    from ..results.result import Result

MOST_VARIABLES = 8
MOST_STATES = 6
TRANSLATION = ("families", "structure", "kernels")
SIMULATION = ("parameters", "initialisation", "integration")


@dataclass(frozen=True, slots=True)
class Line:
    """A variable's trajectory in four numbers."""

    name: str
    start: float
    end: float
    low: float
    high: float
    unit: str


# ---------------------------------------------------------------- which variables


def lines_of(result: Result, model: Model, wanted: Sequence[str]) -> tuple[list[Line], int]:
    """The variables asked for, or else the states, in the names their components give them; and how many are left out."""
    names, total = (_expanded(result, wanted)) if wanted else _states(model)
    found = [line for name in names[:MOST_VARIABLES] for line in _line(result, name)]
    return found, max(total - len(found), 0)


def _line(result: Result, name: str) -> Iterator[Line]:
    import numpy as np  # late: whoever only reads the command line needs none

    try:
        values = np.asarray(result[name]).reshape(len(result.time), -1)
    except ModelError:  # not stored
        return
    if not len(values):
        return
    unit, columns = result.unit(name), values.shape[1]
    for k in range(min(columns, MOST_VARIABLES)):
        label = name if columns == 1 else f"{name}[{k}]"
        column = values[:, k]
        yield Line(label, float(column[0]), float(column[-1]), float(column.min()), float(column.max()), unit)


def _expanded(result: Result, wanted: Sequence[str]) -> tuple[list[str], int]:
    from ..results.series import expand

    try:
        names = expand(result, wanted)
    except ModelError:
        names = []
    return names, len(names)


def _states(model: Model) -> tuple[list[str], int]:
    import numpy as np

    numbers = np.flatnonzero(model.problem.differential)
    chosen = numbers if len(numbers) else np.arange(model.problem.size)
    return [model.problem.name_of_unknown(int(unknown)) for unknown in chosen[:MOST_VARIABLES]], len(chosen)


# ---------------------------------------------------------------- for people


def show_summary(result: Result, model: Model, wanted: Sequence[str], kept: Kept, console: Console) -> None:
    from rich.text import Text

    mark, style = ("✓", "bold green") if result.outcome.ok else ("■", "bold yellow")
    console.print(Text.assemble((f"{mark} ", style), (result.title, "bold"), f"  {_span(result)}"), soft_wrap=True)
    facts(console, [*_facts(result), *_lasted(result, model)])
    lines, more = lines_of(result, model, wanted)
    if lines:
        console.print()
        print_tidy(console, _table(lines, at_rest=len(result.time) == 1))
        if more:
            console.print(Text(f"  … {number(more)} more; `--plot` or `--store` choose what is shown", "dim"))
    if kept.files or kept.pictures:
        console.print()
        facts(console, [*(("written", f) for f in kept.files), *(("plotted", f) for f in kept.pictures)])


def facts(console: Console, rows: Iterable[tuple[str, str]]) -> None:
    """Aligned `label  text` lines; on a narrow terminal the text goes on below itself."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in rows:
        grid.add_row(f"  {label}", text)
    print_tidy(console, grid)


def print_tidy(console: Console, renderable: Any) -> None:
    """Print without the blanks that rich puts behind short lines: they are noise in a file."""
    if console.is_terminal:
        console.print(renderable)
        return
    with console.capture() as captured:
        console.print(renderable)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()), file=console.file)


def _span(result: Result) -> str:
    if not len(result.time):
        return "nothing was computed"
    if len(result.time) == 1:
        return f"at {result.time[0]:g} {result.unit('time') or 's'}"
    return f"{result.time[0]:g} … {result.time[-1]:g} {result.unit('time') or 's'}, {len(result.time)} points"


def _facts(result: Result) -> Iterator[tuple[str, str]]:
    s = result.statistics
    yield "outcome", result.outcome.value
    if "steps" in s:
        yield "steps", number(s["steps"])
        yield "evaluations", f"{number(s['residual_evaluations'])} residual, {number(s['jacobian_evaluations'])} Jacobian"
        yield "failures", _failures(s)
    if s.get("events"):
        restarts = s.get("restarts", 1) - 1  # the first of them is the start
        yield "events", f"{number(s['events'])}, {number(restarts, 'restart')} of the integration"
    seconds = s.get("seconds", {})
    for label, phases in (("translation", TRANSLATION), ("simulation", SIMULATION)):
        spent = [(p, seconds[p]) for p in phases if p in seconds]
        if spent:
            yield label, phases_text(spent)


def _lasted(result: Result, model: Model) -> Iterator[tuple[str, str]]:
    """How long each state lasted, of the first few state variables."""
    label = "states"
    for name in list(model.states())[:MOST_STATES]:
        total = sum(result.time_in(name).values())
        shares = [f"{state} {seconds / total:.0%}" for state, seconds in result.time_in(name).items() if total]
        if shares:
            yield label, f"{name}: {', '.join(shares)}"
            label = ""


def phases_text(spent: Sequence[tuple[str, float]]) -> str:
    """The sum, and the phases that matter in it.

    >>> phases_text([("parameters", 0.001), ("initialisation", 0.5), ("integration", 1.5)])
    '2.00 s  (initialisation 500 ms, integration 1.50 s)'
    """
    total = sum(t for _, t in spent)
    parts = [f"{phase} {duration(t)}" for phase, t in spent if t >= 0.02 * total]
    return f"{duration(total)}  ({', '.join(parts)})"


def _failures(s: dict[str, Any]) -> str:
    told = [number(s.get("error_test_failures", 0), "error test"), f"{number(s.get('convergence_failures', 0))} of convergence"]
    if s.get("non_finite_evaluations"):
        told.append(number(s["non_finite_evaluations"], "evaluation without a value", "evaluations without a value"))
    return ", ".join(told)


def _table(lines: Sequence[Line], at_rest: bool) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("  variable", overflow="fold")
    for heading in ("value",) if at_rest else ("start", "end", "min", "max"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("unit" if any(line.unit for line in lines) else "", style="dim", no_wrap=True)
    for line in lines:
        values = (line.end,) if at_rest else (line.start, line.end, line.low, line.high)
        table.add_row(f"  {line.name}", *(f"{v:.6g}" for v in values), line.unit)
    return table


def number(value: int, one: str = "", many: str = "") -> str:
    """Thousands apart; with a word in its singular or plural.

    >>> number(1234567), number(1, "state"), number(2, "class", "classes")
    ('1 234 567', '1 state', '2 classes')
    """
    text = f"{value:,}".replace(",", " ")
    return f"{text} {one if value == 1 else many or one + 's'}" if one else text


def duration(seconds: float) -> str:
    """
    >>> duration(0.000012), duration(0.0123), duration(1.5), duration(125)
    ('0.01 ms', '12.3 ms', '1.50 s', '2 min 5 s')
    """
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms" if seconds >= 1e-4 else f"{1000 * seconds:.2f} ms"
    if seconds < 100:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


# ---------------------------------------------------------------- for programs


def summary_json(result: Result, model: Model, wanted: Sequence[str], kept: Kept) -> dict[str, Any]:
    lines, _ = lines_of(result, model, wanted)
    return {
        "ok": result.outcome.ok,
        "model": result.title,
        "outcome": result.outcome.name,
        "message": result.outcome.value,
        "diagnostics": [show.as_json(d) for d in result.diagnostics],
        "start": float(result.time[0]) if len(result.time) else None,
        "end": float(result.time[-1]) if len(result.time) else None,
        "points": len(result.time),
        "variables": {line.name: {k: getattr(line, k) for k in ("start", "end", "low", "high", "unit")} for line in lines},
        "statistics": {k: v for k, v in result.statistics.items() if k != "initialisation"},
        "written": kept.files,
        "plotted": kept.pictures,
        "problems": [show.as_json(d) for d in kept.problems],
    }
