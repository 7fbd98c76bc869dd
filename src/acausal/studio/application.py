"""An application to hand over: `plant.acapp`, one file with the precompiled model, its cases and its layout, and no source.

It is a zip file of three members: `model.acm` as `model.save` writes it, `about.json`, `cases.toml`. Nothing in it is executed.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import Diagnostic, ModelError, UsageError
from . import cases as case_files
from .placing import beside
from .protocol import Case

FORMAT, NUMBER = "acausal application", 1
_MEMBERS = {"about.json": 16 << 20, "model.acm": 1 << 32, "cases.toml": 16 << 20}  # and the most bytes they may have


def _is_layout(given: Any) -> bool:
    return isinstance(given, dict) and all(isinstance(level, dict) for level in given.values())


def _is_free(given: Any) -> bool:
    return given is None or (isinstance(given, list) and all(isinstance(name, str) for name in given))


_SAID: dict[str, Callable[[Any], bool]] = {
    "format number": lambda given: isinstance(given, int),
    "title": lambda given: isinstance(given, str),
    "wishes": lambda given: isinstance(given, dict),
    "layout": _is_layout,
    "free": _is_free,
}


def write(
    path: Path, model: Any, wishes: Mapping[str, Any], cases: Sequence[Case], layout: Mapping[str, Any], free: Sequence[str] | None
) -> None:
    """Write an application; `free` are the parameters that its user may change, all of them for None."""
    for name in free or ():
        model.get(name)  # an unknown one is told now, not to the colleague
    about = {"format": FORMAT, "format number": NUMBER, "title": model.title, "wishes": dict(wishes), "layout": dict(layout)}
    about["free"] = None if free is None else list(free)
    with beside(path) as new, tempfile.TemporaryDirectory() as folder:
        saved, text = Path(folder) / "model.acm", Path(folder) / "cases.toml"
        model.save(saved)
        case_files.write(text, path.name, list(cases))
        with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("about.json", json.dumps(about))
            archive.write(saved, "model.acm", zipfile.ZIP_STORED)
            archive.write(text, "cases.toml")


def about(path: Path) -> dict[str, Any]:
    """What an application says of itself."""
    try:
        found = json.loads(_member(path, "about.json"))
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "what it says of itself cannot be read") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise _damaged(path, "it is none")
    number = found.get("format number")
    if isinstance(number, int) and number > NUMBER:
        raise ModelError(Diagnostic(f"`{path.name}` was made by a later version.", remedy="Install a later acausal."))
    for name, fits in _SAID.items():
        if name not in found or not fits(found[name]):
            raise _damaged(path, f"what it says of its {name} makes no sense")
    return found


def cases(path: Path) -> list[Case]:
    """The cases that came with it."""
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "cases.toml"
        text.write_bytes(_member(path, "cases.toml"))
        return case_files.read(text)


def model(path: Path) -> Any:
    """The model in it."""
    from ..loading import load

    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "model.acm"
        saved.write_bytes(_member(path, "model.acm"))
        return load(saved)


def _member(path: Path, name: str) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(name).file_size > _MEMBERS[name]:
                raise _damaged(path, f"`{name}` is too large")
            return archive.read(name)
    except FileNotFoundError:
        raise UsageError(f"There is no file `{path}`.") from None
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        OSError,
        EOFError,
        RuntimeError,
    ) as error:  # RuntimeError: a password, a method
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, why: str) -> ModelError:
    remedy = "Ask for it again, or make it: `acausal studio --pack plant.py`."
    return ModelError(Diagnostic(f"`{path.name}` is not an application that can be opened: {why}.", remedy=remedy))
