"""The journal of a study on disk: what was asked, and a line for each case that is done; so a study goes on where it stopped.

A line is JSON with a checksum in front. Lines are only ever appended; a line that was cut off (the machine went down while it was
written) is left out and its case is run again. Floats are written so that they read back to the same bits.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .case_run import Row

_ASKED, _ROWS = "study.json", "rows.jsonl"
FORMAT = 1


class Journal:
    """A folder that keeps the rows of one study."""

    def __init__(self, folder: str | os.PathLike[str], asked: dict[str, Any]) -> None:
        self.folder = Path(folder)
        text = json.dumps(asked, default=str, sort_keys=True)
        self.key = blake2b(text.encode(), digest_size=16).hexdigest()
        self._open(asked)

    def _open(self, asked: dict[str, Any]) -> None:
        place = self.folder / _ASKED
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if place.exists():
                self._check(place)
            else:
                record = {"format": FORMAT, "key": self.key, "asked": asked}
                begun = place.with_suffix(".part")  # a disk that is full leaves no half of it
                begun.write_text(json.dumps(record, default=str, indent=1), encoding="utf-8")
                begun.replace(place)
        except OSError as error:
            raise UsageError(
                f"The study cannot be kept in `{self.folder}`: {error.strerror or error}.",
                remedy="Choose another folder, or make room.",
            ) from error

    def _check(self, place: Path) -> None:
        try:
            found = json.loads(place.read_text(encoding="utf-8"))
        except ValueError:
            raise UsageError(f"`{place}` is damaged.", remedy="Choose another folder.") from None
        if found.get("format") != FORMAT or found.get("key") != self.key:
            raise UsageError(
                f"`{self.folder}` holds another study (another model, other cases, outputs or options).",
                remedy="Choose another folder, or delete this one.",
            )

    def rows(self) -> Iterator[Row]:
        """The rows that are whole."""
        return _rows(self.folder)

    def append(self, rows: list[Row]) -> None:
        """Write rows behind the others, and see to it that they are on the disk."""
        place = self.folder / _ROWS
        text = b"".join(_written(row) for row in rows)
        try:
            with place.open("ab+") as file:
                if file.tell() and not _ends_with_newline(file):
                    text = b"\n" + text  # behind a line that was cut off
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UsageError(
                f"The study cannot go on: its rows cannot be written to `{place}` ({error.strerror or error}).",
                remedy="Every case that is done until here is kept; make room and run the same study again.",
            ) from error


def rows_kept(folder: str | os.PathLike[str]) -> int:
    """How many cases are done."""
    return len({row.number for row in _rows(Path(folder))})


def _rows(folder: Path) -> Iterator[Row]:
    place = folder / _ROWS
    if not place.exists():
        return
    with place.open("rb") as file:
        for line in file:
            row = _read(line)
            if row is not None:
                yield row


def _ends_with_newline(file: Any) -> bool:
    file.seek(-1, os.SEEK_END)
    ends = file.read(1) == b"\n"
    file.seek(0, os.SEEK_END)
    return bool(ends)


def _written(row: Row) -> bytes:
    body = json.dumps([row.number, row.values, row.outcome, row.reached, row.message, row.seconds]).encode()
    return b"%08x " % zlib.crc32(body) + body + b"\n"


def _read(line: bytes) -> Row | None:
    checksum, _, body = line.rstrip(b"\n").partition(b" ")
    try:
        if int(checksum, 16) != zlib.crc32(body):
            return None
        number, values, outcome, reached, message, seconds = json.loads(body)
    except ValueError:
        return None
    return Row(number, tuple(values), outcome, reached, message, seconds)
