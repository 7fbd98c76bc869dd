"""Nodes of expressions, the table of operations and the two loops over them, where there is no native core.

It says what `native/nodes.cpp` and `native/expressions.cpp` do; `tests/language/test_walks.py` compares the two.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from threading import RLock
from typing import Any
from weakref import WeakValueDictionary

_interned: WeakValueDictionary[tuple[int, ...], Any] = WeakValueDictionary()
_making = RLock()  # two threads that make the same node must get one
_words: list[Any] = []
_operators: list[Any] = []
_CONSTANT, _OBJECT, _OPERATION, _ROOT, _CALL, _SUM = range(6)


class Node:
    """What all expressions have: a shape and arguments; operations have an operator, too."""

    __slots__ = ("args", "operator", "shape")
    args: tuple[Any, ...]
    operator: Any
    shape: tuple[int, ...]

    def __new__(cls, *given: Any) -> Any:
        node = object.__new__(cls)
        node.args = node.shape = ()
        return node


def learn_language(words: tuple[Any, ...]) -> None:
    """What nodes are made of: operations, their shape, constants, literals, neg, sub, where, calls, sums, the rules."""
    _words[:] = words


def operation(operator: Any, args: tuple[Any, ...]) -> Any:
    """The one node of an operator and its arguments."""
    key = (id(operator), *map(id, args))
    found = _interned.get(key)
    if found is None:
        cls, shape_of, *_ = _words
        shape = shape_of(operator, args)
        with _making:
            found = _interned.get(key)
            if found is None:
                found = Node.__new__(cls)
                found.operator, found.args, found.shape = operator, args, shape
                _interned[key] = found
    return found


def simplified(operator: Any, args: tuple[Any, ...]) -> Any:
    """The node of an operator and its arguments in its simplest form."""
    return _words[-1](operator, args)


def transform(root: Any, leaf: Callable[[Any], Any], rebuild: Callable[[Any, tuple[Any, ...]], Any], simplify: bool = True) -> Any:
    """A DAG rebuilt bottom-up: `leaf(node)` may replace a node, `rebuild(node, args)` makes what is no operation.

    Where nothing is simplified, `leaf` is not asked about operations and constants."""
    done: dict[Any, Any] = {}
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:  # not recursive: `sum(r.p.i for r in self.R)` is as deep as there are summands
        node, expanded = stack.pop()
        if node in done:
            continue
        if expanded:
            done[node] = _rebuilt(node, tuple(done[a] for a in node.args), rebuild, simplify)
            continue
        replaced = None if not simplify and type(node) in (_words[0], _words[2]) else leaf(node)
        if replaced is not None or not node.args:
            done[node] = node if replaced is None else replaced
        else:
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(node.args))
    return done[root]


def _rebuilt(node: Any, args: tuple[Any, ...], rebuild: Callable[[Any, tuple[Any, ...]], Any], simplify: bool) -> Any:
    if all(a is b for a, b in zip(args, node.args, strict=True)):
        return node
    if not isinstance(node, _words[0]):
        return rebuild(node, args)
    return simplified(node.operator, args) if simplify else operation(node.operator, args)


def walk(roots: tuple[Any, ...]) -> list[Any]:
    """Every node once, arguments before the nodes that use them."""
    seen: dict[Any, None] = {}
    stack: list[tuple[Any, bool]] = [(r, False) for r in reversed(roots)]
    while stack:
        node, expanded = stack.pop()
        if node in seen:
            continue
        if expanded:
            seen[node] = None
        else:
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(node.args) if a not in seen)
    return list(seen)


def leaves(roots: tuple[Any, ...]) -> list[Any]:
    """Of these, those that are neither constants nor plain operations, in the same order."""
    return [node for node in walk(roots) if type(node) is not _words[2] and type(node) is not _words[0]]


# --- as bytes -------------------------------------------------------------------------------------------------------------------
def learn_operators(operators: tuple[Any, ...]) -> None:
    """The operators, in the order that codes of expressions number them by."""
    _operators.extend(operators)


def encoded(roots: tuple[Any, ...]) -> tuple[bytes, list[Any]]:
    """Expressions as bytes, and the objects in them, by number: functions that are called, and nodes that are nothing else."""
    numbers: dict[Any, int] = {}
    code, objects, functions = bytearray(), list[Any](), dict[int, int]()
    places = {id(op): k for k, op in enumerate(_operators)}
    for node in walk(roots):
        numbers[node] = len(numbers)
        if type(node) is _words[2]:
            code += struct.pack("<Id", _CONSTANT, node.value)
        elif type(node) is _words[0] and id(node.operator) in places:
            args = [numbers[a] for a in node.args]
            code += struct.pack(f"<{3 + len(args)}I", _OPERATION, places[id(node.operator)], len(args), *args)
        elif type(node) is _words[7]:
            place = functions.setdefault(id(node.function), len(objects))
            objects += [node.function] if place == len(objects) else []
            args = [numbers[a] for a in node.args]
            code += struct.pack(f"<{3 + len(args)}I", _CALL, place, len(args), *args)
        elif type(node) is _words[8]:
            code += struct.pack(f"<{3 + len(node.axes)}I", _SUM, numbers[node.args[0]], len(node.axes), *node.axes)
        else:
            code += struct.pack("<II", _OBJECT, len(objects))
            objects.append(node)
    for root in roots:
        code += struct.pack("<II", _ROOT, numbers[root])
    return bytes(code), objects


def decoded(code: bytes, objects: list[Any]) -> tuple[Any, ...]:
    """The expressions that bytes and objects stand for."""
    nodes: list[Any] = []
    roots: list[Any] = []
    place = 0

    def take(form: str) -> tuple[Any, ...]:
        nonlocal place
        found = struct.unpack_from(form, code, place)
        place += struct.calcsize(form)
        return found

    try:
        while place < len(code):
            (tag,) = take("<I")
            if tag == _CONSTANT:
                nodes.append(_words[2](*take("<d")))
            elif tag == _OBJECT:
                nodes.append(_object(objects[take("<I")[0]], True))
            elif tag == _OPERATION:
                number, count = take("<II")
                nodes.append(operation(_operators[number], tuple(nodes[k] for k in take(f"<{count}I"))))
            elif tag == _CALL:
                number, count = take("<II")
                nodes.append(_words[7](_object(objects[number], False), tuple(nodes[k] for k in take(f"<{count}I"))))
            elif tag == _SUM:
                number, count = take("<II")
                nodes.append(_words[8](nodes[number], tuple(range(len(nodes[number].shape))[k] for k in take(f"<{count}I"))))
            elif tag == _ROOT:
                roots.append(nodes[take("<I")[0]])
            else:
                raise ValueError("the code of an expression has a part that nobody knows")
    except (IndexError, struct.error):
        raise ValueError("the code of an expression names something that is not there") from None
    return tuple(roots)


def _object(found: Any, node: bool) -> Any:
    if hasattr(found, "args") != node:
        raise ValueError("the code of an expression takes a function for a node, or a node for a function")
    return found
