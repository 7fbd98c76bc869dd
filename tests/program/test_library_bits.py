"""Every component of the library, written and read in another process without its source, computes the same to the last bit."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from acausal.errors import ModelError
from acausal.families.assemble import assemble, read
from benchmarks.derivatives import Rig, _residuals, _values
from benchmarks.translation import components

ROOT = Path(__file__).parents[2]
ELSEWHERE = """
import pickle, sys
from benchmarks.derivatives import _residuals
different = []
for name, system, w, expected in pickle.load(open(sys.argv[1], "rb")):
    if _residuals(pickle.loads(system))(w).tobytes() != expected:
        different.append(name)
assert not [m for m in sys.modules if m.startswith("acausal.library")], "the source was there"
print(*different)
"""


def written(component: Any) -> tuple[str, bytes, np.ndarray, bytes] | None:
    """A component's equations as data, a point, and the residuals there; nothing for one that does not stand by itself."""
    try:
        system = assemble(read(Rig(component())))
    except ModelError:
        return None
    random = np.random.default_rng(1)
    w = np.concatenate([_values(system, random), random.uniform(0.5, 1.5, system.size + system.known_count)])
    return component.__name__, pickle.dumps(system), w, _residuals(system)(w).tobytes()


def test_all_components(tmp_path: Path) -> None:
    found = [one for component in components() if (one := written(component)) is not None]
    assert len(found) > 50
    (tmp_path / "all").write_bytes(pickle.dumps(found))
    settings = {
        **os.environ,
        "ACAUSAL_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
    }
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path / "all")]
    done = subprocess.run(command, env=settings, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
