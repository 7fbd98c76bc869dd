"""What a study asks of a model before it runs it."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from ..errors import ModelError, an
from ..families.calls import called
from ..families.plant import element_name, joined
from ..language.columns import FILES
from ..language.distributions import Distribution


def role(model: Any, path: str) -> str:
    """What a path names: "parameter", "input", "variable", "discrete"; an error with near matches if it names nothing."""
    located = model.system.plant.locate(path)
    if located.flat is None:
        return "expression"
    return str(located.kind.quantities[located.name].role)


def unit(model: Any, path: str) -> str:
    """The unit of a parameter, an input or a variable; of a named expression the one it was given."""
    located = model.system.plant.locate(path)
    if located.flat is None:
        return located.kind.units_of_named.get(located.name, ("", ""))[0]
    return str(located.kind.quantities[located.name].declaration.unit)


def check(model: Any, path: str, value: Any) -> None:
    """Refuse a path that cannot be changed and a value that it cannot have."""
    what = role(model, path)
    if what == "variable":  # its start value
        number(model, path, value)
        return
    if what not in ("parameter", "input", "discrete"):
        raise ModelError(
            f"`{path}` is {an(what)}: a study changes parameters, inputs and start values.",
            remedy="`model.parameters()` lists them.",
        )
    if what != "input":
        model._parameters._checked(path, value)


def number(model: Any, path: str, value: Any) -> Any:
    """A value given as a text in the unit of its parameter; states keep their names."""
    if isinstance(value, str) and role(model, path) != "discrete":
        from ..language.units import quantity

        return quantity(value, unit(model, path))
    return value


def fingerprint(model: Any) -> str:
    """The same for two models that compute the same: equations, what they call, events, start values and parameters."""
    digest, system = blake2b(digest_size=16), model.system
    digest.update(model.title.encode())
    digest.update(repr(sorted(model.parameters().items())).encode())
    events = [] if system.hybrid is None else [system.hybrid.parts[role] for role in sorted(system.hybrid.parts)]
    for family in (*system.families, *system.initial_families, *(family for part in events for family in part.families)):
        digest.update(repr(family.template.outputs).encode() + family.slots.tobytes())
    for part in events:
        digest.update(part.targets.tobytes() + b"|")
    digest.update(repr([(key, d.expression) for key, d in system.definitions.items()]).encode())
    starts = model._starts.starts(model._parameters.known({}))
    for numbers in (starts.start, starts.fixed, model._parameters.known({})):
        digest.update(numbers.tobytes())
    given = model._parameters.starts
    for said in (sorted(given.items()), [_of_called(f) for f in _called(system, events)]):
        if said:
            digest.update(repr(told(said)).encode())
    return digest.hexdigest()


def _called(system: Any, events: list[Any]) -> tuple[Any, ...]:
    """Tables and functions that anything in a model calls."""
    families = [*system.families, *system.initial_families, *(family for part in events for family in part.families)]
    return called([*(e for f in families for e in f.template.outputs), *(d.expression for d in system.definitions.values())])


def _of_called(function: Any) -> Any:
    """What a function is, whatever it is called: the numbers of a table, the code of a function of Python."""
    root = getattr(function, "root", function)
    said = root.description() if hasattr(root, "description") else ""
    member = getattr(function, "member", None)
    return [function.name, repr(member), said or told(getattr(root, "python", function.name))]


def told(value: Any) -> Any:
    """What JSON can keep of an option, an output or a cell, different for two that differ, and the same in every process."""
    if isinstance(value, str | os.PathLike) and _is_table(os.fspath(value)):
        with open(value, "rb") as file:
            return [os.fspath(value), hashlib.file_digest(file, "sha256").hexdigest()]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {str(key): told(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [told(each) for each in value]
    if isinstance(value, FunctionType):
        return _of_function(value, ())
    if hasattr(value, "time_reached") and hasattr(value, "data"):  # a result to start from
        return [_hashed(np.asarray(value.time)), _hashed(np.asarray(value.data))]
    if is_dataclass(value):
        return [type(value).__qualname__, *(told(getattr(value, f.name)) for f in fields(value))]
    return _hashed(np.asarray(value)) if hasattr(value, "__array__") else _pickled(value)


def _is_table(text: str) -> bool:
    """Whether a text names a file with columns of numbers, which counts by what is in it."""
    return text.lower().endswith(FILES) and os.path.isfile(text)


def _of_function(function: FunctionType, within: tuple[FunctionType, ...]) -> list[Any]:
    """The code of a function, what it has from around it, and so on for the functions of its module that it calls."""
    known = (function, *within)

    def held(value: Any) -> Any:
        if not isinstance(value, FunctionType):
            return told(value)
        return known.index(value) if value in known else _of_function(value, known)

    cells = [held(cell.cell_contents) for cell in function.__closure__ or ()]
    own = [function.__qualname__, _of_code(function.__code__), told(function.__defaults__), cells]
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        mine = isinstance(value, FunctionType) and value.__module__ == function.__module__
        if mine or isinstance(value, int | float | str | tuple | np.ndarray):
            own.append([name, held(value)])
    return own


def _names(code: CodeType) -> list[str]:
    """Names that code asks for, those within it included, each once and in its order."""
    inner = [n for c in code.co_consts if isinstance(c, CodeType) for n in _names(c)]
    return list(dict.fromkeys([*code.co_names, *inner]))


def _of_code(code: Any) -> str:
    # The order of a set is another one in each process.
    parts = [sorted(map(repr, c)) if isinstance(c, frozenset) else c for c in code.co_consts]
    inner = [_of_code(c) if isinstance(c, CodeType) else repr(c) for c in parts]
    return blake2b(code.co_code + repr((inner, code.co_names)).encode(), digest_size=16).hexdigest()


def _hashed(values: np.ndarray) -> str:
    if values.dtype == object:
        return _pickled(values.tolist())
    return f"{values.dtype}{values.shape}" + blake2b(np.ascontiguousarray(values).data, digest_size=16).hexdigest()


def _pickled(value: Any) -> str:
    try:
        return type(value).__qualname__ + blake2b(pickle.dumps(value), digest_size=16).hexdigest()
    except Exception:  # what cannot be pickled says what it can of itself
        return str(value)


def distributions(model: Any) -> dict[str, Distribution]:
    """What parameters declare of how uncertain they are, by path."""
    plant, found = model.system.plant, dict[str, Distribution]()
    for kind in plant.kinds:
        for q in kind.quantities.values():
            said = [(m, (m.modifications.get(q.name) or {}).get("distribution")) for m in kind.members]
            if q.role != "parameter" or (q.declaration.distribution is None and not any(d for _, d in said)):
                continue
            for member, own in said:
                distribution = own or member._declaration(q.name).distribution
                if distribution is None:
                    continue
                for k in range(member.count * q.size):
                    instance, element = divmod(k, q.size)
                    found[joined(plant.path_of(kind, member.first + instance), element_name(q.name, element, q.shape))] = (
                        distribution
                    )
    return found
