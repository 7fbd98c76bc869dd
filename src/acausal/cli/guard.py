"""Between a command and the shell: every error becomes a message and an exit code, and none a traceback unless it is asked for."""

from __future__ import annotations

import functools
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from ..errors import AcausalError, Diagnostic, ModelError
from . import show
from .exits import Exit


class Stop(Exception):
    """A command cannot go on: what is wrong, and the exit code that says whose fault it is."""

    def __init__(self, code: Exit, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.code, self.diagnostics = code, diagnostics


@contextmanager
def blamed(code: Exit) -> Iterator[None]:
    """Errors raised inside end the command with this exit code."""
    try:
        yield
    except ModelError as error:
        raise Stop(code, *error.diagnostics) from error


def guarded(command: Callable[..., Exit]) -> Callable[..., None]:
    """A command that gives its exit code, as typer wants it; `--traceback` and `--json` among its options are heeded."""

    @functools.wraps(command)
    def wrapper(*args: Any, **options: Any) -> None:
        try:
            code = command(*args, **options)
        except BrokenPipeError:  # the reader (`head`) has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = Exit.FINE
        except (Exception, KeyboardInterrupt) as error:
            if isinstance(error, (typer.Exit, typer.Abort)) or _is_typers(error):
                raise
            code = _told(error, bool(options.get("traceback")), bool(options.get("json")))
        raise typer.Exit(int(code))

    return wrapper


def _is_typers(error: BaseException) -> bool:
    """typer shows its own complaints about options; their base class has moved between its versions."""
    return any(base.__name__ == "ClickException" for base in type(error).__mro__)


def _told(error: BaseException, with_traceback: bool, as_json: bool) -> Exit:
    code, diagnostics = blame(error)
    if with_traceback:
        traceback.print_exception(error)
    if as_json:
        print(json.dumps({"ok": False, "errors": [show.as_json(d) for d in diagnostics]}))
    else:
        show.show_diagnostics(diagnostics)
    return code


def blame(error: BaseException) -> tuple[Exit, tuple[Diagnostic, ...]]:
    if isinstance(error, Stop):
        return error.code, error.diagnostics
    if isinstance(error, ModelError):
        return Exit.MODEL, error.diagnostics
    if isinstance(error, AcausalError):
        return Exit.MODEL, (Diagnostic(str(error)),)
    if isinstance(error, KeyboardInterrupt):
        return Exit.INTERRUPTED, (Diagnostic("Interrupted before anything was computed."),)
    if isinstance(error, MemoryError):
        return Exit.MODEL, (
            Diagnostic("There is not enough memory.", remedy="store fewer variables (`--store`) or points (`--points`)"),
        )
    return _unexpected(error)


def _unexpected(error: BaseException) -> tuple[Exit, tuple[Diagnostic, ...]]:
    """Either the user's own code raised it, or it is a fault of ours; the innermost frame tells."""
    from .load import innermost_is_ours, place_of

    where = place_of(error)
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    if innermost_is_ours(error):
        what = f"acausal failed in a way it should not: {said}"
        remedy = "This is a fault of the program, not of your model. `--traceback` shows all there is; please report it."
        return Exit.FAULT, (Diagnostic(what, location=where, remedy=remedy),)
    details = (f"line:      {where.source}",) if where else ()
    return Exit.MODEL, (Diagnostic(f"The model stopped with {said}", location=where, details=details),)
