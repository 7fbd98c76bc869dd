"""A cache may only ever save time: nothing is compiled twice, and nothing that happens to the folder breaks a model."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import acausal
from acausal.families.template import MINUS, PLUS, Template
from acausal.kernels import cache
from acausal.language.expression import Call, Constant, Slot, apply

SOURCE = Path(acausal.__path__[0]).parent
PROGRAM = """
import ctypes, numpy as np
from acausal.families.template import Template
from acausal.kernels import compile_kernels, statistics
from acausal.language.expression import Slot, apply

x, y = Slot(0, "variable"), Slot(1, "variable")
templates = [Template((x * y - 2.0,)), Template((apply("tanh", x) + apply("exp", y / 3.0),))]
kernels = compile_kernels([(t, (0, 0)) for t in templates])
out, table = np.zeros(2), np.array([[0], [1]], dtype=np.int32)
form = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64, ctypes.c_void_p)
w = np.array([0.5, 6.0])
for k, kernel in enumerate(kernels):
    form(kernel.residual_address)(w.ctypes.data, out[k:].ctypes.data, table.ctypes.data, np.zeros(1, np.int32).ctypes.data, 1, None)
np.testing.assert_allclose(out, [1.0, np.tanh(0.5) + np.exp(2.0)], rtol=1e-14)
print(*statistics())
"""


def run(folder: Path | str, **environment: str) -> tuple[int, ...]:
    """The counters of a fresh process that compiles two kernels and checks their values."""
    settings = {**os.environ, "ACAUSAL_CACHE": str(folder), "PYTHONPATH": str(SOURCE), **environment}
    done = subprocess.run([sys.executable, "-W", "error", "-c", PROGRAM], env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return tuple(map(int, done.stdout.split()))


def test_second_process_compiles_nothing(tmp_path: Path) -> None:
    assert run(tmp_path) == (2, 0, 0)
    assert run(tmp_path) == (0, 2, 0)


def test_damaged_entries_are_compiled_again(tmp_path: Path) -> None:
    run(tmp_path)
    first, second = sorted(tmp_path.iterdir())
    first.write_bytes(first.read_bytes()[:-40])
    damaged = bytearray(second.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    second.write_bytes(damaged)
    assert run(tmp_path) == (2, 0, 0)
    assert run(tmp_path) == (0, 2, 0)


def test_whole_entries_that_the_linker_refuses_are_compiled_again(tmp_path: Path) -> None:
    run(tmp_path)
    entry = sorted(tmp_path.iterdir())[0]
    entry.write_bytes(cache._packed(b"not object code"))
    assert run(tmp_path) == (2, 0, 0)
    assert run(tmp_path) == (0, 2, 0)


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert run(tmp_path / "file") == (2, 0, 0)
    assert run(tmp_path / "file" / "below") == (2, 0, 0)


def test_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path, content: bytes) -> None:
        raise PermissionError(path)

    monkeypatch.setenv("ACAUSAL_CACHE", str(tmp_path))
    monkeypatch.setattr(Path, "write_bytes", refused)
    cache.store([("key", b"code")])
    assert cache.load("key") is None


def test_entries_that_cannot_be_read(tmp_path: Path) -> None:
    run(tmp_path)
    for entry in list(tmp_path.iterdir()):
        entry.unlink()
        entry.mkdir()
    assert run(tmp_path) == (2, 0, 0)


def test_processes_that_write_at_the_same_time(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        for compiled, loaded, _ in pool.map(run, [tmp_path] * 4):
            assert compiled + loaded == 2
    assert run(tmp_path) == (0, 2, 0)
    assert {p.suffix for p in tmp_path.iterdir()} == {cache.SUFFIX}


def test_writers_in_threads_never_leave_half_an_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACAUSAL_CACHE", str(tmp_path))
    contents = [bytes([k]) * 200_000 for k in range(8)]

    def write_and_read(content: bytes) -> bool:
        cache.store([("key", content)])
        return cache.load("key") in contents

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(write_and_read, contents * 10))
    assert len(list(tmp_path.iterdir())) == 1


def test_oldest_entries_are_removed_when_the_folder_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACAUSAL_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "LARGEST_TOTAL", 10_000)
    for k in range(9):
        cache.store([(f"k{k}", bytes(1000))])
        os.utime(tmp_path / f"k{k}{cache.SUFFIX}", (k + 1, k + 1))
    cache.load("k0")  # used just now
    cache.store([("last", bytes(1000))])
    left = {p.stem for p in tmp_path.iterdir()}
    assert {"k0", "last", "k8"} <= left and len(left) <= 5
    assert "k1" not in left


def test_place_of_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACAUSAL_CACHE", "chosen")
    monkeypatch.setenv("XDG_CACHE_HOME", "base")
    assert cache.directory() == Path("chosen")
    monkeypatch.delenv("ACAUSAL_CACHE")
    assert cache.directory() == Path("base/acausal")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "home")
    assert cache.directory() == Path("home/.cache/acausal")


# --- keys -----------------------------------------------------------------------------------------------------------------
x, y, p = Slot(0, "variable"), Slot(1, "variable"), Slot(1, "known")


def function(data_address: int = 0, arity: int = 1) -> SimpleNamespace:
    return SimpleNamespace(name="f", arity=arity, address=1, data_address=data_address, partial=lambda k, args: Constant(2.0))


DIFFERENT = [
    (Template((x + y,)), (PLUS, PLUS)),
    (Template((x + y,)), (PLUS, MINUS)),
    (Template((x - y,)), (PLUS, PLUS)),
    (Template((y - x,)), (PLUS, PLUS)),
    (Template((x + p,)), (PLUS, PLUS)),
    (Template((x + y, x)), (PLUS, PLUS)),
    (Template((x, x + y)), (PLUS, PLUS)),
    (Template((0.1 * x + y,)), (PLUS, PLUS)),
    (Template((np.nextafter(0.1, 1) * x + y,)), (PLUS, PLUS)),
    (Template((apply("max", x, y),)), (PLUS, PLUS)),
    (Template((Call(function(), (x,)) + y,)), (PLUS, PLUS)),
    (Template((Call(function(data_address=8), (x,)) + y,)), (PLUS, PLUS)),
    (Template((Call(function(arity=2), (x, y)),)), (PLUS, PLUS)),
]


def test_whatever_changes_the_code_changes_the_key() -> None:
    keys = {cache.key_of(template, signs, "compiler") for template, signs in DIFFERENT}
    assert len(keys) == len(DIFFERENT)
    template, signs = DIFFERENT[0]
    assert cache.key_of(template, signs, "another compiler") not in keys


def test_functions_stand_by_place() -> None:
    one, other = (Template((Call(function(address), (x,)) * y,)) for address in (8, 16))
    assert cache.canonical_text(one, (PLUS, PLUS)) == cache.canonical_text(other, (PLUS, PLUS))
    f, g = function(), function()
    twice, both = Template((Call(f, (x,)) + Call(f, (y,)),)), Template((Call(f, (x,)) + Call(g, (y,)),))
    assert cache.canonical_text(twice, (PLUS, PLUS)) != cache.canonical_text(both, (PLUS, PLUS))


def test_derivatives_are_part_of_the_key() -> None:
    """A function's rule of differentiation is not visible in the residual, but it is in the machine code."""
    f, g = function(), function()
    g.partial = lambda k, args: Constant(3.0)
    one, other = (Template((Call(h, (x,)),)) for h in (f, g))
    assert cache.canonical_text(one, (PLUS,)) != cache.canonical_text(other, (PLUS,))
