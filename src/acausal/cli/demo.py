"""`acausal demo`: a small but real plant, simulated and drawn, so that a newcomer sees in seconds that everything works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import Diagnostic, near_matches
from . import keep, show
from .common import Quiet, Traceback, compiled, working
from .demo_plants import DAY, PLANTS, Demonstration
from .exits import Exit
from .guard import Stop
from .summary import duration, facts, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from ..model.model import Model
    from ..results.result import Result


def demo(
    plant: Annotated[str, typer.Argument(metavar="[PLANT]", help=f"Which one: {' or '.join(PLANTS)}.")] = "cold-store",
    plot_file: Annotated[str, typer.Option("--plot-file", metavar="FILE", help="Where the picture goes.")] = "demo.png",
    quiet: Quiet = False,
    traceback: Traceback = False,
) -> Exit:
    """Simulate a cold store over a day (or a heated house over three), and draw what happens."""
    keep.check_picture(plot_file)
    shown = _chosen(plant)
    with working(f"translating the {plant.replace('-', ' ')}", quiet):
        model = compiled(shown.component())
    result = model.simulate(shown.days * DAY, points=shown.days * shown.points_a_day + 1, progress=not quiet)
    kept = keep.Kept()
    keep.draw(result, [shown.drawn], plot_file, kept, unit=shown.units, title=shown.title)
    if result.outcome.ok:
        shown.more_pictures(result, plot_file, kept)
    if not quiet:
        _tell(shown, model, result, kept, show.screen())
    if result.diagnostics or kept.problems:
        show.show_diagnostics([*result.diagnostics, *kept.problems])
    return Exit.STOPPED if not result.outcome.ok else Exit.NOT_WRITTEN if kept.problems else Exit.FINE


def _chosen(name: str) -> Demonstration:
    if name not in PLANTS:
        what = f"There is no demonstration `{name}`. {near_matches(name, PLANTS)}".rstrip()
        raise Stop(Exit.USAGE, Diagnostic(what, remedy=f"one of {', '.join(PLANTS)}"))
    return PLANTS[name]()


def _tell(shown: Demonstration, model: Model, result: Result, kept: keep.Kept, console: Console) -> None:
    from rich.text import Text

    console.print(Text.assemble(("✓ " if result.outcome.ok else "■ ", "bold green"), (shown.path.partition(":")[2], "bold")))
    facts(console, _story(shown, model, result, kept))
    console.print()
    console.print("Three things to try next:", style="bold")
    for command, why in shown.next():
        console.print(Text.assemble("  ", (command, "cyan")), soft_wrap=True)
        console.print(Text(f"      {why}", "dim"), soft_wrap=True)


def _story(shown: Demonstration, model: Model, result: Result, kept: keep.Kept) -> Iterator[tuple[str, str]]:
    from ..families.statistics import statistics

    s, seconds = statistics(model), result.statistics["seconds"]
    translation = sum(s.seconds.values())
    yield "plant", shown.text
    yield "made of", f"{number(s.components, 'component')}, {number(s.variables, 'variable')}, {number(s.parameters, 'parameter')}"
    yield (
        "solved as",
        f"{number(s.unknowns, 'unknown')}, {number(s.states)} of them states; {number(s.aliases)} aliases cost nothing",
    )
    yield "translated", f"in {duration(translation)}, to {number(s.kernels, 'kernel')} of machine code"
    run = seconds["initialisation"] + seconds["integration"]
    yield "simulated", f"{number(shown.days, 'day')} in {duration(run)}, {number(result.statistics['steps'], 'step')}"
    if not result.outcome.ok:
        yield "but", result.outcome.value
    elif len(result.time):
        yield "found", shown.found(result)
    for picture in kept.pictures:
        yield "plotted", picture
