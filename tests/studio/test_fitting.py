"""Fits from a form: files with data, what was found, and what is told when it cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the studio's server is an extra: pip install acausal[studio]")

from acausal.errors import ModelError
from acausal.studio.data import Data

from .conftest import opened, ready

COOLING = """
import acausal as ac

class Body(ac.Component):
    k = ac.Parameter(0.3, min=0.0, doc="rate")
    T_out = ac.Input(20.0)
    T = ac.Variable(start=100.0, fixed=True)
    def equations(self):
        yield ac.der(self.T) == -self.k * (self.T - self.T_out)

__studio__ = {"until": 10}
"""


def data() -> str:
    t = np.linspace(0.0, 10.0, 41)
    return "time,T\n" + "".join(f"{a:.3f},{20 + 80 * np.exp(-0.5 * a):.6f}\n" for a in t)


def test_a_fit_finds_what_the_data_were_made_with_and_a_wrong_one_is_told(new_studio: Any) -> None:
    server = new_studio(COOLING, name="body.py")
    with opened(server) as page:
        ready(page)
        file = page.ask("upload", name="cooling.csv", text=data())["answer"]
        assert file["columns"] == ["time", "T"] and file in page.ask("files")["answer"]
        asked = page.ask("fit", case={"name": ""}, file=file["path"], free={"k": [0.01, 5.0]})
        fit = page.wait("fit", lambda f: f["id"] == asked["answer"]["id"] and f["state"] != "running")
        (row,) = fit["rows"]
        assert fit["state"] == "finished" and row["path"] == "k" and row["before"] == 0.3
        assert row["value"] == pytest.approx(0.5, rel=1e-4) and (row["low"], row["high"]) == (0.01, 5.0)
        (curve,) = fit["curves"]
        assert curve["name"] == "T" and np.allclose(curve["measured"], curve["computed"], atol=1e-2)
        assert page.ask("fit", case={"name": ""}, file="/etc/passwd", free={"k": [0.0, 1.0]})["refused"]
        asked = page.ask("fit", case={"name": ""}, file=file["path"], free={"q": [0.0, 1.0]})
        failed = page.wait("fit", lambda f: f["id"] == asked["answer"]["id"] and f["state"] != "running")
        assert failed["state"] == "failed" and "q" in failed["problems"][0]["what"]


@pytest.mark.parametrize("name", ["../x.csv", "x.txt", ".csv", "a/b.csv", "x.csv\n", "-x.csv", ""])
def test_only_names_of_files_are_taken(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match="cannot be the name"):
        Data(None, tmp_path / "uploads").upload(name, "time\n0\n")
    assert not (tmp_path / "uploads").exists()


def test_files_beside_the_model_are_offered_with_their_columns(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "w.csv").write_text("# weather\n\ntime;T [degC]\n0;1\n")
    (tmp_path / "empty.csv").write_text("")
    assert [(f.name, f.columns) for f in Data(tmp_path, tmp_path / "u").files()] == [
        ("empty.csv", []),
        ("w.csv", ["time", "T [degC]"]),
    ]
