"""Object code on disk, so that a model is compiled once and not once a process.

One file holds one kernel. Its name is a hash of everything the code depends on: the expressions (outputs and derivatives), the
signs, the compiler, the processor, the calling convention and the code generator itself. The hash is taken from the expressions,
so that nothing is generated for a kernel that is already there.

A cache may only ever save time: an entry that cannot be read is compiled again, a folder that cannot be written stays as it is.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from ..families.template import Template
from ..language.expression import Call, Constant, Expression, Operation, Slot, walk

ABI_VERSION = 1  # of the calling convention in emit.py; a change there needs another number here
SUFFIX = ".kernel"
LARGEST_TOTAL = 200 * 2**20  # bytes; beyond it the entries used longest ago are removed

_UNFINISHED = ".part"
_MAGIC = b"acausal1"
_DIGEST_SIZE = 20


def directory() -> Path | None:
    """`$ACAUSAL_CACHE`, or `acausal` in the user's cache folder; None if there is no such thing as a home."""
    if chosen := os.environ.get("ACAUSAL_CACHE"):
        return Path(chosen)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "acausal"
    try:
        return Path.home() / ".cache" / "acausal"
    except RuntimeError:
        return None


def key_of(template: Template, signs: tuple[int, ...], compiler: str) -> str:
    """The name of a kernel: equal names, equal code. `compiler` says what compiles, and for which processor."""
    digest = hashlib.blake2b(digest_size=_DIGEST_SIZE)
    for part in (str(ABI_VERSION), _code_generator(), compiler, canonical_text(template, signs)):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


@cache
def _code_generator() -> str:
    """A hash of `emit.py`: whoever changes the code generator must not meet the code of yesterday."""
    try:
        return hashlib.blake2b(Path(__file__).with_name("emit.py").read_bytes()).hexdigest()
    except OSError:
        return ""


def canonical_text(template: Template, signs: tuple[int, ...]) -> str:
    """The template as a list of numbered nodes, the same in every process.

    Derivatives are part of it, because rules of differentiation change and functions bring their own. A function stands by its
    place, its arity and whether it has data; its address is given at run time.
    """
    entries = template.jacobian
    places = {id(f): k for k, f in enumerate(template.functions)}
    numbers: dict[Expression, int] = {}
    lines = []
    for node in walk(*template.outputs, *(g for _, _, g in entries)):
        numbers[node] = len(numbers)
        lines.append(" ".join([_head(node, places), *(str(numbers[a]) for a in node.args)]))
    lines.append("outputs " + " ".join(str(numbers[o]) for o in template.outputs))
    lines.append("jacobian " + " ".join(f"{k},{s},{numbers[g]}" for k, s, g in entries))
    lines.append("signs " + " ".join(map(str, signs)))
    return "\n".join(lines)


def _head(node: Expression, places: dict[int, int]) -> str:
    if isinstance(node, Operation):
        return node.operator.name
    if isinstance(node, Slot):
        return f"${node.number}:{node.kind}"
    if isinstance(node, Constant):
        return node.value.hex()
    if isinstance(node, Call):
        function: Any = node.function
        evaluation: Any = function.evaluation
        place = places[id(evaluation)]
        if evaluation is not function:
            return f"s{place}:{len(node.args)}:{evaluation.outputs}:{function.place}{'r' if evaluation.by_reference else ''}"
        return f"f{place}:{len(node.args)}{'d' if function.data_address else ''}"
    raise AssertionError(f"{type(node).__name__} does not stand in templates")


def load(key: str) -> bytes | None:
    """The object code of a kernel, if it is there and whole."""
    folder = directory()
    if folder is None:
        return None
    path = folder / (key + SUFFIX)
    try:
        content = path.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # used just now: the last to be removed
    return _unpacked(content)


def store(kernels: Iterable[tuple[str, bytes]]) -> None:
    """Keep object code; in silence if that is not possible."""
    folder = directory()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for key, code in kernels:
            _write(folder / (key + SUFFIX), _packed(code))
        _prune(folder, LARGEST_TOTAL)


def _packed(code: bytes) -> bytes:
    return _MAGIC + hashlib.blake2b(code, digest_size=_DIGEST_SIZE).digest() + code


def _unpacked(content: bytes) -> bytes | None:
    """The code, if it is what was written: handing damaged object code to the linker could end the process."""
    start = len(_MAGIC) + _DIGEST_SIZE
    return content[start:] if content == _packed(content[start:]) else None


def _write(path: Path, content: bytes) -> None:
    """All or nothing: another process sees the old entry or the new one, never half of it."""
    part = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}{_UNFINISHED}")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def _prune(folder: Path, most: int) -> None:
    """Remove the entries used longest ago until half of `most` is left, so that it does not happen at every write."""
    entries = []
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            if entry.name.endswith((SUFFIX, _UNFINISHED)):
                status = entry.stat()
                entries.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in entries)
    if total <= most:
        return
    for _, size, path in sorted(entries):
        if total <= most // 2:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
            total -= size
