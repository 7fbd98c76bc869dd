"""Structural analysis on integer arrays: what determines what, in which order, and what is left over.

Nothing here knows of symbols, names or components; the callers say what the numbers mean.
"""

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
