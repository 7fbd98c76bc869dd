"""A report of a plant at a rating point: one HTML file with its figures, states, exchangers, charge, exergy and pictures."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked, refuse_other_than
from ..container import whole_file
from ..errors import UsageError
from .accounts import NOT_TOLD, ExergyAccount, Performance, Pinches, exergy, inventory, performance, pinches
from .diagrams import circuit_of, instant, ph_diagram, state_points, ts_diagram
from .parts import one_fluid, refrigerants

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ZERO = 273.15
_PORTS = 40  # whose states are listed and drawn without being asked for
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid #ddd }
table { border-collapse: collapse; margin: .6rem 0; font-variant-numeric: tabular-nums }
td, th { padding: .2rem .9rem .2rem 0; text-align: right }
th { font-weight: 600; border-bottom: 1px solid #bbb } td:first-child, th:first-child { text-align: left }
figure { margin: 1rem 0 } img { max-width: 100% } .note { color: #666; font-size: .9rem }
"""


@checked
def report(
    result: Any,
    cycle: Sequence[str] = (),
    *,
    medium: Any = None,
    at: float | None = None,
    plots: Sequence[str | Sequence[str]] = (),
    T0: float = 298.15,
    file: str | os.PathLike[str] = "report.html",
    title: str = "",
) -> Path:
    """A page of HTML that needs nothing else: COP and capacities, state points, pinches, charge, exergy, diagrams, curves.

    result: a run.
    cycle: ports in the order in which the medium passes them, for the table of states and the diagrams; all that it passes unless
        given.
    medium: the medium of the circuit; it may be left out where only one boils.
    at: the rating point, a time of the run; the last one unless given.
    plots: names to be drawn over time; a list of names for each picture.
    T0: temperature of the surroundings, for the exergy.

    >>> import acausal as ac
    >>> from acausal.library.refrigeration.cold_store import CYCLE, ColdStore, at_work
    >>> run = ac.compile(ColdStore()).simulate(until="1 h", points=361)
    >>> page = ac.report(run, CYCLE, at=at_work(run), plots=[["room.T"]], file=getfixture("tmp_path") / "cold_store.html")
    >>> "COP, cooling" in page.read_text(encoding="utf-8")
    True
    """
    refuse_other_than("a result", result)
    path = Path(file)
    if path.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"A report is a page of HTML: `{path}` ends otherwise.", remedy=f"`{path.with_suffix('.html')}`")
    time = instant(result, at)
    parts = [f"<h1>{escape(title or result.title)}</h1>", _head(result, time)]
    if medium is not None or refrigerants(result):
        parts += _of_circuit(result, one_fluid(result, medium), cycle, time, T0)
    for names in plots:
        if not isinstance(names, str | Sequence):
            raise UsageError(f"`plots` are names, or lists of names, got {names!r} ({type(names).__name__}).")
        group = [names] if isinstance(names, str) else list(names)
        parts.append(_picture(result.plot(*group, show=False), ", ".join(group)))
    if result.diagnostics:
        parts += ["<h2>Told during the run</h2>", *(f"<p>{escape(d.what)}</p>" for d in result.diagnostics)]
    whole = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title or result.title)}</title>'
    text = f"{whole}<style>{_STYLE}</style><body>{''.join(parts)}</body></html>"
    with whole_file(path) as place:
        Path(place).write_text(text, encoding="utf-8")
    return path


def _head(result: Any, time: float) -> str:
    unit = result.unit("time")
    span = f"{float(result.time[0]):g} … {float(result.time[-1]):g} {unit}"
    return f'<p class="note">Rating point at {time:g} {unit} of a run over {span}; {escape(str(result.outcome))}</p>'


