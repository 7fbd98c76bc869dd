"""Python's search for garbage, put off while nothing is made but what stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """While a file is read, a module imported or a component translated, garbage is not looked for: there is next to none, and
    looking through all that stays takes as long as making it.

    >>> with without_collecting():
    ...     gc.isenabled()
    False
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
