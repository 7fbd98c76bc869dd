"""Expressions: what `self.C * ac.der(self.v) == self.p.i` builds.

A node is immutable, slotted, hashable and *interned*: two structurally equal expressions are one object, so that identity is
equality, a shared sub-expression is found for free, and `==` can be given to the modeller (it states an equation).
A node has a `shape`, as a numpy array has; operations broadcast, indices reach down to the leaves.
What an operation is (value, derivative, domain) is declared in `operators.py`, nowhere else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from numbers import Number
from threading import RLock
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from ..arguments import unmasked
from ..errors import Location, ShapeError, UsageError

if TYPE_CHECKING:
    from .equation import Equation
    from .operators import Operator

Shape = tuple[int, ...]

try:  # what a translation spends most of its time with, in C++
    from .._core import Node as _Node
    from .._core import decoded as decoded
    from .._core import encoded as encoded
    from .._core import learn_language as _learn_language
    from .._core import learn_operators as _learn_operators
    from .._core import leaves as _leaves
    from .._core import operation as _operation
    from .._core import simplified as _simplified
    from .._core import transform as _transformed
    from .._core import walk as _walked
except ImportError:  # the package was installed without the native core
    from .nodes import Node as _Node
    from .nodes import decoded as decoded
    from .nodes import encoded as encoded
    from .nodes import learn_language as _learn_language
    from .nodes import learn_operators as _learn_operators
    from .nodes import leaves as _leaves
    from .nodes import operation as _operation
    from .nodes import simplified as _simplified
    from .nodes import transform as _transformed
    from .nodes import walk as _walked

_interned: WeakValueDictionary[tuple[Any, ...], Expression] = WeakValueDictionary()
_references: dict[tuple[Any, ...], Any] = _interned.data  # type: ignore[attr-defined]  # to look up without a call
_making = RLock()  # two threads that make the same node must get one
_FEW_PICKS = 16  # whose bytes are as good a key as where a slice begins


class Arithmetic:
    """The operators of Python, for everything that can stand in an equation."""

    __slots__ = ()

    def __add__(self, other: Any) -> Expression:
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> Expression:
        return _binary("add", other, self)

    def __sub__(self, other: Any) -> Expression:
        return _binary("sub", self, other)

    def __rsub__(self, other: Any) -> Expression:
        return _binary("sub", other, self)

    def __mul__(self, other: Any) -> Expression:
        return _binary("mul", self, other)

    def __rmul__(self, other: Any) -> Expression:
        return _binary("mul", other, self)

    def __truediv__(self, other: Any) -> Expression:
        return _binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Expression:
        return _binary("div", other, self)

    def __pow__(self, other: Any) -> Expression:
        return _binary("pow", self, other)

    def __rpow__(self, other: Any) -> Expression:
        return _binary("pow", other, self)

    def __neg__(self) -> Expression:
        return apply("neg", self)

    def __pos__(self) -> Expression:
        return as_expression(self)

    def __abs__(self) -> Expression:
        return apply("abs", self)

    def __lt__(self, other: Any) -> Expression:
        return _binary("lt", self, other)

    def __le__(self, other: Any) -> Expression:
        return _binary("le", self, other)

    def __gt__(self, other: Any) -> Expression:
        return _binary("gt", self, other)

    def __ge__(self, other: Any) -> Expression:
        return _binary("ge", self, other)

    def __and__(self, other: Any) -> Expression:
        return _binary("and", self, other)

    def __rand__(self, other: Any) -> Expression:
        return _binary("and", other, self)

    def __or__(self, other: Any) -> Expression:
        return _binary("or", self, other)

    def __ror__(self, other: Any) -> Expression:
        return _binary("or", other, self)

    def __invert__(self) -> Expression:
        return apply("not", self)

    def __matmul__(self, other: Any) -> Expression:
        from .matrices import product

        return product(self, other)

    def __rmatmul__(self, other: Any) -> Expression:
        from .matrices import product

        return product(other, self)


class Expression(Arithmetic, _Node):
    """Base of all nodes; adds equations, arrays and numpy's protocol to the arithmetic."""

    __slots__ = ("__weakref__",)

    shape: Shape
    args: tuple[Expression, ...]

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Equation:  # type: ignore[override]
        from .equation import Equation

        return Equation.stated(self, other, Location.of_frame(sys._getframe(1)))

    def __ne__(self, other: object) -> bool:
        raise UsageError(
            f"`{self} != …` is neither an equation nor a condition that a simulation can decide on.",
            remedy="An equation is `a == b`; for a choice compare with `<` or `>` (`ac.where(a > b, …)`): computed values are "
            "hardly ever exactly equal.",
        )

    def __getitem__(self, key: Any) -> Expression:
        if has_variable_index(key):
            from .matrices import chosen

            return chosen(self, key)
        if self.shape == ():
            raise ShapeError(
                f"`{self}` is a scalar and cannot be indexed.",
                remedy="Leave the index out, or declare the variable with `shape=…`.",
            )
        try:
            picked = np.arange(int(np.prod(self.shape))).reshape(self.shape)[key]
        except IndexError as error:
            raise ShapeError(
                f"`{self}` has shape {self.shape}: {error}.",
                remedy=f"Elements are counted from 0: the last one is `{self}[{', '.join(str(n - 1) for n in self.shape)}]`, "
                f"or `{self}[{', '.join('-1' for _ in self.shape)}]`.",
            ) from None
        return take(self, np.asarray(picked))

    def __len__(self) -> int:
        if not self.shape:
            raise ShapeError(f"`{self}` is a scalar and has no length.")
        return self.shape[0]

    def __iter__(self) -> Iterator[Expression]:
        return (self[i] for i in range(len(self)))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def T(self) -> Expression:
        """The array with its axes in reverse order; of a matrix, its transpose."""
        from .matrices import transpose

        return transpose(self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Expression:
        from .equation import Equation
        from .operators import of_ufunc

        if ufunc is np.equal and method == "__call__" and not kwargs:  # `np.float64(1) == self.x`
            left, right = inputs
            return Equation.stated(as_expression(left), right, Location.of_frame(sys._getframe(1)))  # type: ignore[return-value]
        if ufunc is np.matmul and method == "__call__" and not kwargs:
            return inputs[1].__rmatmul__(inputs[0]) if isinstance(inputs[1], Expression) else inputs[0] @ inputs[1]
        if method != "__call__" or kwargs:
            raise UsageError(f"`numpy.{ufunc.__name__}` cannot be applied to an expression in this way.")
        return apply(of_ufunc(ufunc.__name__), *inputs)

    def __bool__(self) -> bool:
        raise UsageError(
            f"`{self}` has no truth value while equations are being stated: `if`, `and`, `or`, `not` cannot decide on it.",
            remedy="`ac.where(condition, a, b)` decides during the run; conditions are combined with `&`, `|`, `~`, each in "
            "parentheses: `(a > 1) & (a < 2)`.",
        )

    def __float__(self) -> float:
        raise UsageError(
            f"`{self}` is not a number yet: in an equation it stands for all its later values.",
            remedy="Use acausal's functions (`ac.sin`, not `math.sin`) in equations; for anything else, "
            "`@ac.function(opaque=True)`.",
        )

    def __deepcopy__(self, memo: Any) -> Expression:
        return self  # immutable

    def __reduce__(self) -> Any:
        raise UsageError(
            "Expressions belong to the process that made them and cannot be pickled; pickle the model or its results instead."
        )

    def __repr__(self) -> str:
        from .text import text_of

        return text_of(self)


class Constant(Expression):
    """A literal number."""

    __slots__ = ("value",)
    value: float

    def __new__(cls, value: float) -> Constant:
        number = float(value)
        return _intern(cls, (Constant, number, str(number) if number == 0 else ""), (), value=number)


class Literal(Expression):
    """A literal array of numbers; in a template it is a slot, so that its values are data, not code."""

    __slots__ = ("values",)
    values: np.ndarray

    def __new__(cls, values: np.ndarray) -> Literal:
        values = np.array(values, dtype=float, order="C")  # a copy: the user may go on writing into his own
        values.flags.writeable = False
        return _intern(cls, (Literal, values.shape, values.tobytes()), values.shape, values=values)


class Time(Expression):
    """The independent variable."""

    __slots__ = ()

    def __new__(cls) -> Time:
        return _intern(cls, (Time,), ())


class Continuation(Expression):
    """The homotopy parameter: 1 in the model as written, 0 in its simplified form. Made by `ac.homotopy`."""

    __slots__ = ()

    def __new__(cls) -> Continuation:
        return _intern(cls, (Continuation,), ())


class Mark(Expression):
    """A truth about the moment: "initial" (the start of a run), or "live" (relations are evaluated, not frozen: while a start is
    sought)."""

    __slots__ = ("name",)
    name: str

    def __new__(cls, name: str) -> Mark:
        return _intern(cls, (Mark, name), (), name=name)


class Reference(Expression):
    """A declared quantity `name` of component `owner`, seen from `root`.

    Between `root` and `owner` there may be arrays of components; their elements times the quantity's own elements form one flat
    block, and `picked` says which of them stand here (an integer array of the node's shape, or None: all, in order).
    """

    __slots__ = ("name", "order", "owner", "picked", "picks", "root")
    root: Any
    owner: Any
    name: str
    picked: np.ndarray | None
    picks: int | bytes | None  # what tells these from others, see `key_of_picks`
    order: int  # 0: the quantity, 1: its time derivative, -1: its value before the event (`pre`)

    def __new__(cls, root: Any, owner: Any, name: str, shape: Shape, picked: np.ndarray | None = None, order: int = 0) -> Reference:
        picks = None if picked is None else key_of_picks(picked)
        key = (Reference, id(root), id(owner), name, shape, picks, order)
        known = _references.get(key)
        node: Reference | None = None if known is None else known()
        if node is not None:
            return node
        return _intern(cls, key, shape, root=root, owner=owner, name=name, picked=picked, picks=picks, order=order)

    @property
    def declaration(self) -> Any:
        return self.owner._declaration(self.name)


def key_of_picks(picked: np.ndarray) -> int | bytes:
    """What tells picked elements from others as many: of a slice, however long it is, where it begins.

    >>> key_of_picks(np.arange(3, 1003))
    3
    """
    flat = picked.reshape(-1)
    if len(flat) < _FEW_PICKS:
        return picked.tobytes()
    first = int(flat[0])
    follow_each_other = int(flat[-1]) - first == len(flat) - 1 and bool((flat[1:] > flat[:-1]).all())
    return first if follow_each_other else picked.tobytes()


class Unbound(Expression):
    """A declaration used in the class body before any component exists: `G = ac.Parameter(1 / R)`."""

    __slots__ = ("declaration",)
    declaration: Any

    def __new__(cls, declaration: Any) -> Unbound:
        shape = declaration.shape or ()
        return _intern(cls, (Unbound, id(declaration)), shape, declaration=declaration)


class Operation(Expression):
    """An operator of `operators.py` applied element by element."""

    __slots__ = ()
    operator: Operator

    def __new__(cls, operator: Operator, args: tuple[Expression, ...]) -> Operation:
        return _operation(operator, args)


class Call(Expression):
    """A function known by its address (table, C function, opaque Python function) applied element by element."""

    __slots__ = ("function",)
    function: Any

    def __new__(cls, function: Any, args: tuple[Expression, ...]) -> Call:
        shape = _broadcast(function.name, args)
        return _intern(cls, (Call, id(function), *map(id, args)), shape, function=function, args=args)


class Sum(Expression):
    """The sum of an array over some of its axes (the summed axes are `axes`, sorted)."""

    __slots__ = ("axes",)
    axes: tuple[int, ...]

    def __new__(cls, argument: Expression, axes: tuple[int, ...]) -> Sum:
        shape = tuple(n for k, n in enumerate(argument.shape) if k not in axes)
        return _intern(cls, (Sum, id(argument), axes), shape, args=(argument,), axes=axes)


class Derived(Expression):
    """A value that parameters alone determine; made by `families/hoist.py`, and a slot in a template."""

    __slots__ = ("expression",)
    expression: Expression

    def __new__(cls, expression: Expression) -> Derived:
        return _intern(cls, (Derived, id(expression)), expression.shape, expression=expression)


class Slot(Expression):
    """A place in a template. `kind` is one of `SLOT_KINDS`; slots are scalars and only ever stand in templates."""

    __slots__ = ("kind", "number")
    number: int
    kind: str

    def __new__(cls, number: int, kind: str) -> Slot:
        return _intern(cls, (Slot, number, kind), (), number=number, kind=kind)


SLOT_KINDS = ("variable", "derivative", "known")


def _intern(cls: type, key: tuple[Any, ...], shape: Shape, **fields: Any) -> Any:
    known = _references.get(key)
    node = None if known is None else known()
    return _make(cls, key, shape, fields) if node is None else node


def _make(cls: type, key: tuple[Any, ...], shape: Shape, fields: dict[str, Any]) -> Any:
    """A node that was not there a moment ago; another thread may have been quicker."""
    with _making:
        node: Any = _interned.get(key)
        if node is None:
            node = _Node.__new__(cls)
            node.shape = shape
            for name, value in fields.items():
                setattr(node, name, value)
            _interned[key] = node
    return node


def _broadcast(what: str, args: tuple[Expression, ...]) -> Shape:
    shapes = [a.shape for a in args if a.shape]
    if not shapes:
        return ()
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        from .text import symbol_of

        listed = " and ".join(f"`{a}` with shape {a.shape}" for a in args)
        raise ShapeError(
            f"Arrays of different length meet in `{symbol_of(what)}`: {listed}.",
            remedy="Compare their slices; `x[1:]` and `x[:-1]` are equally long. A scalar goes with any array.",
        ) from None


def as_expression(value: Any) -> Expression:
    """Numbers and arrays of numbers become nodes; nodes stay; anything else is refused with its value and type."""
    if isinstance(value, Expression):
        return value
    if type(value) is float or type(value) is int:
        return Constant(value)
    if hasattr(value, "__acausal_expression__"):
        return value.__acausal_expression__()
    if isinstance(value, (Number, np.bool_)) and not np.iscomplexobj(value):  # type: ignore[arg-type]
        return Constant(float(value))  # type: ignore[arg-type]
    if isinstance(value, (list, tuple)) and any(isinstance(v, Expression) for v in value):
        raise UsageError(
            "A list of expressions is not an array.",
            remedy="State one equation for each element (`for a, b in zip(…): yield a == b`), or declare one variable "
            "with `shape=…`.",
        )
    if isinstance(value, (np.ndarray, list, tuple)):
        array = np.asarray(unmasked(value))
        if isinstance(value, np.ma.MaskedArray) and np.isnan(array).any():
            raise UsageError(
                f"An equation cannot contain {value!r}: some of its elements are masked.", remedy="Fill them: `a.filled(0.0)`."
            )
        if array.dtype.kind in "biuf":
            return Constant(float(array)) if array.shape == () else Literal(array)
    raise UsageError(f"Expected a number, an array of numbers or an expression, got {value!r} of type {type(value).__name__}.")


def apply(operator: str | Operator, *values: Any) -> Expression:
    """Apply an operator by name; numbers are folded and neutral elements dropped."""
    found = _operators.OPERATORS[operator] if isinstance(operator, str) else operator
    return _simplified(found, tuple([v if isinstance(v, Expression) else as_expression(v) for v in values]))


def _binary(name: str, a: Any, b: Any) -> Expression:
    try:
        if isinstance(a, Expression) and isinstance(b, Expression):
            return _simplified(_operators.OPERATORS[name], (a, b))
        return apply(name, a, b)
    except UsageError:
        other = b if isinstance(a, Arithmetic) else a
        if isinstance(other, (Arithmetic, int, float, np.ndarray, list, tuple, str)):
            raise
        return NotImplemented


def rebuild(node: Expression, args: tuple[Expression, ...]) -> Expression:
    """The same node over other arguments."""
    if args == () or all(a is b for a, b in zip(args, node.args, strict=True)):
        return node
    if isinstance(node, Operation):
        return _simplified(node.operator, args)
    if isinstance(node, Call):
        return Call(node.function, args)
    if isinstance(node, Sum):
        return Sum(args[0], node.axes)
    raise AssertionError(f"{type(node).__name__} has no arguments")


def renamed(node: Expression, leaf: Callable[[Expression], Expression | None]) -> Expression:
    """`transform`, where each leaf becomes one of its own: nothing can become simpler by that, so that nothing is tried, and
    operations and numbers stay what they are: `leaf` is asked about other nodes only."""
    found: Expression = _transformed(node, leaf, rebuild, False)
    return found


def transform(node: Expression, leaf: Callable[[Expression], Expression | None]) -> Expression:
    """Rebuild a DAG bottom-up; `leaf` may replace any node (None: keep, and go on below it)."""
    found: Expression = _transformed(node, leaf, rebuild, True)
    return found


def walk(*roots: Expression) -> Iterator[Expression]:
    """Every node once, arguments before the nodes that use them."""
    return iter(_walked(roots))


def leaves(*roots: Expression) -> list[Expression]:
    """What `walk` meets that is neither a number nor an operation: quantities, but also sums, calls, states."""
    found: list[Expression] = _leaves(roots)
    return found


def has_variable_index(key: Any) -> bool:
    """Whether an index is itself an expression, or one of several is."""
    return isinstance(key, Expression) or (isinstance(key, tuple) and any(isinstance(k, Expression) for k in key))


def take(node: Expression, picked: np.ndarray) -> Expression:
    """Elements of an array expression by their flat numbers; the index reaches down to the leaves."""
    if picked.size and picked.ndim == 0:
        picked = np.asarray(picked)

    return _take_from(node, picked, node.shape, {})


def _take_from(node: Expression, picked: np.ndarray, shape: Shape, taken: dict[Expression, Expression]) -> Expression:
    """`taken`: what was found so far for these numbers; what stands in several places is taken from once."""
    if node.shape == ():
        return node
    found = taken.get(node)
    if found is None:
        found = taken[node] = _taken_from(node, picked, shape, taken)
    return found


def _taken_from(node: Expression, picked: np.ndarray, shape: Shape, taken: dict[Expression, Expression]) -> Expression:
    if node.shape != shape:  # broadcast on the way up: go back to the numbers of this node's own elements
        own = np.broadcast_to(np.arange(node.size).reshape(node.shape), shape).ravel()
        return _take_from(node, own[picked], node.shape, {})
    if isinstance(node, Reference):
        flat = picked if node.picked is None else node.picked.ravel()[picked]
        return Reference(node.root, node.owner, node.name, picked.shape, np.asarray(flat, dtype=np.int64, order="C"), node.order)
    if isinstance(node, Literal):
        values = node.values.ravel()[picked]
        return Constant(float(values)) if values.ndim == 0 else Literal(values)
    if isinstance(node, Sum):
        return _take_from_sum(node, picked)
    if isinstance(node, Unbound):
        raise UsageError("An array declared in the class body cannot be indexed there; do it in `equations`.")
    return rebuild(node, tuple(_take_from(a, picked, node.shape, taken) for a in node.args))


def _take_from_sum(node: Sum, picked: np.ndarray) -> Expression:
    """Bring the summed axes last, pick among the kept ones, sum the last axes again."""
    (argument,) = node.args
    kept = [k for k in range(len(argument.shape)) if k not in node.axes]
    numbers = np.arange(argument.size).reshape(argument.shape).transpose([*kept, *node.axes])
    summed = numbers.shape[len(kept) :]
    rows = numbers.reshape((-1, *summed))[picked]
    inner = take(argument, rows)
    return Sum(inner, tuple(range(picked.ndim, picked.ndim + len(summed))))


def total(value: Any, axis: int | tuple[int, ...] | None = None) -> Expression:
    """The sum of an array's elements, as `numpy.sum`."""
    node = as_expression(value)
    if node.shape == ():
        return node
    axes = tuple(range(node.ndim)) if axis is None else np.atleast_1d(axis).tolist()
    found = sorted({k % node.ndim for k in axes})
    if len(found) < len(axes) or any(not -node.ndim <= k < node.ndim for k in axes):
        raise ShapeError(f"`ac.sum` over axis {axis} of `{node}`, which has shape {node.shape}.")
    return Sum(node, tuple(found))


# What operators are, and what is simpler than they are: both are made of expressions, so that they stand behind them.
from . import operators as _operators  # noqa: E402
from . import simplify as _simplify  # noqa: E402


def _shape(operator: Operator, args: tuple[Expression, ...]) -> Shape:
    return _broadcast(operator.name, args)


_named = [_operators.OPERATORS[name] for name in ("neg", "sub", "where")]
WORDS = (Operation, _shape, Constant, Literal, *_named, Call, Sum, _simplify.by_rules)
_learn_language(WORDS)
_learn_operators((*_operators.OPERATORS.values(), _operators.NO_EVENT))
