"""Tables: exact at their data, C1, monotone where they promise it, the same natively, in numpy and in scipy."""

import copy
import ctypes
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.errors import UsageError
from acausal.families.differentiate import gradient
from acausal.kernels.interpret import evaluate
from acausal.language import tables
from acausal.language.expression import Call, Slot
from acausal.language.tables import EXTRAPOLATIONS, METHODS, Table, Table2D

relaxed = settings(deadline=None, max_examples=50)
X, Y = Slot(0, "variable"), Slot(1, "variable")
SMOOTH = [m for m in METHODS if m != "linear"]
EXTRAPOLATION = st.sampled_from(EXTRAPOLATIONS)
BEYOND = st.sampled_from(("clamp", "linear"))  # have values outside


@st.composite
def grids(draw, most=9):
    n = draw(st.integers(2, most))
    if draw(st.booleans()):
        return np.linspace(draw(st.floats(-50, 50)), draw(st.floats(51, 100)), n)
    steps = draw(st.lists(st.floats(0.1, 10.0), min_size=n - 1, max_size=n - 1))
    return np.cumsum([draw(st.floats(-50, 50)), *steps])


@st.composite
def curves(draw):
    x = draw(grids())
    return x, np.array(draw(st.lists(st.floats(-100, 100), min_size=x.size, max_size=x.size)))


@st.composite
def maps(draw):
    x, y = draw(grids(6)), draw(grids(6))
    flat = draw(st.lists(st.floats(-100, 100), min_size=x.size * y.size, max_size=x.size * y.size))
    return x, y, np.reshape(flat, (x.size, y.size))


def around(grid, more=0.3):
    """Points in all intervals, at the knots, and outside."""
    span = grid[-1] - grid[0]
    inner = np.concatenate([grid[:-1] + f * np.diff(grid) for f in (0.2, 0.5, 0.9)])
    return np.sort(np.concatenate([grid, inner, [grid[0] - more * span, grid[-1] + more * span]]))


def native(function, *args):
    """Called as compiled code would, data and all."""
    pointers, data = ([ctypes.c_void_p], [function.data_address]) if function.data_address else ([], [])
    call = ctypes.CFUNCTYPE(ctypes.c_double, *pointers, *[ctypes.c_double] * function.arity)(function.address)
    return np.array([call(*data, *map(float, row)) for row in zip(*args, strict=True)])


# --- one argument -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@relaxed
@given(curves(), EXTRAPOLATION)
def test_exact_at_the_data(method, data, extrapolation):
    x, y = data
    table = Table(x, y, method=method, extrapolation=extrapolation)
    np.testing.assert_array_equal(table(x), y)
    np.testing.assert_array_equal(native(table, x), y)


@pytest.mark.parametrize("method", SMOOTH)
@relaxed
@given(curves())
def test_value_and_slope_are_continuous_at_the_data(method, data):
    x, y = data
    table = Table(x, y, method=method, extrapolation="linear")
    h = 1e-7
    for order in (0, 1):
        function, steepest = (table, table.derivative())[order], np.max(np.abs(table.derivative(order + 1)(around(x))))
        np.testing.assert_allclose(function(x - h), function(x + h), atol=10 * h * (1 + steepest))


@relaxed
@given(curves(), BEYOND)
def test_monotone_tables_are_monotone_and_stay_within_neighbouring_data(data, extrapolation):
    x, y = data
    rising = Table(x, np.sort(y), extrapolation=extrapolation)
    fine = np.linspace(x[0] - 1, x[-1] + 1, 500)
    assert np.all(np.diff(rising(fine)) >= -1e-11)
    assert np.all(rising.derivative()(fine) >= -1e-11)
    table = Table(x, y)
    inside = np.linspace(x[0], x[-1], 500)[1:-1]
    i = np.clip(np.searchsorted(x, inside, side="right") - 1, 0, x.size - 2)
    assert np.all(table(inside) <= np.maximum(y[i], y[i + 1]) + 1e-11)
    assert np.all(table(inside) >= np.minimum(y[i], y[i + 1]) - 1e-11)


