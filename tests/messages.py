"""What a mistake is answered with, for tests of bad input."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import acausal as ac


def message(make: Callable[[], object], error: type[Exception] = ac.ModelError) -> str:
    """What is said; never anything but an error of our own."""
    with pytest.raises(error) as found:
        make()
    assert found.value.diagnostics  # type: ignore[attr-defined]
    assert "Traceback" not in str(found.value)
    return str(found.value)


def holds(text: str, *parts: str) -> None:
    missing = [p for p in parts if p not in text]
    assert not missing, f"{missing} not in:\n{text}"
