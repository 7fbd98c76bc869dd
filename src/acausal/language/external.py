"""Functions that equations call by address: opaque Python functions, C functions; and the decorator for user functions.

A user function in Python is *traced* where it can be: called once with expressions, it leaves nothing behind but arithmetic, is
compiled with the equations and differentiated exactly. A function that decides with `if` or calls other numerical code is
*opaque*: compiled code calls it back. A C function is called by its address, without Python.
Derivatives of both are given by the user or made of central differences, as expressions, so that derivatives of any order exist.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import inspect
import os
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from ..errors import Location, UsageError
from ..records import dataclass
from .expression import Call, Expression, as_expression
from .functions import abs as absolute
from .functions import is_symbolic, numbers, plain

_STEP = float(np.finfo(float).eps ** (1 / 3))  # balances truncation (step²) and rounding (1/step) of a central difference
TYPICAL = 1e-2
OVER = "(over)"  # among the units that a function says: that of what the model is integrated over


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception inside an opaque function, kept because compiled code in between cannot carry it."""

    function: str
    arguments: tuple[float, ...]
    error: BaseException
    location: Location | None

    def __str__(self) -> str:
        called = f"{self.function}({', '.join(f'{a:.10g}' for a in self.arguments)})"
        place = f" at {self.location}" if self.location else ""
        return f"`{called}` failed with {type(self.error).__name__}: {self.error}{place}"


class Described:
    """What is called by address, told from others in every process (see `families/calls.py`)."""

    @property
    def root(self) -> Any:
        """What it is made from: a table of its derivatives, a function with several results of its parts."""
        return self

    @property
    def member(self) -> list[int] | None:
        """Which of the functions that its root makes it is: `root.relative(member)`."""
        return None

    def relative(self, member: Sequence[int] | None) -> Any:
        return self

    def form(self) -> str:
        """Of a root, all that derivatives of an expression with it, and machine code for them, may depend on, the same in every
        process; empty where nobody can say that. What is found is kept under it, so that it must not be too short."""
        return ""

    def description(self) -> str:
        """The same for all that translation does: with names, units and numbers."""
        return ""


class ExternalFunction(Described, ABC):
    """A function of `arity` numbers, known to compiled code by `address` (and `data_address`, its first argument unless 0).

    Called with expressions it gives an expression, called with numbers it gives numbers.
    """

    name: str
    arity: int
    failure: Failure | None = None  # the last exception inside an opaque Python function; the run's message shows it

    @property
    @abstractmethod
    def address(self) -> int:
        """Where the machine code is: `double f(double, …)`, or `double f(const void* data, double, …)` if there is data."""

    @property
    def data_address(self) -> int:
        return 0

    @property
    def evaluation(self) -> Any:
        """What compiled code calls: the function itself, or the function with several results of which it is a part."""
        return self

    def complaint(self, values: Sequence[float], margin: float = 0.0) -> str:
        """Why there is no result for these arguments, or within `margin` (a share of the range) of them; as far as it knows."""
        return ""

    def sides(self, args: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """What changes its sign where the function has other slopes on the other side, as far as it knows."""
        return ()

    @abstractmethod
    def value(self, *arrays: Any) -> np.ndarray:
        """The function on numpy arrays, element by element, as compiled code would evaluate it."""

    @abstractmethod
    def partial(self, k: int, args: tuple[Expression, ...]) -> Expression:
        """The derivative by argument `k`, at `args`."""

    def __call__(self, *args: Any) -> Any:
        if len(args) != self.arity:
            raise UsageError(f"`{self.name}` takes {self.arity} argument(s), got {len(args)}.")
        if any(is_symbolic(a) for a in args):
            return Call(self, tuple(as_expression(a) for a in args))
        return plain(self._on_numbers(*(numbers(a) for a in args)))

    def _on_numbers(self, *arrays: np.ndarray) -> np.ndarray:
        return self.value(*arrays)

    def __copy__(self) -> ExternalFunction:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ExternalFunction:
        return self  # copies of a component call the same function, and their equations stay one family

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, arity={self.arity})"


