"""Object code on disk that nobody but its user can have put there.

Machine code from a file is executed, so a file is trusted only if this user wrote it: the folder belongs to the user and nobody
else may write to it, and each entry carries a code of authenticity over its name and content, made with a secret that only the user
can read. Whatever fails the test is as good as absent: damaged, truncated, forged, moved to another name, left by another user.

Entries live in sub-folders by the first two letters of their names, and each sub-folder is kept below its share of the whole: to
store a kernel means to look at one of 256 sub-folders, and to store many at some. Files appear under their names when they are
whole, so that a process that is killed leaves a nameless rest at most, and any number of processes may write at once.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, final

from .economy import blake2b, compare_digest
from .records import dataclass

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX = ".kernel"
LARGEST_TOTAL = 200 * 2**20  # bytes; beyond it the entries used longest ago are removed
SUBFOLDERS = 256
LOOKED_AT = 8  # subfolders at most after a store, whether they are full; which of them is left to chance

_UNFINISHED = ".part"
_ABANDONED = 3600.0  # seconds after which an unfinished file is a rest of a process that was killed
_MAGIC = b"acausal2"
_DIGEST_SIZE = 32
_SECRET, _SECRET_SIZE = "secret", 32

_refused: set[str] = set()  # folders whose refusal has been told
kept_until_put_back: list[Callable[[], None]] = []  # of those who gather what they find before they write it


def put_back() -> None:
    """Write what was found about templates and kinds, for the next process."""
    for write in kept_until_put_back:
        write()


def directory() -> Path | None:
    """`$ACAUSAL_CACHE`, or `acausal` in the user's cache folder; None if there is no such thing as a home."""
    from pathlib import Path  # takes longer to import than what is read here

    folder = _directory()
    return None if folder is None else Path(folder)


def _directory() -> str | None:
    if chosen := os.environ.get("ACAUSAL_CACHE"):
        return chosen
    if base := os.environ.get("XDG_CACHE_HOME"):
        return os.path.join(base, "acausal")
    home = os.path.expanduser("~")
    return None if home == "~" else os.path.join(home, ".cache", "acausal")


def open_vault() -> Vault | None:
    """The user's vault; None where there is none, in silence, or where it cannot be trusted, told once."""
    folder = _directory()
    if folder is None:
        return None
    try:
        if not os.path.isdir(folder):
            _make_folder(folder)
        wrong = _not_private(os.stat(folder))
        if wrong:
            _refuse(folder, wrong)
            return None
        return Vault(folder, _secret(folder))
    except OSError:
        return None


def _make_folder(folder: str) -> None:
    from pathlib import Path

    Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)


def _not_private(status: os.stat_result) -> str:
    """Why a folder or file is not the user's alone to write; empty if it is. Where users are not told apart, it always is."""
    if not hasattr(os, "getuid"):
        return ""
    if status.st_uid != os.getuid():
        return "it belongs to another user"
    return "others may write to it" if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else ""


def _refuse(folder: str, why: str) -> None:
    if folder not in _refused:
        _refused.add(folder)
        warnings.warn(
            f"The folder {folder} is not used to keep compiled code, because {why}: what lies there is executed. "
            "Take their right to write away (chmod go-w), or choose a folder of your own with ACAUSAL_CACHE.",
            stacklevel=2,
        )


def _secret(folder: str) -> bytes:
    """The secret of a folder; made if there is none yet, or none that can be trusted."""
    path = os.path.join(folder, _SECRET)
    for _ in range(3):
        with contextlib.suppress(FileNotFoundError):
            status = os.lstat(path)
            hidden = not hasattr(os, "getuid") or not status.st_mode & 0o077
            if stat.S_ISREG(status.st_mode) and not _not_private(status) and hidden:
                content = content_of(path)
                if len(content) == _SECRET_SIZE:
                    return content
            os.unlink(path)
        _make_secret(folder, path)
    raise OSError(f"{path} does not stay what it is")


