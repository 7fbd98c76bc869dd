"""Machine code that needs no linker: what an object file holds of one kernel, in one piece that runs wherever it is copied to.

An object file (ELF, x86-64) of many kernels is taken apart. The image of a kernel is

    constants | a stub for each function that is called, `jmp [rip]; address` | its functions

in which everything refers to everything by distance, so that it is final but for the addresses in the stubs. To load an image is to
copy it into memory that may be executed, and to write these. Neither llvmlite nor LLVM is needed, which take longer to
start than most models to run. Object files of other forms, or with anything unforeseen in them, have no image: LLVM links them.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache
from typing import Any

from ..records import dataclass

MAGIC = b"acimage2"
_HEADER = struct.Struct("<I")
_ALIGNED = 64
_STUB = b"\xff\x25\x00\x00\x00\x00" + bytes(8) + b"\xcc\xcc"  # jmp [rip + 0], the address, padding
_STUB_ADDRESS = 6
_X86_64, _RELOCATABLE, _LITTLE_64 = 62, 1, b"\x7fELF\x02\x01"
_SYMBOLS, _RELOCATIONS = 2, 4  # types of sections
_NEAR, _CALL = 2, 4  # R_X86_64_PC32, R_X86_64_PLT32: a distance of 32 bits
_MERGEABLE, _EXECUTABLE = 0x10, 0x4  # flags of sections
_READ_EXECUTE = 1 | 4


@dataclass(frozen=True, slots=True)
class Image:
    """The code of a kernel, or of several; `entries` are the places of its functions, `outside` those where addresses of others are
    to be written."""

    code: bytes
    entries: Mapping[str, int]
    outside: Sequence[tuple[str, int]]

    def to_bytes(self) -> bytes:
        text = json.dumps([dict(self.entries), list(self.outside)]).encode()
        return MAGIC + _HEADER.pack(len(text)) + text + self.code

    @staticmethod
    def from_bytes(content: bytes) -> Image | None:
        """What `to_bytes` made; None for anything else."""
        if content[: len(MAGIC)] != MAGIC:
            return None
        start = len(MAGIC) + _HEADER.size
        (size,) = _HEADER.unpack(content[len(MAGIC) : start])
        entries, outside = json.loads(content[start : start + size])
        return Image(content[start + size :], entries, outside)


def together(images: Sequence[Image]) -> Image:
    """One image with the code of all."""
    code = bytearray()
    entries: dict[str, int] = {}
    outside: list[tuple[str, int]] = []
    for image in images:
        start = len(code)
        code += image.code + bytes(-len(image.code) % _ALIGNED)
        entries.update({name: start + at for name, at in image.entries.items()})
        outside += [(name, start + at) for name, at in image.outside]
    return Image(bytes(code), entries, outside)


# --- taking an object file apart ------------------------------------------------------------------------------------------------
class _Unforeseen(Exception):
    """Something in an object file that this module does not know."""


@dataclass(slots=True)
class _Section:
    name: str
    kind: int
    flags: int
    content: bytes
    info: int
    entry_size: int


@dataclass(slots=True)
class _Symbol:
    name: str
    section: int  # 0: outside
    value: int
    size: int


@dataclass(slots=True)
class _Object:
    sections: list[_Section]
    symbols: list[_Symbol]
    relocations: dict[int, list[tuple[int, int, int, int]]] = field(default_factory=dict)  # section: place, kind, symbol, addend


def images_of(content: bytes, wanted: Mapping[str, Sequence[str]]) -> dict[str, Image] | None:
    """The image of each kernel, which is known by the names of its functions; None where the file has no such form."""
    try:
        found = _parsed(content)
        by_name = {s.name: s for s in found.symbols if s.section}
        return {key: _image(found, [by_name[name] for name in names]) for key, names in wanted.items()}
    except (_Unforeseen, KeyError, IndexError, struct.error):
        return None


def _parsed(content: bytes) -> _Object:
    if not can_be_mapped() or content[:6] != _LITTLE_64:
        raise _Unforeseen
    kind, machine = struct.unpack_from("<HH", content, 16)
    if (kind, machine) != (_RELOCATABLE, _X86_64):
        raise _Unforeseen
    (start,) = struct.unpack_from("<Q", content, 40)
    size, count, names = struct.unpack_from("<HHH", content, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", content, start + k * size) for k in range(count)]
    text = content[heads[names][4] : heads[names][4] + heads[names][5]]
    sections = [
        _Section(_text_at(text, h[0]), h[1], h[2], content[h[4] : h[4] + h[5]] if h[1] != 8 else b"", h[7], h[9]) for h in heads
    ]
    tables = [k for k, s in enumerate(sections) if s.kind == _SYMBOLS]
    if len(tables) != 1:
        raise _Unforeseen
    symbols = _symbols(sections[tables[0]].content, sections[heads[tables[0]][6]].content)
    found = _Object(sections, symbols)
    for section in sections:
        if section.kind == _RELOCATIONS:
            entries = struct.iter_unpack("<QQq", section.content)
            found.relocations[section.info] = [(at, info & 0xFFFFFFFF, info >> 32, addend) for at, info, addend in entries]
    return found


def _text_at(text: bytes, start: int) -> str:
    return text[start : text.index(b"\0", start)].decode()


def _symbols(table: bytes, text: bytes) -> list[_Symbol]:
    entries = struct.iter_unpack("<IBBHQQ", table)
    return [_Symbol(_text_at(text, name), section, value, size) for name, _, _, section, value, size in entries]


def _image(source: _Object, functions: list[_Symbol]) -> Image:
    constants: dict[bytes, int] = {}
    stubs: dict[str, int] = {}
    pieces, fixes = list[bytes](), list[tuple[int, int, bytes | str]]()  # place within the pieces, offset from the target, target
    entries: dict[str, int] = {}
    length = 0
    for function in functions:
        section = source.sections[function.section]
        if not section.flags & _EXECUTABLE or not function.size:
            raise _Unforeseen
        entries[function.name] = length
        for at, kind, number, addend in source.relocations.get(function.section, []):
            if function.value <= at < function.value + function.size:
                target, behind = _target(source, kind, number, addend)
                (constants if isinstance(target, bytes) else stubs).setdefault(target, 0)  # type: ignore[arg-type]
                fixes.append((length + at - function.value, -4 - behind, target))
        code = section.content[function.value : function.value + function.size]
        pieces.append(code + b"\xcc" * (-len(code) % 16))
        length += len(pieces[-1])
    return _joined(constants, stubs, b"".join(pieces), fixes, entries)


def _target(source: _Object, kind: int, number: int, addend: int) -> tuple[bytes | str, int]:
    """What a relocation asks for, a constant or a function outside; and how many bytes of its instruction follow the distance,
    which counts from the instruction's end."""
    symbol = source.symbols[number]
    if not symbol.section:
        if kind not in (_CALL, _NEAR) or addend != -4:
            raise _Unforeseen
        return symbol.name, 0
    section = source.sections[symbol.section]
    size, start = section.entry_size, symbol.value + addend + 4
    if kind != _NEAR or not section.flags & _MERGEABLE or size not in (8, 16, 32, 64) or -start % size not in (0, 1, 2, 4):
        raise _Unforeseen
    behind = -start % size
    return section.content[start + behind : start + behind + size], behind