class PythonFunction(ExternalFunction):
    """A Python function that compiled code calls back. Made by `ac.function(opaque=True)`."""

    def __init__(self, python: Callable[..., Any], name: str, arity: int, derivative: Any, typical: float) -> None:
        self.name, self.arity = name, arity
        self.python, self._made_of = python, (derivative, typical)
        self.__doc__ = python.__doc__
        self._callback = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * arity)(self._guarded)
        self._partials = _partials_of(self, derivative, typical, _no_pointer)

    @property
    def address(self) -> int:
        return address_of(self._callback)

    def value(self, *arrays: Any) -> np.ndarray:
        return _each_element(self._guarded, arrays)

    def partial(self, k: int, args: tuple[Expression, ...]) -> Expression:
        return self._partials(k, args)

    def __call__(self, *args: Any, **named: Any) -> Any:
        bound = _bind(self.python, self.name, args, named) if named or len(args) < self.arity else args
        return super().__call__(*bound)

    def __reduce__(self) -> Any:
        """By reference, as pickle takes functions: whoever reads it must have the function too."""
        module, name = getattr(self.python, "__module__", ""), getattr(self.python, "__qualname__", "")
        if _named_in(module, name) is self:
            return _named_in, (module, name)
        if _named_in(module, name) is not self.python:
            raise UsageError(
                f"`{self.name}` cannot be pickled: another process would look for it as `{module}.{name}`, and it is not there.",
                remedy="Define it at the top level of a module, not within another function and not as a lambda.",
            )
        return PythonFunction, (self.python, self.name, self.arity, *self._made_of)

    def _on_numbers(self, *arrays: np.ndarray) -> np.ndarray:
        return _each_element(self.python, arrays)  # called by the user: exceptions are theirs to see

    def _guarded(self, *args: float) -> float:
        """NaN instead of an exception: the solver then tries a smaller step, and the run's message tells what happened."""
        try:
            return float(self.python(*args))
        except BaseException as error:  # Ctrl-C as well: it would be lost in the compiled code between here and the solver
            place = place_in(self.python, error)
            self.failure = Failure(self.name, args, error.with_traceback(None), place)
            return float("nan")


def _named_in(module: str, name: str) -> Any:
    """What a module calls by a name; None if there is nothing."""
    try:
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError):
        return None
    return found


class NativeFunction(ExternalFunction):
    """A C function known by its address. Made by `ac.external`."""

    def __reduce__(self) -> Any:
        """By the names of its library and of itself."""
        if not self._target.library or self._data is not None:
            raise UsageError(
                f"`{self.name}` cannot be pickled: it is known by an address, which means nothing to another process.",
                remedy='Give it by library and name: `ac.external(("libm.so.6", "tgamma"))`.',
            )
        return _native, (self._target.library, self._target.name, self.name, self.arity, *self._made_of)

    def __init__(self, target: _Target, name: str, arity: int, data: Any, derivative: Any, typical: float) -> None:
        self.name, self.arity = name, arity
        self._target, self._made_of = target, (derivative, typical)
        self._data, self._data_address = kept_data(data)
        pointers = [ctypes.c_void_p] if self._data_address else []
        self._call = ctypes.CFUNCTYPE(ctypes.c_double, *pointers, *[ctypes.c_double] * arity)(target.address)
        self._partials = _partials_of(self, derivative, typical, self._sibling)

    @property
    def address(self) -> int:
        return self._target.address

    @property
    def data_address(self) -> int:
        return self._data_address

    def value(self, *arrays: Any) -> np.ndarray:
        call = functools.partial(self._call, self._data_address) if self._data_address else self._call
        return _each_element(call, arrays)

    def partial(self, k: int, args: tuple[Expression, ...]) -> Expression:
        return self._partials(k, args)

    def form(self) -> str:
        derivative, typical = self._made_of
        known = type(self) is NativeFunction and self._target.library and self._data is None and derivative is None
        return f"external {self.arity} {typical!r}" if known else ""

    def description(self) -> str:
        return self.form() and f"{self.form()} {self._target.library!r} {self._target.name!r} {self.name!r}"

    def _sibling(self, pointer: Any, name: str, typical: float) -> NativeFunction | None:
        """A derivative given as another C function of the same arguments and data."""
        if isinstance(pointer, str) and self._target.library:
            pointer = (self._target.library, pointer)
        target = _target(pointer)
        return None if target is None else NativeFunction(target, name, self.arity, self._data, None, typical)


def _native(library: str, symbol: str, name: str, arity: int, derivative: Any, typical: float) -> NativeFunction:
    return NativeFunction(_target_in_library(library, symbol), name, arity, None, derivative, typical)


@overload
def function(python: Callable[..., Any], /) -> Callable[..., Any]: ...


@overload
def function(
    *, opaque: bool = False, derivative: Any = None, name: str | None = None, typical: float = TYPICAL
) -> Callable[[Callable[..., Any]], Any]: ...


