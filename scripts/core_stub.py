"""Writes `src/acausal/_core.pyi` from the native core that is installed: to be run after a change of what `native/` offers Python.

What each thing is for stands in `native/`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from acausal import _core

TARGET = Path(__file__).parents[1] / "src" / "acausal" / "_core.pyi"


def _with_arguments(found: re.Match[str]) -> str:
    return {"tuple": "tuple[Any, ...]", "dict": "dict[str, Any]", "list": "list[Any]"}[found.group()]


def main() -> None:
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-D", "-m", "acausal._core", "-o", str(TARGET)], check=True)
    text = re.sub(r"Annotated\[(NDArray\[numpy\.\w+\]), dict\(.*?\)\]", r"\1", TARGET.read_text())
    text = text.replace("from typing import Annotated\n", "").replace("from acausal._core import status as status\n", "")
    text = re.sub(r"\b(tuple|dict|list)\b(?!\[)", _with_arguments, text).replace(
        "import numpy\n", "from typing import Any\n\nimport numpy\n", 1
    )
    names = [name for name in dir(_core.status) if not name.startswith("_")]
    text += "\nclass status:\n" + "".join(f"    {name}: int\n" for name in names)
    TARGET.write_text(text)
    subprocess.run([sys.executable, "-m", "ruff", "check", "-q", "--fix", str(TARGET)], check=False)
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", str(TARGET)], check=True)


if __name__ == "__main__":
    main()
