"""A container: named arrays and texts in one file, written completely or not at all, and verified when it is read.

The file is a zip archive of uncompressed `.npy` arrays, as `numpy.savez` makes them, plus texts such as `about.json`; numpy alone
reads it. Nothing in it is ever executed. What it holds is the business of others (`results/store.py`).

What is read is right or refused. Zip keeps a checksum (CRC-32) of every member; each is compared with what is read *or mapped*, so
that a flipped bit is a sentence and not another number. Sizes that a file only claims are never believed: stored members fit into
the file together, packed ones (somebody packed the archive again) may unpack to `UNPACKED_BYTES` in all, and an array is as long as
its shape says before anything is allocated for it. A file that is crafted to fail a reader in some other way fails in one sentence.

>>> import tempfile, numpy
>>> path = tempfile.mkdtemp() + "/a.container"
>>> with written(path) as new:
...     new.text("about.json", '{"format": "example"}')
...     new.array("time", numpy.linspace(0.0, 1.0, 3))
>>> with opened(path, "example") as archive:
...     print(archive.about["format"], archive.array("time"))
example [0.  0.5 1. ]
"""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO, cast, final

import numpy as np

from .errors import Diagnostic, ModelError
from .stored import Member, Members, stored

if TYPE_CHECKING:
    import zipfile
    from pathlib import Path

    from numpy.typing import NDArray

CHUNK_BYTES = 1 << 24
UNPACKED_BYTES = 1 << 28  # of members that somebody compressed; what this program writes is not
_ALIGNMENT = 64


class FileError(ModelError):
    """A file that cannot be written or read: which, why, and what to do."""


# ---------------------------------------------------------------- writing a file whole or not at all

_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space, or choose a place on another disk"),
    errno.EDQUOT: ("your disk quota is used up", "free some space, or choose a place on another disk"),
    errno.EFBIG: ("the file would be larger than allowed", "raise the limit on file sizes, or write fewer variables (`names=…`)"),
    errno.EACCES: ("you may not write there", "choose a folder of your own, or have the permissions changed"),
    errno.EPERM: ("you may not write there", "choose a folder of your own, or have the permissions changed"),
    errno.EROFS: ("the disk can only be read", "choose a place on another disk"),
    errno.ENOENT: ("its folder does not exist", "create the folder first, or choose another place"),
    errno.ENOTDIR: ("a part of the path is a file, not a folder", "choose another place"),
    errno.EISDIR: ("it is a folder", "give the name of a file in it"),
}


def _cannot_write(path: Path, cause: OSError) -> FileError:
    reason, remedy = _REASONS.get(cause.errno or 0, (cause.strerror or str(cause), "choose another place"))
    kept = "nothing is lost: the result is still in memory, and no half-written file is left behind"
    return FileError(Diagnostic(f"`{path}` cannot be written: {reason}.", details=(kept,), remedy=remedy))


@contextmanager
def whole_file(path: str | os.PathLike[str], *, device: bool = True) -> Iterator[Path]:
    """Where to write so that `path` appears only when it is complete: a file beside it, renamed at the end.

    A device or pipe cannot be replaced by a rename and is written directly, or refused where `device` is false: open it yourself
    and give a library the open file, since some libraries delete a path they could not write. An OSError on the way becomes a
    `FileError`.
    """
    from pathlib import Path  # whoever reads a file needs it not

    given = Path(path)
    try:
        target = given.resolve()
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        direct = target.exists() and not target.is_file()
        if direct and not device:
            raise OSError(errno.EINVAL, "it is a device or a pipe, not a file")
        place = given if direct else target.with_name(f".{target.name[:100]}.{os.urandom(4).hex()}.part")
        try:
            yield place
            if not direct:
                _settle(place, target)
        finally:
            if not direct:
                _discard(place)
    except OSError as cause:
        raise _cannot_write(given, cause) from cause


def _settle(place: Path, target: Path) -> None:
    """Make sure the bytes are on the disk before the old file goes: a full disk may only be noticed here."""
    with open(place, "r+b") as file:
        os.fsync(file.fileno())
    if target.exists():
        place.chmod(stat.S_IMODE(target.stat().st_mode))
    os.replace(place, target)


def _discard(place: Path) -> None:
    with suppress(OSError):  # the folder itself is gone or is a file: nothing of ours is there
        place.unlink(missing_ok=True)


# ---------------------------------------------------------------- writing