@relaxed
@given(curves())
def test_slopes_agree_with_scipy(data):
    from scipy.interpolate import Akima1DInterpolator, PchipInterpolator

    x, y = data
    points = np.linspace(x[0], x[-1], 50)
    with np.errstate(all="ignore"):
        monotone, akima = PchipInterpolator(x, y)(points), Akima1DInterpolator(x, y, method="makima")(points)
    np.testing.assert_allclose(Table(x, y, method="monotone")(points), monotone, atol=1e-9)
    # scipy takes the mean of two secants where their weights are below a billionth of the largest weight, which is at most six
    # times the steepest secant; the cubic then differs by no more than a third of (slope · step).
    flat = 1e-9 * 6 * np.abs(np.diff(y) / np.diff(x)).max() * np.diff(x).max()
    np.testing.assert_allclose(Table(x, y, method="akima")(points), akima, atol=1e-9 + flat)


@pytest.mark.parametrize("method", METHODS)
def test_straight_lines_are_reproduced_inside_and_outside(method):
    x = np.array([-1.0, 0.5, 0.7, 3.0])
    table = Table(x, 2 * x + 1, method=method, extrapolation="linear")
    points = np.linspace(-5, 5, 41)
    np.testing.assert_allclose(table(points), 2 * points + 1, atol=1e-13)


def test_order_of_accuracy():
    def error(n, method):
        x = np.linspace(0, 2, n)
        points = np.linspace(0.5, 1.5, 999)
        return np.max(np.abs(Table(x, np.exp(x), method=method)(points) - np.exp(points)))

    assert math.log2(error(41, "catmull-rom") / error(81, "catmull-rom")) > 2.7
    assert math.log2(error(41, "monotone") / error(81, "monotone")) > 2.7
    assert math.log2(error(41, "akima") / error(81, "akima")) > 1.9
    assert math.log2(error(41, "linear") / error(81, "linear")) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("method", METHODS)
@relaxed
@given(curves())
def test_extrapolation(method, data):
    x, y = data
    clamped, tangent = (Table(x, y, method=method, extrapolation=e) for e in ("clamp", "linear"))
    assert clamped([x[0] - 5, x[-1] + 5, -np.inf, np.inf]).tolist() == [y[0], y[-1], y[0], y[-1]]
    assert clamped.derivative()([x[0] - 5, x[-1] + 5]).tolist() == [0.0, 0.0]
    slopes = tangent.derivative()(x[[0, -1]])
    np.testing.assert_allclose(tangent([x[0] - 5, x[-1] + 5]), y[[0, -1]] + slopes * [-5, 5], atol=1e-9)
    np.testing.assert_allclose(tangent.derivative()([x[0] - 5, x[-1] + 5]), slopes, atol=1e-9)
    np.testing.assert_allclose(clamped.derivative()(x[[0, -1]]), slopes, atol=1e-9)  # the end itself belongs to the inside


@pytest.mark.parametrize("method", METHODS)
@relaxed
@given(curves(), EXTRAPOLATION)
def test_native_and_numpy_are_twins(method, data, extrapolation):
    x, y = data
    table = Table(x, y, method=method, extrapolation=extrapolation)
    points = np.concatenate([around(x), np.nextafter(x, -np.inf), np.nextafter(x, np.inf)])
    for function in (table, *(table.derivative(k) for k in (1, 2, 3))):
        rounding = 1e-13 * np.max(np.abs(y)) * (12 / np.diff(x).min()) ** function.orders[0]
        np.testing.assert_allclose(native(function, points), function.value(points), rtol=1e-12, atol=rounding)
    assert np.isnan(native(table, [np.nan])[0]) and np.isnan(table(np.nan))


