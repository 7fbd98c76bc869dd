"""Functions with several results: one evaluation, whoever asks for which part of it."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess

import numpy as np
import pytest

import acausal as ac

CODE = r"""
#include <math.h>
#ifdef __cplusplus
extern "C" {
#endif
static long count = 0;
long calls(void) { return count; }
/* e^(k x) cos y and e^(k x) sin y, k = *data */
void plain(const void *data, const double *x, double *r) {
    double k = *(const double *)data, e = exp(k * x[0]);
    ++count; r[0] = e * cos(x[1]); r[1] = e * sin(x[1]);
}
void with_slopes(const void *data, const double *x, double *r) {
    double k = *(const double *)data;
    plain(data, x, r);
    r[2] = k * r[0]; r[3] = k * r[1]; r[4] = -r[1]; r[5] = r[0];
    r[6] = k * k * r[0]; r[7] = k * k * r[1]; r[8] = -k * r[1]; r[9] = k * r[0]; r[10] = -r[0]; r[11] = -r[1];
}
/* as Fortran passes things */
void polar_(const double *x, const double *y, double *r, double *phi) {
    ++count; *r = sqrt(*x * *x + *y * *y); *phi = atan2(*y, *x);
}
#ifdef __cplusplus
}
#endif
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("several")
    (folder / "several.c").write_text(CODE)
    path = folder / "several.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", str(folder / "several.c"), "-o", str(path), "-lm"], check=True)
    return str(path)


def spiral(library, symbol, order):
    return ac.several((library, symbol), ("x", "y"), ("a", "b"), order=order, data=np.array([0.5]))


@pytest.mark.parametrize(("symbol", "order", "error"), [("plain", 0, 1e-7), ("with_slopes", 2, 1e-12)])
def test_values_and_derivatives(library, symbol, order, error):
    f = spiral(library, symbol, order)
    a, b = f(0.3, 0.7)
    assert (a, b) == pytest.approx((math.exp(0.15) * math.cos(0.7), math.exp(0.15) * math.sin(0.7)))
    assert f(np.array([0.3, 0.4]), 0.7)[0].shape == (2,)

    class Point(ac.Component):
        x = ac.Variable(start=0.3)
        y = ac.Variable(start=0.7)

        def equations(self):
            a, b = f(self.x, self.y)
            yield a == 1.2 + 0.1 * ac.time
            yield b == 0.4

    result = ac.compile(Point()).simulate(until=1.0)
    radius = np.hypot(1.2 + 0.1 * result.time, 0.4)
    np.testing.assert_allclose(result["x"], 2 * np.log(radius), rtol=1e-6)
    np.testing.assert_allclose(result["y"], np.arctan2(0.4, 1.2 + 0.1 * result.time), rtol=1e-6)


def test_a_differential_equation_with_several_results(library):
    f = spiral(library, "with_slopes", 2)

    class Flow(ac.Component):
        x = ac.Variable(start=0.1)
        y = ac.Variable(start=0.2)
        speed = ac.Variable()

        def equations(self):
            a, b = f(self.x, self.y)
            yield ac.der(self.x) == a
            yield ac.der(self.y) == -b
            yield self.speed == ac.sqrt(a * a + b * b)

    result = ac.compile(Flow()).simulate(until=0.5, rtol=1e-9)
    assert result.outcome.name == "FINISHED"
    np.testing.assert_allclose(result["speed"], np.exp(0.5 * result["x"]), rtol=1e-8)
    # dy/dx = -tan y, so that sin(y) e^x stays what it was
    np.testing.assert_allclose(np.sin(result["y"]) * np.exp(result["x"]), np.sin(0.2) * np.exp(0.1), rtol=1e-6)


def test_results_by_reference(library):
    polar = ac.several((library, "polar_"), ("x", "y"), ("r", "phi"), by_reference=True)
    assert polar(3.0, 4.0) == pytest.approx((5.0, math.atan2(4.0, 3.0)))

    class Point(ac.Component):
        x = ac.Variable(start=3.0)
        y = ac.Variable(start=4.0)

        def equations(self):
            r, phi = polar(self.x, self.y)
            yield r == 5.0
            yield phi == 0.5 + ac.time

    result = ac.compile(Point()).simulate(until=1.0, rtol=1e-8)
    np.testing.assert_allclose(result["x"], 5.0 * np.cos(0.5 + result.time), atol=1e-6)


