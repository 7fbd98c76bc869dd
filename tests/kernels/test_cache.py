"""A cache may only ever save time: nothing is compiled twice, and nothing that happens to the folder breaks a model."""

from __future__ import annotations

import ctypes
import io
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import acausal
from acausal import vault
from acausal.families.template import MINUS, PLUS, Template
from acausal.kernels import cache, compile, compile_kernels
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


def entries(folder: Path) -> list[Path]:
    return sorted(folder.rglob(f"*{vault.SUFFIX}"))


def many(coefficients: list[float], rows: int = 100) -> list[float]:
    """What kernels of `c * x` compute for x = 2, loaded or compiled anew: nothing of this process is known to them."""
    compile._store.cache_clear()
    templates = [Template((Constant(c) * Slot(0, "variable") + apply("sin", Slot(0, "variable")),)) for c in coefficients]
    found = []
    for kernel in compile_kernels([(t, (PLUS,)) for t in templates], [rows] * len(templates)):
        form = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64, ctypes.c_void_p)
        w, out, place = np.array([2.0]), np.zeros(1), np.zeros(1, np.int32)
        form(kernel.residual_address)(w.ctypes.data, out.ctypes.data, place.ctypes.data, place.ctypes.data, 1, None)
        found.append((out[0] - np.sin(2.0)) / 2.0)
    return found


def test_kernels_that_are_wanted_together_are_read_from_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACAUSAL_CACHE", str(tmp_path))
    first = [1.0 + 0.1 * k for k in range(9)]
    np.testing.assert_allclose(many(first), first)
    (whole,) = (e for e in entries(tmp_path) if "together" in e.name)
    before = compile.statistics()
    alone = [e for e in entries(tmp_path) if e != whole]
    assert len(alone) == 9
    for entry in alone:
        entry.unlink()
    np.testing.assert_allclose(many(first), first)  # all from the one file
    after = compile.statistics()
    assert (after.compiled - before.compiled, after.loaded_from_disk - before.loaded_from_disk) == (0, 9)
    for other in (first[::-1], first[1:], [*first, 7.0], [*first[:-1], 7.0]):  # another order, fewer, more, one that differs
        np.testing.assert_allclose(many(other), other)
    whole.write_bytes(whole.read_bytes()[:-5])
    np.testing.assert_allclose(many(first), first)
    assert compile.statistics().compiled > after.compiled


