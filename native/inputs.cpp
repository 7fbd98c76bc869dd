#include "inputs.h"

#include <algorithm>

namespace acausal {

double InputTable::value(double t) {
    const double *x = times.data, *y = values.data;
    int64_t n = times.shape[0];
    if (t <= x[0]) return rate ? slopes.data[0] : y[0];
    if (t >= x[n - 1]) return rate ? slopes.data[n - 1] : y[n - 1];
    if (!(x[interval] <= t && t < x[interval + 1])) interval = std::upper_bound(x, x + n, t) - x - 1;
    double h = x[interval + 1] - x[interval], s = (t - x[interval]) / h;
    double a = y[interval], b = y[interval + 1];
    if (!cubic) return a + s * (b - a);
    const double *m = slopes.data + interval;
    double r = 1 - s; // cubic Hermite form
    if (rate) return 6 * s * r * (b - a) / h + r * (1 - 3 * s) * m[0] + s * (1 - 3 * r) * m[1];
    return r * r * ((1 + 2 * s) * a + s * h * m[0]) + s * s * ((1 + 2 * r) * b - r * h * m[1]);
}

void Inputs::add_table(int64_t cell, nb::handle times, nb::handle values, nb::handle slopes, bool rate) {
    InputTable table;
    table.cell = cell;
    table.times = Doubles(times, "times");
    table.values = Doubles(values, "values");
    if (table.times.shape[0] < 1) throw nb::value_error("`times` is empty");
    require_size(table.values, table.times.shape[0], "values");
    for (int64_t k = 1; k < table.times.shape[0]; ++k)
        if (!(table.times.data[k] > table.times.data[k - 1])) throw nb::value_error("`times` must increase strictly");
    if (!slopes.is_none()) {
        table.slopes = Doubles(slopes, "slopes");
        require_size(table.slopes, table.times.shape[0], "slopes");
        table.cubic = true;
        table.rate = rate;
    }
    tables.push_back(std::move(table));
}

void Inputs::clear() {
    tables.clear();
    functions.clear();
}

void Inputs::evaluate_tables(double t, double *w) {
    for (InputTable &table : tables) w[table.cell] = table.value(t);
}

bool Inputs::evaluate(double t, double *w) {
    evaluate_tables(t, w);
    if (functions.empty()) return true;
    nb::gil_scoped_acquire acquire;
    for (InputFunction &input : functions) {
        PyObject *result = PyObject_CallFunction(input.function.ptr(), "d", t);
        if (!result) return false;
        double value = PyFloat_AsDouble(result);
        Py_DECREF(result);
        if (value == -1.0 && PyErr_Occurred()) return false;
        w[input.cell] = value;
    }
    return true;
}

} // namespace acausal
