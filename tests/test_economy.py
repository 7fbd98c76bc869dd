"""What a process does not import."""

from __future__ import annotations

import gc
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

import acausal as ac
from acausal.economy import blake2b, compare_digest, uncollected


def test_digests_are_those_of_the_standard_library() -> None:
    assert (
        blake2b(b"abc", key=b"secret", digest_size=20).digest() == hashlib.blake2b(b"abc", key=b"secret", digest_size=20).digest()
    )
    assert compare_digest(b"abc", b"abc") and not compare_digest(b"abc", b"abd")


def test_garbage_is_looked_for_again_afterwards() -> None:
    assert gc.isenabled()
    with uncollected(), uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()


class Decay(ac.Component):
    x = ac.Variable(start=1.0)

    def equations(self):  # type: ignore[no-untyped-def]
        yield ac.der(self.x) == -self.x


LOAD = """
import sys, numpy
before = set(sys.modules)
import acausal as ac
result = ac.load(sys.argv[1]).simulate(until=1.0, points=3)
print(*(set(sys.modules) - before))
assert abs(result["x"][-1] - 0.36788) < 1e-3
"""

# Each takes from one to five milliseconds to import, and neither reading a model nor running it needs them.
NOT_NEEDED = {
    "asyncio", "concurrent.futures", "csv", "hashlib", "hmac", "llvmlite", "lzma", "numpy.typing", "pathlib", "scipy", "shutil",
    "tempfile", "urllib.parse", "zipfile",
    "acausal.families.assemble", "acausal.families.census", "acausal.families.hybrid", "acausal.kernels.emit",
    "acausal.language.columns", "acausal.language.component", "acausal.language.external", "acausal.language.medium",
    "acausal.library", "acausal.media", "acausal.program.encoder", "acausal.results.views", "acausal.runtime.given",
    "acausal.runtime.initialise.newton", "acausal.runtime.journal", "acausal.studies",
}  # fmt: skip


def test_a_model_from_a_file_runs_without_what_it_does_not_use(tmp_path: Path) -> None:
    model = ac.compile(Decay())
    model.save(tmp_path / "decay.acm")
    done = subprocess.run([sys.executable, "-c", LOAD, str(tmp_path / "decay.acm")], capture_output=True, text=True, check=True)
    assert sorted(NOT_NEEDED & set(done.stdout.split())) == []


FLUID = """
import sys, acausal as ac
print(ac.media.fluid("R134a").state(p=1e6, h=3e5).T)
print(*sys.modules)
"""


def test_a_fluid_whose_table_is_there_needs_nothing_that_makes_tables() -> None:
    """Neither scipy nor the equations of state, which take longer to import than a plant to translate."""
    pytest.importorskip("CoolProp")
    for _ in range(2):  # the first makes the table, if it is not there yet
        done = subprocess.run([sys.executable, "-c", FLUID], capture_output=True, text=True, check=True)
    assert sorted({"scipy", "CoolProp.CoolProp", "acausal.media.build"} & set(done.stdout.split())) == []
