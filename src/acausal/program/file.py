"""A compiled model in one file, `plant.acm`, that needs no source: documented text and arrays, nothing that is run on reading.

The file is a container (`acausal/container.py`): a zip archive of `.npy` arrays and texts, each with a checksum that is compared.

    about.json      format, its number, program version, layout (a hash over the names of all classes and fields), content (a hash
                    over all that follows), title
    records.json    the records of `codec.py`: components, declarations, templates as expressions, where each array is
    float64.npy …   all arrays of one type, one after another

Machine code is not in it: kernels are found in the cache of the machine that reads the file, or made there once.
`docs/model-files.md` describes the format for whoever writes another reader.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..container import FileError, Reader, Writer, opened, refuse_newer, written
from ..errors import UsageError
from ..families.system import System
from ..families.template import MIXED, Family
from .codec import Encoded, decode, encode, layout
from .program import Program

FORMAT = "acausal model"
FORMAT_NUMBER = 1
Made = TypeVar("Made")
_TYPES = ("float64", "int64", "int32", "int8", "bool")


def save(path: str | os.PathLike[str], program: Program, numbers: dict[str, Any]) -> None:
    """Write a program with the numbers that somebody set."""
    encoded = encode({"program": program, **numbers})
    if encoded.outside:
        names = ", ".join(f"`{f.name}`" for f in encoded.outside)
        raise UsageError(
            f"A model file holds no code, so a model whose equations call {names} cannot be saved.",
            remedy="Write the function with acausal's own (`@ac.function` without `opaque`), as a table, or pickle the model: then "
            "the other process must have the function too.",
        )
    with written(path) as new:
        write_records(new, encoded, _about(program.title))


def _about(title: str) -> dict[str, Any]:
    return {"format": FORMAT, "format number": FORMAT_NUMBER, "version": version(), "title": title}


def write_records(new: Writer, encoded: Encoded, about: dict[str, Any]) -> None:
    """Records and arrays of the codec, and what the file says about itself."""
    kinds: dict[str, list[np.ndarray]] = {name: [] for name in _TYPES}
    lengths = dict.fromkeys(_TYPES, 0)
    places = []
    for array in encoded.arrays:
        name = array.dtype.name
        if name not in kinds:
            raise UsageError(f"An array of {name} cannot be written to a model file.")
        places.append([_TYPES.index(name), lengths[name], *array.shape])
        kinds[name].append(array.ravel())
        lengths[name] += array.size
    text = json.dumps({"root": encoded.root, "arrays": places, "records": encoded.records}, separators=(",", ":"))
    arrays = [np.concatenate([np.zeros(0, dtype=name), *parts]) for name, parts in kinds.items()]
    own = {"layout": layout(encoded.records), "content": _digest(text.encode(), arrays)}
    new.text("about.json", json.dumps({**about, **own}, indent=1))
    new.text("records.json", text)
    for name, array in zip(kinds, arrays, strict=True):
        new.array(name, array)


def _digest(records: bytes, arrays: list[np.ndarray]) -> str:
    """A hash over all that a file holds. Its members each have a checksum; this one says that they belong together."""
    found = hashlib.blake2b(records, digest_size=20)
    for array in arrays:
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def load(path: str | os.PathLike[str], make: Callable[[dict[str, Any]], Made]) -> Made:
    """What `make` makes of the program and the numbers in a file; a sentence for everything that can be wrong with it."""
    with opened(Path(path), FORMAT) as reader:
        refuse_newer(reader, FORMAT_NUMBER)
        return make(read_records(reader, path, _check_model))


def _check_model(found: Any) -> None:
    if not isinstance(found, dict) or not isinstance(found.get("program"), Program):
        raise ValueError("it holds no model")
    check_tables(found["program"].system)


def _refuse_other_layout(reader: Reader, path: str | os.PathLike[str], records: list[Any]) -> None:
    """Versions of this program may lay data out differently; then neither can read the other's files."""
    if "content" not in reader.about or not _laid_out(records, reader.about["layout"]):
        raise FileError(
            f"`{path}` was made by version {reader.about['version']} of this program, which lays models out differently "
            f"than this one ({version()}) does.",
            remedy="compile the model again (or pack the components again) with this version, or read the file with that version.",
        )


def _laid_out(records: list[Any], expected: str) -> bool:
    """Whether the classes in a file are those of this version, field by field."""
    try:
        return layout(records) == expected
    except (KeyError, ImportError, AttributeError):  # a class that this version has not
        return False


def read_records(reader: Reader, path: str | os.PathLike[str], check: Callable[[Any], None]) -> Any:
    """What `write_records` of a version that lays data out in the same way wrote; `check` says what else is wrong with it."""
    text = reader.bytes("records.json")
    stored = json.loads(text)
    _refuse_other_layout(reader, path, stored["records"])
    kinds = [reader.array(name) for name in _TYPES]
    arrays = []
    for kind, offset, *shape in stored["arrays"]:
        size = math.prod(shape)
        whole = kinds[kind]
        if min([offset, *shape]) < 0 or offset + size > len(whole):
            raise ValueError("an array lies outside of what was written")
        arrays.append(whole[offset : offset + size].reshape(shape))
    made = decode(Encoded(stored["records"], arrays, stored["root"], []))
    check(made)
    if _digest(text, kinds) != reader.about.get("content"):
        raise ValueError("its parts were not written together: somebody changed one of them")
    return made


def check_tables(system: System) -> None:
    """Machine code believes the index tables, so they are looked at first: every index within the workspace, every row a row."""
    cells, parts = 2 * system.size + system.known_count, system.hybrid.parts.values() if system.hybrid is not None else ()
    groups = [(system.families, system.equation_count), (system.initial_families, system.initial_count)]
    for families, rows in [*groups, *((part.families, part.count) for part in parts)]:
        for family in families:
            _check_family(family, cells, rows)


def _check_family(family: Family, cells: int, rows: int) -> None:
    slots, places = np.asarray(family.slots), np.asarray(family.rows)
    fits = slots.ndim == places.ndim == 2 and slots.shape[0] == len(family.template.slots) == len(family.signs)
    fits = fits and slots.dtype == places.dtype == np.int32 and places.shape[0] == len(family.template.outputs)
    fits = fits and (slots.shape[0] == 0 or slots.shape[1] == places.shape[1])
    fits = fits and not any(sign != MIXED and row.size and row.min() < 0 for sign, row in zip(family.signs, slots, strict=True))
    index = np.where(slots < 0, ~slots, slots)
    if not fits or (index.size and index.max() >= cells) or (places.size and (places.min() < 0 or places.max() >= rows)):
        raise ValueError("its index tables point outside of the model")


def version() -> str:
    """Of this program."""
    from .. import __version__

    return __version__