def function(
    python: Callable[..., Any] | None = None,
    /,
    *,
    opaque: bool = False,
    derivative: Any = None,
    name: str | None = None,
    typical: float = TYPICAL,
) -> Any:
    """Declare a Python function for use in equations.

    Traced unless `opaque`: it is called with expressions and may use arithmetic and acausal's functions. Nothing of it is
    left at run time and its derivatives are exact.

    With `opaque=True` it is called back with numbers and may contain any Python. `derivative` is then a function giving the
    tuple of partial derivatives, or a list with one function for each argument; derivatives that can be traced are. Without
    it, central differences are used, with steps in proportion to the argument; `typical` is the size below which an argument
    counts as small. An exception inside gives NaN and is told with the run's outcome.

    >>> @function
    ... def cooling(T):
    ...     return 5.0 * (T - 300.0)
    >>> cooling(310.0)
    50.0
    >>> @function(opaque=True, derivative=lambda T: 5.0 if T > 300.0 else 0.0)
    ... def thermostatic(T):
    ...     return 5.0 * (T - 300.0) if T > 300.0 else 0.0
    >>> thermostatic(310.0)
    50.0
    """
    if python is None:
        return lambda given: _declared(given, opaque, derivative, name, typical)
    return _declared(python, opaque, derivative, name, typical)


def external(
    pointer: Any,
    arity: int | None = None,
    *,
    derivative: Any = None,
    name: str | None = None,
    data: Any = None,
    typical: float = TYPICAL,
) -> ExternalFunction:
    """A C function `double f(double, …)` for use in equations, or `double f(const void* data, double, …)` with `data`.

    `pointer` is its address, a ctypes function, an object with an `address` (a numba cfunc), or (library path, symbol).
    `arity` is the number of double arguments; it is not needed where ctypes knows it. `derivative` is a list with one function
    for each argument (C functions with the same arguments and data, given as `pointer` is or by symbol; or Python functions);
    for one argument the function itself; a Python function giving the tuple of partial derivatives; or nothing: central
    differences. `data` is a numpy array or an address, kept and passed on.

    >>> import ctypes.util
    >>> erf = external((ctypes.util.find_library("m"), "erf"), 1)
    >>> round(erf(0.5), 6)
    0.5205
    """
    target = target_of(pointer)
    count = _native_arity(target, arity, data is not None)
    return NativeFunction(target, name or target.name, count, data, derivative, typical)


# --- tracing ----------------------------------------------------------------------------------------------------------


class TracingError(UsageError):
    """A traced function did something that only works with numbers."""


def _declared(python: Any, opaque: bool, derivative: Any, name: str | None, typical: float) -> Any:
    if not callable(python):
        raise UsageError(f"`ac.function` needs a Python function, got {python!r} of type {type(python).__name__}.")
    if not opaque:
        if derivative is not None:
            raise UsageError(
                f"`{python.__name__}` is traced and differentiated exactly; `derivative` is for opaque functions.",
                remedy="Leave `derivative` out, or add `opaque=True`.",
            )
        return _traced(python)
    called = name or str(getattr(python, "__name__", "function"))
    return PythonFunction(python, called, python_arity(python, called), derivative, typical)


def _traced(python: Callable[..., Any]) -> Callable[..., Any]:
    name = getattr(python, "__name__", "function")

    @functools.wraps(python)
    def traced(*args: Any, **named: Any) -> Any:
        if not any(is_symbolic(a) for a in (*args, *named.values())):
            return python(*args, **named)
        try:
            found = python(*args, **named)
        except TracingError:
            raise  # a traced function called by this one has said it
        except (UsageError, TypeError, ValueError, AttributeError) as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is None:
                raise  # it did not get into the function: wrong arguments
            raise _not_traceable(python, name, error) from error
        if found is None:
            raise UsageError(f"`{name}` returned nothing; did you forget `return`?")
        return found

    return traced


def _not_traceable(python: Callable[..., Any], name: str, error: Exception) -> TracingError:
    place = place_in(python, error)
    return TracingError(
        f"`{name}` cannot be traced: it does something with its arguments that only works with numbers.",
        equation=place.source if place else "",
        location=place,
        details=(f"{type(error).__name__}: {error}",),
        remedy="Use acausal's functions and `ac.where`, or declare it `@ac.function(opaque=True)` to be called with numbers.",
    )


def place_in(python: Callable[..., Any], error: BaseException) -> Location | None:
    """The line of the user's function that was running, not the depths of a library it called."""
    code = getattr(inspect.unwrap(python), "__code__", None)
    file = code.co_filename if code else None
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    return Location(file, lines[-1]) if file and lines else None


