"""Kernels called from Python as the native core calls them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from acausal.families.template import MINUS, MIXED, Template
from acausal.kernels import compile_kernels

_POINTER, _COUNT = ctypes.c_void_p, ctypes.c_int64
_RESIDUAL = ctypes.CFUNCTYPE(None, _POINTER, _POINTER, _POINTER, _POINTER, _COUNT, _POINTER)
_JACOBIAN = ctypes.CFUNCTYPE(None, _POINTER, ctypes.c_double, _POINTER, _POINTER, _POINTER, _COUNT, _POINTER)


class Compiled:
    """The kernel of a template.

    `residual_of` and `jacobian_of` use tables in which every slot of every row has its own cell of `w`; a slot *holds* what the
    expression sees there, the sign already applied.
    """

    def __init__(self, template: Template, signs: Sequence[int] | None = None, negative: np.ndarray | None = None) -> None:
        self.template = template
        self.signs = tuple(signs) if signs is not None else (0,) * len(template.slots)
        self.negative = negative  # (slot, row), for slots that are MIXED
        (self.kernel,) = compile_kernels([(template, self.signs)])
        pointers = [a for f in template.functions for a in (f.address, f.data_address)]
        self.functions = np.array(pointers or [0], dtype=np.uintp)

    def residual(self, w: np.ndarray, out: np.ndarray, slots: np.ndarray, rows: np.ndarray) -> None:
        pointers = (a.ctypes.data for a in (w, out, slots, rows))
        _RESIDUAL(self.kernel.residual_address)(*pointers, rows.shape[1], self.functions.ctypes.data)

    def jacobian(self, w: np.ndarray, cj: float, jac: np.ndarray, slots: np.ndarray, positions: np.ndarray) -> None:
        pointers = (a.ctypes.data for a in (jac, slots, positions))
        _JACOBIAN(self.kernel.jacobian_address)(w.ctypes.data, cj, *pointers, positions.shape[1], self.functions.ctypes.data)

    def residual_of(self, held: np.ndarray) -> np.ndarray:
        """Residuals (output, row) for slots that hold `held` (slot, row)."""
        w, slots = self._tables(held)
        rows = _numbered(len(self.template.outputs), held.shape[1])
        out = np.zeros(rows.shape)
        self.residual(w, out, slots, rows)
        return out

    def jacobian_of(self, held: np.ndarray, cj: float = 1.0) -> np.ndarray:
        """Entries (entry, row) for slots that hold `held`."""
        w, slots = self._tables(held)
        positions = _numbered(len(self.template.jacobian), held.shape[1])
        jac = np.zeros(positions.shape)
        if positions.size:
            self.jacobian(w, cj, jac, slots, positions)
        return jac

    def difference_of(self, held: np.ndarray, slot: int, step: float = 2.0**-7) -> np.ndarray:
        """d(residual)/d(held[slot]) by central differences, extrapolated to sixth order."""
        unit = step * np.maximum(np.abs(held[slot]), 0.5)

        def at(h: np.ndarray) -> np.ndarray:
            up, down = held.copy(), held.copy()
            up[slot] += h
            down[slot] -= h
            return (self.residual_of(up) - self.residual_of(down)) / (up[slot] - down[slot])

        coarse, middle, fine = at(unit), at(unit / 2), at(unit / 4)
        return (16 * (4 * fine - middle) / 3 - (4 * middle - coarse) / 3) / 15

    def _tables(self, held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slots = _numbered(*held.shape)
        w = held.copy()
        for s, mode in enumerate(self.signs):
            if mode == MINUS:
                w[s] = -held[s]
            elif mode == MIXED:
                w[s] = np.where(self.negative[s], -held[s], held[s])
                slots[s] = np.where(self.negative[s], ~slots[s], slots[s])
        return w.ravel(), slots


def _numbered(lines: int, columns: int) -> np.ndarray:
    return np.arange(lines * columns, dtype=np.int32).reshape(lines, columns)


@pytest.fixture(scope="session")
def compiled() -> type[Compiled]:
    return Compiled


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither read nor fill the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACAUSAL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
