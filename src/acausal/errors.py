"""What goes wrong, told to the engineer: which component, which equation, which line, what was expected, what to do."""

from __future__ import annotations

import linecache
import sys
import traceback
from dataclasses import field
from os.path import dirname, realpath
from types import FrameType, TracebackType
from typing import Any

from .records import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's source."""

    file: str
    line: int

    @staticmethod
    def of_frame(frame: FrameType) -> Location:
        return Location(frame.f_code.co_filename, frame.f_lineno)

    @staticmethod
    def of_caller(own: str) -> Location:
        """The innermost line that is in no file of the folder `own`."""
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith(own):
            frame = frame.f_back
        return Location.of_frame(frame)

    @property
    def source(self) -> str:
        """The source line itself, without `yield`; empty when the source is not at hand."""
        text = linecache.getline(self.file, self.line).strip()
        return text.removeprefix("yield ").split("  #")[0].strip()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong. `what` is the sentence; the rest says where, and what to do next."""

    what: str
    component: str = ""
    equation: str = ""
    location: Location | None = None
    details: tuple[str, ...] = ()
    remedy: str = ""
    warning: bool = False  # a run went on all the same

    def __str__(self) -> str:
        lines = [self.what]
        if self.component:
            lines.append(f"  component: {self.component}")
        if self.equation:
            lines.append(f"  equation:  {self.equation}")
        if self.location:
            lines.append(f"  at:        {self.location}")
        lines += [f"  {d}" for d in self.details]
        if self.remedy:
            lines.append(f"  try:       {self.remedy}")
        return "\n".join(lines)


class AcausalError(Exception):
    """Base of everything this program raises on purpose. Shown to a user, its traceback ends in a line of her own."""

    def _render_traceback_(self: BaseException) -> list[str]:
        """What IPython and Jupyter show."""
        return "".join(told(type(self), self, self.__traceback__)).splitlines()


@dataclass(eq=False)
class ModelError(AcausalError):
    """The model is wrong. Carries every diagnostic that could be found at once."""

    diagnostics: tuple[Diagnostic, ...] = field(default_factory=tuple)

    def __init__(self, *diagnostics: Diagnostic | str, **where: Any) -> None:
        self.diagnostics = tuple(Diagnostic(d, **where) if isinstance(d, str) else d for d in diagnostics)
        super().__init__(str(self))

    def __str__(self) -> str:
        if len(self.diagnostics) == 1:
            return str(self.diagnostics[0])
        return f"{len(self.diagnostics)} things are wrong:\n" + "\n".join(f"[{k}] {d}" for k, d in enumerate(self.diagnostics, 1))


class UsageError(ModelError):
    """A call that cannot mean anything: wrong type, wrong place, wrong name."""


class RunWarning(UserWarning):
    """A run stopped before its end, or steady states left the branch they were on; the result says why and has everything."""


class ModelWarning(UserWarning):
    """A model can be translated, but is probably not what was meant: a component at which a connection is missing."""


class RunFailed(AcausalError):
    """A run stopped before its end, with `simulate(…, on_failure="raise")`. `error.result` has everything until then."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run. `error.result` has everything until then."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result

    _render_traceback_ = AcausalError._render_traceback_


class ShapeError(ModelError):
    """Arrays that do not fit."""


class AttributeNotFound(ModelError, AttributeError):
    """A component has no such attribute; also an AttributeError, so that `hasattr` works."""

    __str__ = ModelError.__str__


class NameNotFound(ModelError, KeyError):
    """A path or name that does not exist; the message offers near matches."""

    __str__ = ModelError.__str__


