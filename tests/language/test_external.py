"""User functions: traced ones leave plain expressions, opaque and C functions agree with numpy in value and derivative."""

import copy
import ctypes
import ctypes.util
import math
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acausal.errors import UsageError
from acausal.families.differentiate import gradient
from acausal.kernels.interpret import evaluate
from acausal.language.expression import Call, Slot, walk
from acausal.language.external import ExternalFunction, external, function
from acausal.language.functions import cos, exp

relaxed = settings(deadline=None, max_examples=50)
X, Y = Slot(0, "variable"), Slot(1, "variable")
NUMBER = st.floats(0.1, 10.0)
LIBM = ctypes.util.find_library("m")


def value(expression, x=0.0, y=0.0):
    return float(evaluate([expression], {X: x, Y: y}.__getitem__)[0])


def slope(expression, by=X, **at):
    return value(gradient(expression, [by])[by], **at)


def called(expression):
    return {n.function for n in walk(expression) if isinstance(n, Call)}


def by_address(f, *args):
    """Called as compiled code would."""
    pointers = [ctypes.c_void_p] if f.data_address else []
    data = [f.data_address] if f.data_address else []
    return ctypes.CFUNCTYPE(ctypes.c_double, *pointers, *[ctypes.c_double] * f.arity)(f.address)(*data, *args)


# --- traced -------------------------------------------------------------------------------------------------------------


@function
def mixture(x, y, weight=0.5):
    """Some doc."""
    return weight * exp(x) + (1 - weight) * x * y


def test_traced_functions_are_plain_expressions():
    assert mixture(X, Y) is 0.5 * exp(X) + 0.5 * X * Y
    assert mixture(X, Y, weight=0.25) is 0.25 * exp(X) + 0.75 * X * Y
    assert mixture(0.0, 3.0) == 0.5
    assert mixture.__doc__ == "Some doc." and mixture.__name__ == "mixture"
    assert not called(mixture(X, Y))


def with_if(x):
    return x if x > 0 else -x


def with_math(x):
    return math.sin(x)


def with_int(x):
    return [1.0, 2.0][int(x)]


def with_method(x):
    return x.mean()


@pytest.mark.parametrize("python", [with_if, with_math, with_int, with_method])
def test_what_cannot_be_traced_is_told_with_line_and_remedy(python):
    with pytest.raises(UsageError) as raised:
        function(python)(X)
    text = str(raised.value)
    assert f"`{python.__name__}` cannot be traced" in text and "opaque=True" in text
    assert f"test_external.py:{python.__code__.co_firstlineno + 1}" in text
    assert text.count("cannot be traced") == 1


def test_the_innermost_traced_function_is_blamed():
    inner = function(with_if)
    with pytest.raises(UsageError, match="`with_if` cannot be traced"):
        function(lambda x: 2 * inner(x))(X)


def test_mistakes_of_the_caller_are_not_blamed_on_tracing():
    with pytest.raises(TypeError, match="missing 1 required"):
        mixture(X)
    with pytest.raises(UsageError, match="returned nothing"):
        function(lambda x: None)(X)
    with pytest.raises(UsageError, match="traced and differentiated exactly"):
        function(derivative=lambda x: 1.0)(with_if)
    with pytest.raises(UsageError, match="needs a Python function, got 3"):
        function(3)


# --- opaque -------------------------------------------------------------------------------------------------------------


def wave(x, y):
    return math.sin(x) * math.exp(-y) if y > 0 else math.sin(x)


def wave_partials(x, y):
    return math.cos(x) * math.exp(-y), -math.sin(x) * math.exp(-y)


DERIVATIVES = {
    "differences": None,
    "tuple": wave_partials,
    "array": lambda x, y: np.array(wave_partials(x, y)),
    "list": [lambda x, y: math.cos(x) * math.exp(-y), lambda x, y: -math.sin(x) * math.exp(-y)],
    "traced": lambda x, y: (cos(x) * exp(-y), -np.sin(x) * exp(-y)),
    "mixed": [function(opaque=True)(lambda x, y: wave_partials(x, y)[0]), lambda x, y: -np.sin(x) * exp(-y)],
}


