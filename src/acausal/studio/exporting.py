"""What can be taken away from a run: tables for other programs, pictures, and a report that opens anywhere."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .protocol import Run

TABLES = {"csv": "csv", "parquet": "parquet", "mat": "mat", "h5": "h5", "acausal": "acausal"}
PICTURES = ("png", "svg")


def export(result: Any, run: Run, names: Sequence[str], form: str, folder: Path) -> str:
    """Write a file among the exports and give its name."""
    target = folder / "exports"
    target.mkdir(exist_ok=True)
    stem = re.sub(r"[^\w-]+", "_", f"{result.title}-{run.number}-{run.case.name}").strip("_")
    name = f"{stem}.{form}"
    if form in TABLES:
        wanted = list(names) or None
        if form == "acausal":
            result.save(target / name)
        else:
            result.export(target / name, wanted, form=TABLES[form])
    elif form in PICTURES:
        if not names:
            raise UsageError("Nothing is drawn.", remedy="Draw what the picture shall have.")
        result.plot(*names, file=str(target / name))
    elif form == "html":
        (target / name).write_text(report(result, run, names), encoding="utf-8")
    else:
        raise UsageError(f"There is no export as `{form}`.", remedy=f"{', '.join([*TABLES, *PICTURES, 'html'])}.")
    return name


def report(result: Any, run: Run, names: Sequence[str]) -> str:
    """One page with everything: what was run, what was changed, curves, final values, events. It needs nothing but itself."""
    case = run.case
    changes = {**case.set, **case.inputs}
    sections = [
        f"<h1>{_safe(result.title)}</h1>",
        f"<p>Run {run.number}{f', case <b>{_safe(case.name)}</b>' if case.name else ''}, until {_safe(case.until or run.until)}. "
        f"{_safe(run.message)} {run.steps} steps, {run.events} events, {run.seconds:.3g} s.</p>",
        _table("Changed from what the model declares", ("quantity", "value"), list(changes.items())),
        _picture(result, names),
        _table("At the end", ("quantity", "value", "unit", ""), [_final(result, n) for n in names]),
        _events(result),
    ]
    return _PAGE.format(title=_safe(result.title), body="\n".join(s for s in sections if s))


def _final(result: Any, name: str) -> tuple[str, str, str, str]:
    value = float(result[name][-1])
    return (name, result.meaning(name).text(value), result.unit(name), result.description(name))


def _picture(result: Any, names: Sequence[str]) -> str:
    if not names or not len(result.time):
        return ""
    from matplotlib import pyplot

    figure, buffer = result.plot(*names), io.StringIO()
    figure.savefig(buffer, format="svg")
    pyplot.close(figure)
    text = buffer.getvalue()
    return f"<figure>{text[text.index('<svg') :]}</figure>"


def _events(result: Any, most: int = 200) -> str:
    found = result.events
    unit = result.unit("time")
    rows = [
        (f"{e.time:.6g} {unit}", str(e.causes[0]) if e.causes else "", "; ".join(map(str, e.changes[:4]))) for e in found[:most]
    ]
    title = f"{len(found)} events" + (f", the first {most}" if len(found) > most else "")
    return _table(title, ("time", "because", "changed"), rows)


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return ""
    cells = "\n".join("<tr>" + "".join(f"<td>{_safe(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<h2>{_safe(title)}</h2><table><tr>{''.join(f'<th>{_safe(h)}</th>' for h in head)}</tr>{cells}</table>"


def _safe(text: Any) -> str:
    return html.escape(f"{text:g}" if isinstance(text, float) else str(text))


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 14px/1.5 system-ui, sans-serif; max-width: 960px; margin: 2em auto; padding: 0 1em; color: #1f2933; }}
h1 {{ font-size: 1.6em; }} h2 {{ font-size: 1.1em; margin-top: 1.6em; }} table {{ border-collapse: collapse; width: 100%; }}
td, th {{ text-align: left; padding: 3px 12px 3px 0; border-bottom: 1px solid #dfe3e8; vertical-align: top; }}
svg {{ max-width: 100%; height: auto; }}
</style></head><body>
{body}
</body></html>
"""