def near_matches(name: str, names: Any, most: int = 3, alike: float = 0.5) -> str:
    """`Did you mean …?`, or nothing. Capital letters do not matter; of names that are just longer, those that begin alike count.

    `alike`: how much of two names has to agree; more where there are many names, so that not any is near.
    """
    from difflib import get_close_matches

    spelt: dict[str, list[str]] = {}
    for known in names:
        spelt.setdefault(known.casefold(), []).append(known)
    wanted = name.casefold()
    near = get_close_matches(wanted, spelt, n=most, cutoff=alike) or [
        known for known in spelt if wanted and known.startswith(wanted)
    ]
    found = [known for folded in near for known in spelt[folded]][:most]
    return f"Did you mean {' or '.join(f'`{f}`' for f in found)}?" if found else ""


def shown(value: Any, most: int = 60) -> str:
    """What a user gave, for a message; of what is long its beginning, of what Python cannot show its type.

    >>> shown([1.5, "a"]), shown("a" * 100, 10)
    ("[1.5, 'a']", "'aaaaaaaa…")
    """
    try:
        text = repr(value)
    except RecursionError:  # lists that lie in each other
        return f"{an(type(value).__name__)} too deep to be shown"
    return text if len(text) <= most else text[: most - 1] + "…"


_LIKE_YOU = ("uni", "use", "usu", "uti", "eu", "one", "ufo")  # begin with a vowel that is not heard
_LETTERS = set("AEFHILMNORSX")  # whose names begin with a vowel: an RC circuit, an LED


def an(name: str, first: bool = False) -> str:
    """A name with its article, as it is spoken; capitals at the beginning are letters. `first`: a sentence begins with it.

    >>> an("Alien"), an("HeatPort"), an("UniformHeater"), an("RCFilter"), an("PID"), an("hourglass")
    ('an Alien', 'a HeatPort', 'a UniformHeater', 'an RCFilter', 'a PID', 'an hourglass')
    """
    if name[:2].isupper() and name[:2].isalpha() and not name[2:3].islower():
        spoken = name[0] in _LETTERS
    else:
        low = name.casefold()
        spoken = low.startswith(("hour", "honest")) or (low[:1] in "aeiou" and not low.startswith(_LIKE_YOU))
    return f"{'A' if first else 'a'}{'n' if spoken and name else ''} {name}"


# --- what a traceback shows -------------------------------------------------------------------------------------------------------

_ENGINE = dirname(realpath(__file__))


def at_caller() -> dict[str, Any]:
    """Where a user wrote what cannot be meant: `UsageError(…, **at_caller())`."""
    where = Location.of_caller(_ENGINE)
    return {"location": where, "details": (f"line:      {where.source}",) if where.source else ()}


def level_of_caller() -> int:
    """How far up the first frame stands that is not ours: there a warning is shown."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith((_ENGINE, dirname(__file__))):
        level, frame = level + 1, frame.f_back
    return level


def told(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> list[str]:
    """A traceback without the frames of this program: the last line that a user sees is one of her own."""
    shown = traceback.TracebackException(kind, error, trace)
    _without_engine(shown)
    return list(shown.format())


def _without_engine(shown: traceback.TracebackException) -> None:
    """Of every exception in a chain; one that happened in the engine alone is left out."""
    shown.stack[:] = [frame for frame in shown.stack if not _of_engine(frame.filename)]
    for link in ("__cause__", "__context__"):
        before: traceback.TracebackException | None = getattr(shown, link)
        if before is None:
            continue
        _without_engine(before)
        if not before.stack:
            setattr(shown, link, None)


def _of_engine(file: str) -> bool:
    """The library is written as users write: its components are shown."""
    return (file.startswith(_ENGINE) and not file.startswith(f"{_ENGINE}/library")) or file.startswith("<frozen")


def shorten_tracebacks() -> None:
    """Let Python tell errors of this program shortly, unless somebody else already decides; `ACAUSAL_TRACEBACK=full` shows all."""
    import os

    if os.environ.get("ACAUSAL_TRACEBACK") == "full" or sys.excepthook is not sys.__excepthook__:
        return

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, AcausalError | Interrupted):
            sys.stderr.write("".join(told(kind, error, trace)))
        else:
            sys.__excepthook__(kind, error, trace)

    sys.excepthook = hook
