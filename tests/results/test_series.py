from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from acausal.errors import ModelError, NameNotFound, UsageError
from acausal.results import series
from acausal.results.series import Column


def test_brackets_in_a_pattern_mean_themselves(result):
    assert series.expand(result, "wall.T[3]") == ["wall.T[3]"]
    assert series.expand(result, "C[?].v") == ["C[0].v", "C[1].v", "C[2].v"]
    assert series.expand(result, ["*.m_flow", "pump.m_flow"]) == ["pump.m_flow", "pump.inlet.m_flow", "sink.m_flow"]


def test_a_pattern_without_a_match_is_an_error(result):
    with pytest.raises(NameNotFound, match=r"matches the pattern `valve\.\*`"):
        series.expand(result, "valve.*")


def test_a_name_that_is_no_text_is_an_error(result):
    with pytest.raises(UsageError, match="not 3 of type int"):
        series.expand(result, [3])


def test_arrays_become_one_column_for_each_element(result):
    found = series.columns(result, ["grid.T", "R.R"])
    assert found[4] == Column("grid.T[1, 1]", "grid.T", (1, 1))
    table = series.matrix(result, found, {"grid.T": "degC"})
    np.testing.assert_allclose(table[:, :6], result.data[:, 8:14] - 273.15, rtol=1e-13)
    np.testing.assert_array_equal(table[:, 6], 47.0)


def test_everything_needs_no_evaluation(result, monkeypatch):
    monkeypatch.setattr(type(result), "__getitem__", None)
    assert len(series.columns(result, None)) == len(result.names())
    assert len(series.columns(result, "*")) == len(result.names())


def test_sources_of_elements_without_a_name_are_expressions(result):
    found = series.sources(result, series.columns(result, ["wall.T", "C.v", "sink.m_flow"]))
    assert found.kind.tolist() == [0] * 5 + [2] * 3 + [0]
    assert found.index.tolist() == [0, 1, 2, 3, 4, -1, -1, -1, 14]
    assert found.sign.tolist() == [1] * 8 + [-1]


def test_many_sources_are_asked_for_at_once(result):
    class Bulk(type(result)):
        def source(self, name):
            raise AssertionError("one by one")

        def sources(self, names):
            return series.Sources(np.zeros(len(names), np.int8), np.arange(len(names)), np.ones(len(names), np.int8))

    assert series.sources(Bulk(), series.columns(result, None)).index[-1] == len(result.names()) - 1


def test_a_misspelt_name_is_not_taken_for_an_expression(result):
    with pytest.raises(NameNotFound):
        series.sources(result, [Column("wall.U", "wall.U")])


def test_slices_become_the_names_of_their_elements(result):
    assert [column.label for column in series.columns(result, ["C[1:].v", "R.R"])] == ["C[1].v", "C[2].v", "R.R"]


def test_everything_of_a_partly_stored_run_is_what_was_stored(result):
    class Partial(type(result)):
        partial = True

        def source(self, name):
            if name.startswith("C"):
                raise ModelError(f"`{name}` was not stored in this run.")
            return super().source(name)

        def __getitem__(self, name):
            if name == "heater.level":
                raise NameNotFound("It needs `C[0].v`, which was not stored.")
            return super().__getitem__(name)

    kept = series.expand(Partial(), None)
    assert set(result.names()) - set(kept) == {f"C[{i}].{name}" for i in range(3) for name in ("v", "p.i")} | {"heater.level"}
    with pytest.raises(ModelError, match="was not stored"):
        series.sources(Partial(), [Column("C[0].v", "C[0].v")])


def test_paths_are_split_outside_brackets():
    assert series.split_path("tubes[2].wall.T[1,-3:]") == [("tubes", "2"), ("wall", ""), ("T", "1,-3:")]
    assert series.join_path(series.split_path("tubes[2].wall.T[1,-3:]")) == "tubes[2].wall.T[1,-3:]"


def test_nothing_heavy_is_imported_with_the_package():
    heavy = "{'scipy', 'pandas', 'matplotlib', 'pyarrow', 'h5py', 'pint'}"
    modules = "acausal.results.plot, acausal.results.tabular, acausal.results.mat, acausal.results.store"
    program = f"import sys, {modules}; assert not {heavy} & set(sys.modules), {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, env={"PYTHONPATH": ":".join(sys.path)})
