"""Tables of fluids: made once, kept on disk for every process.

The name of a file says fluid, range, the version of CoolProp and a digest of the code that makes tables, so that a table of
yesterday's program is simply not found.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from . import cache

if TYPE_CHECKING:
    from .build import Progress

Limits = tuple[float | None, float | None, float | None]  # T_min, T_max, p_max; None: as usual
SUFFIX = ".fluid"
_ALIGNMENT = 64


def table_of(fluid: str, limits: Limits, progress: Progress) -> np.ndarray:
    """The numbers of a table, from disk or built now, at an address native code can use."""
    name = _file_name(fluid, limits)
    kept = cache.read(name)
    if kept is not None:
        return _aligned(kept)
    built = _built(fluid, limits, progress)
    cache.write(name, built)
    return _aligned(built)


def _built(fluid: str, limits: Limits, progress: Progress) -> bytes:
    from .build import Builder, Sizes  # whoever finds a table does not wait for scipy
    from .equation_of_state import EquationOfState
    from .ranges import range_of

    eos = EquationOfState(fluid)
    reach = range_of(eos, *limits)
    return Builder(eos, reach, Sizes.of(eos, reach), progress).numbers().tobytes()


def _file_name(fluid: str, limits: Limits) -> str:
    said = repr((version("CoolProp"), fluid, limits, _builder()))
    digest = hashlib.blake2b(said.encode(), digest_size=10).hexdigest()
    return f"{''.join(c for c in fluid if c.isalnum())}-{digest}{SUFFIX}"


def _builder() -> str:
    here = Path(__file__).parent
    names = ("build", "continuation", "equation_of_state", "ranges", "splines")
    code = b"".join((here / f"{name}.py").read_bytes() for name in names)
    return hashlib.blake2b(code, digest_size=10).hexdigest()


def _aligned(body: bytes | memoryview) -> np.ndarray:
    """The numbers at a multiple of 64 bytes, as vector instructions want them."""
    raw = np.empty(len(body) + _ALIGNMENT, dtype=np.uint8)
    shift = -raw.ctypes.data % _ALIGNMENT
    numbers = raw[shift : shift + len(body)]
    numbers[:] = np.frombuffer(body, dtype=np.uint8)
    table = numbers.view(np.float64)
    table.flags.writeable = False
    return table
