"""`acausal info`: what translation made of a model, in the numbers that other programs write to their translation logs."""

from __future__ import annotations

import json as json_format
from collections.abc import Iterator
from typing import TYPE_CHECKING

from . import show
from .common import Json, ModelArgument, Traceback, translated
from .exits import Exit
from .summary import facts, number, phases_text

if TYPE_CHECKING:
    from ..families.statistics import Statistics


def info(model: ModelArgument, json: Json = False, traceback: Traceback = False) -> Exit:
    """Show what a model consists of: components, unknowns, states, aliases, blocks, times.

    [dim]acausal info "ladder.py:Ladder(n=1000)"[/dim]
    """
    compiled = translated(model, quiet=json)
    found = compiled.info()
    if json:
        print(json_format.dumps(found.as_dict()))
        return Exit.FINE
    show_statistics(found, compiled.system.plant.root.kind.doc.split("\n")[0])
    return Exit.FINE


def show_statistics(found: Statistics, title: str = "") -> None:
    from rich.text import Text

    console = show.screen()
    console.print(Text.assemble((found.title, "bold"), (f"  {title}" if title else "", "dim")), soft_wrap=True)
    facts(console, _facts(found))


def _facts(s: Statistics) -> Iterator[tuple[str, str]]:
    parts = f"{number(s.components)} of {number(s.classes, 'class', 'classes')}"
    yield "components", parts if s.components else "none but the model itself"
    declared = ((s.variables, "variable"), (s.inputs, "input"), (s.parameters, "parameter"), (s.constants, "constant"))
    yield "declared", ", ".join(number(count, what) for count, what in declared if count)
    yield "aliases", f"{number(s.aliases)}, equal to another variable up to a sign"
    yield "known", f"{number(s.known)}, equal to a parameter, an input or zero"
    yield "eliminated", f"{number(s.eliminated)}, computed from others when looked at"
    if s.derivatives:
        yield "reduction", _reduction(s)
    yield "computed", f"{number(s.computed)}, assigned from others instead of being solved for"
    yield "unknowns", f"{number(s.unknowns)} solved for: {number(s.states, 'state')}, {number(s.algebraic)} algebraic"
    initial = f", and {number(s.initial_equations)} for the start" if s.initial_equations else ""
    yield "equations", f"{number(s.equations)} in {number(s.families, 'family', 'families')}{initial}"
    assigning = f", {number(s.assignments, 'family', 'families')} of assignments" if s.assignments else ""
    yield "kernels", f"{number(s.kernels)} for {number(s.families, 'family', 'families')} of equations{assigning}"
    yield "non-zeros", f"{number(s.nonzeros)}, {s.nonzeros / max(s.unknowns, 1):.1f} in a row"
    yield "blocks", f"{number(s.blocks)}, the largest of {number(s.largest_block)}{_simultaneous(s)}"
    yield "translation", phases_text(list(s.seconds.items()))


def _reduction(s: Statistics) -> str:
    differentiated = f"{number(s.differentiated, 'equation')} differentiated"
    return f"{differentiated}, {number(s.derivatives, 'derivative')} added as variables, {number(s.dummies)} of them dummies"


def _simultaneous(s: Statistics) -> str:
    """Sizes of what must be solved together when the states are known."""
    from ..families.statistics import MOST_BLOCKS

    if not s.simultaneous_blocks:
        return ": everything follows from the states one by one"
    more = ", …" if sum(size for size in s.simultaneous_blocks) < s.unknowns and len(s.simultaneous_blocks) == MOST_BLOCKS else ""
    return f"; solved together: {', '.join(number(size) for size in s.simultaneous_blocks)}{more}"
