"""Right-hand sides in compiled libraries: C and Fortran, with parameters, events, derivatives; against closed forms."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac

C = r"""
#include <math.h>
void decay(double t, const double *y, double *dy) { dy[0] = -2.0 * y[0]; }

void robertson(double t, const double *y, const double *k, double *dy) {
    dy[0] = -k[0] * y[0] + k[1] * y[1] * y[2];
    dy[2] = k[2] * y[1] * y[1];
    dy[1] = -dy[0] - dy[2];
}
int jacobians = 0;
void robertson_jacobian(double t, const double *y, const double *k, double *J) {
    jacobians++;
    J[0] = -k[0];               J[1] = k[0];                                J[2] = 0.0;
    J[3] = k[1] * y[2];         J[4] = -k[1] * y[2] - 2.0 * k[2] * y[1];    J[5] = 2.0 * k[2] * y[1];
    J[6] = k[1] * y[1];         J[7] = -k[1] * y[1];                        J[8] = 0.0;
}

void ball(double t, const double *y, const double *p, double *dy) { dy[0] = y[1]; dy[1] = -p[0]; }
void height(double t, const double *y, const double *p, double *out) { out[0] = y[0]; }
void rebound(double t, const double *y, const double *p, double *after) { after[0] = 0.0; after[1] = -p[1] * y[1]; }
void wrong(double t, const double *y, double *dy) { dy[0] = sqrt(0.5 - t); }
"""
FORTRAN = """
subroutine oscillate(t, y, p, dy)
  double precision t, y(2), p(1), dy(2)
  dy(1) = y(2)
  dy(2) = -p(1)**2 * y(1) + 0.0d0 * t
