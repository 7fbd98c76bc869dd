"""What the built page was made from: `python studio/stamp.py --write` after a build; tests compare. No Node is needed for it."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
STAMP = HERE.parent / "src" / "acausal" / "studio" / "static" / "built-from.txt"


def sources() -> str:
    """A hash of everything that goes into the build."""
    files = [*sorted((HERE / "src").rglob("*")), *sorted((HERE / "public").rglob("*"))]
    files += [HERE / name for name in ("index.html", "package.json", "package-lock.json", "vite.config.ts", "vite.notebook.config.ts", "tsconfig.json")]
    found = hashlib.sha256()
    for file in (f for f in files if f.is_file()):
        found.update(f"{file.relative_to(HERE).as_posix()}\n".encode() + file.read_bytes().replace(b"\r\n", b"\n"))
    return found.hexdigest()


if __name__ == "__main__":
    if "--write" in sys.argv:
        STAMP.write_text(sources() + "\n", encoding="utf-8")
    sys.exit(STAMP.read_text(encoding="utf-8").strip() != sources())