def content_of(path: str) -> bytes:
    """All of a file; an OSError where a name leads to something that has no end, or to a pipe that nobody writes to."""
    with open(path, "rb", buffering=0, opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path} is no file")
        return file.read()


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _make_secret(folder: str, path: str) -> None:
    """Whoever comes first wins; the others use theirs."""
    from pathlib import Path

    part = f"{path}.{_writer()}{_UNFINISHED}"
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(os.urandom(_SECRET_SIZE))
        try:
            os.link(part, path)
        except FileExistsError:
            return
        except OSError:  # a file system without links
            os.replace(part, path)
            return
        for old in Path(folder).glob(f"*{SUFFIX}"):  # what an earlier version kept, without a code of authenticity
            with contextlib.suppress(OSError):
                old.unlink()
    finally:
        with contextlib.suppress(OSError):
            os.unlink(part)


def _writer() -> str:
    return f"{os.getpid()}-{threading.get_ident()}"


@final
@dataclass(frozen=True, slots=True)
class Vault:
    """A folder of entries by name. It may only ever save time: what cannot be read or written is passed over in silence."""

    folder: str | os.PathLike[str]
    secret: bytes

    def load(self, name: str) -> bytes | None:
        """What was stored under a name, if it is there, whole and genuine."""
        path = f"{self.folder}/{name[:2]}/{name}{SUFFIX}"  # a thousand of them are read: no objects for paths
        try:
            content = content_of(path)
        except OSError:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # used just now: the last to be removed
        start = len(_MAGIC) + _DIGEST_SIZE
        genuine = compare_digest(content[:start], self._seal(name, content[start:]))
        return content[start:] if genuine else None

    def store(self, entries: Iterable[tuple[str, bytes]]) -> None:
        touched: dict[str, set[str]] = {}
        with contextlib.suppress(OSError):
            for name, content in entries:
                subfolder = f"{self.folder}/{name[:2]}"
                _write(subfolder, name, self._seal(name, content) + content)
                touched.setdefault(subfolder, set()).add(name + SUFFIX)
        first = os.urandom(1)[0] % max(len(touched), 1)
        for subfolder in [*touched, *touched][first : first + min(len(touched), LOOKED_AT)]:
            with contextlib.suppress(OSError):
                _prune(subfolder, LARGEST_TOTAL // SUBFOLDERS, touched[subfolder])

    def _seal(self, name: str, content: bytes) -> bytes:
        """What stands before the content: over the name too, so that an entry is worth nothing under another one."""
        code = blake2b(name.encode() + b"\0", key=self.secret, digest_size=_DIGEST_SIZE)
        code.update(content)
        return _MAGIC + code.digest()


def _write(subfolder: str, name: str, content: bytes) -> None:
    """All or nothing: another process sees the old entry or the new one, never half of it."""
    part = f"{subfolder}/{name}.{_writer()}{_UNFINISHED}"
    try:
        try:
            _put(part, content)
        except FileNotFoundError:  # the first entry in this subfolder
            os.mkdir(subfolder, 0o700)
            _put(part, content)
        os.replace(part, f"{subfolder}/{name}{SUFFIX}")
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _put(path: str, content: bytes) -> None:
    with open(path, "wb", buffering=0) as file:
        if file.write(content) != len(content):  # a disk that is nearly full takes what it can
            raise OSError(f"{path} is not whole")


def _prune(subfolder: str, most: int, new: set[str]) -> None:
    """Remove the entries used longest ago until half of `most` is left, so that it does not happen at every write."""
    entries, now = [], time.time()
    for entry in os.scandir(subfolder):
        with contextlib.suppress(OSError):
            status = entry.stat()
            if entry.name.endswith(_UNFINISHED) and now - status.st_mtime > _ABANDONED:
                os.unlink(entry.path)
            elif entry.name.endswith(SUFFIX):
                entries.append((status.st_mtime, status.st_size, entry.name, entry.path))
    total = sum(size for _, size, _, _ in entries)
    if total <= most:
        return
    for _, size, name, path in sorted(entries):
        if total <= most // 2:
            return
        if name not in new:
            with contextlib.suppress(OSError):
                os.unlink(path)
                total -= size