end subroutine
"""


def built(folder: Path, compiler: str, name: str, text: str) -> Path:
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler} on this machine")
    source, library = folder / name, folder / f"{name}.so"
    source.write_text(text)
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(source), "-lm"], check=True, capture_output=True)
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return ctypes.CDLL(str(built(tmp_path_factory.mktemp("c"), "gcc", "models.c", C)))


def test_a_right_hand_side_without_parameters(library: ctypes.CDLL):
    result = ac.compile(ac.foreign(library.decay, y={"n": 3.0})).simulate(until=1.0, rtol=1e-9)
    assert result["n"][-1] == pytest.approx(3.0 * math.exp(-2.0), rel=1e-7)


def test_stiff_kinetics_with_parameters_agree_with_the_same_in_python(library: ctypes.CDLL):
    def python(dy, y, p):
        first, last = -p.k1 * y.a + p.k2 * y.b * y.c, p.k3 * y.b**2
        yield from (dy.a == first, dy.b == -first - last, dy.c == last)

    y, p = {"a": 1.0, "b": 0.0, "c": 0.0}, {"k1": 0.04, "k2": 1e4, "k3": 3e7}
    runs = [ac.compile(m).simulate(until=1e4, rtol=1e-9, atol=1e-13) for m in (
        ac.foreign(library.robertson, y=y, p=p), ac.plain(python, y=y, p=p),
    )]  # fmt: skip
    for name in y:
        np.testing.assert_allclose(runs[0][name][-1], runs[1][name][-1], rtol=1e-5)
    assert runs[0]["a"][-1] + runs[0]["b"][-1] + runs[0]["c"][-1] == pytest.approx(1.0, abs=1e-9)


def test_derivatives_of_the_library_are_used_and_parameters_change_without_a_compiler(library: ctypes.CDLL):
    calls = ctypes.c_int.in_dll(library, "jacobians")
    model = ac.compile(
        ac.foreign(
            library.robertson,
            jacobian=library.robertson_jacobian,
            y={"a": 1.0, "b": 0.0, "c": 0.0},
            p={"k1": 0.04, "k2": 1e4, "k3": 3e7},
        )
    )
    before = calls.value
    slow = model.simulate(until=40.0, rtol=1e-8, atol=1e-12)
    assert calls.value > before
    assert slow["a"][-1] == pytest.approx(0.7158270688, rel=1e-5)  # Hairer & Wanner II, IV.10: y(40)
    assert model.simulate(until=40.0, set={"k1": 0.0})["a"][-1] == 1.0
    point = model.linearise()
    assert np.isfinite(np.asarray(point.A)).all()


def test_events_of_the_library_switch_its_states(library: ctypes.CDLL):
    model = ac.compile(
        ac.foreign(
            library.ball,
            y={"h": 1.0, "v": 0.0},
            p={"g": 9.81, "restitution": 0.8},
            events={"bounce": (library.height, library.rebound)},
        )
    )
    result = model.simulate(until=1.5, rtol=1e-9)
    first = math.sqrt(2.0 / 9.81)
    times = [first, first + 2 * 0.8 * first]
    assert [event.time for event in result.events][:2] == pytest.approx(times, rel=1e-7)
    assert "test_foreign.py" in str(result.events) and " foreign.py" not in str(result.events)  # the place is the user's
    t = 1.5 - times[1]
    v = 0.8**2 * 9.81 * first
    assert result["h"][-1] == pytest.approx(v * t - 9.81 * t**2 / 2, rel=1e-6)


def test_an_event_without_a_reset_ends_the_run(library: ctypes.CDLL):
    ball = ac.foreign(library.ball, y=[1.0, 0.0], p=[9.81, 0.8], events={"ground": library.height})
    result = ac.compile(ball).simulate(until=5.0, rtol=1e-9)
    assert result.time_reached == pytest.approx(math.sqrt(2.0 / 9.81), rel=1e-7) and result.outcome.ok
    assert "`ground` of the library fell to zero" in str(result.outcome.value) + " ".join(str(d) for d in result.diagnostics)


def test_a_fortran_subroutine(tmp_path: Path):
    library = built(tmp_path, "gfortran", "oscillate.f90", FORTRAN)
    model = ac.compile(ac.foreign((library, "oscillate_"), y={"x": 1.0, "v": 0.0}, p={"omega": 3.0}, by_reference=True))
    result = model.simulate(until=2.0, rtol=1e-9)
    np.testing.assert_allclose(result["x"], np.cos(3.0 * result.time), atol=1e-6)


def test_what_cannot_be_computed_names_function_and_arguments(library: ctypes.CDLL):
    with pytest.warns(ac.RunWarning):
        result = ac.compile(ac.foreign(library.wrong, y={"x": 0.0})).simulate(until=1.0)
    said = "\n".join(str(d) for d in result.diagnostics)
    assert not result.outcome and "wrong" in said and result.time_reached == pytest.approx(0.5, abs=1e-2)


def test_misuse_is_told(library: ctypes.CDLL, tmp_path: Path):
    with pytest.raises(ac.UsageError, match="at least one state"):
        ac.foreign(library.decay, y={})
    with pytest.raises(ac.UsageError, match="Expected a C function, got 'decay'"):
        ac.foreign("decay", y={"n": 1.0})
    with pytest.raises(ac.UsageError, match="cannot be loaded"):
        ac.foreign((tmp_path / "none.so", "decay"), y={"n": 1.0})
    with pytest.raises(ac.UsageError, match="`y` takes quantities by name or a sequence of numbers, got"):
        ac.foreign(library.decay, y=1.0)  # type: ignore[arg-type]
    with pytest.raises(ac.UsageError, match="`events` takes functions of the library by name"):
        ac.foreign(library.decay, y=[1.0], events=[library.decay])  # type: ignore[arg-type]
    with pytest.raises(ac.UsageError, match="`n` is among `y` and `p`"):
        ac.foreign(library.decay, y={"n": 1.0}, p={"n": 1.0})


def test_a_model_goes_to_another_process_by_the_name_of_its_library(library: ctypes.CDLL):
    import pickle

    y, p = {"a": 1.0, "b": 0.0, "c": 0.0}, {"k1": 0.04, "k2": 1e4, "k3": 3e7}
    named = [(library._name, symbol) for symbol in ("robertson", "robertson_jacobian")]
    model = ac.compile(ac.foreign(named[0], jacobian=named[1], y=y, p=p))
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.simulate(until=40.0)["a"] == model.simulate(until=40.0)["a"]).all()
    with pytest.raises(ac.UsageError, match="known by an address"):
        pickle.dumps(ac.compile(ac.foreign(library.decay, y={"n": 1.0})))


def test_what_determines_a_state_is_at_the_line_of_the_user(library: ctypes.CDLL):
    told = str(ac.compile(ac.foreign(library.decay, y={"n": 1.0})).explain("n"))
    assert "dn/dt of decay" in told and "test_foreign.py" in told


def test_the_guide_shows_what_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    guide = (
        (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8").split("### From a library in C or Fortran")[1]
    )
    text, program = (guide.split(f"```{language}\n")[1].split("```")[0] for language in ("c", "python"))
    shutil.copy(built(tmp_path, "gcc", "ball.c", text), tmp_path / "ball.so")
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(program, found)
    assert len(found["slower"].events) < len(found["result"].events)
