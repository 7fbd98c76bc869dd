"""What a kind contributes: what translation finds in the equations of a class, kept on disk for every later process.

A class is known by running its `equations`, in each process; everything that follows from what they say (units agree, which
variables are definitions, which templates the residuals are, what is known about these) depends on the equations alone, and is a
look-up from the second time on. The look-up is safe because a key covers all that a result depends on: the expressions to the bit,
and of each quantity in them where it is, its name, shape, unit and role; whatever else has a say is given to `Contribution.key`;
the version of the package; and the code that makes the results. Places in source files and texts for messages are in no result:
they come from the equations that were just traced.

Results are kept beside the machine code (`acausal/vault.py`, in whose files nobody else can have written), one file for each kind,
under the key of its equations. Functions describe themselves (`calls.py`); where one cannot, everything is computed anew.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from .. import __version__, language
from ..economy import blake2b
from ..language.expression import (
    Continuation,
    Expression,
    Literal,
    Mark,
    Reference,
    Slot,
    Time,
    decoded,
    encoded,
)
from ..language.states import State
from ..vault import Vault, content_of, kept_until_put_back, open_vault
from .calls import Told, found, is_function, texts, told
from .tree import Node

MOST = 2000  # results in a file; the oldest are forgotten
_DIGEST_SIZE = 20


class Described(NamedTuple):
    """Expressions as a digest, and the leaves in them and the functions that they call, by number."""

    digest: bytes
    objects: list[Any]


class Coded(NamedTuple):
    """Expressions over the leaves of others: bytes (as text), and which leaf each object in them is, or whose relative."""

    code: str
    leaves: list[int | Told]


class Contribution:
    """What is known about one kind. Without a name, nothing is."""

    __slots__ = ("_described", "_held", "_name", "_new", "_node")

    def __init__(self, node: Node, equations: Sequence[Expression]) -> None:
        self._node = node
        self._described: tuple[tuple[int, ...], Sequence[Expression], Described | None] = ((), (), None)
        found = self.described(equations)
        self._name = "" if found is None or not equations or not rules() else _name(found.digest)
        self._held: dict[str, Any] | None = None
        self._new = False

    def described(self, roots: Sequence[Expression]) -> Described | None:
        """Some expressions of the kind; None where one of them has no description."""
        same = tuple(map(id, roots))
        if same != self._described[0] or not same:
            self._described = (same, roots, _described(tuple(roots), self._node))
        return self._described[2]

    def key(self, what: str, found: Described, *more: object) -> str:
        """The key of a result: what it is, the expressions, and everything else that it depends on."""
        return blake2b(repr((what, *more)).encode() + found.digest, digest_size=_DIGEST_SIZE).hexdigest()

    def find(self, key: str) -> Any:
        if not self._name:
            return None
        if self._held is None:
            self._held = _shelf.take(self._name, self)
        return self._held.get(key)

    def keep(self, key: str, result: Any) -> None:
        if self._name:
            if self._held is None:
                self._held = _shelf.take(self._name, self)
            self._held[key], self._new = result, True

    def has(self, template: str) -> None:
        """What is made of a template, by its name, is kept here from now on."""
        if self._name:
            _shelf.templates.setdefault(template, self)

    def file(self) -> tuple[str, bytes] | None:
        """What is to be written, if there is anything new."""
        if not self._new or self._held is None:
            return None
        return _file(self._name), json.dumps(dict(list(self._held.items())[-MOST:]), separators=(",", ":")).encode()


def coded(roots: Iterable[Expression], leaves: Sequence[Any]) -> Coded | None:
    """Expressions over some leaves and functions; None where there is anything else in them."""
    code, objects = encoded(tuple(roots))
    places = {leaf: k for k, leaf in enumerate(leaves)}
    known = [places.get(one) for one in objects]
    found = [told(one, leaves) if k is None and is_function(one) else k for one, k in zip(objects, known, strict=True)]
    return None if None in found else Coded(code.decode("latin-1"), [one for one in found if one is not None])


def expressions(held: Sequence[Any], leaves: Sequence[Any]) -> tuple[Expression, ...]:
    """What `coded` made bytes of, over the leaves and functions of this process."""
    code, places = held
    objects = [leaves[k] if type(k) is int else found(k, leaves) for k in places]
    read: tuple[Expression, ...] = decoded(code.encode("latin-1"), objects)
    return read


# --- what an expression says ----------------------------------------------------------------------------------------------------
def _described(roots: tuple[Expression, ...], own: Node) -> Described | None:
    code, objects = encoded(roots)
    functions = [one for one in objects if is_function(one)]
    described = texts(functions) if functions else []
    if described is None:
        return None
    following = iter(described)
    lines = [_text_of(one, own) if isinstance(one, Expression) else next(following) for one in objects]
    if not all(lines):
        return None
    digest = blake2b(code, digest_size=_DIGEST_SIZE)
    digest.update("\n".join(lines).encode())
    return Described(digest.digest(), objects)


def _text_of(node: Expression, own: Node) -> str:
    """All that a result may depend on; empty where that cannot be said."""
    if isinstance(node, Reference):
        declaration, path = node.declaration, ""
        if node.owner is not own:
            steps = node.owner._steps_from(own)
            if steps is None:
                return ""
            path = repr(steps)
        picked = "" if node.picks is None else node.picks.hex() if isinstance(node.picks, bytes) else str(node.picks)
        known = declaration.is_known
        return f"r {path} {node.name!r} {node.shape} {node.order} {picked} {declaration.role} {known} {declaration.unit!r}"
    if isinstance(node, State):
        declared = _text_of(node.args[0], own)
        return declared and f"q {node.number} {node.shape} {declared}"
    if isinstance(node, Literal):
        return f"l {node.shape} {node.values.tobytes().hex()}"
    if isinstance(node, Slot):
        return f"s {node.number} {node.kind}"
    if isinstance(node, Mark):
        return f"m {node.name}"
    return "t" if isinstance(node, Time) else "c" if isinstance(node, Continuation) else ""


def _name(digest: bytes) -> str:
    return blake2b(rules().encode() + digest, digest_size=_DIGEST_SIZE).hexdigest()


@cache
def rules() -> str:
    """A hash of everything that has a say in results: whoever changes a rule must not meet what was found by that of yesterday."""
    digest = blake2b(__version__.encode(), digest_size=_DIGEST_SIZE)
    try:
        own = os.path.dirname(__file__)
        for folder in (os.path.dirname(str(language.__file__)), own):
            for file in sorted(name for name in os.listdir(folder) if name.endswith(".py")):
                digest.update(file.encode() + b"\0" + content_of(os.path.join(folder, file)) + b"\0")
        digest.update(content_of(os.path.join(os.path.dirname(own), "media", "functions.py")))  # derivatives of fluids
        if (core := sys.modules.get(f"{__package__.partition('.')[0]}._core")) is not None:
            status = os.stat(str(core.__file__))
            digest.update(f"{status.st_size} {status.st_mtime_ns}".encode())
    except OSError:
        return ""
    return digest.hexdigest()


@lru_cache(maxsize=4096)
def slot(number: int, kind: str) -> Slot:
    """Slots are asked for again and again."""
    return Slot(number, kind)


# --- on disk --------------------------------------------------------------------------------------------------------------------
class _Shelf:
    """What this process has read and found, until it is put back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: dict[str, tuple[dict[str, Any], list[Contribution]]] = {}
        self._vault: Vault | None = None
        self._open = False
        self.templates: dict[str, Contribution] = {}  # by name: those who keep what is made of them

    def take(self, name: str, asker: Contribution) -> dict[str, Any]:
        """What is known about a kind; those of equal kinds are one."""
        with self._lock:
            if name not in self._taken:
                self._taken[name] = self._read(name), []
            held, askers = self._taken[name]
            askers.append(asker)
            return held

    def _read(self, name: str) -> dict[str, Any]:
        if not self._open:
            self._vault, self._open = open_vault(), True
        content = self._vault.load(_file(name)) if self._vault is not None else None
        found: dict[str, Any] = json.loads(content) if content is not None else {}
        return found

    def put_back(self) -> None:
        """Write what is new, and forget the rest."""
        with self._lock:
            if self._vault is not None:
                files = (next((f for one in askers if (f := one.file())), None) for _, askers in self._taken.values())
                self._vault.store(f for f in files if f is not None)
            self._taken, self._vault, self._open, self.templates = {}, None, False, {}


def _file(name: str) -> str:
    return f"{name}-kind"


def of_template(name: str) -> Contribution | None:
    """Who keeps what is made of a template; nobody after `put_back`."""
    return _shelf.templates.get(name)


_shelf = _Shelf()
put_back = _shelf.put_back
kept_until_put_back.append(put_back)
