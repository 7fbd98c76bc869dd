"""The pictures of the gallery: runs each example, and keeps the first picture that it draws, small, in docs/images/examples.

python scripts/pictures.py            all of them
python scripts/pictures.py house      some of them
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "docs" / "images" / "examples"
WIDE, COLOURS, PATIENCE = 900, 64, 300.0  # pixels, colours, seconds


def main(names: list[str]) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    for file in sorted((ROOT / "examples").glob("*.py")):
        if not names or file.stem in names:
            print(f"{file.stem}: {drawn(file)}", flush=True)


def drawn(file: Path) -> str:
    """Run one example in an empty folder, and say what it drew."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(file)]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return "took too long"
        pictures = sorted(Path(folder).glob("*.png"), key=lambda p: p.stat().st_mtime_ns)
        if done.returncode or not pictures:
            return f"no picture {done.stderr.strip()[-300:]}".strip()
        keep(pictures[0], KEPT / f"{file.stem}.png")
        return pictures[0].name


def keep(picture: Path, target: Path) -> None:
    from PIL import Image

    with Image.open(picture) as image:
        small = image.convert("RGB")
        small.thumbnail((WIDE, 4 * WIDE))
        small.quantize(COLOURS).save(target, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