@pytest.mark.parametrize("given_as", DERIVATIVES)
@relaxed
@given(x=NUMBER, y=NUMBER)
def test_opaque_functions_with_every_kind_of_derivative(given_as, x, y):
    f = function(opaque=True, derivative=DERIVATIVES[given_as])(wave)
    expression = 2.0 * f(X * Y, Y)
    assert value(expression, x=x, y=y) == pytest.approx(2 * wave(x * y, y))
    assert by_address(f, x, y) == f(x, y) == wave(x, y)
    by_first, by_second = wave_partials(x * y, y)
    near = {"rel": 1e-7, "abs": 1e-7}
    assert slope(expression, X, x=x, y=y) == pytest.approx(2 * y * by_first, **near)
    assert slope(expression, Y, x=x, y=y) == pytest.approx(2 * (x * by_first + by_second), **near)


@pytest.mark.parametrize("given_as", DERIVATIVES)
@relaxed
@given(x=NUMBER, y=NUMBER)
def test_second_derivatives(given_as, x, y):
    f = function(opaque=True, derivative=DERIVATIVES[given_as])(wave)
    first = gradient(f(X, Y), [X])[X]
    assert slope(first, X, x=x, y=y) == pytest.approx(-wave(x, y), rel=1e-4, abs=1e-4)
    assert slope(first, Y, x=x, y=y) == pytest.approx(-math.cos(x) * math.exp(-y), rel=1e-4, abs=1e-4)


def test_a_derivative_is_one_function_and_traced_where_it_can_be():
    opaque = function(opaque=True, derivative=wave_partials)(wave)
    assert called(opaque.partial(0, (X, Y))) == called(opaque.partial(0, (Y, X)))
    assert opaque.partial(0, (X, Y)) is opaque.partial(0, (X, Y))
    traced = function(opaque=True, derivative=DERIVATIVES["traced"])(wave)
    assert traced.partial(0, (X, Y)) is cos(X) * exp(-Y)


def test_partials_from_one_function_share_an_evaluation():
    calls = []

    def partials(x, y):
        calls.append(float(x))
        return wave_partials(x, y)

    f = function(opaque=True, derivative=partials)(wave)
    both = [f.partial(k, (X, Y)) for k in (0, 1)]
    calls.clear()
    for at in (1.0, 2.0):
        evaluate(both, {X: at, Y: 1.0}.__getitem__)
    assert calls == [1.0, 2.0]


def test_differences_have_a_step_in_proportion_to_the_argument():
    square = function(opaque=True)(lambda x: x * x)
    for x in (1e-9, 1e-3, 1.0, 1e5, 1e12, -1e5):
        assert slope(square(X), x=x) == pytest.approx(2 * x, rel=1e-6, abs=1e-9)
    tiny = function(opaque=True, typical=1e-9)(lambda x: math.tanh(1e9 * x))
    assert slope(tiny(X), x=0.0) == pytest.approx(1e9, rel=1e-6)


def test_defaults_and_names_of_arguments():
    @function(opaque=True, name="heat")
    def f(T, T0=300.0, *, factor=2.0):
        return factor * (T - T0)

    assert f.name == "heat" and f.arity == 2
    assert f(310.0) == 20.0 and f(310.0, T0=305.0) == 10.0 and f(T=301.0) == 2.0
    assert value(f(X), x=310.0) == 20.0 and value(f(310.0, T0=X), x=300.0) == 20.0
    np.testing.assert_array_equal(f([310.0, 320.0]), [20.0, 40.0])
    with pytest.raises(UsageError, match=r"`heat`: missing a required argument"):
        f()
    with pytest.raises(UsageError, match="takes 2 argument"):
        f(1.0, 2.0, 3.0)


