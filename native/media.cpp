// Fluid property tables: the functions over them, by address for kernels, and on arrays for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "media_memo.h"
#include "media_tables.h"

namespace nb = nanobind;

namespace acausal::media {

Functions functions_for_any_processor() { return functions; }

namespace {

constexpr int64_t header = 64, first_offset = 20, edge_place = 40, gas_place = 41, version = 4;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Arguments = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Results = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

struct Shape {
    int arguments, results, differentiated;
    constexpr int first() const { return results * (1 + differentiated); }
    constexpr int outputs() const { return first() + results * differentiated * (differentiated + 1) / 2; }
};
constexpr Shape shapes[KINDS] = {{3, 4, 2}, {3, 4, 2}, {1, 11, 1}, {1, 8, 1}, {2, 1, 2}, {2, 1, 2}, {2, 1, 2}, {2, 2, 2}, {2, 2, 2}, {1, 2, 1}, {2, 1, 2}, {1, 10, 1}, {3, 6, 2}, {2, 1, 2}};

// Buckets for all spans but the last, which has no end: twice as many until no two knots lie in one.
void into_buckets(Axis& a) {
    const int64_t spans = a.spans;
    const auto crowded = [&] {
        for (int64_t k = 2; k < spans; ++k)
            if (a.bucket_of(a.knots[k]) == a.bucket_of(a.knots[k - 1])) return true;
        return false;
    };
    const double reach = a.knots[spans - 1] - a.knots[0];
    int64_t count = 4 * spans;
    do {
        a.per_unit = reach > 0 ? count / reach : 0;
        a.last = static_cast<double>(count);
        count *= 2;
    } while (crowded());
    a.bucket.resize(static_cast<size_t>(a.last) + 1);
    int64_t span = 0;
    for (int64_t b = 0; b < static_cast<int64_t>(a.bucket.size()); ++b) {
        while (span < spans - 1 && a.bucket_of(a.knots[span + 1]) < b) ++span;
        a.bucket[b] = static_cast<int32_t>(span);
    }
}

Axis axis(const double* blob, double offset) {
    const double* head = blob + static_cast<int64_t>(offset);
    const int64_t spans = static_cast<int64_t>(head[0]);
    const auto padded = [](int64_t n) { return (n + 7) / 8 * 8; };
    const double* knots = head + 8;
    const double* inverse = knots + padded(spans + 1);
    Axis found{knots, inverse, inverse + padded(spans), spans, 0, 0, {}};
    into_buckets(found);
    return found;
}

uint64_t next_serial() {
    static std::atomic<uint64_t> last{0};
    return ++last;
}

// A spline of four fields over an axis, with nodes `stride` doubles apart, as polynomials of each span: the same numbers but for
// rounding.
struct alignas(64) Line {
    double numbers[8];
};
using Lines = std::vector<Line>;
constexpr int64_t degree_of_splines = 5, basis_lanes = 8, fields_of_node = 4;

Lines along_border(const Axis& axis, const double* nodes, int64_t stride) {
    const int64_t powers = degree_of_splines + 1, spans = axis.spans;
    Lines found((spans * powers * fields_of_node + 7) / 8, Line{});
    double* out = found.data()->numbers;
    for (int64_t span = 0; span < spans; ++span)
        for (int64_t m = 0; m < powers; ++m, out += fields_of_node)
            for (int64_t k = 0; k < powers; ++k)
                for (int64_t field = 0; field < fields_of_node; ++field)
                    out[field] += nodes[(span + k) * stride + field] * axis.basis[(span * powers + m) * basis_lanes + k];
    return found;
}

// A table as native code sees it; `blob` stays with whoever made it.
Table table_over(const double* b) {
    const auto part = [&](int k) { return b + static_cast<int64_t>(b[first_offset + 7 + k]); };
    const auto whole = [&](int k) { return static_cast<int64_t>(b[k]); };
    const double *o = b + first_offset, *gas = b + gas_place;  // of gas: lowest pressure, lowest enthalpy, where its parts are
    const auto thin = [&](int k) { return b + static_cast<int64_t>(gas[2 + k]); };
    return {b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[edge_place], gas[0], gas[1], b[10], b[11], b[19], whole(12), whole(13), whole(14),
            axis(b, o[0]), axis(b, o[1]), axis(b, o[2]), axis(b, o[3]), axis(b, o[4]), axis(b, o[5]), axis(b, o[6]), axis(b, gas[2]),
            part(0), part(1), part(2), part(3), thin(1), {part(4), part(5)}, {part(6), part(7)}, {part(8), part(9)}, {thin(2), thin(3)},
            {}, {}, next_serial()};
}

Functions functions_for_this_processor() {
#if defined(__x86_64__)
    static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (wide) return functions_for_avx2();
#endif
    return functions_for_any_processor();
}

// Of this thread.
OF_THREAD Memo* memos = nullptr;

__attribute__((noinline)) Memo* make_memos() {
    thread_local std::vector<Memo> own(KINDS);  // lives as long as the thread
    return memos = own.data();
}

inline Memo* memos_of_thread() { return memos ? memos : make_memos(); }

// The borders are the first two results of saturation, bit by bit: whether somebody asked for that before must not show. Equations of plants
// ask for saturation, and what watches their bends and relations for the borders at the same pressure.
template <bool twice>
inline bool of_saturation(Memo* own, const Table& table, const double* x, double* out) {
    constexpr Shape borders = shapes[BORDERS_P], all = shapes[SATURATED_P];
    const double* found = own[SATURATED_P].kept<1, all.outputs(), twice ? all.outputs() : all.first()>(table, x);
    if (!found) return false;
    ++own[BORDERS_P].counts.calls;
    for (int order = 0; order <= 1 + twice; ++order)
        for (int k = 0; k < borders.results; ++k) out[order * borders.results + k] = found[order * all.results + k];
    return true;
}

// What kernels call: a look-up is shared by all that ask for the same state. Second derivatives are found for those who need them.
template <int kind, bool twice>
void shared(const void* table, const double* x, double* out) {
    static const Function f = twice ? functions_for_this_processor().second[kind] : functions_for_this_processor().first[kind];
    if constexpr (kind == BOILING_PH) return f(table, x, out);  // in less time than it takes to find it
    constexpr Shape shape = shapes[kind];
    Memo* const own = memos_of_thread();
    if constexpr (kind == BORDERS_P)
        if (of_saturation<twice>(own, *static_cast<const Table*>(table), x, out)) return;
    own[kind].operator()<shape.arguments, shape.outputs(), twice ? shape.outputs() : shape.first()>(
        f, *static_cast<const Table*>(table), x, out);
}

template <int... kind>
Function shared_function(int which, bool twice, std::integer_sequence<int, kind...>) {
    static constexpr Function first[] = {shared<kind, false>...}, second[] = {shared<kind, true>...};
    return (twice ? second : first)[which];
}

// Calls of kernels and look-ups that they cost, of this thread, since the last time; by kind.
std::vector<std::pair<uint64_t, uint64_t>> take_counts() {
    std::vector<std::pair<uint64_t, uint64_t>> found;
    for (int kind = 0; kind < KINDS; ++kind) {
        Counts& counts = memos_of_thread()[kind].counts;
        found.emplace_back(counts.calls, counts.lookups), counts = {};
    }
    return found;
}

struct FluidTable {
    nb::object blob;  // keeps the numbers
    std::unique_ptr<Table> table;
    std::vector<Lines> borders;

