"""Edits of a model's file on behalf of a page: written, taken back, done again; and where parts were put in the diagram.

The layout is kept beside the class, not in it: `plant.layout.json`.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from pathlib import Path
from typing import Any

from ..errors import Diagnostic, ModelError
from .editing import Source, Splice
from .placing import placed

_MOST = 200  # steps that can be taken back

Layout = dict[str, dict[str, list[float]]]


class Drawing:
    """The file of a model as somebody who draws changes it."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.layout_file = None if file is None else file.with_suffix(".layout.json")
        self.layout: Layout = self._read_layout()
        self.past: list[tuple[str, str]] = []  # texts before and after
        self.future: list[tuple[str, str]] = []

    def edit(self, kind: str, edits: list[dict[str, Any]]) -> str:
        """Apply edits of one class, one after the other; gives the name of the last part that was added."""
        text, name = self._text(), ""
        after = text
        for edit in edits:
            source = Source(after, kind)
            splices, added = _splices(source, edit)
            after, name = source.apply(splices), added or name
        if after != text:
            self._write(after)
            self.past, self.future = [*self.past[-_MOST:], (text, after)], []
        return name

    def undo(self) -> None:
        self._step(self.past, self.future, 1, 0, "take back")

    def redo(self) -> None:
        self._step(self.future, self.past, 0, 1, "do again")

    def _step(self, source: list[tuple[str, str]], target: list[tuple[str, str]], now: int, then: int, what: str) -> None:
        if not source:
            raise ModelError(f"There is nothing to {what}.")
        texts = source[-1]
        if self._text() != texts[now]:
            source.clear()
            raise ModelError(
                Diagnostic(
                    f"Nothing can be {what.replace('take', 'taken').replace('do a', 'done a')}: the file was changed elsewhere."
                )
            )
        self._write(texts[then])
        target.append(source.pop())

    def place(self, level: str, at: dict[str, list[float]]) -> None:
        """Remember where parts of a level were put (and how many quarters they were turned); an empty place means that a part finds
        one by itself."""
        known = {**self.layout.get(level, {}), **{k: [float(x) for x in v] for k, v in at.items()}}
        self.layout[level] = {k: v for k, v in known.items() if len(v) in (2, 3)}
        if self.layout_file is not None:
            _written(self.layout_file, json.dumps(self.layout, indent=1, sort_keys=True) + "\n")

    # --- files ----------------------------------------------------------------------------------------------------------------
    def _text(self) -> str:
        if self.file is None:
            raise ModelError(
                Diagnostic("This model has no file that could be edited.", remedy="Open a Python file: `acausal studio plant.py`.")
            )
        return self.file.read_text(encoding="utf-8-sig")

    def _write(self, text: str) -> None:
        assert self.file is not None
        try:
            _written(self.file, text)
        except OSError as error:
            raise ModelError(Diagnostic(f"`{self.file}` cannot be written: {error}.")) from error

    def _read_layout(self) -> Layout:
        try:
            return dict(json.loads(self.layout_file.read_text(encoding="utf-8"))) if self.layout_file is not None else {}
        except (OSError, ValueError, TypeError):
            return {}


class Drawings:
    """Places and bends that pages computed, so that the next page need not: texts by the hash of what was laid out."""

    MOST, LARGEST = 60, 1 << 19  # drawings, and characters of one

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _file(self, key: str) -> Path:
        if not re.fullmatch(r"[0-9a-f]{32}", key):
            raise ModelError("A drawing is kept under a hash.")
        return self.folder / f"{key}.json"

    def read(self, key: str) -> str:
        """What was kept; empty if nothing was."""
        file = self._file(key)
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    def write(self, key: str, text: str) -> None:
        file = self._file(key)
        if len(text) > self.LARGEST:
            return
        self.folder.mkdir(exist_ok=True)
        placed(file, text)
        for old in sorted(self.folder.glob("*.json"), key=lambda f: f.stat().st_mtime)[: -self.MOST]:
            old.unlink(missing_ok=True)


def _written(file: Path, text: str) -> None:
    """Whole or not at all, with the rights, the line ends and the mark at the beginning that the file had."""
    old = file.read_bytes() if file.exists() else b""
    encoding, newline = "utf-8-sig" if old.startswith(codecs.BOM_UTF8) else "utf-8", "\r\n" if b"\r\n" in old else "\n"
    placed(file, text.replace("\n", newline).encode(encoding))


def _splices(source: Source, edit: dict[str, Any]) -> tuple[list[Splice], str]:
    what = edit.get("do")
    if what == "add":
        name = str(edit.get("name") or source.free_name(edit["kind"]))
        return source.added(name, edit["kind"], edit["module"]), name
    if what == "remove":
        return source.removed(edit["part"]), ""
    if what == "connect":
        return source.connected(edit["a"], edit["b"]), ""
    if what == "disconnect":
        return source.disconnected(int(edit["line"]), edit["a"], edit["b"]), ""
    if what == "copy":
        splices, called = source.copied([str(name) for name in edit["parts"]])
        return splices, " ".join(called.values())
    if what == "array":
        count = int(edit["count"])
        if not 0 <= count <= 1_000_000:
            raise ModelError(f"An array of {count} parts cannot be made.")
        return source.arrayed(edit["part"], count), ""
    if what == "set":
        return source.given(edit["part"], edit["parameter"], _literal(edit["value"])), ""
    raise ModelError(f"The studio knows no edit {what!r}.")


def _literal(value: Any) -> str:
    unwritten = isinstance(value, float) and not math.isfinite(value)  # `nan` and `inf` are no Python
    if unwritten or not isinstance(value, (bool, int, float, str, list)):
        raise ModelError(f"{value!r} cannot be written into the file.")
    return repr(value)
