#include "system.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace acausal {

static void fail(const std::string &text) { throw nb::value_error(text.c_str()); }

static bool touches(const int32_t *data, int64_t size, int64_t from, int64_t to) {
    return std::any_of(data, data + size, [=](int32_t i) {
        int32_t folded = i ^ (i >> 31);
        return folded >= from && folded < to;
    });
}

Family make_family(const Layout &layout, uintptr_t address, nb::handle slots, nb::handle targets, nb::handle functions, const char *target_name) {
    Family family;
    if (!address) fail("the address of a kernel is 0");
    family.address = reinterpret_cast<void *>(address);
    family.slots = Table(slots, "slots");
    family.targets = Table(targets, target_name);
    family.functions = addresses(functions);
    if (family.slots.shape[1] != family.targets.shape[1])
        fail("`slots` has " + std::to_string(family.slots.shape[1]) + " rows, `" + target_name + "` has " +
             std::to_string(family.targets.shape[1]));
    int64_t largest = largest_index(family.slots.data, family.slots.size(), true, "slots");
    if (largest >= layout.workspace())
        fail("`slots` points at cell " + std::to_string(largest) + " of a workspace of " + std::to_string(layout.workspace()));
    family.largest_target = largest_index(family.targets.data, family.targets.size(), false, target_name);
    family.reads_derivatives = touches(family.slots.data, family.slots.size(), layout.size, 2 * layout.size);
    return family;
}

static void require_targets(const std::vector<Family> &families, int64_t limit, const char *what) {
    for (const Family &family : families)
        if (family.largest_target >= limit)
            fail(std::string(what) + " " + std::to_string(family.largest_target) + " is out of range: there are " + std::to_string(limit));
}

void Outputs::set_gather(nb::handle indices) {
    gather = Integers(indices, "gather");
    int64_t largest = largest_index(gather.data, gather.size(), true, "gather");
    if (largest >= layout.workspace())
        fail("`gather` points at cell " + std::to_string(largest) + " of a workspace of " + std::to_string(layout.workspace()));
    gathers_derivatives = touches(gather.data, gather.size(), layout.size, 2 * layout.size);
}

void Outputs::check() const { require_targets(families, expressions, "stored expression"); }

bool Outputs::reads_derivatives() const {
    return gathers_derivatives || std::any_of(families.begin(), families.end(), [](const Family &f) { return f.reads_derivatives; });
}

void Outputs::row(const double *w, double *out) const {
    const int32_t *index = gather.data;
    int64_t count = gather.shape[0];
    for (int64_t k = 0; k < count; ++k) out[k] = index[k] >= 0 ? w[index[k]] : -w[~index[k]];
    if (!expressions) return;
    std::memset(out + count, 0, sizeof(double) * expressions);
    for (const Family &family : families) family.residual(w, out + count);
}

System::System(int64_t size, int64_t known_size, int64_t time_index, int64_t equations)
    : layout{size, known_size, time_index, equations < 0 ? size : equations} {
    if (size < 0 || known_size < 0 || 2 * size + known_size > INT32_MAX)
        fail("a system of " + std::to_string(size) + " unknowns and " + std::to_string(known_size) + " known values does not fit 32-bit indices");
    if (time_index < 2 * size || time_index >= layout.workspace())
        fail("`time_index` is " + std::to_string(time_index) + ", outside the known part of the workspace [" + std::to_string(2 * size) + ", " +
             std::to_string(layout.workspace()) + ")");
    outputs.layout = layout;
}

void System::set_pattern(nb::handle pointers, nb::handle rows) {
    Integers p(pointers, "indptr"), i(rows, "indices");
    require_size(p, layout.size + 1, "indptr");
    if (p.data[0] != 0 || p.data[layout.size] != i.shape[0]) fail("`indptr` must go from 0 to the number of `indices`");
    for (int64_t k = 0; k < layout.size; ++k)
        if (p.data[k + 1] < p.data[k]) fail("`indptr` decreases at column " + std::to_string(k));
    if (largest_index(i.data, i.size(), false, "indices") >= layout.equations) fail("`indices` holds a row outside the system");
    indptr = p;
    indices = i;
}

