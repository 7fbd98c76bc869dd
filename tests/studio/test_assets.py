"""The page that the wheel carries is the one that its sources give."""

from __future__ import annotations

import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src" / "acausal" / "studio" / "static"


def test_the_built_page_is_that_of_the_sources() -> None:
    found = runpy.run_path(str(ROOT / "studio" / "stamp.py"))
    assert (STATIC / "built-from.txt").read_text().strip() == found["sources"](), "run: make studio"


def test_the_page_refers_to_nothing_outside() -> None:
    text = (STATIC / "index.html").read_text()
    assert "http" not in text.replace("http-equiv", "") and './assets/index.js"' in text


def test_the_lock_file_names_no_registry() -> None:
    text = (ROOT / "studio" / "package-lock.json").read_text()
    assert '"resolved"' not in text and '"integrity"' in text


@pytest.mark.slow
def test_a_rebuild_gives_the_same_page(tmp_path: Path) -> None:
    if shutil.which("npm") is None or not (ROOT / "studio" / "node_modules").is_dir():
        pytest.skip("Node's packages are not installed: `make studio` does it where Node is")
    for options in (["--emptyOutDir"], ["--config", "vite.notebook.config.ts"]):
        command = ["npx", "vite", "build", "--outDir", str(tmp_path), *options]
        subprocess.run(command, cwd=ROOT / "studio", check=True, capture_output=True)
    for file in (f for f in tmp_path.rglob("*") if f.is_file()):
        assert file.read_bytes() == (STATIC / file.relative_to(tmp_path)).read_bytes(), file.name