@pytest.mark.parametrize("method", METHODS)
@relaxed
@given(curves(), BEYOND, st.floats(0.01, 0.99))
def test_derivatives_agree_with_differences(method, data, extrapolation, where):
    x, y = data
    table = Table(x, y, method=method, extrapolation=extrapolation)
    h = 1e-5
    points = np.concatenate([x[:-1] + where * np.diff(x), [x[0] - 1, x[-1] + 1]])
    expressions = [table(X)]
    for _ in range(3):
        expressions.append(gradient(expressions[-1], [X]).get(X, 0 * X))
    value = [np.broadcast_to(v, points.shape) for v in evaluate(expressions, lambda leaf: points)]
    ahead, behind = (evaluate(expressions, lambda leaf, s=s: points + s) for s in (h, -h))
    for k in range(3):
        scale = 1 + np.max(np.abs(value[k + 1])) + np.max(np.abs(value[k]))
        np.testing.assert_allclose((ahead[k] - behind[k]) / (2 * h), value[k + 1], atol=1e-5 * scale)


def test_derivatives_are_functions_that_exist_once_and_end():
    table = Table([0.0, 1.0, 3.0], [0.0, 1.0, 2.0])
    first = table.partial(0, (X,))
    assert isinstance(first, Call) and first is table.partial(0, (X,))
    assert first.function is table.derivative()
    assert first.function.data_address == table.data_address
    assert table.derivative(3).partial(0, (X,)) is 0 * X
    assert Table([0.0, 1.0], [0.0, 1.0], method="linear").derivative().partial(0, (X,)) is 0 * X


def test_tables_of_equal_data_are_one_and_others_are_not():
    x, y = [0.0, 1.0, 3.0], [0.0, 1.0, 2.0]
    table = Table(x, y)
    assert Table(np.array(x), y) is table and Table(x, y)(X) is table(X)
    others = [Table(x, [0.0, 1.0, 2.5]), Table(x, y, method="akima"), Table(x, y, extrapolation="linear"), Table(x, y, name="b")]
    assert len({id(t) for t in (table, *others)}) == 5
    assert len({t(X) for t in (table, *others)}) == 5
    assert copy.deepcopy(table) is table and pickle.loads(pickle.dumps(table)) is table


def test_data_cannot_change_under_a_table():
    y = np.array([0.0, 1.0])
    table = Table([0.0, 1.0], y)
    y[1] = 7.0
    assert table(1.0) == 1.0
    with pytest.raises(ValueError, match="read-only"):
        table.y[1] = 7.0


def test_numbers_arrays_and_expressions():
    table = Table([0.0, 1.0], [0.0, 2.0], name="flow")
    assert table(0.5) == 1.0 and type(table(0.5)) is float
    assert table([[0.5], [1.0]]).tolist() == [[1.0], [2.0]]
    assert table.value(0.5).shape == ()
    assert str(table(X)) == "flow($0)" and "2 points from 0 to 1" in repr(table)


def test_uniform_grids_are_found_and_looked_up_like_others():
    exact = np.linspace(0.1, 0.7, 7)
    shaken = exact + 1e-9 * np.sin(np.arange(7) * 5)
    assert all(tables._inverse_step(g) > 0 for g in (exact, shaken, exact * 1e-20, np.array([3.0, 3.5])))
    assert tables._inverse_step(np.array([0.0, 1.0, 2.01])) == 0.0
    for grid in (exact, shaken):
        knots = np.concatenate([grid, np.nextafter(grid, -np.inf), np.nextafter(grid, np.inf)])
        table = Table(grid, np.cos(7 * grid), method="linear", extrapolation="linear")
        np.testing.assert_array_equal(native(table.derivative(), knots), table.derivative()(knots))


def test_without_the_native_core(monkeypatch):
    monkeypatch.setattr(tables, "_native_address", lambda orders: 0)
    table = Table([0.0, 1.0, 4.0], [0.0, 1.0, 2.0], name="portable")
    assert table.data_address == 0
    points = np.linspace(-1, 5, 30)
    np.testing.assert_array_equal(native(table, points), table(points))
    np.testing.assert_array_equal(native(table.derivative(), points), table.derivative()(points))


