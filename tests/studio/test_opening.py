"""What the page is made of, when the plant stands in another file than the one that was named."""

from __future__ import annotations

from pathlib import Path

from acausal.studio.opening import opened

BODY = """
import acausal as ac

class BodyElsewhere(ac.Component):
    T = ac.Variable(start=300.0, fixed=True, unit="K")
    def equations(self):
        yield ac.der(self.T) * 60 == 280 - self.T

__studio__ = {"until": "1 h"}
"""
SCRIPT = "import acausal as ac\nfrom body_elsewhere import BodyElsewhere\n"


def test_a_script_says_how_its_plant_is_shown_and_does_not_write_it(tmp_path: Path) -> None:
    """`__studio__` of the named file counts first. Only classes that stand in that file can be drawn in it."""
    (tmp_path / "body_elsewhere.py").write_text(BODY)
    (tmp_path / "script.py").write_text(f'{SCRIPT}__studio__ = {{"until": "5 min", "plots": [["T"]]}}\n')
    found = opened(str(tmp_path / "script.py"), {}, 1)
    assert (found.page.title, found.page.until, found.page.plots) == ("BodyElsewhere", 300.0, [["T"]])
    assert found.page.written == []
    (tmp_path / "silent.py").write_text(SCRIPT)
    assert opened(str(tmp_path / "silent.py"), {}, 1).page.until == 3600.0
    assert opened(str(tmp_path / "body_elsewhere.py"), {}, 1).page.written == ["BodyElsewhere"]