# --- arguments --------------------------------------------------------------------------------------------------------


def python_arity(python: Callable[..., Any], name: str) -> int:
    try:
        parameters = inspect.signature(python).parameters.values()
    except ValueError:
        raise UsageError(f"The arguments of `{name}` cannot be found out; wrap it in a Python function that lists them.") from None
    if any(p.kind is p.VAR_POSITIONAL or (p.kind is p.KEYWORD_ONLY and p.default is p.empty) for p in parameters):
        raise UsageError(f"`{name}` is opaque and must list its arguments; `*args` and keyword-only ones cannot be passed.")
    count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    if count == 0:
        raise UsageError(f"`{name}` has no arguments; use a parameter or a constant.")
    return count


def _bind(python: Callable[..., Any], name: str, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    try:
        bound = inspect.signature(python).bind(*args, **named)
    except TypeError as error:
        raise UsageError(f"`{name}`: {error}.") from None
    bound.apply_defaults()
    return bound.args


def _each_element(call: Callable[..., Any], arrays: Sequence[Any]) -> np.ndarray:
    columns = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in arrays))
    values = [float(call(*row)) for row in zip(*(c.ravel().tolist() for c in columns), strict=True)]
    return np.array(values, dtype=float).reshape(columns[0].shape)


# --- derivatives ------------------------------------------------------------------------------------------------------

_Partials = Callable[[int, tuple[Expression, ...]], Expression]
_Pointers = Callable[[Any, str, float], ExternalFunction | None]


def _no_pointer(pointer: Any, name: str, typical: float) -> None:
    return None


def _partials_of(owner: ExternalFunction, derivative: Any, typical: float, pointers: _Pointers) -> _Partials:
    """How to differentiate `owner`: the user's functions, or central differences."""
    if derivative is None:
        return lambda k, args: central_difference(owner, k, args, typical)
    names = [f"{owner.name}_d{k + 1}" for k in range(owner.arity)]
    if owner.arity == 1 and not isinstance(derivative, list):
        found = _given(derivative, names[0], typical, pointers)
        derivative = derivative if found is None else [found]
    if isinstance(derivative, (list, tuple)):
        if len(derivative) != owner.arity:
            raise UsageError(f"`{owner.name}` has {owner.arity} argument(s), but {len(derivative)} derivatives were given.")
        each: list[Callable[..., Any]] = [
            _given(d, n, typical, pointers) or _Derivative(d, n, owner.arity, typical)
            for d, n in zip(derivative, names, strict=True)
        ]
    elif callable(derivative):
        joint = _Joint(derivative, owner.name, owner.arity)
        each = [_Derivative(joint.part(k), n, owner.arity, typical) for k, n in enumerate(names)]
    else:
        raise UsageError(f"The derivative of `{owner.name}` must be a function or a list of functions, got {derivative!r}.")
    return lambda k, args: as_expression(each[k](*args))


def _given(derivative: Any, name: str, typical: float, pointers: _Pointers) -> ExternalFunction | None:
    return derivative if isinstance(derivative, ExternalFunction) else pointers(derivative, name, typical)


def central_difference(function: ExternalFunction, k: int, args: tuple[Expression, ...], typical: float) -> Expression:
    step: Expression = _STEP * (absolute(args[k]) + typical)
    ahead, behind = (Call(function, (*args[:k], moved, *args[k + 1 :])) for moved in (args[k] + step, args[k] - step))
    return (ahead - behind) / (2.0 * step)


class _Derivative:
    """A derivative in Python: traced if that works (exact second derivatives, no callback), opaque otherwise."""

    def __init__(self, python: Any, name: str, arity: int, typical: float) -> None:
        if not callable(python):
            raise UsageError(f"The derivative `{name}` must be a function, got {python!r} of type {type(python).__name__}.")
        self._python = python
        self._make = functools.partial(PythonFunction, python, name, arity, None, typical)
        self._opaque: PythonFunction | None = None

    def __call__(self, *args: Expression) -> Expression:
        if self._opaque is None:
            try:
                return as_expression(self._python(*args))
            except _WrongCount:
                raise
            except Exception:
                self._opaque = self._make()
        return Call(self._opaque, args)


class _WrongCount(UsageError):
    """A derivative function that does not give one partial derivative for each argument."""


