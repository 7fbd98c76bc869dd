"""What is known about a template without its derivatives: which of them there are, which are literals, what they read.

Translation asks for no more than that; the expressions themselves are needed to generate code. So the facts are kept on disk
beside the code, and a class that was translated once is not differentiated again, in any process. The name of a template is a hash
of its outputs and of the rules of differentiation. Functions, which bring derivatives of their own, are part of it as they describe
themselves (`calls.py`); a template with one that cannot has no name.

Facts are kept in as many files as the vault has folders, each with those of the names that begin alike. Two processes that write
one at the same time lose what one of them found, which is found again.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from ..economy import blake2b
from ..language import expression, operators, simplify
from ..language.expression import Constant, Expression, Slot, encoded, leaves
from ..vault import Vault, content_of, kept_until_put_back, open_vault
from . import differentiate
from .calls import Told, is_function, texts

MOST = 4000  # templates in a file; the oldest are forgotten
_DIGEST_SIZE = 20


class Entry(NamedTuple):
    """A derivative that is not zero: of which output, by which slot; its value if that is a literal, else the slots it reads."""

    output: int
    slot: int
    value: float | None
    reads: tuple[int, ...]


class Facts(NamedTuple):
    """Derivatives, and (output, slot) where a residual reads a slot without a derivative.

    `functions` are called by residuals and derivatives: relatives of what the residuals call, or None where that is not known.
    """

    entries: tuple[Entry, ...]
    silent: tuple[tuple[int, int], ...]
    functions: tuple[Told, ...] | None = None

    @staticmethod
    def of(lists: Any) -> Facts:
        """From the lists that a file has."""
        entries, silent, functions = lists
        found = tuple([Entry(k, s, v, tuple(reads)) for k, s, v, reads in entries])
        return Facts(found, tuple([(k, s) for k, s in silent]), None if functions is None else tuple(functions))


def entry_of(output: int, slot: int, derivative: Expression) -> Entry:
    if isinstance(derivative, Constant):
        return Entry(output, slot, derivative.value, ())
    return Entry(output, slot, None, tuple(n.number for n in leaves(derivative) if isinstance(n, Slot)))


def name_of(outputs: Sequence[Expression], forms: bool = False) -> str:
    """The name of a template, the same in every process; empty where it has none. `forms`: one for all functions of a form."""
    rules = _rules()
    code, objects = encoded(tuple(outputs))  # operators and constants are in the code
    functions = [one for one in objects if not isinstance(one, Slot)]
    described = texts(functions, forms) if functions and all(map(is_function, functions)) else None
    if not rules or (functions and described is None):
        return ""
    slots = " ".join([f"{one.number}:{one.kind}" if isinstance(one, Slot) else "f" for one in objects])
    calls = "\n".join([_rules_of_functions(), *described]) if described else ""
    return blake2b(f"{rules} {slots} {calls}".encode() + code, digest_size=_DIGEST_SIZE).hexdigest()


@cache
def _rules() -> str:
    """A hash of everything that has a say in derivatives: whoever changes a rule must not meet the facts of yesterday."""
    digest = blake2b(digest_size=_DIGEST_SIZE)
    try:
        for module in (expression, operators, simplify, differentiate):
            digest.update(content_of(str(module.__file__)))
        digest.update(content_of(__file__))
    except OSError:
        return ""
    return digest.hexdigest()


@cache
def _rules_of_functions() -> str:
    """The same for the derivatives of those that describe themselves."""
    package = os.path.dirname(os.path.dirname(__file__))
    named = [f"language/{name}.py" for name in ("external", "several", "tables", "table_sets")]
    try:
        contents = [content_of(os.path.join(package, name)) for name in (*named, "media/functions.py")]
    except OSError:
        return os.urandom(8).hex()  # that nothing is found by
    return blake2b(b"\0".join(contents), digest_size=_DIGEST_SIZE).hexdigest()


# --- on disk --------------------------------------------------------------------------------------------------------------------
class _Shelf:
    """What this process has read and found, until it is put back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: dict[str, dict[str, Any]] = {}
        self._new: set[str] = set()
        self._vault: Vault | None = None
        self._open = False

    def find(self, name: str) -> Facts | None:
        if not name:
            return None
        with self._lock:
            found = self._part(name[:2]).get(name)
        return None if found is None else Facts.of(found)

    def keep(self, name: str, facts: Facts) -> None:
        if name:
            with self._lock:
                functions = None if facts.functions is None else list(facts.functions)
                self._part(name[:2])[name] = [[list(e) for e in facts.entries], [list(s) for s in facts.silent], functions]
                self._new.add(name[:2])

    def put_back(self) -> None:
        """Write what is new, and forget the rest."""
        with self._lock:
            if self._vault is not None and self._new:
                parts = ((part, list(self._read[part].items())[-MOST:]) for part in sorted(self._new))
                self._vault.store((_file(part), json.dumps(dict(items)).encode()) for part, items in parts)
            self._read, self._new, self._vault, self._open = {}, set(), None, False

    def _part(self, part: str) -> dict[str, Any]:
        if not self._open:
            self._vault, self._open = open_vault(), True
        if part not in self._read:
            content = self._vault.load(_file(part)) if self._vault is not None else None
            self._read[part] = json.loads(content) if content is not None else {}
        return self._read[part]


def _file(part: str) -> str:
    return f"{part}-facts"


_shelf = _Shelf()
find, keep, put_back = _shelf.find, _shelf.keep, _shelf.put_back
kept_until_put_back.append(put_back)
