"""Structural analysis on integer arrays: what determines what, in which order, and what is left over.

Nothing here knows of symbols, names or components; the callers say what the numbers mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .blocks import BlockForm, block_form
    from .dulmage_mendelsohn import Decomposition, Part, Piece, conflict, decompose, freedom, pieces
    from .incidence import Incidence, Restriction
    from .matching import Matching, match, reach
    from .native import portable
    from .pantelides import Reduction, reduce_index, reduce_index_of_pairs
    from .unions import SignedUnions, components, signed_components

__all__ = [
    "BlockForm",
    "Decomposition",
    "Incidence",
    "Matching",
    "Part",
    "Piece",
    "Reduction",
    "Restriction",
    "SignedUnions",
    "block_form",
    "components",
    "conflict",
    "decompose",
    "freedom",
    "match",
    "pieces",
    "portable",
    "reach",
    "reduce_index",
    "reduce_index_of_pairs",
    "signed_components",
]

_WHERE = {
    "BlockForm": "blocks",
    "block_form": "blocks",
    "Decomposition": "dulmage_mendelsohn",
    "Part": "dulmage_mendelsohn",
    "Piece": "dulmage_mendelsohn",
    "conflict": "dulmage_mendelsohn",
    "decompose": "dulmage_mendelsohn",
    "freedom": "dulmage_mendelsohn",
    "pieces": "dulmage_mendelsohn",
    "Incidence": "incidence",
    "Restriction": "incidence",
    "Matching": "matching",
    "match": "matching",
    "reach": "matching",
    "portable": "native",
    "Reduction": "pantelides",
    "reduce_index": "pantelides",
    "reduce_index_of_pairs": "pantelides",
    "SignedUnions": "unions",
    "components": "unions",
    "signed_components": "unions",
}


def __getattr__(name: str) -> Any:
    """Who only states a model needs none of it."""
    from importlib import import_module

    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_WHERE[name]}", __name__), name)
