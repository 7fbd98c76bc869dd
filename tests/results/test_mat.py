from __future__ import annotations

import numpy as np
import pytest

from acausal.container import FileError
from acausal.errors import NameNotFound
from acausal.results import mat


@pytest.fixture
def path(result, tmp_path):
    mat.write_mat(result, tmp_path / "wall.mat")
    return tmp_path / "wall.mat"


def texts(letters):
    """Names as any reader of the format takes them: one a column, UTF-8 that scipy took for Latin-1."""
    return ["".join(column).rstrip().encode("latin-1").decode() for column in letters.T]


def test_scipy_reads_every_value(result, path):
    """A second reader of MATLAB 4 files, with the rules of the format applied by hand."""
    loadmat = pytest.importorskip("scipy.io").loadmat
    found = loadmat(path, chars_as_strings=False)
    assert ["".join(row).strip() for row in found["Aclass"]] == ["Atrajectory", "1.1", "", "binTrans"]
    names = texts(found["name"])
    assert names == ["time", *result.names()]
    assert found["dataInfo"].shape == (4, len(names))
    assert found["dataInfo"].dtype == np.int32
    np.testing.assert_array_equal(found["dataInfo"][:, 0], [0, 1, 0, -1])
    for name, (block, row, _, _) in zip(names[1:], found["dataInfo"].T[1:], strict=True):
        values = np.sign(row) * found[f"data_{block}"][abs(row) - 1]
        expected = result[name] if block == 2 else result[name][[0, -1]]
        np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(found["data_2"][0], result.time)
    np.testing.assert_array_equal(found["data_1"][0], result.time[[0, -1]])


def test_aliases_share_a_row_and_parameters_are_constants(result, path):
    loadmat = pytest.importorskip("scipy.io").loadmat
    found = loadmat(path, chars_as_strings=False)
    info = dict(zip(texts(found["name"]), found["dataInfo"].T.tolist(), strict=True))
    assert info["pump.m_flow"] == info["pump.inlet.m_flow"]
    assert info["sink.m_flow"][:2] == [2, -info["pump.m_flow"][1]]
    assert info["R.R"] == info["Größe.R"]
    assert info["R.R"][0] == 1
    assert found["data_1"].shape == (3, 2)
    assert found["data_2"].shape == (1 + result.data.shape[1] + 2, len(result.time))


def test_our_own_reader_gives_everything_back(result, path):
    again = mat.read_mat(path)
    assert again.names() == result.names()
    np.testing.assert_array_equal(again.time, result.time)
    for name in result.names():
        np.testing.assert_array_equal(again[name], result[name])
        assert again.unit(name) == result.unit(name) or (again.unit(name), result.unit(name)) == ("1", "")
        assert again.description(name) == result.description(name)
    assert again.source("sink.m_flow")[2] == -again.source("pump.m_flow")[2]
    assert again.in_unit("ambient.T", "degC")[0] == pytest.approx(20.0)


def test_what_was_read_can_be_written_again(path, tmp_path):
    mat.write_mat(mat.read_mat(path), tmp_path / "again.mat")
    first, second = mat.read_mat(path), mat.read_mat(tmp_path / "again.mat")
    for name in first.names():
        np.testing.assert_array_equal(first[name], second[name])


def test_only_the_columns_asked_for_are_written(result, tmp_path, monkeypatch):
    monkeypatch.setattr(mat, "CHUNK_BYTES", 100)  # several pieces
    mat.write_mat(result, tmp_path / "few.mat", ["C.v", "wall.T", "sink.m_flow", "heater.*"])
    again = mat.read_mat(tmp_path / "few.mat")
    assert again.data.shape == (len(result.time), 3 + 5 + 1 + 2)
    np.testing.assert_array_equal(again["C.v[2]"], result["C[2].v"])
    np.testing.assert_array_equal(again["sink.m_flow"], result["sink.m_flow"])
    np.testing.assert_array_equal(again["heater.level"], result["heater.level"])


def test_the_normal_form_and_big_endian_are_read(tmp_path):
    """Dymola's `save as` transposes everything; built here with scipy and by hand."""
    scipy_io = pytest.importorskip("scipy.io")
    letters = {
        "Aclass": ["Atrajectory", "1.1", "", "binNormal"],
        "name": ["time", "x", "y"],
        "description": ["", "place [m|mm]", ""],
    }
    contents = {key: np.array([text.ljust(12) for text in rows]) for key, rows in letters.items()}
    contents["dataInfo"] = np.array([[0, 1, 0, -1], [2, 2, 0, -1], [2, -2, 0, -1]], dtype=np.int32)
    contents["data_1"] = np.array([[0.0], [2.0]])
    contents["data_2"] = np.array([[0.0, 5.0], [1.0, 6.0], [2.0, 7.0]])
    scipy_io.savemat(tmp_path / "normal.mat", contents, format="4")
    found = mat.read_mat(tmp_path / "normal.mat")
    np.testing.assert_array_equal(found["y"], [-5.0, -6.0, -7.0])
    assert (found.unit("x"), found.description("x")) == ("m", "place")


@pytest.mark.parametrize("reader", ["DyMat", "sdf"])
def test_other_programs_read_it(result, path, reader):
    module = pytest.importorskip(reader)
    if reader == "DyMat":
        file = module.DyMatFile(str(path))
        np.testing.assert_array_equal(file["sink.m_flow"], result["sink.m_flow"])
        np.testing.assert_array_equal(file["heater.Q_flow"], result["heater.Q_flow"])
        np.testing.assert_array_equal(file.abscissa("pump.m_flow", valuesOnly=True), result.time)
        assert ("sink.m_flow", -1) in file.sharedData("pump.m_flow")
    else:
        flow = module.load(str(path), "/sink/m_flow")
        np.testing.assert_array_equal(flow.data, result["sink.m_flow"])
        assert flow.unit == "kg/s"


def test_wrong_and_truncated_files(result, path, tmp_path):
    contents = path.read_bytes()
    cut = tmp_path / "cut.mat"
    for length in (5, 50, 400, len(contents) - 1):
        cut.write_bytes(contents[:length])
        with pytest.raises(FileError, match=r"cut\.mat"):
            mat.read_mat(cut)
    (tmp_path / "text.mat").write_text("MATLAB 5.0 MAT-file, Platform: GLNXA64" * 20)
    with pytest.raises(FileError, match="not a trajectory file"):
        mat.read_mat(tmp_path / "text.mat")
    with pytest.raises(FileError, match="cannot be read: No such file"):
        mat.read_mat(tmp_path / "none.mat")
    with pytest.raises(NameNotFound, match=r"wall\.t\[0\](.|\n)*Did you mean"):
        mat.read_mat(path)["wall.t[0]"]


def test_a_folder_cannot_be_written(result, tmp_path):
    with pytest.raises(FileError, match="it is a folder"):
        mat.write_mat(result, tmp_path)
