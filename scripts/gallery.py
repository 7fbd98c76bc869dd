"""The gallery of mistakes: runs each model of `examples/erroneous`, keeps what is seen, and makes `docs/gallery.md` of it.

    python scripts/gallery.py            compares what is seen with the golden files
    python scripts/gallery.py --update   writes golden files and the page anew

A model's file says in its docstring what was wanted, what the message means and what to do; `THEME` groups the page, `SHOWN` is the
command, `EXPECT` are words that the message must contain, and `# <-` marks the lines that are wrong. All of this is read as text,
since some of the files are no valid Python.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import runpy
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "examples" / "erroneous"
GOLDEN = FOLDER / "golden"
PAGE = ROOT / "docs" / "gallery.md"
WIDTH = 104  # columns of the terminal that is imitated
MARK = "  # <-"
THEMES = {
    "Equations in Python": "A component's `equations` runs once, before anything is computed. It does not compute values: it "
    "*states* what holds.",
    "Model files": "What `acausal` reads is an ordinary Python file with classes that inherit from `ac.Component`.",
    "Too few and too many equations": "Every unknown needs its equation, no more and no less. A component states one for each "
    "variable of its own and one for each flow of its ports; connections do the rest.",
    "Connections": "Ports of one kind are joined in `connections`: potentials become equal, flows sum to zero.",
    "Parameters": "Parameters are given where a component is made, or changed for a run with `set`; nothing is compiled again.",
    "Units": "Equations are checked dimensionally where units are declared. Inside a model everything is in SI; other units belong "
    "to the edge.",
    "Arrays": "Arrays behave as in numpy: slices, broadcasting, indices from 0.",
    "Starting": "Before time moves, all equations must hold at the start. Start values are conditions (`fixed=True`) or first "
    "guesses.",
    "Events": "At an event everything happens at once: relations change, discrete variables are assigned, states jump. "
    "Between events nothing discrete changes.",
    "Running": "A run that stops keeps everything computed so far.",
}


# ---------------------------------------------------------------- reading a model of the gallery


@dataclass(frozen=True)
class Exhibit:
    """One mistake."""

    path: Path
    title: str
    wanted: str
    means: str
    do: str
    theme: str
    shown: str
    expect: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def golden(self) -> Path:
        return GOLDEN / f"{self.name}.txt"

    @property
    def simulates(self) -> bool:
        """Whether numbers of a solver may stand in what is seen."""
        return self.theme in ("Starting", "Running", "Events")

    def offending(self) -> list[str]:
        """The marked lines, each below the `class` and `def` that it stands in."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        wanted: dict[int, None] = {}
        for k, line in enumerate(lines):
            if MARK in line and not line.startswith("SHOWN"):
                wanted |= dict.fromkeys([*_around(lines, k), k])
        return [lines[k] for k in sorted(wanted)]


def _around(lines: list[str], k: int) -> list[int]:
    """Numbers of the lines that open the blocks in which line `k` stands."""
    found, indent = [], _indent(lines[k])
    for j in range(k - 1, -1, -1):
        if lines[j].strip() and _indent(lines[j]) < indent:
            found.append(j)
            indent = _indent(lines[j])
    return found[::-1]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def exhibit(path: Path) -> Exhibit:
    text = path.read_text(encoding="utf-8")
    found = re.match(r'"""(.*?)\.\n\nWanted: (.*?)\nMeans: (.*?)\nDo: (.*?)\n"""', text, re.DOTALL)
    if found is None:
        raise ValueError(f"{path.name}: the docstring has a title, and lines that begin with Wanted:, Means: and Do:")
    settings = re.findall(r"^(THEME|SHOWN|EXPECT) = (.*?)(?:  #.*)?$", text, re.MULTILINE)
    said = {name: ast.literal_eval(value) for name, value in settings}
    words = (" ".join(part.split()) for part in found.groups())
    return Exhibit(path, *words, said["THEME"], said["SHOWN"], tuple(said["EXPECT"]))


def exhibits() -> list[Exhibit]:
    """All of them, by theme."""
    found = [exhibit(path) for path in sorted(FOLDER.glob("*.py"))]
    return sorted(found, key=lambda e: list(THEMES).index(e.theme))


# ---------------------------------------------------------------- seeing what is seen


def seen(one: Exhibit) -> str:
    """What the command of an exhibit shows, without anything that differs between machines."""
    with _as_found(), contextlib.chdir(FOLDER):
        program, *arguments = shlex.split(one.shown)
        text = _command(arguments) if program == "acausal" else _script(FOLDER / arguments[0])
    return "\n".join(line.rstrip() for line in without_folders(text).strip().splitlines()) + "\n"


def _command(arguments: list[str]) -> str:
    from rich.console import Console
    from typer.testing import CliRunner

    from acausal.cli import show
    from acausal.cli.app import app

    def screen(*, errors: bool = False) -> Console:
        return Console(stderr=errors, highlight=False, emoji=False, width=WIDTH, no_color=True)

    before = show.screen, show.shortened
    show.screen, show.shortened = screen, without_folders  # before lines are broken, so that they are broken alike everywhere
    try:
        answer = CliRunner().invoke(app, arguments)
    finally:
        show.screen, show.shortened = before
    if answer.exception is not None and not isinstance(answer.exception, SystemExit):
        raise answer.exception
    return answer.output