def test_exceptions_become_nan_and_are_remembered():
    @function(opaque=True)
    def inverse(x):
        return 1 / x

    assert inverse.failure is None
    assert math.isnan(by_address(inverse, 0.0))
    text = str(inverse.failure)
    assert "`inverse(0)` failed with ZeroDivisionError" in text
    assert f"test_external.py:{inverse.python.__code__.co_firstlineno + 2}" in text
    np.testing.assert_array_equal(inverse.value([0.0, 2.0]), [np.nan, 0.5])
    with pytest.raises(ZeroDivisionError):
        inverse(0.0)


@pytest.mark.parametrize("wrong", [lambda x: None, lambda x: "a", lambda x: x * 1j, lambda x: [x, x]])
def test_a_result_that_is_no_number_is_a_failure(wrong):
    f = function(opaque=True)(wrong)
    assert math.isnan(by_address(f, 1.0)) and f.failure.arguments == (1.0,)


def test_an_interrupt_inside_is_not_lost():
    def interrupted(x):
        raise KeyboardInterrupt

    f = function(opaque=True)(interrupted)
    assert math.isnan(by_address(f, 1.0)) and isinstance(f.failure.error, KeyboardInterrupt)


def test_callbacks_from_another_thread():
    f = function(opaque=True)(lambda x: x + 1)
    found = []
    thread = threading.Thread(target=lambda: found.append(by_address(f, 1.0)))
    thread.start()
    thread.join()
    assert found == [2.0]


def test_copies_are_the_function_itself():
    f = function(opaque=True)(wave)
    assert copy.deepcopy([f])[0] is f and copy.copy(f) is f
    assert f(X, Y) is copy.deepcopy(f)(X, Y)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: function(opaque=True)(lambda *a: 1.0), r"must list its arguments"),
        (lambda: function(opaque=True)(lambda x, *, k: 1.0), r"must list its arguments"),
        (lambda: function(opaque=True)(lambda: 1.0), "no arguments"),
        (lambda: function(opaque=True, derivative=[wave])(wave), r"has 2 argument\(s\), but 1 derivatives"),
        (lambda: function(opaque=True, derivative=[wave, 3])(wave), "`wave_d2` must be a function, got 3"),
        (lambda: function(opaque=True, derivative="x")(wave), "must be a function or a list of functions"),
        (lambda: function(opaque=True, derivative=lambda x, y: x)(wave).partial(0, (X, Y)), "must give 2 partial derivative"),
        (lambda: function(opaque=True)(wave)(X, "b"), "Expected a number"),
    ],
)
def test_messages_of_opaque_functions(make, message):
    with pytest.raises(UsageError, match=message):
        make()


def test_a_wrong_number_of_opaque_derivatives_is_a_failure_that_is_told():
    f = function(opaque=True, derivative=lambda x, y: (math.cos(x),))(wave)
    call = f.partial(0, (X, Y))
    assert math.isnan(value(call, x=1.0, y=1.0))
    assert "must give 2 partial derivative(s), got 1" in str(call.function.failure)


# --- C ------------------------------------------------------------------------------------------------------------------


def libm(symbol, arity):
    f = getattr(ctypes.CDLL(LIBM), symbol)
    f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double] * arity
    return f


@relaxed
@given(x=NUMBER)
def test_c_functions_given_in_every_way(x):
    typed = libm("sin", 1)
    address = ctypes.cast(typed, ctypes.c_void_p).value
    cosine = libm("cos", 1)
    for f in (
        external(typed, derivative=cosine),
        external(address, 1, derivative=ctypes.cast(cosine, ctypes.c_void_p).value, name="sin"),
        external((LIBM, "sin"), 1, derivative="cos"),
        external((LIBM, "sin"), 1, derivative=[(LIBM, "cos")]),
        external((LIBM, "sin"), 1, derivative=external((LIBM, "cos"), 1, derivative=lambda x: -np.sin(x))),
        external((LIBM, "sin"), 1, derivative=cos),
        external((LIBM, "sin"), 1, derivative=math.cos),
        external((LIBM, "sin"), 1),
    ):
        assert f.name == "sin" and f.arity == 1 and f.data_address == 0 and f.address == address
        assert f(x) == math.sin(x) and by_address(f, x) == math.sin(x)
        first = gradient(f(X), [X])[X]
        assert value(first, x=x) == pytest.approx(math.cos(x), abs=1e-8)
        assert slope(first, x=x) == pytest.approx(-math.sin(x), abs=1e-4)


