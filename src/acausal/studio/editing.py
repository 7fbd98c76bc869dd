"""Graphical edits written back into a model's Python file. `ast` finds the place, text is spliced there, nothing else changes.

What can be edited is what a class states literally: `self.x = Class(…)` in `__init__` (also several in one line) and
`yield self.a.p, self.b.q` in `connections`. What loops, branches and functions make is shown, and locked: an edit of it is refused
with its reason. The text that results is parsed before it is given back: an edit never leaves a file that Python cannot read.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from ..errors import Diagnostic, ModelError

Span = tuple[int, int]
_LONGEST = 110  # characters of a line of imports before another one is begun


class Locked(ModelError):
    """An edit of something that the file does not state literally."""


@dataclass(frozen=True, slots=True)
class Splice:
    """Text to be put in the place of the characters from `first` to `last`."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class PartStated:
    """One `self.name = Class(…)`: the statement, its number among those of the statement, and the call."""

    statement: ast.Assign
    number: int
    count: int
    target: ast.expr
    call: ast.Call


class Source:
    """The text of a file, and one class in it."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        try:
            self.tree = ast.parse(text)
        except SyntaxError as error:
            raise Locked(f"The file is not valid Python at the moment: {error.msg}, line {error.lineno}.") from error
        self._lines = re.findall(
            r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text
        )  # Python's lines: str.splitlines knows more ends than these
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        found = [n for n in self.tree.body if isinstance(n, ast.ClassDef) and n.name == name]
        if not found:
            raise Locked(Diagnostic(f"The class `{name}` is not written in this file.", remedy="Open the file that it is in."))
        self.cls = found[-1]

    # --- places ---------------------------------------------------------------------------------------------------------------
    def at(self, line: int, column: int) -> int:
        """A place as a number of characters; columns of `ast` count bytes."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> Span:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def _whole_lines(self, node: ast.stmt) -> Span:
        """The lines of a statement with a comment behind it; of several statements in one line, the statement alone."""
        first, last = self.span(node)
        assert node.end_lineno is not None
        before = self.text[self._starts[node.lineno - 1] : first]
        behind = self.text[last : self._starts[node.end_lineno]]
        if before.strip() or behind.lstrip().startswith(";"):
            rest = len(behind) - len(behind.lstrip("; "))
            return first, last + (rest if behind.lstrip().startswith(";") else 0)
        return self._starts[node.lineno - 1], self._starts[node.end_lineno]

    def method(self, name: str) -> ast.FunctionDef | None:
        return next((n for n in self.cls.body if isinstance(n, ast.FunctionDef) and n.name == name), None)

    # --- what is stated -------------------------------------------------------------------------------------------------------
    def parts(self) -> dict[str, PartStated]:
        """Parts that the class states literally, by name."""
        found: dict[str, PartStated] = {}
        method = self.method("__init__")
        for statement in method.body if method is not None else ():
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                continue
            targets, values = _elements(statement.targets[0]), _elements(statement.value)
            if len(targets) != len(values):
                continue
            for k, (target, value) in enumerate(zip(targets, values, strict=True)):
                if _is_own(target) and isinstance(value, ast.Call):
                    assert isinstance(target, ast.Attribute)
                    found[target.attr] = PartStated(statement, k, len(targets), target, value)
        return found

    def connections(self) -> Iterator[tuple[ast.Expr, list[ast.expr]]]:
        """Statements `yield a, b, …` that stand in `connections` itself."""
        method = self.method("connections")
        for statement in method.body if method is not None else ():
            if (
                isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Yield)
                and isinstance(statement.value.value, ast.Tuple)
            ):
                yield statement, statement.value.value.elts

    # --- edits ----------------------------------------------------------------------------------------------------------------
    def added(self, name: str, kind: str, module: str) -> list[Splice]:
        """A new part, and the import that it needs."""
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            raise ModelError(f"`{name}` cannot be the name of a part.")
        if name in self._names_in_use():
            raise ModelError(Diagnostic(f"`{self.cls.name}` has a `{name}` already.", remedy="Choose another name."))
        called, imports = self._called(kind, module)
        return [*imports, self._appended("__init__", "def __init__(self):", f"self.{name} = {called}()")]

    def free_name(self, kind: str) -> str:
        """A name for a part of some class: `heat_capacitor`, `heat_capacitor2`, …"""
        stem = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower()
        used = self._names_in_use()
        candidates = [stem, *(f"{stem}{k}" for k in range(2, 1000))]
        return next(n for n in candidates if n not in used and not keyword.iskeyword(n))

    def copied(self, names: Sequence[str]) -> tuple[list[Splice], dict[str, str]]:
        """Parts once more, with what they were given and with the connections among them; and how the new ones are called."""
        stated = {name: self._part(name) for name in dict.fromkeys(names)}
        used, called = self._names_in_use(), dict[str, str]()
        for name in stated:
            stem = name.rstrip("0123456789") or name
            called[name] = next(n for n in (f"{stem}{k}" for k in range(2, 10_000)) if n not in used)
            used.add(called[name])
        lines = [f"self.{called[name]} = {self.text[slice(*self.span(part.call))]}" for name, part in stated.items()]
        edits = [self._appended("__init__", "def __init__(self):", lines)] if lines else []
        wires = [ends for _, ends in self.connections() if all(_owner(e) in stated for e in ends)]
        if wires:
            renamed = [", ".join(self._renamed(e, called) for e in ends) for ends in wires]
            edits.append(self._appended("connections", "def connections(self):", [f"yield {ends}" for ends in renamed]))
        return edits, called

    def _renamed(self, end: ast.expr, called: dict[str, str]) -> str:
        text, name = self.text[slice(*self.span(end))], _owner(end)
        return re.sub(rf"^(\s*self\s*\.\s*){name}\b", rf"\g<1>{called[name]}", text)

    def arrayed(self, name: str, count: int) -> list[Splice]:
        """So many of a part instead of one; one again for 0."""
        call = self._part(name).call
        array = self._array_name()
        now = isinstance(call.func, (ast.Attribute, ast.Name)) and ast.unparse(call.func) == array and len(call.args) >= 2
        if now and count:
            return [Splice(*self.span(call.args[1]), str(count))]
        first, last = self.span(call)
        if now:
            rest = [*call.args[2:], *(k.value for k in call.keywords)]
            inside = self.text[self._argument(call, rest[0]) : last] if rest else ")"
            return [Splice(first, last, f"{self.text[slice(*self.span(call.args[0]))]}({inside}")]
        if not count:
            return []
        function = self.span(call.func)
        given = self.text[function[1] : last].lstrip()[1:]
        comma = "" if given.lstrip().startswith(")") else ", "
        return [Splice(first, last, f"{array}({self.text[slice(*function)]}, {count}{comma}{given}")]

    def _argument(self, call: ast.Call, value: ast.expr) -> int:
        """Where an argument begins, with its name if it has one."""
        named = next((k for k in call.keywords if k.value is value), None)
        return self.span(value)[0] if named is None else self.at(named.lineno, named.col_offset)

    def _array_name(self) -> str:
        for node in self.tree.body:
            if isinstance(node, ast.Import):
                for name in node.names:
                    if name.name == "acausal":
                        return f"{name.asname or 'acausal'}.array"
        raise Locked(Diagnostic("The file does not import acausal as a whole.", remedy="Add `import acausal as ac`."))

    def removed(self, name: str) -> list[Splice]:
        """A part with its connections; refused where something else speaks of it."""
        part = self._part(name)
        touched = [(s, ends) for s, ends in self.connections() if any(_owner(e) == name for e in ends)]
        inside = {id(n) for n in ast.walk(part.call)} | {id(n) for n in ast.walk(part.target)}
        inside |= {id(n) for statement, ends in touched for e in ends if _owner(e) == name for n in ast.walk(e)}
        others = [n for n in ast.walk(self.cls) if _is_own(n) and n.attr == name and id(n) not in inside]
        if others:
            lines = ", ".join(str(n) for n in sorted({n.lineno for n in others}))
            what = f"`{name}` cannot be taken out: line {lines} of the file speaks of it."
            raise Locked(Diagnostic(what, remedy="Change that line first."))
        edits = self._without_part(part)
        gone: list[ast.stmt] = []
        for statement, ends in touched:
            left = [e for e in ends if _owner(e) != name]
            if len(left) < 2:
                gone.append(statement)
            else:
                edits += [self._without_element(ends, ends.index(e)) for e in ends if _owner(e) == name]
        return edits + self._without("connections", gone, "yield from ()")

    def connected(self, a: str, b: str) -> list[Splice]:
        """A new connection of two ends such as `room.port`."""
        for end in (a, b):
            if not re.fullmatch(r"[^\W\d]\w*(\[[\d, ]+\])?(\.[^\W\d]\w*(\[[\d, ]+\])?)*", end):
                raise ModelError(f"`{end}` is not the end of a connection.")
        if a == b:
            raise ModelError(f"`{a}` cannot be connected to itself.")
        return [self._appended("connections", "def connections(self):", f"yield self.{a}, self.{b}")]

    def disconnected(self, line: int, a: str, b: str) -> list[Splice]:
        """Take the wire from a to b out of the statement at a line; a statement with more ends keeps the others."""
        wanted = {f"self.{a}", f"self.{b}"}
        for statement, ends in self.connections():
            texts = [ast.unparse(e) for e in ends]
            if not (statement.lineno <= line <= (statement.end_lineno or line)) or not wanted <= set(texts):
                continue
            if len(ends) == 2:
                return self._without("connections", [statement], "yield from ()")
            return [self._without_element(ends, texts.index(f"self.{b}"))]
        what = f"The connection of `{a}` and `{b}` is not stated by itself: line {line} makes it in a loop, a slice or a function."
        raise Locked(Diagnostic(what, remedy="Change that line in the file."))

    def given(self, name: str, parameter: str, value: str) -> list[Splice]:
        """Another value for a parameter of a part, as Python text."""
        ast.parse(value, mode="eval")
        call = self._part(name).call
        for given in call.keywords:
            if given.arg == parameter:
                return [Splice(*self.span(given.value), value)]
        end = self.span(call)[1] - 1
        first = self.span(call.func)[1]
        inside = self.text[first:end].strip("( \n\t")
        comma = "" if not (call.args or call.keywords) else " " if inside.rstrip().endswith(",") else ", "
        if inside.rstrip().endswith(",") and "\n" in self.text[first:end]:
            raise Locked(
                Diagnostic(f"`{name}` is stated over several lines.", remedy=f"Write `{parameter}={value}` into the file.")
            )
        return [Splice(end, end, f"{comma}{parameter}={value}")]

    def apply(self, edits: Iterable[Splice]) -> str:
        """The text with edits, which Python can read."""
        text = self.text
        for edit in sorted(edits, key=lambda e: (e.first, e.last), reverse=True):
            text = text[: edit.first] + edit.text + text[edit.last :]
        try:
            ast.parse(text)
        except SyntaxError as error:
            raise Locked(Diagnostic(f"The edit does not fit into the file: {error.msg}.", remedy="Make it in the file.")) from error
        return text

    # --- how ------------------------------------------------------------------------------------------------------------------
    def _part(self, name: str) -> PartStated:
        found = self.parts().get(name)
        if found is None:
            what = f"`{name}` is not stated by itself in `{self.cls.name}`: a loop, a branch or a parent class makes it."
            raise Locked(Diagnostic(what, remedy="Change it in the file."))
        return found

    def _names_in_use(self) -> set[str]:
        own = {n.attr for n in ast.walk(self.cls) if _is_own(n)}
        return own | {t.id for n in ast.walk(self.cls) if isinstance(n, ast.Assign) for t in ast.walk(n) if isinstance(t, ast.Name)}

    def _called(self, kind: str, module: str) -> tuple[str, list[Splice]]:
        """How a class is called here, and the import that is missing."""
        if any(isinstance(n, ast.ClassDef) and n.name == kind for n in self.tree.body):
            return kind, []
        package, _, last = module.rpartition(".")
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and not node.level:
                for name in node.names:
                    if (node.module, name.name) == (module, kind):
                        return name.asname or kind, []
                    if (node.module, name.name) == (package, last):
                        return f"{name.asname or last}.{kind}", []
            elif isinstance(node, ast.Import):
                for name in node.names:
                    if name.name == module and name.asname:
                        return f"{name.asname}.{kind}", []
        taken = {n.name for n in self.tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
        taken |= {a.asname or a.name for n in self.tree.body if isinstance(n, ast.ImportFrom) for a in n.names}
        called = kind if kind not in taken else f"{last.capitalize()}{kind}"
        beside = [n for n in self.tree.body if isinstance(n, ast.ImportFrom) and n.module == module and not n.level]
        if beside and called == kind and beside[-1].lineno == beside[-1].end_lineno:
            end = self.span(beside[-1])[1] - (1 if self.text[: self.span(beside[-1])[1]].endswith(")") else 0)
            if len(self._lines[beside[-1].lineno - 1]) < _LONGEST:
                return called, [Splice(end, end, f", {kind}")]
        stated = f"from {module} import {kind}" + (f" as {called}" if called != kind else "")
        return called, [self._imported(stated)]

    def _imported(self, statement: str) -> Splice:
        """Behind the last import at the top, or behind the docstring."""
        imports = [n for n in self.tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
        body = self.tree.body
        docstring = body[:1] if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) else []
        last = (imports or docstring or [None])[-1]
        if last is None or last.end_lineno is None:
            return Splice(0, 0, f"{statement}\n")
        end = self._starts[last.end_lineno]
        newline = "" if self.text[:end].endswith("\n") else "\n"
        return Splice(end, end, f"{newline}{statement}\n")

    def _appended(self, method: str, header: str, lines: str | Sequence[str]) -> Splice:
        """Lines at the end of a method; the method where there is none. A body that only says that it is empty gives way."""
        found, given = self.method(method), [lines] if isinstance(lines, str) else list(lines)
        line = given[0]
        if found is not None:
            last = found.body[-1]
            if isinstance(last, (ast.Return, ast.Raise)):
                raise Locked(
                    Diagnostic(f"`{method}` ends with line {last.lineno}; nothing can stand behind it.", remedy=f"Add `{line}`.")
                )
            if len(found.body) == 1 and _says_nothing(last):
                indent = self.text[self._starts[last.lineno - 1] : self.span(last)[0]]
                return Splice(*self.span(last), f"\n{indent if not indent.strip() else ' ' * last.col_offset}".join(given))
            if last.lineno == found.lineno:
                raise Locked(Diagnostic(f"`{method}` is written in one line.", remedy=f"Add `{line}` in the file."))
            assert last.end_lineno is not None
            end = self._starts[last.end_lineno]
            newline = "" if self.text[:end].endswith("\n") else "\n"
            indent = self.text[self._starts[found.body[0].lineno - 1] : self.span(found.body[0])[0]]
            return Splice(end, end, newline + "".join(f"{indent}{each}\n" for each in given))
        indent = " " * (self.cls.col_offset + 4)
        last = self.cls.body[-1]
        assert last.end_lineno is not None
        body = f"\n{indent}    ".join(given)
        if len(self.cls.body) == 1 and isinstance(last, ast.Pass):
            return Splice(*self.span(last), f"{header}\n{indent}    {body}")
        end = self._starts[last.end_lineno]
        newline = "" if self.text[:end].endswith("\n") else "\n"
        return Splice(end, end, f"{newline}\n{indent}{header}\n{indent}    {body}\n")

    def _without_part(self, part: PartStated) -> list[Splice]:
        if part.count == 1:
            return self._without("__init__", [part.statement], "pass")
        targets, values = _elements(part.statement.targets[0]), _elements(part.statement.value)
        return [self._without_element(targets, part.number), self._without_element(values, part.number)]

    def _without_element(self, elements: list[ast.expr], number: int) -> Splice:
        """One of several with its comma."""
        first, last = self.span(elements[number])
        if number + 1 < len(elements):
            return Splice(first, self.span(elements[number + 1])[0], "")
        return Splice(self.span(elements[number - 1])[1], last, "")

    def _without(self, method: str, statements: list[ast.stmt], otherwise: str) -> list[Splice]:
        """Statements of a method taken out; a body that becomes empty says so."""
        found = self.method(method)
        if found is None or not statements:
            return []
        kept = [s for s in found.body if s not in statements and not _is_docstring(s)]
        if kept:
            return [Splice(*self._whole_lines(s), "") for s in statements]
        first, *others = statements
        begin, end = self._whole_lines(first)
        indent = self.text[begin : self.span(first)[0]]
        newline = "\n" if self.text[begin:end].endswith("\n") else ""
        return [Splice(begin, end, f"{indent}{otherwise}{newline}"), *(Splice(*self._whole_lines(s), "") for s in others)]


def _elements(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _is_own(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _owner(end: ast.expr) -> str:
    """The part that an end belongs to: `self.room.port` is one of `room`; a port of the class itself belongs to nobody."""
    names: list[str] = []
    node: ast.expr = end
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
        node = node.value
    return names[-1] if len(names) > 1 and isinstance(node, ast.Name) and node.id == "self" else ""


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _says_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or ast.unparse(node) in ("yield from ()", "...")
