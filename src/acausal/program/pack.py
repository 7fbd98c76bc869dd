"""Precompiled components: classes in one file, used like any others by whoever has only the file (WinDali's and IDA's promise).

The author's classes are read once, for the structural choices that the author names; the file keeps what they contribute: the tree
of components, declarations, equations as expressions, connectors. `ac.load("vendor.acp").Compressor` is a class again.
The file is a container of texts and arrays as a model file is (`file.py`); nothing in it is executed.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from ..arguments import checked
from ..container import FileError, opened, refuse_newer, written
from ..errors import NameNotFound, UsageError, near_matches
from ..families.assemble import Source, read
from ..families.circuits import media_in, spelt
from ..language.component import Component, ComponentType
from ..language.connector import Connector
from ..records import dataclass
from .codec import register
from .encoder import encode
from .file import read_records, version, write_records
from .replay import Packed, Recordings, connector_class, without_source

FORMAT = "acausal components"
FORMAT_NUMBER = 1


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """A class for one set of structural choices."""

    choices: dict[str, Any]  # arguments of `__init__`: numbers, texts, truth values, lists of them
    source: Source
    media: dict[str, str]  # that its fluid ports carry, by kind and name


@dataclass(frozen=True, slots=True, eq=False)
class Contribution:
    """What one class contributes to a plant: a value of its own, without the class."""

    name: str
    doc: str
    variants: list[Variant]
    shown: bool = False  # whether its equations may be shown


register(Variant)
register(Contribution)


@dataclass(frozen=True, slots=True)
class Variants:
    """A class and the structural choices for which it is exported. Made by `ac.variants`."""

    what: type[Component]
    choices: tuple[dict[str, Any], ...]


@checked
def variants(what: type[Component], **choices: Iterable[Any]) -> Variants:
    """A class for every combination of some arguments of its `__init__`: `ac.variants(Pipe, n=[10, 20, 50])`."""
    if not (isinstance(what, type) and issubclass(what, Component)):
        raise UsageError(f"`ac.variants` takes a component class and lists of its arguments, got {what!r}.")
    lists = {name: list(values) for name, values in choices.items()}
    rows = itertools.product(*lists.values())
    return Variants(what, tuple(dict(zip(lists, row, strict=True)) for row in rows))


@checked
def pack(path: str | os.PathLike[str], *what: type[Component] | Variants, show_equations: bool = False) -> None:
    """Write component classes, with their parts and connectors, to one file that is used without their source.

    ac.pack("vendor.acp", Compressor, ac.variants(Pipe, n=[10, 20]))

    Whoever reads the file sees names, units and documentation; equations too if `show_equations`.
    """
    if not what:
        raise UsageError("Nothing is to be packed.", remedy='ac.pack("vendor.acp", Compressor)')
    exported = [contribution(item, show_equations) for item in what]
    names = [c.name for c in exported]
    doubled = next((n for n in names if names.count(n) > 1), None)
    if doubled is not None:
        raise UsageError(f"Two classes are called `{doubled}`; a file takes one of each name.")
    encoded = encode(exported)
    if encoded.outside:
        functions = ", ".join(f"`{f.name}`" for f in encoded.outside)
        raise UsageError(
            f"A file of components holds no code, so components whose equations call {functions} cannot be packed.",
            remedy="Write the function with acausal's own (`@ac.function` without `opaque`), or as a table.",
        )
    about = {"format": FORMAT, "format number": FORMAT_NUMBER, "version": version(), "title": Path(path).stem}
    with written(path) as new:
        new.text("listing.json", json.dumps([listing(c) for c in exported], indent=1))
        write_records(new, encoded, about)


def contribution(what: type[Component] | Variants, shown: bool = False) -> Contribution:
    """What a class contributes, for the structural choices given; a complaint about a class names it."""
    if isinstance(what, type) and issubclass(what, Component):
        what = Variants(what, ({},))
    if not isinstance(what, Variants):
        raise UsageError(
            f"`ac.pack` takes component classes, got {what!r}.", remedy="Classes, or `ac.variants(Pipe, n=[10, 20])` of them."
        )
    found = []
    for choices in what.choices:
        wrong = next((n for n, v in choices.items() if not _is_plain(v)), None)
        if wrong is not None:
            raise UsageError(
                f"The choice {wrong}={choices[wrong]!r} of {what.what.__name__} is not a number, a text or a list of them."
            )
        source = _read(what.what, choices)
        component = what.what(**choices)
        media = {name: spelt(medium) for name, medium in media_in(component).get(id(component), {}).items()}
        found.append(Variant(choices, source if shown else without_source(source), media))
    return Contribution(what.what.__name__, (vars(what.what)["__doc__"] or "").strip(), found, shown)


def _read(cls: type[Component], choices: dict[str, Any]) -> Source:
    try:
        return read(cls(**choices))
    except TypeError as error:
        raise UsageError(
            f"{cls.__name__} cannot be made of {choices or 'nothing'}: {error}.",
            remedy=f"Say for which structural choices it is packed: `ac.variants({cls.__name__}, n=[10, 20])`.",
        ) from None


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


# --- reading --------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Pack:
    """The classes in a file: `vendor.Compressor`, `vendor.classes`, `vendor.connectors`."""

    title: str
    classes: dict[str, type[Component]]
    connectors: dict[str, type[Connector]]
    listing: list[dict[str, Any]] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.classes.get(name) or self.connectors.get(name)
        if found is None:
            known = [*self.classes, *self.connectors]
            raise _NoClass(
                f"`{self.title}` has no `{name}`. {near_matches(name, known)}".rstrip(), remedy=f"It has: {', '.join(known)}."
            )
        return found

    def __dir__(self) -> list[str]:
        return [*self.classes, *self.connectors, "classes", "connectors", "listing", "title"]

    def __iter__(self) -> Iterator[type[Component]]:
        return iter(self.classes.values())

    def __repr__(self) -> str:
        return f"<Pack {self.title}: {', '.join(self.classes)}>"


class _NoClass(NameNotFound, AttributeError):
    __str__ = NameNotFound.__str__


def _check_components(found: Any) -> None:
    if not isinstance(found, list) or not all(isinstance(c, Contribution) for c in found):
        raise ValueError("it holds no components")


def load(path: str | os.PathLike[str]) -> Pack:
    """The classes in a file. Nothing in it is executed; a file that is damaged, foreign or newer is refused in a sentence."""
    with opened(path, FORMAT) as reader:
        refuse_newer(reader, FORMAT_NUMBER)
        title = Path(path).name
        try:
            found = read_records(reader, path, _check_components)
            books = {c.name: [(v.choices, Recordings(v.source, title, c.shown, v.media)) for v in c.variants] for c in found}
        except (ValueError, AttributeError, TypeError, KeyError, UsageError) as error:
            raise FileError(f"`{path}` is damaged: {error}.", remedy="ask its author for another copy.") from None
    classes = {c.name: _public(c, books[c.name]) for c in found}
    connectors: dict[str, type[Connector]] = {}
    for several in books.values():
        for _, book in several:
            ports = book.source.plant.root.kind.ports
            for name, port in ports.items():
                if "." not in name:
                    _collect(connector_class(port, ports), connectors)
    return Pack(title, classes, connectors, [listing(c) for c in found])


def _collect(connector: type[Connector], found: dict[str, type[Connector]]) -> None:
    """A connector class, and those of the connectors within it."""
    found[connector.__name__] = connector
    for part in connector.parts.values():
        _collect(type(part), found)


def _public(found: Contribution, books: list[tuple[dict[str, Any], Recordings]]) -> type[Component]:
    """The class that a user makes components of: the only variant, or one that chooses among them."""
    if len(books) == 1 and not books[0][0]:
        return books[0][1].root
    known = {_key(choices): book.root for choices, book in books}
    names = list(books[0][0])
    body = {"__doc__": found.doc or None, "__module__": books[0][1].root.__module__, "_variants": known, "_choices": names}
    made: type[Component] = _Chooses(found.name, (Packed,), body)  # type: ignore[assignment]
    return made


class _Chooses(ComponentType):
    """A class of several variants: arguments that are structural choices pick one of them."""

    _variants: Mapping[Any, type[Component]]
    _choices: list[str]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if args:
            kwargs = {**dict(zip(cls._choices, args, strict=False)), **kwargs}
        choices = {name: kwargs.pop(name) for name in cls._choices if name in kwargs}
        found = cls._variants.get(_key(choices)) if len(choices) == len(cls._choices) else None
        if found is None:
            there = "; ".join(", ".join(f"{n}={v!r}" for n, v in zip(cls._choices, key, strict=True)) for key in cls._variants)
            asked = ", ".join(f"{n}={v!r}" for n, v in choices.items()) or "none of its choices"
            raise UsageError(
                f"{cls.__name__} was packed for {there}; it was asked for with {asked}.",
                remedy="Ask its author for another variant.",
            )
        return found(**kwargs)


def _key(choices: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(tuple(v) if isinstance(v, list) else v for v in choices.values())


# --- looking at it --------------------------------------------------------------------------------------------------------------
def listing(found: Contribution) -> dict[str, Any]:
    """Names, units and documentation of what a class has: what anybody may see."""
    first = found.variants[0].source
    kind = first.plant.root.kind
    own = [q for q in first.quantities[kind.index].values() if q.connector is None]
    return {
        "name": found.name,
        "doc": found.doc,
        "variants": [v.choices for v in found.variants if v.choices],
        "equations": "shown" if found.shown else "by name only",
        "connectors": {name: {"class": p.class_name, "doc": p.doc} for name, p in kind.ports.items() if "." not in name},
        "parameters": {q.name: _described(q.declaration) for q in own if q.role == "parameter"},
        "variables": {q.name: _described(q.declaration) for q in own if q.role != "parameter"},
        "parts": list(first.plant.root.children),
    }


def _described(declaration: Any) -> dict[str, Any]:
    value = declaration.value if isinstance(declaration.value, (int, float, str, bool)) else None
    return {"unit": declaration.unit, "doc": declaration.doc, **({"value": value} if value is not None else {})}
