"""What a study asks of a model before it runs it."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from ..errors import ModelError, an
from ..families.plant import element_name, joined
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
    """The same for two models that compute the same: equations, events, start values and parameters."""
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
    return digest.hexdigest()


def told(value: Any) -> Any:
    """What JSON can keep of an option, an output or a cell, different for two that differ, and the same in every process."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {str(key): told(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [told(each) for each in value]
    code = getattr(value, "__code__", None)
    if code is not None:
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [value.__qualname__, _of_code(code), told(value.__defaults__), told(cells)]
    if hasattr(value, "time_reached") and hasattr(value, "data"):  # a result to start from
        return [_hashed(np.asarray(value.time)), _hashed(np.asarray(value.data))]
    if is_dataclass(value):
        return [type(value).__qualname__, *(told(getattr(value, f.name)) for f in fields(value))]
    return _hashed(np.asarray(value)) if hasattr(value, "__array__") else _pickled(value)


def _of_code(code: Any) -> str:
    inner = [_of_code(c) if hasattr(c, "co_code") else repr(c) for c in code.co_consts]
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
