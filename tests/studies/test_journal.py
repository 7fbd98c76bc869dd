"""A study that was stopped goes on where it stopped, and the table is the same to the bit."""

from __future__ import annotations

import random

import numpy as np
import pytest

import acausal as ac

from .plants import Decay


@pytest.fixture(scope="module")
def decay():
    return ac.compile(Decay())


def cases():
    return ac.draws({"k": ac.uniform(0.1, 3.0)}, 40, seed=2)


def run(model, folder, **options):
    return ac.study(model, cases(), ["x", ac.mean("x")], until=1.0, keep=folder, **options)


class Stop(Exception):
    pass


@pytest.mark.parametrize("seed", range(5))
def test_stopped_anywhere_and_continued_the_table_is_the_same(decay, tmp_path, seed):
    whole = run(decay, tmp_path / "whole")
    generator = random.Random(seed)
    rows = tmp_path / "parts" / "rows.jsonl"
    run(decay, tmp_path / "parts")
    content = rows.read_bytes()
    rows.write_bytes(content[: generator.randrange(len(content))])  # cut off in the middle of a line
    ran = []
    again = run(decay, tmp_path / "parts", progress=lambda done, total: ran.append(done))
    assert ran
    for name in ("x", "mean x"):
        np.testing.assert_array_equal(again[name], whole[name])
    np.testing.assert_array_equal(run(decay, tmp_path / "parts")["x"], whole["x"])


def test_a_damaged_line_is_run_again(decay, tmp_path):
    whole = run(decay, tmp_path)
    rows = tmp_path / "rows.jsonl"
    content = bytearray(rows.read_bytes())
    content[len(content) // 2] ^= 1
    rows.write_bytes(content)
    np.testing.assert_array_equal(run(decay, tmp_path)["x"], whole["x"])


def test_an_exception_in_the_progress_function_loses_no_row(decay, tmp_path):
    def stop(done, total):
        raise Stop

    with pytest.raises(Stop):
        run(decay, tmp_path, progress=stop)
    assert (tmp_path / "rows.jsonl").read_bytes().count(b"\n") > 0


def test_another_study_in_the_same_folder_is_refused(decay, tmp_path):
    run(decay, tmp_path)
    with pytest.raises(ac.AcausalError, match="holds another study"):
        ac.study(decay, {"k": [1.0]}, "x", until=1.0, keep=tmp_path)


def test_a_folder_that_cannot_be_written_is_said(decay, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(ac.AcausalError, match="cannot be kept in"):
        run(decay, file)