def test_the_native_core_is_used_when_it_is_there():
    core = pytest.importorskip("acausal._core")
    if not hasattr(core, "table1_address"):
        pytest.skip("the native core was built without tables")
    table, flat = Table([0.0, 1.0], [0.0, 1.0]), Table2D([0.0, 1.0], [0.0, 1.0], np.eye(2))
    assert table.address == core.table1_address(0) and table.data_address == table.data.ctypes.data
    assert flat.derivative(x=1, y=2).address == core.table2_address(1, 2)
    addresses = [core.table1_address(k) for k in range(4)] + [core.table2_address(j, k) for j in range(4) for k in range(4)]
    assert len(set(addresses)) == 20
    with pytest.raises(ValueError, match="order 0 to 3"):
        core.table1_address(4)


# --- two arguments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@relaxed
@given(maps(), EXTRAPOLATION)
def test_maps_are_exact_at_the_data(method, data, extrapolation):
    x, y, values = data
    table = Table2D(x, y, values, method=method, extrapolation=extrapolation)
    rows, columns = np.meshgrid(x, y, indexing="ij")
    np.testing.assert_allclose(table(rows, columns), values, rtol=0, atol=0)
    np.testing.assert_allclose(table(x[:, None], y), values, rtol=0, atol=0)


@pytest.mark.parametrize("method", METHODS)
@relaxed
@given(maps(), EXTRAPOLATION)
def test_native_and_numpy_maps_are_twins(method, data, extrapolation):
    x, y, values = data
    table = Table2D(x, y, values, method=method, extrapolation=extrapolation)
    rows, columns = (a.ravel() for a in np.meshgrid(around(x), around(y), indexing="ij"))
    for orders in ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 3), (2, 1)):
        function = table.derivative(*orders)
        rounding = 1e-13 * np.max(np.abs(values)) * (12 / np.diff(x).min()) ** orders[0] * (12 / np.diff(y).min()) ** orders[1]
        np.testing.assert_allclose(native(function, rows, columns), function.value(rows, columns), rtol=1e-12, atol=rounding)
    assert np.isnan(table(np.nan, y[0])) and np.isnan(native(table, [x[0]], [np.nan])[0])


@pytest.mark.parametrize("method", SMOOTH)
@relaxed
@given(maps())
def test_maps_are_continuous_with_their_slopes_also_outside(method, data):
    x, y, values = data
    table = Table2D(x, y, values, method=method, extrapolation="linear")
    h = 1e-7
    for orders in ((0, 0), (1, 0), (0, 1)):
        function = table.derivative(*orders)
        by_x, by_y = table.derivative(orders[0] + 1, orders[1]), table.derivative(orders[0], orders[1] + 1)
        across, along = (a.ravel() for a in np.meshgrid(x, around(y), indexing="ij"))
        bound = 10 * h * (1 + np.max(np.abs(by_x(np.concatenate([across - h, across + h]), np.tile(along, 2)))))
        np.testing.assert_allclose(function(across - h, along), function(across + h, along), atol=bound)
        along, across = (a.ravel() for a in np.meshgrid(around(x), y, indexing="ij"))
        bound = 10 * h * (1 + np.max(np.abs(by_y(np.tile(along, 2), np.concatenate([across - h, across + h])))))
        np.testing.assert_allclose(function(along, across - h), function(along, across + h), atol=bound)


