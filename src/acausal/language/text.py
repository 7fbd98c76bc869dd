"""Expressions as the engineer would write them, for messages."""

from __future__ import annotations

from .expression import Call, Constant, Continuation, Expression, Literal, Mark, Operation, Reference, Slot, Sum, Time, Unbound

_INFIX = {
    "lt": (" < ", 1), "le": (" <= ", 1), "gt": (" > ", 1), "ge": (" >= ", 1), "eq": (" is ", 1), "or": (" | ", 2),
    "and": (" & ", 3), "add": (" + ", 4), "sub": (" - ", 4), "mul": ("*", 5), "div": ("/", 5), "pow": ("**", 7),
}  # fmt: skip
_ATOM = 9
_LONGEST = 400


def symbol_of(operator: str) -> str:
    """An operator as it is written: `-`, or `sin`."""
    return _INFIX[operator][0].strip() if operator in _INFIX else operator


def text_of(node: Expression) -> str:
    """One line of Python that means the node; very long ones are cut."""
    text = _text(node, 40)[0]
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _text(node: Expression, depth: int) -> tuple[str, int]:
    if depth == 0:
        return "…", _ATOM
    if isinstance(node, Operation):
        return _operation(node, depth - 1)
    if isinstance(node, Call):
        shown = node.args[getattr(node.function, "hidden", 0) :]
        return f"{node.function.name}({', '.join(_text(a, depth - 1)[0] for a in shown)})", _ATOM
    if isinstance(node, Sum):
        return f"sum({_text(node.args[0], depth - 1)[0]})", _ATOM
    return _leaf(node), _ATOM


def _leaf(node: Expression) -> str:
    if isinstance(node, Constant):
        return f"{node.value:g}"
    if isinstance(node, Literal):
        return f"array{node.values.shape}"
    if isinstance(node, Time):
        return "time"
    if isinstance(node, Continuation):
        return "homotopy"
    if isinstance(node, Mark):
        return f"{node.name}()"
    if isinstance(node, Slot):
        return f"${node.number}" + ("'" if node.kind == "derivative" else "")
    if isinstance(node, Unbound):
        return node.declaration.name or "?"
    if isinstance(node, Reference):
        name = node.owner._path_from(node.root, node.name)
        return {0: name, 1: f"der({name})", -1: f"pre({name})"}[node.order]
    raise AssertionError(f"no text for {type(node).__name__}")


def _operation(node: Operation, depth: int) -> tuple[str, int]:
    name = node.operator.name
    if name == "eq" and isinstance(node.args[0], Reference) and isinstance(node.args[1], Constant):
        states = getattr(node.args[0].declaration, "states", ())
        if states:
            return f"{_leaf(node.args[0])}.{states[int(node.args[1].value)]}", _ATOM
    if name in _INFIX:
        symbol, rank = _INFIX[name]
        left, right = _text(node.args[0], depth), _text(node.args[1], depth)
        a = left[0] if left[1] >= rank else f"({left[0]})"
        b = right[0] if right[1] > rank or (right[1] == rank and name in ("add", "mul")) else f"({right[0]})"
        return f"{a}{symbol}{b}", rank
    if name in ("neg", "not"):
        text, rank = _text(node.args[0], depth)
        return ("-" if name == "neg" else "~") + (text if rank > 6 else f"({text})"), 6
    return f"{name}({', '.join(_text(a, depth)[0] for a in node.args)})", _ATOM
