"""What a compiled model says about itself around a point: partial derivatives by name, linear systems."""

from .linearise import Linearisation, linearise
from .matrix import Matrix
from .partials import Partials, partials

__all__ = ["Linearisation", "Matrix", "Partials", "linearise", "partials"]
