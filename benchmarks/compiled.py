"""The hand-written C programs: compiled on demand with the system's compiler and SUNDIALS, run, and their line of JSON read."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SOURCES = Path(__file__).parent / "c"
COMMON_SOURCES = ("integrate.c", "vectors.c")
# -O3 rather than -O2 because the loops of vectors.c then use vector instructions; the plain program does not change.
FLAGS = ("-O3", "-std=c11", "-Wall", "-Wextra")
INCLUDES = ("-I/usr/include/suitesparse",)
LIBRARIES = ("idas", "nvecserial", "sunmatrixsparse", "sunlinsolklu")
OUTPUT_POINTS = 100


class NoReference(RuntimeError):
    """The C programs cannot be built here; the message says what is missing."""


@functools.cache
def build(program: str) -> Path:
    """Compile ``chain`` or ``ladder`` into a folder that lives as long as this process, once."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise NoReference("no C compiler was found, so there is no C program to compare with. Install one or set CC.")
    executable = Path(_folder()) / program
    sources = [str(SOURCES / name) for name in (f"{program}.c", *COMMON_SOURCES)]
    libraries = [f"-lsundials_{name}" for name in LIBRARIES]
    command = [compiler, *FLAGS, *INCLUDES, *sources, "-o", str(executable), *libraries, "-lm"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    if outcome.returncode != 0:
        first_line = outcome.stderr.strip().splitlines()[:1]
        raise NoReference(
            f"the C program {program} does not compile ({' '.join(first_line)}). It needs the development files of SUNDIALS "
            "and SuiteSparse (Debian: libsundials-dev, libsuitesparse-dev)."
        )
    return executable


def run(
    program: str, n: int, repeats: int = 1, *, tolerance: float = 1e-6, vectors: str = "stock", store: Path | None = None
) -> dict[str, Any]:
    """Run a program and give its record: best and median seconds, steps, evaluations, check values."""
    command = [str(build(program)), str(n), str(repeats), "--tolerance", repr(tolerance), "--vectors", vectors]
    if store is not None:
        command += ["--store", str(store)]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    if outcome.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {outcome.returncode}: {outcome.stderr.strip()}")
    record: dict[str, Any] = json.loads(outcome.stdout)
    return record


def trajectory(program: str, n: int, tolerance: float) -> np.ndarray:
    """All unknowns at the output points, one row each, at the tolerance given: tight ones serve as the exact solution."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trajectory"
        run(program, n, tolerance=tolerance, vectors="tuned", store=path)
        return np.fromfile(path).reshape(OUTPUT_POINTS, -1)


@functools.cache
def _folder() -> str:
    """A temporary folder kept for the whole process by the object that owns it."""
    folder = tempfile.TemporaryDirectory(prefix="acausal-bench-")
    _kept.append(folder)
    return folder.name


_kept: list[tempfile.TemporaryDirectory[str]] = []
