"""Files of a run: the result and its pictures. What cannot be written where it was wanted is kept elsewhere, and said."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Diagnostic, ModelError, near_matches
from .exits import Exit
from .guard import Stop

if TYPE_CHECKING:
    from ..results.result import Result

OWN = ".acausal"


@dataclass(slots=True)
class Kept:
    """Files that were written, pictures that were drawn, and what went wrong with the others."""

    files: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)


def check_output(output: str | None) -> None:
    """What can be known before the run: nobody should wait for a result that cannot be written."""
    if output is None:
        return
    from ..results.tabular import ENDINGS

    path, known = Path(output), [OWN, *ENDINGS]
    if path.suffix.lower() not in known:
        what = f"`--output {output}`: a result cannot be written as `{path.suffix or path.name}`."
        what = f"{what} {near_matches(path.suffix, known)}".rstrip()
        raise Stop(Exit.USAGE, Diagnostic(what, remedy=f"one of {', '.join(known)}"))
    _check_folder(path)


def check_picture(file: str | None) -> None:
    if file is None:
        return
    from ..results.plot import ENDINGS

    path = Path(file)
    if path.suffix and path.suffix.lower() not in ENDINGS:
        raise Stop(
            Exit.USAGE,
            Diagnostic(f"`--plot-file {file}`: `{path.suffix}` is no kind of picture.", remedy=f"one of {', '.join(ENDINGS)}"),
        )
    _check_folder(path)


def _check_folder(path: Path) -> None:
    if path.is_dir():
        raise Stop(Exit.USAGE, Diagnostic(f"`{path}` is a folder.", remedy="give the name of a file in it"))
    if not path.parent.is_dir():
        raise Stop(
            Exit.USAGE,
            Diagnostic(f"`{path}` cannot be written: there is no folder `{path.parent}`.", remedy=f"mkdir -p {path.parent}"),
        )


def write(result: Result, output: str, kept: Kept, names: Sequence[str] | None = None) -> None:
    """Write the result; where that fails, keep it in the folder for temporary files."""
    try:
        _write(result, Path(output), names)
        kept.files.append(output)
    except ModelError as error:
        kept.problems += [_kept_instead(result, Path(output), names, d) for d in error.diagnostics]


def _write(result: Result, path: Path, names: Sequence[str] | None) -> None:
    if path.suffix.lower() == OWN:
        result.save(path, names)
    else:
        result.export(path, names)


def _kept_instead(result: Result, wanted: Path, names: Sequence[str] | None, problem: Diagnostic) -> Diagnostic:
    """The complaint, with the place where the result is now instead of the remark that it is still in memory."""
    place = Path(tempfile.mkdtemp(prefix="acausal-")) / f"{wanted.stem}{OWN}"
    try:
        _write(result, place, names)
    except (ModelError, OSError):
        return Diagnostic(problem.what, remedy=problem.remedy)
    detail = f"The result is not lost: it was kept in `{place}`; `ac.load` reads it."
    return Diagnostic(problem.what, details=(detail,), remedy=problem.remedy)


def draw(result: Result, groups: Sequence[Sequence[str]], file: str | None, kept: Kept, **settings: Any) -> None:
    """A picture for each group: in a window where there is a screen and no file was named, in a file otherwise."""
    for number, group in enumerate(groups, 1):
        try:
            wanted, otherwise = (_numbered(name, number, len(groups)) for name in (file, f"{result.title}.png"))
            _draw(result, group, wanted, otherwise, kept, settings)
        except ModelError as error:
            kept.problems += error.diagnostics


def _draw(
    result: Result, group: Sequence[str], file: str | None, otherwise: str | None, kept: Kept, settings: dict[str, Any]
) -> None:
    if file is None:
        figure = result.plot(*group, **settings)
        if figure.canvas.manager is not None:  # somebody saw it
            return
        file = otherwise
    assert file is not None
    result.plot(*group, file=file, show=False, **settings)
    kept.pictures.append(file if Path(file).suffix else f"{file}.png")


def _numbered(file: str | None, number: int, total: int) -> str | None:
    """`out.png`, or `out-1.png`, `out-2.png`, … if there are several."""
    if file is None or total == 1:
        return file
    path = Path(file)
    return str(path.with_name(f"{path.stem}-{number}{path.suffix or '.png'}"))