def _script(path: Path) -> str:
    """The last lines that Python shows: what was printed, and the error."""
    from acausal import ModelError

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            runpy.run_path(str(path), run_name="__main__")
        except ModelError as error:
            kind = type(error)
            print(f"{kind.__module__}.{kind.__qualname__}: {error}")
    return printed.getvalue()


@contextlib.contextmanager
def _as_found() -> Iterator[None]:
    """What loading a model leaves behind in the interpreter is removed."""
    modules, path = set(sys.modules), list(sys.path)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(FOLDER)):
            del sys.modules[name]


def without_folders(text: str) -> str:
    """Paths without their folders: `electrical.py:40`."""
    return re.sub(rf"(?<![\w.]){re.escape(os.sep)}(?:[\w.+-]+{re.escape(os.sep)})+(?=[\w-]+\.py\b)", "", text)


_NUMBER = re.compile(r"(?<![\w.:])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\w)")
_FREE = ("local error", "iteration")
_LIBRARY = re.compile(r"(\w+\.py):\d+")


def alike(golden: str, now: str, tolerance: float = 0.02) -> bool:
    """The same words, and numbers that differ no more than those of two machines do.

    Where a solver stopped, and with which values, is not exact; how often it iterated and how large its last local error was is
    any number. Lines of the library move. Everything else, such as lines of the models and counts of equations, is exact.
    """
    before, after = (_LIBRARY.sub(_own_line, text).split("\n") for text in (golden, now))
    if len(before) != len(after):
        return False
    return all(_alike(a, b, tolerance) for a, b in zip(before, after, strict=True))


def _own_line(place: re.Match[str]) -> str:
    """A place in a model of the gallery as it is, one in the library without its line."""
    return place[0] if (FOLDER / place[1]).exists() else place[1]


def _alike(golden: str, now: str, tolerance: float) -> bool:
    if golden == now:
        return True
    if _NUMBER.sub("#", golden).split() != _NUMBER.sub("#", now).split():
        return False
    if any(word in golden for word in _FREE):
        return True
    pairs = zip(_NUMBER.findall(golden), _NUMBER.findall(now), strict=True)
    return all(a == b or (("." in a + b or "e" in a + b) and _close(float(a), float(b), tolerance)) for a, b in pairs)


def _close(a: float, b: float, tolerance: float) -> bool:
    return abs(a - b) <= tolerance * max(abs(a), abs(b)) + 1e-6


# ---------------------------------------------------------------- the page


def page(texts: Mapping[str, str]) -> str:
    """The page, from what each exhibit shows (by name)."""
    told = [
        "# Mistakes and messages\n",
        "What you see when something is wrong, what it means, and what to do. Every message names the component, the equation or "
        "the variable, the line where there is one, and a way out; the first line is the one to read first. The models are in "
        "[`examples/erroneous`](../examples/erroneous); this page is made of them by `python scripts/gallery.py --update`.\n",
    ]
    everything = exhibits()
    for theme in THEMES:
        told.append(f"- [{theme}](#{_anchor(theme)})")
        told += [f"  - [{e.title}](#{_anchor(e.title)})" for e in everything if e.theme == theme]
    for theme, words in THEMES.items():
        told += [f"\n## {theme}\n", words]
        told += [_section(e, texts[e.name]) for e in everything if e.theme == theme]
    return "\n".join(told) + "\n"


def _section(one: Exhibit, text: str) -> str:
    lines = [f"\n### {one.title}\n", f"Wanted: {one.wanted}\n"]
    offending = one.offending()
    if offending:
        lines += ["```python", *offending, "```\n"]
    lines += ["```", f"$ {one.shown}", text.rstrip(), "```\n", f"{one.means} **Do:** {one.do}"]
    return "\n".join(lines)


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def update() -> None:
    GOLDEN.mkdir(exist_ok=True)
    texts = {e.name: seen(e) for e in exhibits()}
    for stale in GOLDEN.glob("*.txt"):
        if stale.stem not in texts:
            stale.unlink()
    for e in exhibits():
        if not e.golden.exists() or not alike(e.golden.read_text(encoding="utf-8"), texts[e.name]):
            e.golden.write_text(texts[e.name], encoding="utf-8")
    PAGE.write_text(page({e.name: e.golden.read_text(encoding="utf-8") for e in exhibits()}), encoding="utf-8")


def compare() -> list[str]:
    """Names of the exhibits that show something else than their golden file."""
    return [e.name for e in exhibits() if not e.golden.exists() or not alike(e.golden.read_text(encoding="utf-8"), seen(e))]


def main(arguments: Any = None) -> int:
    if "--update" in (sys.argv[1:] if arguments is None else arguments):
        update()
        return 0
    changed = compare()
    print("\n".join(f"{name}: shows something else than its golden file" for name in changed) or "All is as it was.")
    return 1 if changed else 0


if __name__ == "__main__":
    raise SystemExit(main())
