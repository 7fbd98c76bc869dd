"""Members of a zip archive that are stored as they are, which is how this program writes them: where each lies, and its checksum.

Nothing is believed that does not fit: whatever is not exactly as `container.Writer` leaves it (packed, encrypted, split, with a
comment, larger than 4 GB, damaged) has no members here, and Python's `zipfile` reads it or says what is wrong. That module
and what it imports take longer to start than a model file to read.
"""

from __future__ import annotations

import os
import struct
import zlib
from typing import BinaryIO, NamedTuple, Protocol, final

_END, _ENTRY, _LOCAL = struct.Struct("<4s4H2IH"), struct.Struct("<4s6H3I5H2I"), struct.Struct("<4s5H3I2H")
_LARGE, _WIDE = 0xFFFFFFFF, 0xFFFF  # what stands where a number has more digits
_UTF8 = 0x800


class Member(NamedTuple):
    """Where the bytes of a member lie in the file, how many they are, and their checksum (CRC-32)."""

    start: int
    size: int
    checksum: int


class Members(Protocol):
    """The members of an archive by name."""

    def __contains__(self, name: object) -> bool: ...

    def read(self, name: str) -> bytes:
        """A member, once its checksum is right."""

    def place(self, name: str) -> Member | None:
        """Where a member lies as it is; None if it is packed."""


@final
class Stored:
    """The members of an archive in which none is packed."""

    def __init__(self, stream: BinaryIO, members: dict[str, Member]) -> None:
        self._stream, self._members = stream, members

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        if name not in self._members:
            raise KeyError(f"there is no `{name}` in it")
        member = self._members[name]
        self._stream.seek(member.start)
        content = self._stream.read(member.size)
        if len(content) != member.size or zlib.crc32(content) != member.checksum:
            raise ValueError(f"`{name}` is not what was written")
        return content

    def place(self, name: str) -> Member | None:
        return self._members[name]


def stored(stream: BinaryIO) -> Stored | None:
    """The members of an archive that is as this program writes it; None for any other file."""
    try:
        members = _listed(stream, os.fstat(stream.fileno()).st_size)
    except (struct.error, UnicodeDecodeError, OSError):
        return None
    return None if members is None else Stored(stream, members)


def _listed(stream: BinaryIO, length: int) -> dict[str, Member] | None:
    stream.seek(max(0, length - _END.size))
    mark, disk, first_disk, here, count, size, begin, comment = _END.unpack(stream.read(_END.size))
    alone = mark == b"PK\5\6" and not disk and not first_disk and not comment and here == count < _WIDE
    if not alone or begin + size + _END.size != length:
        return None
    stream.seek(begin)
    directory, at = stream.read(size), 0
    members: dict[str, Member] = {}
    for _ in range(count):
        mark, _, _, flags, packing, _, _, checksum, packed, whole, *lengths, disk, _, _, header = _ENTRY.unpack_from(directory, at)
        name = directory[at + _ENTRY.size : at + _ENTRY.size + lengths[0]]  # an extra field and a remark follow it
        at += _ENTRY.size + sum(lengths)
        plain = mark == b"PK\1\2" and not flags & ~_UTF8 and not packing and not disk and packed == whole < _LARGE
        start = _start(stream, header, name) if plain else None
        if start is None or start + whole > begin or name.decode("ascii") in members:
            return None
        members[name.decode("ascii")] = Member(start, whole, checksum)
    return members if at == size and sum(m.size for m in members.values()) <= length else None


def _start(stream: BinaryIO, header: int, name: bytes) -> int | None:
    """Where the bytes of a member begin, behind a header of its own that has the same name."""
    stream.seek(header)
    mark, _, flags, packing, _, _, _, _, _, name_size, extra = _LOCAL.unpack(stream.read(_LOCAL.size))
    same = mark == b"PK\3\4" and not flags & ~_UTF8 and not packing and stream.read(name_size) == name
    return header + _LOCAL.size + name_size + extra if same else None
