"""Numbers given to some elements of an array of components: `self.wall.layer[0].area = 3.0`.

All elements share one Python object, so what is given to one of them becomes an array over all, in which the others keep theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import unmasked
from ..errors import UsageError
from .alternatives import is_left_out
from .declarations import Declaration, Modification, check_attributes

if TYPE_CHECKING:
    from .component import View

_UNSTATED = {"min": -np.inf, "max": np.inf, "fixed": False}  # what holds where nobody said anything
_NUMERIC = ("value", "start", "nominal", *_UNSTATED)


def modified_elements(view: View, name: str, given: Any) -> Modification:
    """The modification of the whole array that gives its picked elements other numbers."""
    element = view._element
    if is_left_out(element, name):
        raise UsageError(
            f"`{name}` of {view!r} cannot be given to some: all elements of an array are given the same quantities.",
            remedy=f"Give `{name}` to the whole array first.",
        )
    declaration = element._find(name)
    if not isinstance(declaration, Declaration):
        raise UsageError(
            f"`{name}` of {view!r} cannot be given a value: only parameters and variables of single elements can.",
            remedy="Give it to the whole array, or when the array is made: ac.array(…).",
        )
    if not _is_outermost(view):
        raise UsageError(
            f"Elements of {view!r} share their numbers with those of the same place in other elements of the array around.",
            remedy=f"Give `{name}` to all of them, without an index, or make these components one by one in a list.",
        )
    attributes = given if isinstance(given, Modification) else Modification(value=given)
    check_attributes(f"{type(element).__name__}.{name}", declaration, attributes if attributes is given else Modification())
    if declaration.role == "discrete" and "start" in attributes:
        attributes = Modification({("value" if k == "start" else k): v for k, v in attributes.items()})
    if "value" in attributes and declaration.role == "variable":
        element._modify(name, given)  # which says why not
    return Modification({a: _elements_of(view, name, declaration, a, value) for a, value in attributes.items()})


def _is_outermost(view: View) -> bool:
    """Whether the array's own axes are all there are between the component that holds it and its elements."""
    node = view._element._ac_parent if view._element is not view._root else None
    while node is not None and node is not view._root:
        if node._ac_array_shape:
            return False
        node = node._ac_parent
    return bool(view._element._ac_array_shape)


def _elements_of(view: View, name: str, declaration: Declaration, attribute: str, given: Any) -> np.ndarray:
    element = view._element
    if attribute not in _NUMERIC:
        raise UsageError(f"`{attribute}` of `{name}` is the same for all elements of an array; give it without an index.")
    stated = element._ac_modifications.get(name, {}).get(attribute, getattr(declaration, attribute))
    stated = _UNSTATED.get(attribute) if stated is None else stated
    if stated is None:
        raise UsageError(
            f"The other elements of {view!r} have no {attribute} of `{name}` yet.",
            remedy=f"Give one to all of them first: `{element._ac_name or 'array'}.{name} = …`, then to those that differ.",
        )
    others, new = _numbers(stated, declaration, view, name), _numbers(given, declaration, view, name)
    try:
        values = np.array(np.broadcast_to(others, element._ac_array_shape + declaration.shape))
        values.reshape(-1, *declaration.shape)[view._picked] = new
    except ValueError:
        wanted = view._shape + declaration.shape
        raise UsageError(f"`{name}` of {view!r} takes numbers of shape {wanted}, got {given!r}.") from None
    return values


def _numbers(given: Any, declaration: Declaration, view: View, name: str) -> np.ndarray:
    if hasattr(declaration, "number_of"):
        given = declaration.number_of(given)
    if isinstance(given, str):
        from .units import quantity

        given = quantity(given, declaration.unit)
    found = np.asarray(unmasked(given))
    if found.dtype.kind not in "biuf":
        raise UsageError(
            f"Single elements of {view!r} can be given numbers for `{name}`, not {given!r}.",
            remedy="An expression is given to the whole array, without an index.",
        )
    return found if found.dtype.kind == "b" else found.astype(float)