@relaxed
@given(x=NUMBER, y=NUMBER)
def test_c_functions_of_two_arguments(x, y):
    f = external(libm("hypot", 2), derivative=lambda x, y: (x / (x * x + y * y) ** 0.5, y / (x * x + y * y) ** 0.5))
    differences = external((LIBM, "hypot"), 2)
    r = math.hypot(x, y)
    for g, error in ((f, 1e-14), (differences, error_of_central_difference(r, 3 * x * x * y / r**5, y))):
        assert value(g(X, Y), x=x, y=y) == pytest.approx(r)
        assert slope(g(X, Y), Y, x=x, y=y) == pytest.approx(y / r, rel=0.0, abs=error)
    assert not called(f.partial(0, (X, Y)))


def error_of_central_difference(size, third_derivative, at, typical=0.01):
    """Of (f(y + h) - f(y - h)) / 2h: h²/6 times its third derivative; two roundings of f and of y ± h, each at most eps·size."""
    eps = np.finfo(float).eps
    h = eps ** (1 / 3) * (abs(at) + typical)
    return 1.01 * h * h / 6 * abs(third_derivative) + 4 * eps * size / (2 * h)


def test_c_functions_with_data():
    prototype = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_double)

    @prototype
    def line(data, x):
        offset, factor = (ctypes.c_double * 2).from_address(data)
        return offset + factor * x

    @prototype
    def line_slope(data, x):
        return (ctypes.c_double * 2).from_address(data)[1]

    f = external(line, data=np.array([1.0, 3.0]), derivative=line_slope, name="line")
    assert f.arity == 1 and f(2.0) == 7.0 and by_address(f, 2.0) == 7.0
    np.testing.assert_array_equal(f([0.0, 1.0]), [1.0, 4.0])
    assert slope(f(X), x=5.0) == 3.0
    (derivative,) = called(f.partial(0, (X,)))
    assert derivative.data_address == f.data_address  # the same data
    assert isinstance(f, ExternalFunction)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: external("sin", 1), "Expected a C function, got 'sin' of type str"),
        (lambda: external(0, 1), "0 is not the address"),
        (lambda: external(5, 1), "5 is not the address"),
        (lambda: external(("no-such-library.so", "sin"), 1), "`no-such-library.so` cannot be loaded"),
        (lambda: external((LIBM, "no_such_function"), 1), "has no function `no_such_function`"),
        (lambda: external((LIBM, "sin")), "How many arguments does `sin` take"),
        (lambda: external((LIBM, "sin"), 0), "positive integer, got 0"),
        (lambda: external(libm("sin", 1), 2), "takes 1 argument.*`arity=2`"),
        (lambda: external((LIBM, "sin"), 1, derivative="no_such"), "has no function `no_such`"),
        (lambda: external((LIBM, "sin"), 1, data="text"), "must be a numpy array"),
        (lambda: external((LIBM, "sin"), 1, data=np.ones((4, 4))[:, 0]), "contiguous"),
    ],
)
def test_messages_of_c_functions(make, message):
    with pytest.raises(UsageError, match=message):
        make()


def test_ctypes_functions_of_other_types_are_refused():
    f = ctypes.CDLL(LIBM).ldexp
    f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double, ctypes.c_int]
    with pytest.raises(UsageError, match="doubles and return a double"):
        external(f)