void System::check() const {
    require_targets(residuals, layout.equations, "residual row");
    require_targets(jacobians, value_count(), "Jacobian position");
    require_targets(assignments, computed, "computed cell");
    require_targets(roots, root_count, "root function");
    require_targets(bends, bend_count, "bend");
    require_targets(step_updates, step_cells.size(), "step update");
}

void System::assign(double *w) const {
    if (!computed) return;
    double *cell = w + layout.workspace() - computed;
    std::memset(cell, 0, sizeof(double) * computed);
    for (const Family &family : assignments) family.residual(w, cell);
}

void System::assign(double *w, const std::vector<int32_t> &chosen) const {
    if (!computed) return;
    double *cell = w + layout.workspace() - computed;
    std::memset(cell, 0, sizeof(double) * computed);
    for (int32_t k : chosen) assignments[k].residual(w, cell);
}

std::vector<int32_t> System::assignments_for(const std::vector<Family> &readers) const {
    std::vector<char> needed(computed);
    int64_t first = layout.workspace() - computed;
    auto read = [&](const Family &family) {
        for (int64_t k = 0; k < family.slots.size(); ++k) {
            int64_t cell = (family.slots.data[k] ^ (family.slots.data[k] >> 31)) - first;
            if (cell >= 0) needed[cell] = 1;
        }
    };
    std::for_each(readers.begin(), readers.end(), read);
    std::vector<int32_t> found;
    for (int32_t k = (int32_t)assignments.size() - 1; k >= 0; --k) { // each reads what those before it computed
        const Table &targets = assignments[k].targets;
        if (!std::any_of(targets.data, targets.data + targets.size(), [&](int32_t cell) { return needed[cell]; })) continue;
        read(assignments[k]);
        found.push_back(k);
    }
    std::reverse(found.begin(), found.end());
    return found;
}

bool System::assignments_read_derivatives() const {
    return std::any_of(assignments.begin(), assignments.end(), [](const Family &f) { return f.reads_derivatives; });
}

void System::residual(const double *w, double *out) const {
    std::memset(out, 0, sizeof(double) * layout.equations);
    for (const Family &family : residuals) family.residual(w, out);
}

void System::jacobian(const double *w, double cj, double *data) const {
    std::memset(data, 0, sizeof(double) * value_count());
    for (const Family &family : jacobians) family.jacobian(w, cj, data);
    int64_t count = products.shape[1];
    const int32_t *target = products.data, *first = target + count, *second = first + count;
    for (int64_t k = 0; k < count; ++k) data[target[k]] += data[first[k]] * data[second[k]];
}

// A slot may hold y in one row and y' in another, so each entry of each row is told apart by the cell it is a derivative by.
void System::build_split() const {
    int64_t first = layout.size, last = 2 * layout.size, shift = value_count();
    for (const Family &family : jacobians) {
        if ((int64_t)family.by.size() != family.targets.shape[0]) fail("add_jacobian() was not told what its entries are derivatives by");
        std::vector<int32_t> positions(family.targets.data, family.targets.data + family.targets.size());
        for (size_t e = 0; e < family.by.size(); ++e) {
            const int32_t *cell = family.slots.data + family.by[e] * family.count();
            int32_t *position = positions.data() + e * family.count();
            for (int64_t r = 0; r < family.count(); ++r) {
                int32_t folded = cell[r] ^ (cell[r] >> 31);
                if (folded >= first && folded < last) position[r] += (int32_t)shift;
            }
        }
        split.push_back(std::move(positions));
    }
}

// One pass over the kernels gives both parts. Through computed cells both go by the same links, which are derivatives by values.
void System::partials(const double *w, double *data) const {
    std::call_once(split_built, [this] { build_split(); });
    int64_t cells_each = value_count(), count = products.shape[1];
    std::memset(data, 0, sizeof(double) * 2 * cells_each);
    for (size_t k = 0; k < jacobians.size(); ++k) jacobians[k].jacobian(w, 1.0, data, split[k].data());
    const int32_t *target = products.data, *link = target + count, *source = link + count;
    double *slope = data + cells_each;
    for (int64_t k = 0; k < count; ++k) {
        data[target[k]] += data[link[k]] * data[source[k]];
        slope[target[k]] += data[link[k]] * slope[source[k]];
    }
}

