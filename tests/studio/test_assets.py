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
    """From the sources alone, with packages of the lock file; where there is no Node, or no registry, the hash above has to do."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None or _version(node) < (20, 19):
        pytest.skip("Node 20.19 or later is not here: `make studio` rebuilds the page where it is")
    here, built = tmp_path / "studio", tmp_path / "built"
    shutil.copytree(ROOT / "studio", here, ignore=shutil.ignore_patterns("node_modules"))
    if (ROOT / "studio" / "node_modules").is_dir():
        (here / "node_modules").symlink_to(ROOT / "studio" / "node_modules")
    elif not _installed(here):
        pytest.skip("the packages of the page could not be fetched")
    for options in (["--emptyOutDir"], ["--config", "vite.notebook.config.ts"]):
        command = ["npx", "--no-install", "vite", "build", "--outDir", str(built), *options]
        subprocess.run(command, cwd=here, check=True, capture_output=True)
    names = {f.relative_to(built) for f in built.rglob("*") if f.is_file()}
    assert names == {f.relative_to(STATIC) for f in STATIC.rglob("*") if f.is_file()} - {Path("built-from.txt")}
    for name in names:
        assert (built / name).read_bytes() == (STATIC / name).read_bytes(), f"{name} is not what its sources give: make studio"


def _version(node: str) -> tuple[int, ...]:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in said.strip().lstrip("v").split(".")[:2] if part.isdigit())


def _installed(folder: Path) -> bool:
    try:
        done = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund"], cwd=folder, capture_output=True, timeout=120, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
