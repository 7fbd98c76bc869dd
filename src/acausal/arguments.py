"""Arguments of public functions are what their annotations say, or the user is told what they should be.

Python finds a wrong argument where it is used, deep inside, and speaks of what stands there. Where a call of a `checked` function
ends so, its arguments are compared with their annotations, and the first that differs is named. What the function itself says about
its arguments comes first, and what works, works. Of an annotation plain types and their unions are known: texts, numbers, paths,
mappings, sequences and functions. Any other name (`Any`, an alias, a class of this package) lets everything pass.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from types import FunctionType
from typing import Any, Literal, TypeVar, get_args, get_origin

import numpy

from .errors import AcausalError, UsageError, an, shown

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type[Any])
Check = Callable[[Any], bool]

_WORDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "True or False",
    "None": "None",
    "os.PathLike[str]": "a path",
    "Model": "a compiled model",
    "Result": "a result",
    "Component": "a component",
    "Mapping": "a mapping (`{name: value}`)",
    "Sequence": "a list",
    "Iterable": "a list",
    "Callable": "a function",
}


def unmasked(given: Any) -> Any:
    """Numbers as they were given; of a masked array of numpy, what is masked is no number. numpy itself would take what lies below,
    of dates and durations how many milliseconds or nanoseconds they count, and the real part of complex ones: these are refused.

    >>> unmasked(numpy.ma.array([1.0, 99.0], mask=[False, True])).tolist(), unmasked(2)
    ([1.0, nan], 2)
    """
    first = given[0] if isinstance(given, (list, tuple)) and given else given
    if getattr(getattr(first, "dtype", None), "kind", "") in ("m", "M"):
        raise UsageError(
            f"Expected numbers, got dates or durations ({first.dtype}).",
            remedy='Give seconds: `durations / np.timedelta64(1, "s")`; dates less the first of them are durations.',
        )
    if getattr(getattr(first, "dtype", None), "kind", "") == "c":
        raise UsageError(f"Expected numbers, got complex ones ({first.dtype}).", remedy="Give their real parts: `values.real`.")
    if isinstance(given, numpy.ma.MaskedArray) and given.dtype.kind in "biuf":
        return numpy.ma.filled(given.astype(float), numpy.nan)
    return given


def durations(times: Any) -> numpy.ndarray | None:
    """Times that are dates or durations of Python, numpy or pandas, in seconds, dates since the first of them. None: numbers."""
    first = times[0] if isinstance(times, list | tuple) and times else times
    dtype = getattr(first, "dtype", None)
    if getattr(dtype, "kind", "") in ("m", "M"):
        array = (
            numpy.asarray(times) if isinstance(dtype, numpy.dtype) else numpy.asarray(times, dtype="datetime64[ns]")
        )  # with a time zone
        passed = array - array[:1] if array.dtype.kind == "M" else array
        if passed.dtype.kind == "m" and numpy.datetime_data(passed.dtype)[0] not in ("Y", "M", "generic"):
            return numpy.asarray(passed / numpy.timedelta64(1, "s"), dtype=float)
        raise UsageError(f"Times in {dtype} are no seconds.", remedy="Give `datetime64[s]` or `timedelta64[s]`, or numbers.")
    if not isinstance(first, date | timedelta):
        return None
    moment: Any = first
    try:
        return numpy.array([(t - moment if isinstance(t, date) else t).total_seconds() for t in times])
    except (TypeError, AttributeError) as error:
        raise UsageError(f"Times are dates, durations or numbers, and not some of each: {error}.") from None


def checked(function: F) -> F:
    """The function, which names an argument of a type that its annotations exclude, where that made it fail.

    >>> @checked
    ... def cut(text: str, at: int | None = None) -> str:
    ...     return text[:at]
    >>> cut("abc", at=2)
    'ab'
    >>> cut(3)
    Traceback (most recent call last):
    ...
    acausal.errors.UsageError: `text` of `cut` is a text, got 3 (int).
      try:       cut(text: str, at: int | None = None)
    """

    @functools.wraps(function)
    def told(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except AcausalError:
            raise
        except RecursionError:
            deep = _too_deep(function, args, keywords)
            if deep is None:  # a function of the user's that calls itself, say
                raise
            raise deep from None
        except _FROM_INSIDE as error:
            wrong = None if _is_of_user(error) else _first_wrong(function, args, keywords)
            if wrong is None:
                raise
            raise wrong from error

    return told  # type: ignore[return-value]


def is_one_of(value: Any, choices: Iterable[Any]) -> bool:
    """Whether a value is one of some texts (or None); of an array of numbers, or anything else, nobody asks for its truth.

    >>> is_one_of("x", ("x", "y")), is_one_of(3, ("x", "y")), is_one_of(None, ("x", None))
    (True, False, True)
    """
    return (value is None or isinstance(value, str)) and value in tuple(choices)


def refuse_other_than(what: str, value: Any) -> None:
    """Something else than "a result", or "a compiled model", for a function that takes whatever has its members."""
    test = _PLAIN["Result" if what == "a result" else "Model"]
    if not test(value):
        raise UsageError(f"It takes {what}, got {value!r:.60} ({type(value).__name__}).")


def checked_methods(cls: C) -> C:
    """The class, all public methods of which are checked: its own, and those of what it is made of."""
    for owner in reversed(cls.__mro__[:-1]):
        for name, found in list(vars(owner).items()):
            if not name.startswith("_") and isinstance(found, FunctionType) and getattr(cls, name) is found:
                setattr(cls, name, checked(found))
    return cls


def _is_of_user(error: BaseException) -> bool:
    """Whether an exception comes from a function that the user gave."""
    own = error.__traceback__.tb_next if error.__traceback__ is not None else None
    place = own.tb_next if own is not None else None  # behind the function itself
    while place is not None:
        if not place.tb_frame.f_code.co_filename.startswith(_ENGINES):
            return True
        place = place.tb_next
    return False


def _first_wrong(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> UsageError | None:
    tests = _tests(function)
    given = [(name, test, value) for (name, test), value in zip(tests.positional, args, strict=False)]
    if tests.rest is not None:
        given += [(*tests.rest, value) for value in args[len(tests.positional) :]]
    given += [(name, tests.named.get(name), value) for name, value in keywords.items()]
    for name, test, value in given:
        if test is not None and not test(value):
            return _wrong(function, name, tests.texts[name], value)
    return None


def _too_deep(function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> UsageError | None:
    """The argument in which lists lie in each other so deep that Python itself cannot go through them."""
    names = (*function.__code__.co_varnames[: function.__code__.co_argcount], *("arguments" for _ in args))
    for name, value in (*zip(names, args, strict=False), *keywords.items()):
        try:
            if isinstance(value, (list, tuple, dict)):
                repr(value)
        except RecursionError:
            what = type(value).__name__
            return UsageError(f"`{name}` of `{function.__name__}` is {an(what)} in which others lie too deep to be read.")
    return None


class _Tests:
    """Of the arguments of one function."""

    def __init__(self, function: Any) -> None:
        self.positional: list[tuple[str, Check | None]] = []
        self.named: dict[str, Check] = {}
        self.texts: dict[str, str] = {}
        self.rest: tuple[str, Check] | None = None
        code, count = function.__code__, function.__code__.co_argcount
        defaults = dict(zip(reversed(code.co_varnames[:count]), reversed(function.__defaults__ or ()), strict=False))
        defaults |= function.__kwdefaults__ or {}
        for k, name in enumerate(code.co_varnames[: count + code.co_kwonlyargcount]):
            test = self._test(function, name, defaults.get(name, _NOTHING))
            if k < count:
                self.positional.append((name, test))
            if test is not None and k >= code.co_posonlyargcount:
                self.named[name] = test
        if code.co_flags & _HAS_REST:
            name = code.co_varnames[count + code.co_kwonlyargcount]
            test = self._test(function, name, _NOTHING)
            self.rest = None if test is None else (name, test)

    def _test(self, function: Any, name: str, default: Any) -> Check | None:
        alternatives = _named(_alternatives(str(function.__annotations__.get(name, "Any"))), function.__globals__)
        test = _test(alternatives, default)
        if test is not None:
            self.texts[name] = _spoken(alternatives)
        return test


@functools.cache
def _tests(function: Callable[..., Any]) -> _Tests:
    return _Tests(function)


def _named(alternatives: list[str], names: Mapping[str, Any]) -> list[str]:
    """With aliases of unions and of literals as what they stand for."""
    found = []
    for text in alternatives:
        alias = names.get(text)
        if get_origin(alias) is Literal:
            found += [
                "None" if choice is None else "str" for choice in get_args(alias) if choice is None or isinstance(choice, str)
            ]
        elif text.startswith("Literal["):
            found.append("str")
        elif type(alias).__name__ == "UnionType":
            found += [part.replace("collections.abc.", "") for part in _alternatives(str(alias))]
        else:
            found.append(text)
    return list(dict.fromkeys(found))


def _alternatives(annotation: str) -> list[str]:
    """The members of a union: `str | Mapping[str, int | None]` has two."""
    parts, depth, last = [], 0, 0
    for k, character in enumerate(annotation):
        depth += (character in "[(") - (character in "])")
        if character == "|" and not depth:
            parts.append(annotation[last:k].strip())
            last = k + 1
    return [*parts, annotation[last:].strip()]


def _test(alternatives: list[str], default: Any = None) -> Check | None:
    """Whether a value is one of these; None where one of them is not known here. The default is always right."""
    tests = [_of_type(text) for text in alternatives]
    if any(test is None for test in tests):
        return None
    if _PATH in alternatives:  # the text is one, and not empty
        return lambda value: value is default or (any(test(value) for test in tests if test is not None) and value != "")
    return lambda value: value is default or any(test(value) for test in tests if test is not None)


def _of_type(text: str) -> Check | None:
    head, _, inside = text.partition("[")
    inside = inside.removesuffix("]")
    if text in _PLAIN:
        return _PLAIN[text]
    if head == "Mapping":
        return (lambda v: isinstance(v, Mapping) and all(isinstance(key, str) for key in v)) if inside.startswith("str,") else None
    if head in ("Sequence", "Iterable"):
        return _of_many(inside, Sequence if head == "Sequence" else Iterable)
    return callable if head == "Callable" else None


def _of_many(inside: str, kind: type[Any]) -> Check | None:
    """Whether something is a list of such members; what can be gone through once only is not looked into."""
    member = _test(_alternatives(inside), _NOTHING)

    def test(value: Any) -> bool:
        if isinstance(value, str | bytes | Mapping):
            return isinstance(value, str) and inside == "str"  # a text is a sequence of texts: the function decides
        if not isinstance(value, kind) and not (hasattr(value, "__array__") and value.ndim > 0):
            return False
        if inside == "str" and hasattr(value, "dtype"):
            return False
        return member is None or not isinstance(value, list | tuple) or all(member(one) for one in value)

    return test


def _is_number(value: Any) -> bool:
    """A number, or what becomes one: of numpy, without a dimension."""
    if isinstance(value, bool | int | float):
        return True
    return hasattr(value, "dtype") and value.dtype.kind in "biuf" and bool(value.ndim == 0)


def _is_whole(value: Any) -> bool:
    if isinstance(value, bool | int):
        return True
    return hasattr(value, "dtype") and value.dtype.kind in "biu" and bool(value.ndim == 0)


_NOTHING = object()
_PATH = "os.PathLike[str]"
_FROM_INSIDE = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, OSError, AssertionError)
_ENGINES = (os.path.dirname(__file__), os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(numpy.__file__)), "<")
_HAS_REST = 4  # inspect.CO_VARARGS, without the time that it takes to import it
_PLAIN: dict[str, Check] = {
    "str": lambda v: isinstance(v, str),
    "int": _is_whole,
    "float": _is_number,
    "bool": lambda v: isinstance(v, bool | int) or (hasattr(v, "dtype") and v.dtype.kind in "biu" and v.ndim == 0),
    "None": lambda v: v is None,
    _PATH: lambda v: isinstance(v, os.PathLike) and isinstance(os.fspath(v), str),
    "Model": lambda v: not isinstance(v, type) and hasattr(v, "simulate"),
    "Result": lambda v: not isinstance(v, type) and hasattr(v, "time") and hasattr(v, "unit"),
}


def _spoken(alternatives: list[str]) -> str:
    words = []
    for text in alternatives:
        head, inside = text.partition("[")[0], text.partition("[")[2].removesuffix("]")
        word = _WORDS.get(text) or _WORDS.get(head, text)
        if word == "a list" and inside in _WORDS:
            word = f"a list of {_WORDS[inside].partition(' ')[2]}s"
        words.append(word)
    words = list(dict.fromkeys(words))
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _wrong(function: Callable[..., Any], name: str, expected: str, value: Any) -> UsageError:
    import inspect  # when somebody needs it

    told = re.sub(r"\s+", " ", shown(value, 10_000))
    told = told if len(told) <= 60 else told[:57] + "…"
    call = re.sub(r"\bself(: [^,)]+)?(, )?", "", f"{function.__name__}{inspect.signature(function)}".partition(" -> ")[0], count=1)
    call = call.replace("'", "") if len(call) < 400 else f"help(…{function.__name__}) says what it takes."
    return UsageError(f"`{name}` of `{function.__name__}` is {expected}, got {told} ({type(value).__name__}).", remedy=call)