@pytest.mark.parametrize("method", METHODS)
@relaxed
@given(maps(), BEYOND, st.floats(0.05, 0.95))
def test_partial_derivatives_agree_with_differences(method, data, extrapolation, where):
    x, y, values = data
    table = Table2D(x, y, values, method=method, extrapolation=extrapolation)
    inner_x, inner_y = x[:-1] + where * np.diff(x), y[:-1] + where * np.diff(y)
    px, py = np.meshgrid([*inner_x, x[0] - 1, x[-1] + 1], [*inner_y, y[0] - 1, y[-1] + 1], indexing="ij")
    h = 1e-5
    first = gradient(table(X, Y), [X, Y])
    seconds = [gradient(first[a], [b]).get(b, 0 * X) for a, b in ((X, X), (X, Y), (Y, Y))]
    found = evaluate([first[X], first[Y], *seconds], {X: px, Y: py}.__getitem__)
    d = table.derivative
    expected = [
        (table(px + h, py) - table(px - h, py)) / (2 * h),
        (table(px, py + h) - table(px, py - h)) / (2 * h),
        (d(1, 0)(px + h, py) - d(1, 0)(px - h, py)) / (2 * h),
        (d(1, 0)(px, py + h) - d(1, 0)(px, py - h)) / (2 * h),
        (d(0, 1)(px, py + h) - d(0, 1)(px, py - h)) / (2 * h),
    ]
    for ours, differences in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, differences, atol=1e-5 * (1 + np.max(np.abs(ours)) + np.max(np.abs(values))))


@pytest.mark.parametrize("method", METHODS)
def test_bilinear_maps_are_reproduced(method):
    x, y = np.array([0.0, 1.0, 4.0, 5.0]), np.array([-2.0, 0.0, 1.0])
    table = Table2D(x, y, 1 + 2 * x[:, None] - y + 3 * x[:, None] * y, method=method, extrapolation="linear")
    px, py = np.meshgrid(np.linspace(-1, 7, 20), np.linspace(-4, 3, 20))
    np.testing.assert_allclose(table(px, py), 1 + 2 * px - py + 3 * px * py, atol=1e-11)


@pytest.mark.parametrize("method", ["catmull-rom", "monotone"])
def test_maps_follow_smooth_functions(method):
    def error(n):
        x = np.linspace(0, 1, n)
        px, py = np.meshgrid(np.linspace(0.3, 0.7, 60), np.linspace(0.3, 0.7, 60))
        return np.max(np.abs(Table2D(x, x, np.exp(x[:, None] + 2 * x), method=method)(px, py) - np.exp(px + 2 * py)))

    assert math.log2(error(21) / error(41)) > 2.7


def test_monotone_maps_do_not_overshoot_along_grid_lines():
    values = np.array([[0.0, 0.0, 1.0, 1.0]] * 3) * [[0.0], [1.0], [1.0]]
    table = Table2D([0.0, 1.0, 2.0], [0.0, 1.0, 2.0, 3.0], values)
    along = table(1.0, np.linspace(0, 3, 301))
    assert along.min() >= -1e-12 and along.max() <= 1 + 1e-12


def test_maps_clamp_each_argument_by_itself():
    table = Table2D([0.0, 1.0, 2.0], [0.0, 1.0], [[0.0, 1.0], [2.0, 3.0], [4.0, 7.0]])
    assert table(9.0, 0.5) == table(2.0, 0.5) and table(0.3, -9.0) == table(0.3, 0.0) and table(9.0, 9.0) == 7.0
    assert table.derivative(x=1)(9.0, 0.5) == 0.0 and table.derivative(y=1)(9.0, 0.5) == table.derivative(y=1)(2.0, 0.5)
    assert pickle.loads(pickle.dumps(table)) is table


