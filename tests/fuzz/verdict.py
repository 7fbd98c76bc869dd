"""One random model, judged: it runs in all its forms and agrees with the second opinion, or it is refused, rightly."""

from __future__ import annotations

import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import acausal as ac

SHARES = {
    "circuits": 60,
    "linear": 15,
    "networks": 60,
    "relations": 40,
    "automata": 160,
    "edges": 200,
    "plants": 3,
    "flows": 3,
    "sessions": 200,
    "settings": 5,
    "forms": 30,
    "features": 1,
    "impulses": 50,
    "discrete": 160,
    "nodes": 15,
    "scales": 120,
    "mechanisms": 15,
    "slopes": 15,
    "shapes": 3,
    "hops": 15,
    "pendula": 15,
    "ties": 10,
    "valued": 10,
}  # modules with FORMS and generate(seed), or check(seed), and their shares of a search: small where a model takes seconds
GENERATORS = tuple(SHARES)
GOOD = ("agrees", "refused rightly", "not judged")
SECONDS = 120  # of the processor, for all forms of a model, before it counts as hanging


@dataclass(frozen=True, slots=True)
class Verdict:
    generator: str
    seed: int
    said: str
    why: str = ""

    @property
    def good(self) -> bool:
        return self.said in GOOD


class _TooLong(BaseException):
    pass


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def judge(generator: str, seed: int) -> Verdict:
    """Generate, run in all forms, compare."""
    module = import_module(f"{__package__}.{generator}")
    if hasattr(module, "check"):
        return Verdict(generator, seed, *_checked(module.check, seed))
    try:
        case = module.generate(seed)
    except ValueError as reason:  # the second opinion cannot tell
        return Verdict(generator, seed, "not judged", str(reason))
    try:
        with _at_most(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore", ac.RunWarning)
            warnings.simplefilter("ignore", ac.ModelWarning)
            return Verdict(generator, seed, *_judged(case, module.FORMS))
    except _TooLong:
        return Verdict(generator, seed, "hangs", repr(case))


def _checked(check: Callable[[int], str], seed: int) -> tuple[str, str]:
    """Of a generator that compares by itself: "run", or what is wrong."""
    try:
        with _at_most(SECONDS):
            said = check(seed)
        return ("agrees", "") if said == "run" else ("wrong", said)
    except ac.AcausalError as error:
        return "refused", str(error)
    except _TooLong:
        return "hangs", ""
    except Exception:
        return "traceback", traceback.format_exc()


def _judged(case: Any, forms: tuple[str, ...]) -> tuple[str, str]:
    results, refusals = {}, {}
    for form in forms:
        try:
            results[form] = ac.compile(case.build(form)).simulate(**case.options())
        except ac.AcausalError as error:
            refusals[form] = str(error)
        except Exception:
            return "traceback", f"{form}: {case!r}\n{traceback.format_exc()}"
    if not case.runs:
        wrongly = [form for form, result in results.items() if result.outcome.ok]
        return ("runs wrongly", f"{wrongly} {case!r}") if wrongly else ("refused rightly", "")
    if refusals:
        return "refused", f"{list(refusals)} {case!r}\n{next(iter(refusals.values()))}"
    try:
        case.check(results)
    except ValueError as reason:
        return "not judged", str(reason)
    except AssertionError as error:
        return "wrong", f"{error}\n{case!r}"
    return "agrees", ""
