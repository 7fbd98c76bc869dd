"""How many cells, layers or ports a component has: whole numbers, of which a component says the least."""

from __future__ import annotations

from typing import Any

from acausal.errors import UsageError


def counted(given: Any, least: int, what: str, remedy: str | None = None) -> int:
    """A whole number, `least` or more; `what` is the beginning of the sentence that is said of another.

    >>> counted(3, 2, "A pipe of cells has two of them or more")
    3
    """
    whole = hasattr(given, "__index__") and not isinstance(given, bool)
    if not whole or given < least:
        kind = "" if whole else f" of type {type(given).__name__}"
        raise UsageError(f"{what}, not {given!r}{kind}.", remedy=remedy or f"Give a whole number, {least} or more.")
    return int(given)
