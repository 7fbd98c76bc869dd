"""Measured data: CSV files beside the model, and those that a page brings."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from ..errors import Diagnostic, ModelError
from .placing import placed
from .protocol import DataFile

_MOST = 200  # files that are listed
_LONGEST = 1 << 16  # characters of a heading


class Data:
    """The files with data that forms offer: those beside the model, and uploads."""

    def __init__(self, beside: Path | None, uploads: Path) -> None:
        self.beside, self.uploads = beside, uploads

    def files(self) -> list[DataFile]:
        """All of them, with the names of their columns; in folders one level below, too."""
        near = [f for pattern in ("*.csv", "*/*.csv") for f in sorted(self.beside.glob(pattern))] if self.beside else []
        own = sorted(self.uploads.glob("*.csv")) if self.uploads.is_dir() else []
        return [DataFile(str(f), f.name, _columns(f)) for f in [*own, *near][:_MOST] if f.is_file()]

    def upload(self, name: str, text: str) -> DataFile:
        """Keep what a page brings; a file of the same name gives way."""
        if not re.fullmatch(r"[\w][\w .()-]{0,100}\.csv", name, re.IGNORECASE):
            remedy = "It ends with .csv, and has letters, digits, spaces, dots and dashes."
            raise ModelError(Diagnostic(f"`{name[:80]}` cannot be the name of a file with data.", remedy=remedy))
        self.uploads.mkdir(parents=True, exist_ok=True)
        file = self.uploads / name
        placed(file, text)
        return DataFile(str(file), name, _columns(file))


def _columns(file: Path) -> list[str]:
    """What stands in its first line that is no comment."""
    try:
        with file.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
            for line in iter(lambda: lines.readline(_LONGEST), ""):
                if line.strip() and not line.startswith("#"):
                    mark = max(",;\t", key=line.count)
                    return [cell.strip() for cell in next(csv.reader([line], delimiter=mark))]
    except (OSError, csv.Error):
        pass
    return []