def test_kernels_for_many_rows_are_not_those_that_were_made_in_haste(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACAUSAL_CACHE", str(tmp_path))
    monkeypatch.setattr(compile, "MANY", 4)
    first = [3.0 + 0.1 * k for k in range(9)]
    np.testing.assert_allclose(many(first, rows=1), first)
    made = compile.statistics().compiled
    np.testing.assert_allclose(many(first, rows=1), first)
    assert compile.statistics().compiled == made
    np.testing.assert_allclose(many(first), first)
    assert compile.statistics().compiled == made + 9


def test_damaged_entries_are_compiled_again(tmp_path: Path) -> None:
    run(tmp_path)
    first, second = entries(tmp_path)
    first.write_bytes(first.read_bytes()[:-40])
    damaged = bytearray(second.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    second.write_bytes(damaged)
    assert run(tmp_path) == (2, 0, 0)
    assert run(tmp_path) == (0, 2, 0)


def test_forged_entries_are_not_executed(tmp_path: Path) -> None:
    """Whoever can write an entry but does not know the secret has written nothing."""
    run(tmp_path)
    first, second = entries(tmp_path)
    other = vault.Vault(tmp_path, b"another secret".ljust(32))
    code = second.read_bytes()[40:]
    first.write_bytes(other._seal(first.stem, code) + code)
    assert run(tmp_path) == (1, 1, 0)


def test_an_entry_is_worth_nothing_under_another_name(tmp_path: Path) -> None:
    run(tmp_path)
    first, second = entries(tmp_path)
    first.write_bytes(second.read_bytes())
    assert run(tmp_path) == (1, 1, 0)


def test_whole_entries_that_the_linker_refuses_are_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path)
    opened = opened_at(tmp_path, monkeypatch)
    opened.store([(entries(tmp_path)[0].stem, b"not object code")])
    assert run(tmp_path) == (2, 0, 0)
    assert run(tmp_path) == (0, 2, 0)


def opened_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> vault.Vault:
    monkeypatch.setenv("ACAUSAL_CACHE", str(folder))
    found = vault.open_vault()
    assert found is not None
    return found


def test_a_folder_that_others_can_write_is_not_used_and_that_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    for mode in (0o777, 0o770):
        shared.chmod(mode)
        monkeypatch.setenv("ACAUSAL_CACHE", str(shared))
        monkeypatch.setattr(vault, "_refused", set())
        with pytest.warns(UserWarning, match="is not used to keep compiled code, because others may write to it"):
            assert vault.open_vault() is None
        assert vault.open_vault() is None
    assert list(shared.iterdir()) == []
    shared.chmod(0o755)
    assert vault.open_vault() is not None


def test_a_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACAUSAL_CACHE", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    monkeypatch.setattr(vault, "_refused", set())
    with pytest.warns(UserWarning, match="belongs to another user"):
        assert vault.open_vault() is None


def test_the_secret_is_for_the_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened_at(tmp_path, monkeypatch)
    file = tmp_path / "secret"
    assert file.stat().st_mode & 0o777 == 0o600
    assert opened_at(tmp_path, monkeypatch).secret == first.secret
    file.chmod(0o644)  # others may have read it
    assert opened_at(tmp_path, monkeypatch).secret != first.secret
    file.write_bytes(b"short")
    assert len(opened_at(tmp_path, monkeypatch).secret) == 32
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_bytes(bytes(32))
    assert opened_at(tmp_path, monkeypatch).secret != bytes(32)


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert run(tmp_path / "file") == (2, 0, 0)
    assert run(tmp_path / "file" / "below") == (2, 0, 0)


def test_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk looks the same: what cannot be kept is not kept, and no rest stays behind."""
    opened = opened_at(tmp_path, monkeypatch)

    def refused(path: str, content: bytes) -> None:
        Path(path).touch()
        raise OSError(28, "No space left on device")

    opened.store([("keep", b"code")])
    (tmp_path / "ke" / f"keep{vault.SUFFIX}").unlink()
    monkeypatch.setattr(vault, "_put", refused)
    opened.store([("key", b"code")])
    assert opened.load("key") is None
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["secret"]


def test_a_disk_that_takes_half_of_an_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A nearly full disk writes what it can, and says how much that was: the entry of before stays, and no rest."""
    opened = opened_at(tmp_path, monkeypatch)
    opened.store([("key", b"code")])

    class Half(io.FileIO):
        def write(self, content: bytes) -> int:  # type: ignore[override]
            return super().write(bytes(content)[: len(content) // 2])

    monkeypatch.setattr(vault, "open", lambda path, mode, buffering: Half(path, mode), raising=False)
    opened.store([("key", b"other code")])
    monkeypatch.undo()
    assert opened.load("key") == b"code"
    assert not list(tmp_path.rglob("*.part"))


def test_no_room_for_the_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("ACAUSAL_CACHE", str(tmp_path))
    monkeypatch.setattr(os, "open", refused)
    assert vault.open_vault() is None


def test_entries_that_cannot_be_read(tmp_path: Path) -> None:
    run(tmp_path)
    for entry in entries(tmp_path):
        entry.unlink()
        entry.mkdir()
    assert run(tmp_path) == (2, 0, 0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_names_that_lead_to_no_file_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe that nobody writes to would be waited for without end, and /dev/zero read until memory is full."""
    monkeypatch.setenv("ACAUSAL_CACHE", str(tmp_path))

    def endless(path: Path) -> None:
        path.symlink_to("/dev/zero")

    for puts in (os.mkfifo, endless):
        opened = vault.open_vault()
        assert opened is not None
        opened.store([("key", b"code")])
        (entry,) = entries(tmp_path)
        for path in (entry, tmp_path / "secret"):
            path.unlink()
            puts(path)
        assert opened.load("key") is None
        opened.store([("key", b"code")])
        assert opened.load("key") == b"code"
        assert vault.open_vault() is not None and (tmp_path / "secret").read_bytes() != opened.secret


def test_processes_that_write_at_the_same_time(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        for compiled, loaded, _ in pool.map(run, [tmp_path] * 4):
            assert compiled + loaded == 2
    assert run(tmp_path) == (0, 2, 0)
    assert {p.suffix for p in tmp_path.rglob("*") if p.is_file()} == {vault.SUFFIX, ""}


@pytest.mark.slow
def test_twenty_processes_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(20) as pool:
        for compiled, loaded, _ in pool.map(run, [tmp_path] * 20):
            assert compiled + loaded == 2
    assert run(tmp_path) == (0, 2, 0)


KILLED = """
import os, sys
from acausal import vault
opened = vault.open_vault()
print("ready", flush=True)
k = 0
while True:
    opened.store([(f"{k % 50:02d}key", bytes([k % 251]) * 50_000)])
    k += 1
"""


def test_a_process_that_is_killed_leaves_whole_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {**os.environ, "ACAUSAL_CACHE": str(tmp_path), "PYTHONPATH": str(SOURCE)}
    for _ in range(3):
        writer = subprocess.Popen([sys.executable, "-c", KILLED], env=settings, stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.15)
        writer.kill()
        writer.wait()
        writer.stdout.close()
    opened = opened_at(tmp_path, monkeypatch)
    found = [opened.load(entry.stem) for entry in entries(tmp_path)]
    assert found and all(content is not None and content == content[:1] * 50_000 for content in found)


def test_writers_in_threads_never_leave_half_an_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = opened_at(tmp_path, monkeypatch)
    contents = [bytes([k]) * 200_000 for k in range(8)]

    def write_and_read(content: bytes) -> bool:
        opened.store([("key", content)])
        return opened.load("key") in contents

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(write_and_read, contents * 10))
    assert len(entries(tmp_path)) == 1


def test_oldest_entries_are_removed_when_the_folder_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = opened_at(tmp_path, monkeypatch)
    monkeypatch.setattr(vault, "LARGEST_TOTAL", 10_000 * vault.SUBFOLDERS)
    for k in range(9):
        opened.store([(f"ab{k}", bytes(1000))])
        os.utime(tmp_path / "ab" / f"ab{k}{vault.SUFFIX}", (k + 1, k + 1))
    opened.load("ab0")  # used just now
    opened.store([("abz", bytes(1000))])
    left = {p.stem for p in entries(tmp_path)}
    assert {"ab0", "abz", "ab8"} <= left and len(left) <= 5
    assert "ab1" not in left


def test_what_is_larger_than_its_share_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = opened_at(tmp_path, monkeypatch)
    opened.store([("large", bytes(4 * vault.LARGEST_TOTAL // vault.SUBFOLDERS))])
    assert opened.load("large") is not None


def test_abandoned_rests_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = opened_at(tmp_path, monkeypatch)
    (tmp_path / "ke").mkdir()
    rests = [tmp_path / "ke" / name for name in ("old.1-2.part", "new.1-2.part")]
    for rest in rests:
        rest.touch()
    os.utime(rests[0], (1, 1))
    opened.store([("key", b"code")])
    assert [rest.exists() for rest in rests] == [False, True]


def test_a_store_looks_at_one_subfolder_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, seen, scandir = opened_at(tmp_path, monkeypatch), [], os.scandir
    opened.store([(f"{k:02x}", b"code") for k in range(64)])
    monkeypatch.setattr(os, "scandir", lambda path: seen.append(Path(path).name) or scandir(path))
    opened.store([("07another", b"code")])
    assert seen == ["07"]


def test_what_an_earlier_version_kept_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"old{vault.SUFFIX}").write_bytes(b"acausal1 and so on")
    opened_at(tmp_path, monkeypatch)
    assert entries(tmp_path) == []


def test_place_of_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACAUSAL_CACHE", "chosen")
    monkeypatch.setenv("XDG_CACHE_HOME", "base")
    assert vault.directory() == Path("chosen")
    monkeypatch.delenv("ACAUSAL_CACHE")
    assert vault.directory() == Path("base/acausal")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "home")
    assert vault.directory() == Path("home/.cache/acausal")


# --- keys -----------------------------------------------------------------------------------------------------------------
x, y, p = Slot(0, "variable"), Slot(1, "variable"), Slot(1, "known")


def function(data_address: int = 0, arity: int = 1) -> SimpleNamespace:
    made = SimpleNamespace(name="f", arity=arity, address=1, data_address=data_address, partial=lambda k, args: Constant(2.0))
    made.evaluation = made
    return made


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


@pytest.mark.parametrize("kept", [0, 1])
def test_derivatives_that_a_file_states_wrongly_are_refused_and_leave_no_code(kept: int) -> None:
    """A model file says which derivatives there are: what is made for a forged one must not serve the user's own models."""
    outputs = (Slot(0, "derivative") * Slot(1, "variable") - Constant(0.7310585),)
    honest, forged = Template(outputs), Template(outputs)
    assert len(honest.entries) == 2
    forged.__dict__["facts"] = honest.facts._replace(entries=honest.entries[:kept])
    assert cache.key_of(honest, (PLUS, PLUS), "") != cache.key_of(forged, (PLUS, PLUS), "")
    with pytest.raises(acausal.ModelError, match="not those of its equations"):
        compile_kernels([(forged, (PLUS, PLUS))])
    (kernel,) = compile_kernels([(honest, (PLUS, PLUS))])
    assert kernel.jacobian_address
    with pytest.raises(acausal.ModelError, match="not those of its equations"):
        compile_kernels([(forged, (PLUS, PLUS))])
