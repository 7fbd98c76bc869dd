"""Functions that an equation defines: the temperature at which a gas has a given enthalpy, density and temperature of an
equation of state at given pressure and enthalpy.

`ac.implicit` takes the equation; its value is what solves it. In equations each distinct call becomes unknowns of the component,
and the equation becomes one of its equations (`families/roots.py`): derivatives, index reduction and starting need no word about
it. With numbers it is solved on the spot.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..arguments import checked
from ..errors import UsageError
from .declarations import Variable
from .expression import Call, Expression, Slot, as_expression
from .external import ExternalFunction
from .functions import is_symbolic, numbers, plain

_ITERATIONS = 100


class Implicit:
    """What solves an equation, as a function of its arguments. Made by `ac.implicit`."""

    def __init__(
        self, equation: Callable[..., Any], unknowns: Mapping[str, Mapping[str, Any]], arguments: Sequence[str], name: str
    ) -> None:
        self.equation, self.name = equation, name
        self.unknowns, self.arguments = {n: dict(v) for n, v in unknowns.items()}, tuple(arguments)
        self.outputs = self.arity = 0  # it has no machine code of its own
        self.parts = tuple(ImplicitPart(self, k) for k in range(len(self.unknowns)))
        slots = [Slot(k, "variable") for k in range(len(self.unknowns) + len(self.arguments))]
        self.residuals: tuple[Expression, ...] = self._residuals(slots)

    def _residuals(self, slots: Sequence[Expression]) -> tuple[Expression, ...]:
        stated = self.equation(*slots)
        found = tuple(stated) if isinstance(stated, (tuple, list)) else (stated,)
        residuals = tuple(as_expression(getattr(r, "residual", r)) for r in found)
        if len(residuals) != len(self.unknowns):
            raise UsageError(f"`{self.name}` has {len(self.unknowns)} unknown(s), but {len(residuals)} equation(s).")
        return residuals

    def variable(self, k: int, shape: tuple[int, ...]) -> Variable:
        """An unknown as a component declares it."""
        name, said = list(self.unknowns.items())[k]
        made = Variable(shape=shape, doc=f"{name} of {self.name}", **said)
        made.auxiliary, made.location = True, None
        return made

    def __call__(self, *args: Any) -> Any:
        if len(args) != len(self.arguments):
            raise UsageError(
                f"`{self.name}` takes {len(self.arguments)} argument(s) ({', '.join(self.arguments)}), got {len(args)}."
            )
        if any(is_symbolic(a) for a in args):
            nodes = tuple(as_expression(a) for a in args)
            found: tuple[Any, ...] = tuple(Call(part, nodes) for part in self.parts)
        else:
            arrays = np.broadcast_arrays(*(numbers(a) for a in args))
            found = tuple(plain(v) for v in self.solved(*arrays))
        return found if len(found) > 1 else found[0]

    # --- on numbers -----------------------------------------------------------------------------------------------------------
    def solved(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """The unknowns for arrays of arguments; not a number where they are not found."""
        shape = np.broadcast_shapes(*(np.shape(a) for a in arrays)) if arrays else ()
        flat = [np.broadcast_to(a, shape).ravel() for a in arrays]
        limits = [[_number(said.get(n), d) for n, d in (("min", -np.inf), ("max", np.inf))] for said in self.unknowns.values()]
        with np.errstate(all="ignore"):
            if len(limits) == 1 and np.all(np.isfinite(limits)):
                found = [_bracketed(lambda z: self._values(z, flat)[0], limits[0][0], limits[0][1], len(flat[0]) if flat else 1)]
            else:
                found = list(self._newton(flat, np.array(limits)))
        return tuple(v.reshape(shape) for v in found)

    def _values(self, z: Any, flat: Sequence[np.ndarray]) -> list[np.ndarray]:
        unknowns = z if isinstance(z, tuple) else (z,)
        stated = self.equation(*unknowns, *flat)
        return [np.asarray(r, dtype=float) for r in (stated if isinstance(stated, (tuple, list)) else (stated,))]

    def _newton(self, flat: Sequence[np.ndarray], limits: np.ndarray) -> np.ndarray:
        """Newton's method with differences, all points at once."""
        k, m = len(self.unknowns), len(flat[0]) if flat else 1
        starts = [_number(said.get("start"), 1.0) for said in self.unknowns.values()]
        sizes = np.array(
            [
                abs(_number(said.get("nominal"), 0.0)) or abs(s) or 1.0
                for said, s in zip(self.unknowns.values(), starts, strict=True)
            ]
        )
        z = np.repeat(np.array(starts)[:, None], m, axis=1)
        done = np.zeros(m, dtype=bool)
        for _ in range(_ITERATIONS):
            r = np.stack([np.broadcast_to(v, m) for v in self._values(tuple(z), flat)])
            step = 1e-7 * np.maximum(np.abs(z), sizes[:, None])
            by = np.empty((m, k, k))
            for j in range(k):
                moved = [z[i] + step[i] * (i == j) for i in range(k)]
                by[:, :, j] = ((np.stack([np.broadcast_to(v, m) for v in self._values(tuple(moved), flat)]) - r) / step[j]).T
            singular = (
                ~np.isfinite(by).all(axis=(1, 2)) | ~np.isfinite(r).all(axis=0) | (np.abs(np.linalg.det(np.nan_to_num(by))) == 0)
            )
            change = np.zeros((k, m))
            if not singular.all():
                change[:, ~singular] = np.linalg.solve(by[~singular], r.T[~singular][:, :, None])[:, :, 0].T
            most = np.max(np.abs(change) / np.maximum(np.abs(z), sizes[:, None]), axis=0)
            z = np.clip(z - change * np.minimum(1.0, 0.5 / np.maximum(most, 1e-300)), limits[:, :1], limits[:, 1:])
            done = ~singular & (most < 1e-12)
            if done.all():
                break
        return np.where(done | (most < 1e-8) & ~singular, z, np.nan)

    def __copy__(self) -> Implicit:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Implicit:
        return self