void System::root(const double *w, double *out) const {
    std::memset(out, 0, sizeof(double) * root_count);
    for (const Family &family : roots) family.residual(w, out);
}

void System::bend(const double *w, double *out) const {
    std::memset(out, 0, sizeof(double) * bend_count);
    for (const Family &family : bends) family.residual(w, out);
}

void System::step_update(const double *w, double *out) const {
    std::memset(out, 0, sizeof(double) * step_cells.size());
    for (const Family &family : step_updates) family.residual(w, out);
}

// ---------------------------------------------------------------------------------------------------------------- binding

namespace {

// A workspace for one evaluation from Python, filled from separate arrays.
struct Evaluation {
    std::unique_ptr<double[]> w;

    Evaluation(const Layout &layout, nb::handle known, double t, nb::handle y, nb::handle yp) : w(new double[layout.workspace()]) {
        Doubles k(known, "known"), a(y, "y"), b(yp, "yp");
        require_size(k, layout.known_size, "known");
        require_size(a, layout.size, "y");
        require_size(b, layout.size, "yp");
        std::memcpy(w.get(), a.data, sizeof(double) * layout.size);
        std::memcpy(w.get() + layout.size, b.data, sizeof(double) * layout.size);
        std::memcpy(w.get() + 2 * layout.size, k.data, sizeof(double) * layout.known_size);
        w[layout.time_index] = t;
    }
    Evaluation(const System &s, nb::handle known, double t, nb::handle y, nb::handle yp) : Evaluation(s.layout, known, t, y, yp) {
        s.assign(w.get());
    }
};

Array<double, 1> writable(nb::handle value, int64_t size, const char *name) {
    Array<double, 1> array(value, name);
    require_size(array, size, name);
    return array;
}

void evaluate_residual(const System &s, nb::handle known, double t, nb::handle y, nb::handle yp, nb::handle out) {
    s.check();
    Evaluation e(s, known, t, y, yp);
    Array<double, 1> result = writable(out, s.layout.equations, "out");
    nb::gil_scoped_release release;
    s.residual(e.w.get(), result.data);
    // A computed cell without a value must not go unnoticed because nothing reads it.
    if (s.layout.equations && !s.computed_finite(e.w.get())) result.data[0] = std::numeric_limits<double>::quiet_NaN();
}

// `data` may have nnz cells or nnz + 1 (the last one receives what has no place in the pattern).
void evaluate_jacobian(const System &s, nb::handle known, double t, nb::handle y, nb::handle yp, double cj, nb::handle data) {
    s.check();
    Evaluation e(s, known, t, y, yp);
    Array<double, 1> result(data, "data");
    if (result.shape[0] == s.value_count()) {
        nb::gil_scoped_release release;
        s.jacobian(e.w.get(), cj, result.data);
        return;
    }
    require_size(result, s.nnz(), "data");
    std::unique_ptr<double[]> cells(new double[s.value_count()]);
    nb::gil_scoped_release release;
    s.jacobian(e.w.get(), cj, cells.get());
    std::memcpy(result.data, cells.get(), sizeof(double) * s.nnz());
}

void evaluate_partials(const System &s, nb::handle known, double t, nb::handle y, nb::handle yp, nb::handle by_value, nb::handle by_slope) {
    s.check();
    Evaluation e(s, known, t, y, yp);
    Array<double, 1> value = writable(by_value, s.nnz(), "by_value"), slope = writable(by_slope, s.nnz(), "by_slope");
    std::unique_ptr<double[]> cells(new double[2 * s.value_count()]);
    nb::gil_scoped_release release;
    s.partials(e.w.get(), cells.get());
    std::memcpy(value.data, cells.get(), sizeof(double) * s.nnz());
    std::memcpy(slope.data, cells.get() + s.value_count(), sizeof(double) * s.nnz());
}

void evaluate_roots(const System &s, nb::handle known, double t, nb::handle y, nb::handle yp, nb::handle out) {
    s.check();
    Evaluation e(s, known, t, y, yp);
    Array<double, 1> result = writable(out, s.root_count, "out");
    nb::gil_scoped_release release;
    s.root(e.w.get(), result.data);
}

void evaluate_outputs(const Outputs &o, nb::handle known, double t, nb::handle y, nb::handle yp, nb::handle out) {
    o.check();
    Evaluation e(o.layout, known, t, y, yp);
    Array<double, 1> result = writable(out, o.width(), "out");
    nb::gil_scoped_release release;
    o.row(e.w.get(), result.data);
}

// Parts of a System are in its list of families; `part` selects the list.
template <auto Part> void add_family(System &s, uintptr_t address, nb::handle slots, nb::handle rows, nb::handle functions) {
    (s.*Part).push_back(make_family(s.layout, address, slots, rows, functions, Part == &System::jacobians ? "positions" : "rows"));
}

void add_jacobian(System &s, uintptr_t address, nb::handle slots, nb::handle positions, nb::handle functions, nb::handle by) {
    add_family<&System::jacobians>(s, address, slots, positions, functions);
    if (by.is_none()) return;
    Family &family = s.jacobians.back();
    for (nb::handle slot : nb::iter(by)) family.by.push_back(nb::cast<int32_t>(slot));
    for (int32_t slot : family.by)
        if (slot < 0 || slot >= family.slots.shape[0]) fail("`by` names slot " + std::to_string(slot) + ", which the kernel has not");
}

void set_roots(System &s, int64_t count, nb::handle bands, nb::handle zero) {
    s.root_count = count;
    s.root_bands.clear(), s.root_zero.clear();
    if (bands.is_none()) return;
    Integers cells(bands, "bands");
    Doubles sides(zero, "zero");
    require_size(sides, cells.size(), "zero");
    if (cells.size() > count || largest_index(cells.data, cells.size(), false, "bands") >= s.layout.workspace())
        throw nb::value_error("`bands` points outside the workspace, or there are more of them than root functions");
    s.root_bands.assign(cells.data, cells.data + cells.size());
    s.root_zero.assign(sides.data, sides.data + sides.size());
}

void set_step_updates(System &s, nb::handle cells, nb::handle watched) {
    Integers c(cells, "cells");
    Array<const bool, 1> mask(watched, "watched");
    require_size(mask, c.shape[0], "watched");
    if (largest_index(c.data, c.size(), false, "cells") >= s.layout.known_size) fail("`cells` points outside the known values");
    s.step_cells = c;
    s.step_watched = mask;
}

} // namespace