# --- bad input and files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Table([0, 1, 1], [1, 2, 3], name="pump"), r"`pump`: x must increase, but x\[1\] = 1 is followed by x\[2\] = 1"),
        (lambda: Table([0, 2, 1], [1, 2, 3]), r"x\[1\] = 2 is followed by x\[2\] = 1"),
        (lambda: Table([0, 1], [1, float("nan")]), r"y\[1\] is nan; a table needs finite numbers \(1 are not\)"),
        (lambda: Table([0, float("inf")], [1, 2]), r"x\[1\] is inf"),
        (lambda: Table([0, 1], [1, 2, 3]), r"y must have shape \(2,\) to match the axes, got \(3,\)"),
        (lambda: Table([0], [1]), "at least 2 points, x has 1"),
        (lambda: Table([], []), "at least 2 points, x has 0"),
        (lambda: Table([[0, 1]], [1, 2]), r"x must have one dimension, got shape \(1, 2\)"),
        (lambda: Table("ab", [1, 2]), "x must be an array of numbers, got str"),
        (
            lambda: Table([0, 1], [1, 2], method="pchip"),
            'method must be one of "monotone", .*"linear", got .pchip.',
        ),
        (lambda: Table([0, 1], [1, 2], extrapolation="liner"), "(?s)extrapolation must be one of.*Did you mean `linear`"),
        (lambda: Table([0, 1e-300], [0, 1e300]), "slopes overflow"),
        (lambda: Table([0, 1], [1, 2])(X, Y), r"takes 1 argument\(s\), got 2"),
        (lambda: Table([0, 1], [1, 2]).derivative(4), "order 1 to 3, got 4"),
        (lambda: Table2D([0, 1], [0, 1, 2], np.zeros((3, 2))), r"values must have shape \(2, 3\).*got \(3, 2\).*transposed"),
        (lambda: Table2D([0, 1], [0, 1], [[0, 1], [2, float("nan")]]), r"values\[1, 1\] is nan"),
        (lambda: Table2D([0, 1], [1, 0], np.zeros((2, 2))), r"y must increase"),
    ],
)
def test_messages(make, message):
    with pytest.raises(UsageError, match=message):
        make()


@pytest.mark.parametrize(
    "text, columns",
    [
        ("# pump\nq,eta,head\n0,0.1,10\n1,0.5,9\n2,0.3,5\n", {"x": "q", "y": "head"}),
        ("q; eta; head\n0; 0.1; 10\n\n1; 0.5; 9\n2; 0.3; 5\n", {"x": "q", "y": "head"}),
        ("0\t0.1\t10\n1\t0.5\t9\n2\t0.3\t5", {"x": 0, "y": 2}),
        ("\ufeffq,head\r\n0,10\r\n1,9\r\n2,5\r\n", {}),
    ],
)
def test_tables_from_text_files(tmp_path, text, columns):
    path = tmp_path / "pump.csv"
    path.write_text(text, encoding="utf-8")
    table = Table.from_csv(path, **columns, extrapolation="linear")
    assert table.x.tolist() == [0, 1, 2] and table.y.tolist() == [10, 9, 5]
    assert table.name == "pump" and table.extrapolation == "linear"


def test_messages_about_text_files(tmp_path):
    path = tmp_path / "pump.csv"
    with pytest.raises(UsageError, match=r"pump.csv` cannot be read: No such file"):
        Table.from_csv(path)
    path.write_text("")
    with pytest.raises(UsageError, match="is empty"):
        Table.from_csv(path)
    path.write_text("flow,head\n0,1\n1,abc\n")
    with pytest.raises(UsageError, match=r"line 3, column `head`: expected a number, got 'abc'"):
        Table.from_csv(path)
    with pytest.raises(UsageError, match=r"(?s)no column `flw`; it has `flow`, `head`.*Did you mean `flow`"):
        Table.from_csv(path, x="flw")


def test_a_table_that_refuses_says_where_it_holds():
    class Lift(ac.Component):
        x = ac.Variable(start=0.0, fixed=True)
        y = ac.Variable()
        f = ac.Table([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], extrapolation="refuse", name="lift")

        def equations(self):
            yield ac.der(self.x) == 1.0
            yield self.y == self.f(self.x)

    assert np.isnan(Lift.f(2.1)) and Lift.f(2.0) == 4.0
    result = ac.compile(Lift()).simulate(until=3.0, on_failure="keep")
    assert 1.9 < result["time"][-1] <= 2.0 + 1e-6
    assert "`lift` holds from 0 to 2, and is asked for at 2" in "\n".join(map(str, result.diagnostics))
