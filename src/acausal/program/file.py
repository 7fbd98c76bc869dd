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

import json
import math
import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..container import FileError, Reader, Writer, opened, refuse_newer, written
from ..economy import blake2b
from ..errors import UsageError
from ..vault import content_of, open_vault
from .belief import check_fields, check_numbers, check_program
from .codec import Encoded, decode, layout
from .program import Program

FORMAT = "acausal model"
FORMAT_NUMBER = 1
Made = TypeVar("Made")
_LOOKING = ("belief.py", "codec.py", "columns.py", "file.py", "pack.py")  # who looks at what a file says
_TYPES = ("float64", "int64", "int32", "int8", "bool")


def save(path: str | os.PathLike[str], program: Program, numbers: dict[str, Any]) -> None:
    """Write a program with the numbers that somebody set."""
    from .encoder import encode  # whoever reads a model writes none

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
    found = blake2b(records, digest_size=20)
    for array in arrays:
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def load(path: str | os.PathLike[str], make: Callable[[dict[str, Any]], Made]) -> Made:
    """What `make` makes of the program and the numbers in a file; a sentence for everything that can be wrong with it."""
    with opened(path, FORMAT) as reader:
        refuse_newer(reader, FORMAT_NUMBER)
        return make(read_records(reader, path, _check_model))


def _check_model(found: Any) -> None:
    if not isinstance(found, dict) or not isinstance(found.get("program"), Program):
        raise ValueError("it holds no model")
    check_program(found["program"])
    check_numbers(found)


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
        return layout(records) == expected or layout(records, _digest_of_old()) == expected
    except (KeyError, ImportError, AttributeError):  # a class that this version has not
        return False


def _digest_of_old() -> Any:
    """Which the first files of this format have for their layout."""
    from hashlib import sha256

    return sha256


def read_records(reader: Reader, path: str | os.PathLike[str], check: Callable[[Any], None]) -> Any:
    """What `write_records` of a version that lays data out in the same way wrote; `check` says what else is wrong with it."""
    text = reader.bytes("records.json")
    stored = json.loads(text)
    _refuse_other_layout(reader, path, stored["records"])
    kinds = [reader.array(name) for name in _TYPES]
    content = _digest(text, kinds)
    vault = open_vault() if content == reader.about.get("content") else None
    name = _name_of_checked(content, kinds, check)
    if vault is not None and name and vault.load(name) is not None:
        return decode(Encoded(stored["records"], _arrays(stored["arrays"], kinds), stored["root"], []))
    made = decode(Encoded(stored["records"], _arrays(stored["arrays"], kinds), stored["root"], []), check_fields)
    check(made)
    if content != reader.about.get("content"):
        raise ValueError("its parts were not written together: somebody changed one of them")
    if vault is not None and name:
        vault.store([(name, b"right")])
    return made


def _name_of_checked(content: str, arrays: list[np.ndarray], check: Callable[[Any], None]) -> str:
    """Under which it is noted, where nobody else can, that a content was looked at and is right; so it is looked at once. The code
    that looks is a part of the name, and so is where one array ends and the next begins: the same bytes, parted or read as numbers
    of another kind, are another content."""
    try:
        looks = [content_of(os.path.join(os.path.dirname(__file__), name)) for name in _LOOKING]
    except OSError:
        return ""
    parted = " ".join(f"{array.dtype.str}{array.shape}" for array in arrays)
    found = blake2b(f"{version()} {content} {check.__qualname__} {parted} ".encode() + b"\0".join(looks), digest_size=20)
    return f"{found.hexdigest()}-checked"


def _arrays(places: list[list[int]], kinds: list[np.ndarray]) -> list[np.ndarray]:
    arrays = []
    for kind, offset, *shape in places:
        size = math.prod(shape)
        whole = kinds[kind]
        if min([offset, *shape]) < 0 or offset + size > len(whole):
            raise ValueError("an array lies outside of what was written")
        arrays.append(whole[offset : offset + size].reshape(shape))
    return arrays


def version() -> str:
    """Of this program."""
    from .. import __version__

    return __version__
