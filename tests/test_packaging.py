"""One version number, bounds on what is needed, and files that a project has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import acausal as ac

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_there_is_one_version_number():
    assert "version" in PROJECT["project"]["dynamic"] and "version" not in PROJECT["project"]
    assert PROJECT["tool"]["scikit-build"]["metadata"]["version"]["input"] == "src/acausal/__init__.py"
    assert f"version: {ac.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_dependencies_say_what_they_need():
    assert [d for d in PROJECT["project"]["dependencies"] if not re.fullmatch(r"[\w-]+>=[\d.]+", d)] == []


def test_a_wheel_without_its_core_fails_to_build():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert "set(gravity FATAL_ERROR)" in text and "message(WARNING" not in text
    assert PROJECT["tool"]["cibuildwheel"]["config-settings"]["cmake.define.ACAUSAL_BUNDLED"] == "ON"


@pytest.mark.parametrize(
    "name", ["LICENSE", "CITATION.cff", "SECURITY.md", "CONTRIBUTING.md", ".pre-commit-config.yaml", "mkdocs.yml"]
)
def test_the_project_has_its_files(name):
    assert (ROOT / name).stat().st_size > 100


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path, monkeypatch):
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    import subprocess
    import sys

    command = [sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "-d", str(tmp_path / "site")]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    text = (tmp_path / "site" / "components.html").read_text(encoding="utf-8")
    assert "HeatCapacitor" in text and "heat capacity" in text
    assert "ac.compare" in (tmp_path / "site" / "reference.html").read_text(encoding="utf-8")
    for page in (tmp_path / "site").rglob("*.html"):  # nothing is fetched from elsewhere
        assert not re.search(r'<(script|link|img|iframe)[^>]* (src|href)="?https?://', page.read_text(encoding="utf-8")), page.name