    explicit FluidTable(Numbers numbers, nb::object owner) : blob(std::move(owner)) {
        if (numbers.size() < static_cast<size_t>(header) || static_cast<int64_t>(numbers.data()[0]) != version)
            throw nb::value_error("not a fluid table of this version");
        if (reinterpret_cast<uintptr_t>(numbers.data()) % 64) throw nb::value_error("a fluid table must start at a multiple of 64 bytes");
        table = std::make_unique<Table>(table_over(numbers.data()));
        for (int block = 0; block < 2; ++block) {
            table->vapour_border[block] = kept(along_border(table->dome_x, table->vapour[block], fields_of_node * table->vapour_ny));
            table->liquid_border[block] = kept(along_border(table->liquid_h, table->liquid[block], fields_of_node * table->liquid_nz));
        }
    }

    const double* kept(Lines found) {
        borders.push_back(std::move(found));
        return borders.back().data()->numbers;
    }
};

int checked(int kind) {
    if (kind < 0 || kind >= KINDS) throw nb::value_error("there is no such fluid function");
    return kind;
}

void evaluate(const FluidTable& fluid, int kind, Arguments arguments, Results results, bool portable) {
    const Shape& shape = shapes[checked(kind)];
    const size_t n = arguments.shape(0);
    if (arguments.shape(1) != static_cast<size_t>(shape.arguments) || results.shape(0) != n ||
        results.shape(1) != static_cast<size_t>(shape.outputs()))
        throw nb::value_error("arguments or results of a fluid function have another shape");
    const Function f = (portable ? functions_for_any_processor() : functions_for_this_processor()).second[kind];
    nb::gil_scoped_release free;
    for (size_t k = 0; k < n; ++k)
        f(fluid.table.get(), arguments.data() + k * shape.arguments, results.data() + k * shape.outputs());
}

// Nanoseconds a call, with derivatives to `order`, over all rows, the quickest of `rounds`.
double nanoseconds(const FluidTable& fluid, int kind, Arguments arguments, int rounds, bool portable, int order) {
    const Shape& shape = shapes[checked(kind)];
    const Functions all = portable ? functions_for_any_processor() : functions_for_this_processor();
    const Function f = (order > 1 ? all.second : all.first)[kind];
    double out[64], best = 1e300;
    const size_t n = arguments.shape(0);
    nb::gil_scoped_release free;
    for (int round = 0; round < rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (size_t k = 0; k < n; ++k) f(fluid.table.get(), arguments.data() + k * shape.arguments, out);
        const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - start;
        best = std::min(best, passed.count() / n);
    }
    return best;
}

}  // namespace
}  // namespace acausal::media

void bind_media(nb::module_& m) {
    using namespace acausal::media;
    nb::class_<FluidTable>(m, "FluidTable", "The numbers of a fluid's table, ready to be evaluated.")
        .def(
            "__init__", [](FluidTable* self, Numbers blob, nb::object owner) { new (self) FluidTable(blob, owner); },
            nb::arg("numbers"), nb::arg("owner"))
        .def_prop_ro("address", [](const FluidTable& self) { return reinterpret_cast<uintptr_t>(self.table.get()); })
        .def("evaluate", &evaluate, nb::arg("kind"), nb::arg("arguments"), nb::arg("results"), nb::arg("portable") = false)
        .def("nanoseconds", &nanoseconds, nb::arg("kind"), nb::arg("arguments"), nb::arg("rounds") = 20, nb::arg("portable") = false,
             nb::arg("order") = 1);
    m.def(
        "fluid_function_address",
        [](int kind, int order) {
            return reinterpret_cast<uintptr_t>(shared_function(checked(kind), order > 1, std::make_integer_sequence<int, KINDS>{}));
        },
        nb::arg("kind"), nb::arg("order") = 2, "Address of void f(const void* table, const double* arguments, double* results).");
    m.def("fluid_look_ups", &take_counts, "By kind: calls of fluid functions by kernels of this thread, and look-ups they cost, since the last call.");
}
