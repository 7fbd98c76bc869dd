"""The program as a whole, in a process of its own: start, pipes, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import acausal as ac

PROGRAM = (sys.executable, "-m", "acausal.cli")


def run(folder: Path, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_version(folder: Path, environment: dict[str, str]) -> None:
    done = run(folder, environment, "--version")
    assert (done.returncode, done.stdout) == (0, f"acausal {ac.__version__}\n")


def test_help_lists_the_commands_and_exit_codes(folder: Path, environment: dict[str, str]) -> None:
    out = run(folder, environment, "--help").stdout
    assert all(command in out for command in ("run", "check", "info", "solvers", "demo", "bench"))
    assert "3 the run stopped early" in " ".join(out.split())


def test_nothing_heavy_is_imported_for_help(folder: Path, environment: dict[str, str]) -> None:
    heavy = ("scipy", "llvmlite", "matplotlib", "pint", "pandas")
    code = f"import sys; import acausal.cli.app; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_run_from_a_file_to_a_file(folder: Path, environment: dict[str, str]) -> None:
    done = run(folder, environment, "run", "room.py", "--until", "2h", "-o", "out.csv", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["written"] == ["out.csv"]
    assert (folder / "out.csv").read_text().count("\n") >= 501


def test_a_broken_model_ends_without_a_traceback(folder: Path, environment: dict[str, str]) -> None:
    (folder / "wrong.py").write_text("import acausal as ac\n\nac.Variabel()\n")
    done = run(folder, environment, "check", "wrong.py")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "wrong.py:3" in done.stderr and "Variabel" in done.stderr


ANNOUNCING = """
from pathlib import Path
import acausal.runtime.progress as progress
from acausal.cli import main

reported = progress.reported

def announced(*arguments):
    Path("started").touch()
    return reported(*arguments)

progress.reported = announced
main()
"""


@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_ctrl_c_keeps_and_reports_what_was_computed(folder: Path, environment: dict[str, str], solver: str) -> None:
    """A run that would take hours; it announces when it begins, and is interrupted a little later."""
    (folder / "announcing.py").write_text(ANNOUNCING)
    options = ["--until", "1e9", "--points", "1000001", "--solver", solver, "-o", "out.acausal", "--json"]
    command = [sys.executable, "announcing.py", "run", "oscillator.py", *options]
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(folder / "started", process)
        let_work(process, 2.0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    told = json.loads(out)
    assert (told["outcome"], told["ok"], told["written"]) == ("CANCELLED", False, ["out.acausal"])
    assert told["statistics"]["steps"] > 0
    assert len(ac.load(folder / "out.acausal").time) == told["points"] >= 1


def let_work(process: subprocess.Popen[str], seconds: float) -> None:
    """Wait until a process has worked for so long, which takes longer on a busy machine."""
    begin = processor_time(process)
    while begin is not None and (processor_time(process) or 0.0) < begin + seconds and process.poll() is None:
        time.sleep(0.05)
    if begin is None:
        time.sleep(seconds)


def processor_time(process: subprocess.Popen[str]) -> float | None:
    """Seconds, where the system tells them."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    for _ in range(1200):
        if path.exists():
            return
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    raise TimeoutError(path)