class ImplicitPart(ExternalFunction):
    """One of the unknowns, as the function in a `Call`."""

    def __init__(self, implicit: Implicit, number: int) -> None:
        self.implicit, self.number = implicit, number
        self.arity = len(implicit.arguments)
        self.name = f"{list(implicit.unknowns)[number]} of {implicit.name}"

    @property
    def address(self) -> int:
        raise AssertionError("an implicit function is replaced by unknowns before code is made")

    @property
    def data_address(self) -> int:
        return 0

    def value(self, *arrays: Any) -> np.ndarray:
        return self.implicit.solved(*np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in arrays)))[self.number]

    def partial(self, k: int, args: tuple[Expression, ...]) -> Expression:
        raise AssertionError("an implicit function is replaced by unknowns before it is differentiated")


@checked
def implicit(
    equation: Callable[..., Any],
    unknowns: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    name: str = "",
    **said: Any,
) -> Implicit:
    """A function that an equation defines: `equation(z, a, b, …)` is zero at the value z for the arguments a, b, ….

    Everyday arguments: `start`, `min`, `max`, `nominal`, `unit` of the unknown. With several unknowns, `unknowns` has these for
    each of them, and the equation returns as many residuals.

    >>> import acausal as ac
    >>> root = ac.implicit(lambda z, a: z * z * z + z - a, start=1.0, min=0.0, max=100.0)
    >>> round(root(10.0), 12)
    2.0
    """
    try:
        names = list(inspect.signature(equation).parameters)
    except (TypeError, ValueError):
        raise UsageError(f"The equation of an implicit function is a function, got {equation!r}.") from None
    if not names:
        raise UsageError("The equation of an implicit function has the unknown as its first argument; this one has none.")
    if unknowns is None:
        unknowns = {names[0] if names else "z": said}
    elif said:
        raise UsageError("With several unknowns, `start`, `min` and the rest are said of each of them in `unknowns`.")
    variadic = any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(equation).parameters.values())
    if variadic:
        raise UsageError("The arguments of the equation of an implicit function are named one by one.")
    return Implicit(equation, unknowns, names[len(unknowns) :], name or str(getattr(equation, "__name__", "function")))


def _number(value: Any, default: float) -> float:
    return default if value is None else float(value)


def _bracketed(f: Callable[[np.ndarray], np.ndarray], low: float, high: float, count: int) -> np.ndarray:
    """The root of each of many functions between common bounds: false position with bisection every other time."""
    a, b = np.full(count, low), np.full(count, high)
    fa, fb = (np.broadcast_to(f(x), count).astype(float) for x in (a, b))
    missing = ~(np.sign(fa) * np.sign(fb) <= 0)
    for k in range(_ITERATIONS):
        secant, middle = b - fb * (b - a) / (fb - fa), 0.5 * (a + b)
        x = np.where((k % 2 == 0) & (secant > np.minimum(a, b)) & (secant < np.maximum(a, b)), secant, middle)
        fx = np.broadcast_to(f(x), count)
        left = np.sign(fx) * np.sign(fa) > 0
        a, fa, b, fb = np.where(left, x, a), np.where(left, fx, fa), np.where(left, b, x), np.where(left, fb, fx)
        if np.all(missing | (np.abs(b - a) <= 1e-15 * np.abs(x)) | (fx == 0)):
            break
    best = np.where(np.abs(fa) < np.abs(fb), a, b)
    return np.where(missing, np.nan, best)
