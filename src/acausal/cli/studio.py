"""`acausal studio`: the model in the browser."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import Diagnostic
from .common import ModelArgument, Traceback
from .exits import Exit
from .guard import Stop

if TYPE_CHECKING:
    from ..studio.protocol import Problem
    from ..studio.studio import Studio


def studio(
    model: ModelArgument,
    port: Annotated[int, typer.Option(metavar="N", help="The port to listen on; any free one otherwise.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", metavar="", help="Whether a browser is opened.")] = True,
    token: Annotated[str, typer.Option(metavar="TEXT", help="The word that lets a browser in; a random one otherwise.")] = "",
    new: Annotated[bool, typer.Option("--new", metavar="", help="Begin a new model in that file.")] = False,
    pack: Annotated[
        bool, typer.Option("--pack", metavar="", help="Write plant.acapp: the model, its cases, no source; to hand over.")
    ] = False,
    free: Annotated[
        list[str] | None,
        typer.Option("--free", metavar="PATHS", help="With --pack: parameters that the colleague may change; all otherwise."),
    ] = None,
    memory: Annotated[int, typer.Option(metavar="MB", help="Memory that a run may use; most of the machine's otherwise.")] = 0,
    traceback: Traceback = False,
) -> Exit:
    """Open a model in the browser: parameters, runs, plots, the diagram with values on it.

    [dim]acausal studio house.py[/dim]
    """
    from ..studio.studio import Studio

    for name in ("starlette", "uvicorn", "websockets"):
        if find_spec(name) is None:
            remedy = 'pip install "acausal[studio]"'
            raise Stop(Exit.USAGE, Diagnostic(f"The studio needs `{name}`, which is not installed.", remedy=remedy))
    if new:
        _begin(model)
    _check(model)
    if pack:
        return _packed(model, free)
    found = Studio(model, _folder(model), memory or _most_memory())
    found.tell = _tell
    with suppress(KeyboardInterrupt):
        asyncio.run(_served(found, port=port, token=token, open_browser=browser, say=lambda address: _say(model, address)))
    return Exit.FINE


async def _served(found: Studio, **how: Any) -> None:
    """The model is loaded by another process: it begins with that while this one is still loading the server."""
    await found.start()
    from ..studio.server import serve

    await serve(found, **how)


def _say(model: str, address: str) -> None:
    print(f"The studio for {model} is at\n\n    {address}\n\nIt is for this machine only, and ends with Ctrl-C.", flush=True)


def _tell(text: str, problems: Sequence[Problem]) -> None:
    """What is wrong with the model's file, in the terminal as on the page."""
    from ..studio.protocol import diagnostic
    from .show import screen, show_diagnostics

    console = screen(errors=True)
    console.print(text, markup=False)
    show_diagnostics([diagnostic(told) for told in problems], console)


def _packed(model: str, free: list[str] | None) -> Exit:
    """Translate, and write everything that a colleague needs into one file."""

    from ..studio import application, cases
    from ..studio.drawing import Drawing
    from ..studio.machine import model_file
    from . import arguments, load
    from .common import translated
    from .guard import blamed

    file = model_file(model)
    if file is None:
        raise Stop(Exit.USAGE, Diagnostic(f"`{model}` is not a Python file.", remedy="acausal studio --pack plant.py"))
    component = load.load_component(model)
    wishes = load.wishes_of(model, component)
    target = file.with_suffix(".acapp")
    open_ones = None if free is None else [name for group in arguments.names(free) for name in group]
    with blamed(Exit.USAGE):
        application.write(target, translated(model), wishes, cases.read(cases.file_of(model)), Drawing(file).layout, open_ones)
    print(f"{target}: open it with `acausal studio {target}`.")
    return Exit.FINE


def _begin(model: str) -> None:
    """A file with an empty plant, to be drawn."""
    path = Path(model)
    if path.suffix != ".py" or not path.stem.isidentifier():
        raise Stop(Exit.USAGE, Diagnostic(f"`{model}` cannot be the name of a new model.", remedy="give one such as `plant.py`"))
    if path.exists():
        raise Stop(Exit.USAGE, Diagnostic(f"`{model}` is there already.", remedy="leave `--new` out to open it"))
    name = "".join(word.capitalize() for word in path.stem.split("_"))
    path.write_text(f'import acausal as ac\n\n\nclass {name}(ac.Component):\n    """A new plant."""\n', encoding="utf-8")


def _check(model: str) -> None:
    """A file that does not exist is told at once, not on a page."""
    from .target import no_such_file, parse

    if model.endswith((".acm", ".acapp")):
        if not Path(model).is_file():
            raise Stop(Exit.USAGE, Diagnostic(f"There is no file `{model}`."))
        return
    target = parse(model)
    if target.file and not Path(target.file).is_file():
        raise Stop(Exit.USAGE, no_such_file(Path(target.file)))


def _folder(model: str) -> Path:
    """Where results of this model are kept."""
    cache = Path(os.environ.get("ACAUSAL_CACHE") or Path.home() / ".cache" / "acausal")
    key = hashlib.sha256(f"{Path.cwd()}|{model}".encode()).hexdigest()[:16]
    return cache / "studio" / key


def _most_memory() -> int:
    """Megabytes: four fifths of what the machine has."""
    try:
        return int(0.8 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 20))
    except (ValueError, OSError, AttributeError):
        return 0
