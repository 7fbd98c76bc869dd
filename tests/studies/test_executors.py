"""Wherever the cases run, the table is the same, and a worker that dies loses nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path

import numpy as np
import pytest

import acausal as ac

from .plants import Decay

RATES = np.linspace(0.5, 2.0, 12)


@pytest.fixture(scope="module")
def decay():
    return ac.compile(Decay())


@pytest.fixture(scope="module")
def table(decay):
    return ac.study(decay, {"k": RATES}, "x", until=1.0, executor="serial")["x"]


def test_processes(decay, table):
    study = ac.study(decay, {"k": RATES}, "x", until=1.0, executor="processes", workers=2)
    np.testing.assert_array_equal(study["x"], table)


class Deadly:
    """An output that kills its process at one case: once, or each time."""

    def __init__(self, marks: Path, always: bool) -> None:
        self.marks, self.always = marks, always

    def __call__(self, result):
        mark = self.marks / "died"
        if abs(result["k"][0] - RATES[5]) < 1e-12 and (self.always or not mark.exists()):
            mark.touch()
            os._exit(9)
        return result["x"][-1]


def test_a_process_that_dies_once_loses_nothing(decay, table, tmp_path):
    study = ac.study(decay, {"k": RATES}, {"x": Deadly(tmp_path, always=False)}, until=1.0, executor="processes", workers=2)
    np.testing.assert_array_equal(study["x"], table)


def test_a_case_that_was_alone_when_its_process_died_is_tried_once_more(decay, table, tmp_path):
    study = ac.study(decay, {"k": RATES[5:6]}, {"x": Deadly(tmp_path, always=False)}, until=1.0, executor="processes", workers=2)
    np.testing.assert_array_equal(study["x"], table[5:6])


def test_a_case_that_kills_every_process_is_a_failed_row(decay, table, tmp_path):
    study = ac.study(decay, {"k": RATES}, {"x": Deadly(tmp_path, always=True)}, until=1.0, executor="processes", workers=2)
    assert [row.number for row in study.failed] == [5]
    assert study.failed[0].outcome == "WORKER_DIED"
    others = np.arange(len(RATES)) != 5
    np.testing.assert_array_equal(study["x"][others], table[others])


def test_joblib(decay, table):
    joblib = pytest.importorskip("joblib")
    study = ac.study(decay, {"k": RATES}, "x", until=1.0, executor=joblib.Parallel(n_jobs=2))
    np.testing.assert_array_equal(study["x"], table)


def test_a_worker_of_a_cluster_that_dies_takes_nothing_with_it(decay, table, tmp_path):
    """One of two workers is killed by its first case; another takes its place, and the table is whole."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True) as cluster,
        distributed.Client(cluster) as client,
    ):
        study = ac.study(decay, {"k": RATES}, {"x": Deadly(tmp_path, always=False)}, until=1.0, executor=client)
    np.testing.assert_array_equal(study["x"], table)
    assert study.ok.all() and (tmp_path / "died").exists()


class Broken(Executor):
    """An executor of somebody else, whose third task brings it down."""

    def __init__(self) -> None:
        self.tasks = 0

    def submit(self, function, /, *arguments, **options):
        self.tasks += 1
        future = Future()
        if self.tasks < 3:
            future.set_result(function(*arguments, **options))
        else:
            future.set_exception(BrokenExecutor("no more memory"))
        return future


def test_an_executor_that_dies_is_told_and_what_is_done_is_kept(decay, table, tmp_path):
    with pytest.raises(ac.AcausalError, match=r"The executor Broken broke down \(no more memory\)"):
        ac.study(decay, {"k": RATES}, "x", until=1.0, executor=Broken(), keep=tmp_path, workers=1)
    done = []
    study = ac.study(decay, {"k": RATES}, "x", until=1.0, keep=tmp_path, progress=lambda n, of: done.append(n))
    assert done[0] > 2
    np.testing.assert_array_equal(study["x"], table)


SCRIPT = """
import acausal as ac

class Decay(ac.Component):
    k = ac.Parameter(1.0)
    x = ac.Variable(start=1.0, fixed=True)
    def equations(self):
        yield ac.der(self.x) == -self.k * self.x

def main():
    print(ac.study(ac.compile(Decay(), units=False), {"k": [1.0, 2.0]}, "x", until=1.0, executor="processes", progress=False))

"""


def test_a_script_that_runs_a_study_while_it_is_imported_is_told_how_to_be_written(tmp_path):
    """It was a traceback for each process, and then a row for each case whose process died."""
    file = tmp_path / "script.py"
    file.write_text(f"{SCRIPT}main()\n")
    said = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert said.returncode and 'below `if __name__ == "__main__":`' in said.stderr and said.stderr.count("Traceback") == 1
    file.write_text(f'{SCRIPT}if __name__ == "__main__":\n    main()\n')
    said = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert said.returncode == 0 and said.stdout.count("finished") == 2
