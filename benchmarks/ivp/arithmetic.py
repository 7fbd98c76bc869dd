"""Functions that take numbers as well as acausal's expressions, so that a residual can be traced and also just evaluated."""

from __future__ import annotations

import math
from typing import Any


def exp(x: Any) -> Any:
    return math.exp(x) if isinstance(x, float | int) else _traced().exp(x)


def sin(x: Any) -> Any:
    return math.sin(x) if isinstance(x, float | int) else _traced().sin(x)


def sqrt(x: Any) -> Any:
    return math.sqrt(x) if isinstance(x, float | int) else _traced().sqrt(x)


def _traced() -> Any:
    import acausal

    return acausal