def _joined(
    constants: dict[bytes, int],
    stubs: dict[str, int],
    code: bytes,
    fixes: list[tuple[int, int, bytes | str]],
    entries: dict[str, int],
) -> Image:
    head = bytearray()
    for constant in sorted(constants, key=len, reverse=True):  # larger ones first, so that all are aligned
        constants[constant] = len(head)
        head += constant
    head += bytes(-len(head) % 16)
    for name in stubs:
        stubs[name] = len(head)
        head += _STUB
    head += bytes(-len(head) % _ALIGNED)
    whole = head + bytearray(code)
    for at, offset, target in fixes:
        place = constants[target] if isinstance(target, bytes) else stubs[target]
        struct.pack_into("<i", whole, len(head) + at, place + offset - (len(head) + at))
    outside = [(name, place + _STUB_ADDRESS) for name, place in stubs.items()]
    return Image(bytes(whole), {name: len(head) + place for name, place in entries.items()}, outside)


# --- loading --------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, eq=False)
class Mapped:
    """Memory with code in it, for as long as somebody holds this object."""

    memory: mmap.mmap
    addresses: dict[str, int]

    def __getitem__(self, name: str) -> int:
        return self.addresses[name]


def mapped(images: Sequence[Image]) -> Mapped | None:
    """Images in memory that may be executed; None where the system does not allow it or a function is not there."""
    image = images[0] if len(images) == 1 else together(images)
    total = len(image.code)
    try:
        memory = mmap.mmap(-1, max(total, 1))
        base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        memory[:total] = image.code
        for name, at in image.outside:
            memory[at : at + 8] = struct.pack("<Q", _address_of(name))
        addresses = {name: base + at for name, at in image.entries.items()}
        if _process().mprotect(ctypes.c_void_p(base), ctypes.c_size_t(max(total, 1)), _READ_EXECUTE):
            return None
    except (OSError, AttributeError, ValueError):
        return None
    return Mapped(memory, addresses)


def can_be_mapped() -> bool:
    return sys.platform == "linux" and struct.calcsize("P") == 8


@cache
def _process() -> Any:
    return ctypes.CDLL(None)


@cache
def _address_of(name: str) -> int:
    found = ctypes.cast(getattr(_process(), name), ctypes.c_void_p).value
    if not found:
        raise AttributeError(name)
    return found
