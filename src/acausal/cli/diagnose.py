"""`acausal diagnose`: what may be wrong with a model, and with `--until`, what made its run slow."""

from __future__ import annotations

import json as json_format
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import arguments, keep, show
from .common import Json, ModelArgument, Traceback, translated
from .exits import Exit

if TYPE_CHECKING:
    from ..diagnosis.explain import Explanation
    from ..results.result import Result


def diagnose(
    model: ModelArgument,
    until: Annotated[
        str | None, typer.Option("--until", "-u", metavar="TIME", help="Run it as well, this far: 10, 2h, 1day.")
    ] = None,
    explain: Annotated[list[str] | None, typer.Option("--explain", "-e", metavar="PATH", help="Explain a quantity: room.T")] = None,
    plot_file: Annotated[
        str | None, typer.Option("--plot-file", metavar="FILE", help="Draw step size and order of the run: .png .svg .pdf")
    ] = None,
    rtol: Annotated[float, typer.Option(metavar="NUMBER", help="Relative tolerance of the run.")] = 1e-6,
    json: Json = False,
    traceback: Traceback = False,
) -> Exit:
    """Look for what may be wrong with a model, and for what makes its run slow.

    [dim]acausal diagnose house.py --until 1day --explain room.T[/dim]
    """
    if until is not None:
        arguments.early_seconds(until, "--until")
    keep.check_picture(plot_file)
    compiled = translated(model, quiet=json)
    end = None if until is None else arguments.seconds(until, "--until", compiled.system.plant.independent[1])
    explained = [compiled.explain(path) for path in explain or []]
    found = compiled.diagnose()
    result = None if end is None else compiled.simulate(end, rtol=rtol, record_steps=True, on_failure="keep")
    if result is not None and plot_file is not None:
        result.plot_steps(file=plot_file)
    if json:
        told = {
            "ok": found.ok,
            "model": found.name,
            "warnings": [show.as_json(d) for d in found.warnings],
            "next_steps": found.next_steps,
        }
        print(json_format.dumps({**told, "explained": [_explained(e) for e in explained], **_run_json(result)}))
    else:
        _show([*explained, found, *([] if result is None else [result.diagnose()])])
    return Exit.FINE if result is None or result.outcome.ok else Exit.STOPPED


def _show(parts: list[Any]) -> None:
    console = show.screen()
    for number, part in enumerate(parts):
        if number:
            console.print()
        console.print(part, soft_wrap=True)


def _explained(found: Explanation) -> dict[str, Any]:
    equation = None if found.equation is None else show.as_json(found.equation)
    fields = {k: getattr(found, k) for k in ("name", "alias_of", "aliases", "depends_on", "parameters", "influences")}
    return {**fields, "role": found.role.name, "equation": equation}


def _run_json(result: Result | None) -> dict[str, Any]:
    if result is None:
        return {}
    found = result.diagnose()
    limits = [{"name": one.name, "share": one.share, "failed_tests": one.failed_tests} for one in found.limits]
    return {"outcome": result.outcome.name, "counts": found.counts, "limits": limits, "advice": found.advice}