class _Joint:
    """All partial derivatives from one function; the parts share its last evaluation."""

    def __init__(self, python: Callable[..., Any], name: str, arity: int) -> None:
        self._python, self._name, self._arity = python, name, arity
        self._last: tuple[tuple[Any, ...], tuple[Any, ...]] | None = None

    def part(self, k: int) -> Callable[..., Any]:
        def one_of_them(*args: Any) -> Any:
            return self._all(args)[k]

        return functools.wraps(self._python)(one_of_them)

    def _all(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        last = self._last
        if last is not None and not is_symbolic(args) and last[0] == args:
            return last[1]
        found = self._python(*args)
        partials = tuple(found) if isinstance(found, (tuple, list, np.ndarray)) else (found,)
        if len(partials) != self._arity:
            raise _WrongCount(
                f"The derivative of `{self._name}` must give {self._arity} partial derivative(s), got {len(partials)}.",
                remedy="Return a tuple with one number for each argument.",
            )
        if all(type(a) is float for a in args):  # expressions are interned, there is nothing to save
            self._last = (args, partials)
        return partials


# --- C functions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Target:
    """An address, what keeps it valid, and what ctypes knows of it."""

    address: int
    name: str
    keep: Any = None
    library: str = ""


def address_of(pointer: Any) -> int:
    return int(ctypes.cast(pointer, ctypes.c_void_p).value or 0)


_FIRST_PAGE = 4096  # no operating system puts code there


def _target(pointer: Any) -> _Target | None:
    if isinstance(pointer, tuple) and len(pointer) == 2 and isinstance(pointer[0], (str, os.PathLike)):
        return _target_in_library(os.fspath(pointer[0]), pointer[1])
    if isinstance(pointer, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        return _Target(address_of(pointer), getattr(pointer, "__name__", "external"), pointer)
    if isinstance(getattr(pointer, "address", None), int):
        return _Target(pointer.address, getattr(pointer, "__name__", "external"), pointer)
    if isinstance(pointer, (int, np.integer)) and not isinstance(pointer, bool):
        if pointer < _FIRST_PAGE:
            raise UsageError(f"{pointer} is not the address of a function.")
        return _Target(int(pointer), "external")
    return None


def target_of(pointer: Any) -> _Target:
    """The machine code that a user means."""
    found = _target(pointer)
    if found is None or not 0 <= found.address < 1 << 64:
        raise UsageError(
            f"Expected a C function, got {pointer!r} of type {type(pointer).__name__}.",
            remedy="Give an address, a ctypes function, or (library path, symbol).",
        )
    return found


def _target_in_library(path: str, symbol: Any) -> _Target:
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise UsageError(f"The library `{path}` cannot be loaded: {error}.") from None
    try:
        found = getattr(library, str(symbol))
    except AttributeError:
        raise UsageError(f"The library `{path}` has no function `{symbol}`.") from None
    return _Target(address_of(found), str(symbol), found, path)


def _native_arity(target: _Target, arity: int | None, has_data: bool) -> int:
    """The number of double arguments; what ctypes knows must agree with it."""
    types = getattr(target.keep, "argtypes", None)
    if types is not None:
        restype = getattr(target.keep, "restype", None)
        doubles = types[1:] if has_data else types
        if restype is not ctypes.c_double or any(t is not ctypes.c_double for t in doubles):
            first = "a data pointer and " if has_data else ""
            raise UsageError(f"`{target.name}` must take {first}doubles and return a double (ctypes.c_double).")
        if arity is not None and arity != len(doubles):
            raise UsageError(f"`{target.name}` takes {len(doubles)} argument(s), but `arity={arity}` was given.")
        return len(doubles)
    if arity is None:
        raise UsageError(f"How many arguments does `{target.name}` take?", remedy="Give `arity=…`.")
    if not isinstance(arity, int) or not 1 <= arity <= 1000:
        raise UsageError(f"`arity` must be a positive integer, got {arity!r}.")
    return arity


def kept_data(data: Any) -> tuple[Any, int]:
    """What compiled code gets as its first argument, and the object that owns it."""
    if data is None:
        return None, 0
    if isinstance(data, np.ndarray):
        if not data.flags.c_contiguous:
            raise UsageError("External functions need contiguous data.", remedy="Use `numpy.ascontiguousarray`.")
        return data, data.ctypes.data
    if isinstance(data, int) and data > 0:
        return data, data
    if isinstance(data, (ctypes.Structure, ctypes.Array)):
        return data, ctypes.addressof(data)
    raise UsageError(f"The data of an external function must be a numpy array, a ctypes structure or an address, got {data!r}.")
