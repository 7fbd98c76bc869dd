"""What a study asks of a model before it runs it."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from ..errors import ModelError
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
            f"`{path}` is a {what}: a study changes parameters, inputs and start values.", remedy="`model.parameters()` lists them."
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
    """The same for two models that compute the same."""
    digest = blake2b(digest_size=16)
    digest.update(model.title.encode())
    digest.update(repr(sorted(model.parameters().items())).encode())
    for family in model.system.families:
        digest.update(repr(family.template.outputs).encode() + family.slots.tobytes())
    return digest.hexdigest()


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