def _of_circuit(result: Any, fluid: Any, cycle: Sequence[str], time: float, T0: float) -> list[str]:
    done, held = performance(result, fluid, at=time), inventory(result, fluid, at=time)
    by_part = [(name, _n(power, 1), _n(heat, 1)) for name, (power, heat) in done.by_part.items()]
    out = [f"<h2>{escape(fluid.name)}: work and heat</h2>", _figures(done, held.mass)]
    out.append(_table(("component", "power, W", "heat taken up, W"), by_part))
    out += _states(result, fluid, cycle, time) if cycle or 0 < len(circuit_of(result, fluid.name).ports) <= _PORTS else []
    out += _exchangers(pinches(result, fluid, at=time))
    out += ["<h2>Charge</h2>", _table(("component", "kg", "share"), [(h.name, _n(h.mass, 4), f"{h.share:.1%}") for h in held])]
    return out + _exergy(exergy(result, fluid, T0=T0), done.power if done.works else float("nan"), time)


def _states(result: Any, fluid: Any, cycle: Sequence[str], time: float) -> list[str]:
    rows = [
        (p.name, _n(p.p / 1e5, 3), _n(p.T - ZERO, 2), _n(p.h / 1e3, 2), _n(p.s / 1e3, 4), _n(p.rho, 2),
         _n(p.x, 3) if 0 <= p.x <= 1 else "–", _n(1e3 * p.m_flow, 2))
        for p in state_points(result, cycle, fluid, at=time)
    ]  # fmt: skip
    heads = ("port", "p, bar", "T, °C", "h, kJ/kg", "s, kJ/(kg K)", "rho, kg/m³", "x", "m_flow, g/s")
    pictures = [_picture(draw(fluid, result, cycle, at=time), "") for draw in (ph_diagram, ts_diagram)]
    return ["<h2>States</h2>", _table(heads, rows), *pictures]


def _exchangers(found: Pinches) -> list[str]:
    unknown = [f'<p class="note">{escape(name)}: {NOT_TOLD}.</p>' for name in found.unknown]
    if not found:
        return ["<h2>Exchangers</h2>", *unknown] if unknown else []
    rows = [
        (e.name, _n(e.Q_flow, 1), _n(e.T_in - ZERO, 2), _n(e.T_out - ZERO, 2), _n(e.T_other - ZERO, 2), _n(e.difference, 2),
         _n(e.UA, 1))
        for e in found
    ]  # fmt: skip
    heads = ("exchanger", "heat taken up, W", "inlet, °C", "outlet, °C", "other side, °C", "pinch, K", "UA, W/K")
    out = ["<h2>Exchangers</h2>", _table(heads, rows), *unknown]
    if any(e.difference <= 0 for e in found):
        why = "A pinch below zero: part of the exchanger gives heat back, or a wall what it stored. No UA would do that."
        out.append(f'<p class="note">{why}</p>')
    return out


def _exergy(account: ExergyAccount, power: float, time: float) -> list[str]:
    lost = {n: v for n, v in account.mean(time).items() if abs(v) > 1e-3}
    rows = [(n, _n(v, 1), f"{v / power:.1%}" if np.isfinite(power) else "–") for n, v in lost.items()]
    out = [f"<h2>Exergy destroyed, surroundings at {account.T0 - ZERO:.1f} °C</h2>"]
    out.append(_table(("component", "W", "share of the power"), rows))
    if account.unknown:
        why = f"Not told of {', '.join(account.unknown)}: another medium passes there whose exergy is not known."
        out.append(f'<p class="note">{escape(why)}</p>')
    return [*out, _picture(account.plot(at=time), "")] if lost else out


def _figures(done: Performance, charge: float) -> str:
    rows = [
        ("COP, cooling", _n(done.cooling, 3)), ("COP, heating", _n(done.heating, 3)), ("power, W", _n(done.power, 1)),
        ("heat taken up, W", _n(done.heat_in, 1)), ("heat given, W", _n(done.heat_out, 1)), ("charge, kg", _n(charge, 4)),
    ]  # fmt: skip
    return _table(("", "value"), rows)


def _n(value: float, digits: int) -> str:
    return "–" if not np.isfinite(value) else f"{round(value, digits) + 0.0:.{digits}f}"  # of a plant at rest 0, not -0


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(h)}</th>" for h in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(c))}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _picture(figure: Figure, caption: str) -> str:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=120)
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    return f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{data}"></figure>'
