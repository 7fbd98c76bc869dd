"""Everything that a user can call, with what it is not made for: each call works, or ends in an error that was meant for her."""

from __future__ import annotations

import inspect
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import acausal as ac

SECONDS = 5  # for one call
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Tank(ac.Component):
    """A model with one of each: an input, a parameter, a discrete variable, states."""

    u = ac.Input(1.0, unit="W")
    k = ac.Parameter(0.5, unit="W/K")
    T = ac.Variable(start=300.0, unit="K", fixed=True)
    on = ac.Boolean(False)
    mode = ac.States("a", "b", initial="a")

    def equations(self) -> Iterator[Any]:
        yield 100.0 * ac.der(self.T) == self.u - self.k * (self.T - 290.0)

    def events(self) -> Iterator[Any]:
        yield ac.when(self.T < 299.9, ac.assign(self.on, True))

    def transitions(self) -> Iterator[Any]:
        yield self.mode.a.to("b", after=1.0)


WRONG: dict[str, Any] = {
    "None": None,
    "3": 3,
    "-1": -1,
    "3.5": 3.5,
    "nan": float("nan"),
    "inf": float("inf"),
    "10**30": 10**30,
    "True": True,
    "complex": 1j,
    "''": "",
    "'nope'": "nope",
    "bytes": b"nope",
    "[]": [],
    "[None]": [None],
    "['nope']": ["nope"],
    "()": (),
    "(1, 2, 3)": (1, 2, 3),
    "{}": {},
    "{'nope': 1}": {"nope": 1},
    "{3: None}": {3: None},
    "set": {1.5},
    "object": object(),
    "type": int,
    "lambda": lambda: 3,
    "array": np.arange(3.0),
    "array of objects": np.array([None, "x"]),
    "empty array": np.zeros(0),
    "Path": Path("nope.txt"),
    "component": Tank(),
    "class": Tank,
    "variable": ac.Variable(),
}


class Found(NamedTuple):
    """A call that ended as it should not."""

    call: str
    parameter: str
    given: str
    error: str

    def __str__(self) -> str:
        return f"{self.call}({self.parameter}={self.given}): {self.error}"


class TooLong(BaseException):
    pass


def walked(call: Callable[..., Any], name: str, usual: dict[str, Any], wrong: dict[str, Any] = WRONG) -> Iterator[Found]:
    """Each parameter in turn with each wrong value, the others as they are meant."""
    try:
        parameters = inspect.signature(call).parameters
    except (TypeError, ValueError):
        return
    several = [p for p in parameters.values() if p.kind is p.VAR_POSITIONAL]
    for parameter in parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD or parameter.name.startswith("_"):
            continue
        for given, value in wrong.items():
            others = {n: v for n, v in usual.items() if n != parameter.name and n in parameters and n != "*"}
            needed = [p for p in parameters.values() if p.default is p.empty and p.kind not in _MANY and p is not parameter]
            lacking = [p.name for p in needed if p.name not in others]
            others |= dict.fromkeys(lacking, value)
            arguments, keywords = _bound(parameters, parameter, value, others, usual.get("*", ()) if several else ())
            error = attempt(lambda: call(*arguments, **keywords))  # noqa: B023
            if error:
                yield Found(name, parameter.name, given, error)


def _bound(
    parameters: Any, varied: inspect.Parameter, value: Any, others: dict[str, Any], rest: Any
) -> tuple[list[Any], dict[str, Any]]:
    arguments: list[Any] = []
    keywords: dict[str, Any] = {}
    for p in parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            arguments += [value] if p is varied else list(rest)
        elif p is varied or p.name in others:
            given = value if p is varied else others[p.name]
            if p.kind is p.POSITIONAL_ONLY or (p.kind is p.POSITIONAL_OR_KEYWORD and not keywords):
                arguments.append(given)
            else:
                keywords[p.name] = given
        elif p.kind is not p.VAR_KEYWORD and not keywords and p.kind is not p.KEYWORD_ONLY:
            arguments.append(p.default)
    return arguments, keywords


def attempt(call: Callable[[], Any]) -> str:
    """What went wrong with a call, in a word; nothing where it worked or told the user what she did wrong."""
    old = signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
        return ""
    except ac.AcausalError as error:
        return "" if str(error).strip() else f"{type(error).__name__} without a word"
    except TooLong:
        return "takes too long"
    except Exception as error:
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}" if place is not None else ""
        return f"{type(error).__name__}: {str(error)[:100]} ({where})"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, old)


def _too_long(*_: Any) -> None:
    raise TooLong