void bind_system(nb::module_ &m) {
    using namespace nb::literals;
    nb::class_<Outputs>(m, "Outputs", "What a run stores at an output time: [±w[gather] … | expressions …].")
        .def("__init__",
             [](Outputs *self, const System &s, nb::handle gather, int64_t expressions) {
                 new (self) Outputs{s.layout, {}, {}, expressions, false};
                 self->set_gather(gather);
             },
             "system"_a, "gather"_a, "expressions"_a = 0)
        .def("add",
             [](Outputs &o, uintptr_t address, nb::handle slots, nb::handle rows, nb::handle functions) {
                 o.add(make_family(o.layout, address, slots, rows, functions, "rows"));
             },
             "address"_a, "slots"_a, "rows"_a, "functions"_a = nb::none())
        .def("evaluate", &evaluate_outputs, "known"_a, "t"_a, "y"_a, "yp"_a, "out"_a)
        .def_prop_ro("width", &Outputs::width)
        .def_prop_ro("reads_derivatives", &Outputs::reads_derivatives);

    nb::class_<System>(m, "System", "F(t, y, y', known) = 0 as compiled kernels and index tables; shared by threads once built.")
        .def(nb::init<int64_t, int64_t, int64_t, int64_t>(), "size"_a, "known_size"_a, "time_index"_a, "equations"_a = -1)
        .def("add_residual", &add_family<&System::residuals>, "address"_a, "slots"_a, "rows"_a, "functions"_a = nb::none())
        .def("add_jacobian", &add_jacobian, "address"_a, "slots"_a, "positions"_a, "functions"_a = nb::none(), "by"_a = nb::none(),
             "`by`: the slot that each entry is a derivative by; partials() needs it.")
        .def("add_bend", &add_family<&System::bends>, "address"_a, "slots"_a, "rows"_a, "functions"_a = nb::none(),
             "A kernel for functions that change their signs where equations bend without an event.")
        .def("set_bends", [](System &s, int64_t count) { s.bend_count = count; }, "count"_a)
        .def("add_root", &add_family<&System::roots>, "address"_a, "slots"_a, "rows"_a, "functions"_a = nb::none())
        .def("set_roots", &set_roots, "count"_a, "bands"_a = nb::none(), "zero"_a = nb::none(),
             "How many root functions there are; of those of relations `bands`, cells of the workspace, and the sides that are written for `zero`.")
        .def("add_step_update", &add_family<&System::step_updates>, "address"_a, "slots"_a, "rows"_a, "functions"_a = nb::none(),
             "A kernel for new values of the cells of set_step_updates(), evaluated after each accepted step.")
        .def("set_step_updates", &set_step_updates, "cells"_a, "watched"_a,
             "Known cells that change after accepted steps only; a change of a watched one ends advance() with status ASSIGNED.")
        .def("add_output",
             [](System &s, uintptr_t address, nb::handle slots, nb::handle rows, nb::handle functions) {
                 s.outputs.add(make_family(s.layout, address, slots, rows, functions, "rows"));
             },
             "address"_a, "slots"_a, "rows"_a, "functions"_a = nb::none())
        .def("set_outputs",
             [](System &s, nb::handle gather, int64_t expressions) {
                 s.outputs.set_gather(gather);
                 s.outputs.expressions = expressions;
             },
             "gather"_a, "expressions"_a = 0)
        .def("add_assignment", &add_family<&System::assignments>, "address"_a, "slots"_a, "rows"_a, "functions"_a = nb::none(),
             "A kernel that fills computed cells; run in the order added.")
        .def("set_computed",
             [](System &s, int64_t count, nb::handle products, int64_t cells) {
                 if (count < 0 || count > s.layout.known_size) fail("the computed cells are part of the known ones");
                 s.products = Table(products, "products");
                 s.cells = cells;
                 s.computed = count;
                 if (s.products.shape[0] != 3) fail("`products` has three lines: target, first factor, second factor");
                 if (largest_index(s.products.data, s.products.size(), false, "products") >= s.nnz() + cells)
                     fail("`products` points outside the Jacobian's values");
             },
             "count"_a, "products"_a, "cells"_a, "After set_pattern(): how many cells are computed, and the chain rule through them.")
        .def("assign",
             [](const System &s, nb::handle w) {
                 Array<double, 1> workspace(w, "w");
                 require_size(workspace, s.layout.workspace(), "w");
                 s.assign(workspace.data);
             },
             "w"_a, "Bring the computed cells of a workspace up to date.")
        .def("set_pattern", &System::set_pattern, "indptr"_a, "indices"_a)
        .def("residual", &evaluate_residual, "known"_a, "t"_a, "y"_a, "yp"_a, "out"_a)
        .def("jacobian", &evaluate_jacobian, "known"_a, "t"_a, "y"_a, "yp"_a, "cj"_a, "data"_a)
        .def("partials", &evaluate_partials, "known"_a, "t"_a, "y"_a, "yp"_a, "by_value"_a, "by_slope"_a,
             "dF/dy and dF/dy', each in the order of the pattern.")
        .def("roots", &evaluate_roots, "known"_a, "t"_a, "y"_a, "yp"_a, "out"_a)
        .def("outputs", [](const System &s, nb::handle known, double t, nb::handle y, nb::handle yp,
                           nb::handle out) { evaluate_outputs(s.outputs, known, t, y, yp, out); },
             "known"_a, "t"_a, "y"_a, "yp"_a, "out"_a)
        .def_prop_ro("size", [](const System &s) { return s.layout.size; })
        .def_prop_ro("known_size", [](const System &s) { return s.layout.known_size; })
        .def_prop_ro("time_index", [](const System &s) { return s.layout.time_index; })
        .def_prop_ro("equations", [](const System &s) { return s.layout.equations; })
        .def_prop_ro("nnz", &System::nnz)
        .def_prop_ro("root_count", [](const System &s) { return s.root_count; });
}

} // namespace acausal