@final
class Writer:
    """Adds members to a container that is being written."""

    def __init__(self, archive: zipfile.ZipFile, stream: BinaryIO) -> None:
        self._archive, self._stream = archive, stream

    def text(self, name: str, text: str | bytes) -> None:
        self._archive.writestr(name, text)

    def array(self, name: str, array: NDArray[Any], columns: slice | NDArray[np.int64] = slice(None)) -> None:
        """One `.npy` member in pieces of rows, placed so that its numbers lie on aligned addresses when the file is mapped."""
        cut = array if isinstance(columns, slice) else array[:0, columns]
        shape = (len(array), *cut.shape[1:])
        with self._archive.open(_aligned(self._stream, f"{name}.npy"), "w", force_zip64=True) as member:
            header = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(cast(BinaryIO, member), header)
            row_bytes = max(1, array.itemsize * int(np.prod(shape[1:], dtype=np.int64)))
            rows = max(1, CHUNK_BYTES // row_bytes)
            for start in range(0, len(array), rows):
                piece = array[start : start + rows]
                member.write(np.ascontiguousarray(piece if isinstance(columns, slice) else piece[:, columns]).tobytes())


@contextmanager
def written(path: str | os.PathLike[str]) -> Iterator[Writer]:
    """A container that appears at `path` when the block ends without an error, and not before."""
    import zipfile  # and what packs: a reader of what was stored as it is needs none of them

    with whole_file(path) as place, open(place, "wb") as stream, zipfile.ZipFile(stream, "w") as archive:
        yield Writer(archive, stream)


def _aligned(stream: BinaryIO, name: str) -> zipfile.ZipInfo:
    """A zip entry whose contents start at a multiple of the alignment, by an extra field of the right length before them."""
    import zipfile

    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.external_attr = 0o644 << 16
    fixed = 30 + len(name) + 20  # zip's local header, the name, the sizes of a large member
    padding = -(stream.tell() + fixed + 4) % _ALIGNMENT if stream.seekable() else 0
    info.extra = np.array([0xD935, padding], dtype="<u2").tobytes() + bytes(padding)
    return info


# ---------------------------------------------------------------- reading


@final
class Reader:
    """The members of an open container, each verified before it is handed out."""

    def __init__(self, members: Members, path: str, formats: tuple[str, ...]) -> None:
        self._members, self.path = members, path
        if "about.json" not in self:
            raise foreign(path, b"PK")
        about = json.loads(self.bytes("about.json"))
        if not isinstance(about, dict) or about.get("format") not in formats:
            raise foreign(path, b"PK")
        self.about: dict[str, Any] = about

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def bytes(self, name: str) -> bytes:
        """A member as it is, once its checksum is right."""
        return self._members.read(name)

    def array(self, name: str) -> NDArray[Any]:
        """An array of numbers, in memory."""
        data = self.bytes(f"{name}.npy")
        stream = io.BytesIO(data)
        shape, dtype = _header(stream, name, len(data))
        return np.frombuffer(data, dtype=dtype, offset=stream.tell()).reshape(shape).copy()

    def mapped(self, name: str) -> NDArray[np.float64]:
        """A table of numbers as a view of the file: what is verified here is read from the disk again when it is asked for."""
        member = self._members.place(f"{name}.npy")
        if member is None:  # somebody packed the archive again
            return _table(self.array(name), name)
        with open(self.path, "rb") as stream:
            if _checksum(stream, member.start, member.size) != member.checksum:
                raise damaged(self.path, f"the numbers in `{name}` are not those that were written")
            stream.seek(member.start)
            shape, dtype = _header(stream, name, member.size)
            offset = stream.tell()
        if dtype != np.float64 or offset % 8 or not np.prod(shape):
            return _table(self.array(name), name)
        return _table(np.memmap(self.path, dtype=np.float64, mode="r", offset=offset, shape=shape).view(np.ndarray), name)


@final
class _Archive:
    """The members of any zip archive, as Python reads them: somebody packed the file again, or it is damaged."""

    def __init__(self, archive: zipfile.ZipFile, path: str) -> None:
        self._archive, self._path = archive, path
        self._check_sizes()

    def __contains__(self, name: object) -> bool:
        return name in self._archive.NameToInfo

    def read(self, name: str) -> bytes:
        return self._archive.read(name)

    def place(self, name: str) -> Member | None:
        info = self._archive.getinfo(name)
        if info.compress_type != 0:
            return None
        with open(self._path, "rb") as stream:
            stream.seek(info.header_offset + 26)
            name_length, extra_length = np.frombuffer(stream.read(4), dtype="<u2")
        return Member(info.header_offset + 30 + int(name_length) + int(extra_length), info.file_size, info.CRC)

    def _check_sizes(self) -> None:
        """A member is as long as it says, and all of them together are not longer than what there is."""
        members = self._archive.infolist()
        if sum(m.compress_size for m in members) > os.path.getsize(self._path) or len(self._archive.NameToInfo) < len(members):
            raise damaged(self._path, "its members overlap")
        packed = sum(m.file_size for m in members if m.compress_type != 0)
        if packed > UNPACKED_BYTES:
            raise FileError(
                f"`{self._path}` is packed, and unpacking it would take {packed / 1e6:.0f} MB of memory; "
                f"at most {UNPACKED_BYTES / 1e6:.0f} MB are unpacked.",
                remedy="ask for the file as it was saved: this program does not compress what it saves.",
            )


@contextmanager
def _members(path: str, start: bytes) -> Iterator[Members]:
    """What the file has: found here if it is as this program writes it, else by Python's own module for archives."""
    with open(path, "rb") as stream:
        found = stored(stream)
        if found is not None:
            yield found
            return
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            yield _Archive(archive, path)
    except zipfile.BadZipFile as cause:
        if start.startswith(b"PK\x03\x04"):
            raise damaged(path, f"it ends too early or was changed ({cause})") from cause
        raise foreign(path, start) from cause


def _header(stream: Any, name: str, size: int) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of an array whose member is `size` bytes long; the stream is then at its first number."""
    start = stream.tell()
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f"the array `{name}` is not what was written")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    expected = dtype.itemsize
    for length in shape:
        expected *= length
    if fortran or dtype.kind not in "biuf" or min(shape, default=0) < 0 or stream.tell() - start + expected != size:
        raise ValueError(f"the array `{name}` is not what was written")
    return shape, dtype


def _table(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    if array.ndim != 2:
        raise ValueError(f"the array `{name}` is not a table")
    return np.asarray(array, dtype=np.float64)


def _checksum(stream: BinaryIO, start: int, size: int) -> int:
    stream.seek(start)
    found = 0
    while size > 0:
        piece = stream.read(min(size, CHUNK_BYTES))
        if not piece:
            return -1
        found, size = zlib.crc32(piece, found), size - len(piece)
    return found


def damaged(path: str | os.PathLike[str], why: str) -> FileError:
    return FileError(f"`{path}` is damaged: {why}.", remedy="copy it again from where it came, or make and save it once more.")


@contextmanager
def opened(path: str | os.PathLike[str], *formats: str) -> Iterator[Reader]:
    """A container of one of these formats, with everything that can be wrong about a file told apart.

    Whatever fails within the block is the file's fault: make everything of it there, checks included.
    """
    path = os.fspath(path)
    try:
        with open(path, "rb") as stream:
            start = stream.read(32)
        with _members(path, start) as members:
            yield Reader(members, path, formats)
    except FileError:
        raise
    except FileNotFoundError as cause:
        folder = os.path.dirname(os.path.abspath(path))
        raise FileError(f"There is no file `{path}`.", remedy=f"the folder meant is `{folder}`.") from cause
    except OSError as cause:
        raise FileError(f"`{path}` cannot be read: {cause.strerror or cause}.") from cause
    except Exception as cause:  # a damaged archive makes the reader of zip files fail in many ways
        raise damaged(path, f"{type(cause).__name__}: {cause}" if isinstance(cause, LookupError) else str(cause)) from cause


def foreign(path: str | os.PathLike[str], start: bytes) -> FileError:
    """What is said of a file that is none of ours, given how it begins."""
    remedy = "only files written by `result.save` and `model.save` can be loaded."
    if b"Aclass" in start:
        remedy = "it looks like a trajectory file of Dymola or OpenModelica: read it with `acausal.results.mat.read_mat`."
    what = "is empty" if not start else f"was not saved by this program (it begins with {start[:8]!r})"
    return FileError(f"`{path}` {what}.", remedy=remedy)


def refuse_newer(reader: Reader, number: int) -> None:
    """Say it when a file is of a later format than `number`."""
    if reader.about["format number"] > number:
        raise FileError(
            f"`{reader.path}` was saved by a newer version of this program ({reader.about['version']}).",
            remedy="`pip install --upgrade acausal`.",
        )