def test_index_reduction_goes_through_several_results(library):
    """A pendulum in polar coordinates made of a function: two constraints that must be differentiated twice."""
    f = spiral(library, "with_slopes", 2)

    class Moved(ac.Component):
        x = ac.Variable(start=0.3)
        y = ac.Variable(start=0.7)
        v = ac.Variable()

        def equations(self):
            a, b = f(self.x, self.y)
            yield a == 1.2 + 0.1 * ac.time
            yield b == 0.4
            yield self.v == ac.der(self.y)

    result = ac.compile(Moved()).simulate(until=1.0)
    a = 1.2 + 0.1 * result.time
    np.testing.assert_allclose(result["v"], -0.1 * 0.4 / (a * a + 0.16), rtol=1e-6)


def test_python_functions_with_several_results():
    calls = []

    def both(x):
        calls.append(x)
        return x * x, x**3

    f = ac.several(both, results=("square", "cube"))
    assert f(2.0) == (4.0, 8.0)

    class Fall(ac.Component):
        x = ac.Variable(start=1.0)
        z = ac.Variable(start=1.0)

        def equations(self):
            square, cube = f(self.x)
            yield ac.der(self.x) == -square
            yield ac.der(self.z) == -cube

    result = ac.compile(Fall()).simulate(until=1.0, rtol=1e-8)
    assert result["x"][-1] == pytest.approx(0.5, rel=1e-6)
    assert result["z"][-1] == pytest.approx(1.0 - 0.5 * (1 - 0.25), rel=1e-6)


def test_an_exception_inside_ends_the_run_and_is_kept():
    def both(x):
        if x < 0.7:
            raise RuntimeError("too small")
        return x, x

    f = ac.several(both, results=("one", "two"))

    class Fall(ac.Component):
        x = ac.Variable(start=1.0)

        def equations(self):
            one, two = f(self.x)
            yield ac.der(self.x) == -one - two

    result = ac.compile(Fall()).simulate(until=1.0, on_failure="keep")
    assert result.outcome.name != "FINISHED"
    assert "`both(0." in str(f.failure) and "too small" in str(f.failure)


def test_limits_are_named_when_they_are_passed():
    f = ac.several(lambda T: (T * T, T), results=("a", "b"), units=("K", "", "K"), limits={"T": (200.0, 400.0)}, name="oil")

    class Heated(ac.Component):
        T = ac.Variable(start=390.0, unit="K")

        def equations(self):
            yield ac.der(self.T) == 1e-4 * f(self.T)[0]

    result = ac.compile(Heated()).simulate(until=10.0, on_failure="keep")
    assert result.outcome.name != "FINISHED"
    assert "`oil` holds for T = 200 … 400 K" in str(result.diagnostics[0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ac.several(lambda x: (x,), results=()), "need a name each"),
        (lambda: ac.several(lambda x: (x,), results=("a", "a")), "need a name each"),
        (lambda: ac.several(lambda x: (x,), results=("a",), order=3), "order 0, 1 or 2"),
        (lambda: ac.several(lambda x: (x,), results=("a",), units=("K",)), "1 arguments and 1 results, but 1 units"),
        (lambda: ac.several(lambda x: (x,), results=("a",), limits={"y": (0, 1)}), "no argument `y`"),
        (lambda: ac.several(lambda x: (x, x), results=("a",))(1.0), "must return 1 number"),
        (lambda: ac.several(lambda x: (x,), results=("a",))(1.0, 2.0), r"takes 1 argument\(s\) \(x\), got 2"),
        (lambda: ac.several(17.5, results=("a",)), "Which arguments"),
        (lambda: ac.several("nothing", ("x",), ("a",)), "Expected a C function"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ac.ModelError, match=message):
        make()


def test_python_sees_a_ctypes_function():
    pointer = ctypes.POINTER(ctypes.c_double)

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, pointer, pointer)
    def twice(data, x, r):
        r[0], r[1] = 2 * x[0], 3 * x[0]

    assert ac.several(twice, ("x",), ("double", "triple"))(1.5) == (3.0, 4.5)
