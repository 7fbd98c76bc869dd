// Structural analysis on integer arrays: the native half of src/acausal/structure (each Python module states its problem formally).
// Compressed rows, disjoint sets and blocks; `graph_matching.cpp` has the rest.
#include "graph.h"

using namespace acausal::graph;

namespace {

// ------------------------------------------------------------------------------------------------------------- compressed rows

// Entries of one row by their columns: rows are short, and mostly in order.
void sort_by_column(Int* first, Int* last, const Int* column) {
    if (last - first > 32) {
        std::stable_sort(first, last, [column](Int a, Int b) { return column[a] < column[b]; });
        return;
    }
    for (Int* next = first + 1; next < last; ++next) {
        const Int entry = *next, key = column[entry];
        Int* place = next;
        for (; place > first && column[place[-1]] > key; --place) *place = place[-1];
        *place = entry;
    }
}

// Pairs (row, column) -> compressed rows with ascending, distinct columns, and where each pair went.
nb::tuple compress(In<Int> row, In<Int> column, Int rows, Int columns) {
    (void)columns;
    const Long entries = static_cast<Long>(row.shape(0));
    std::vector<Long> ptr(size(rows) + 1, 0), position(static_cast<std::size_t>(entries));
    std::vector<Int> index;
    {
        nb::gil_scoped_release free;
        const Int *r = row.data(), *c = column.data();
        std::vector<Int> order(static_cast<std::size_t>(entries)), end(size(rows) + 1, 0);
        for (Long k = 0; k < entries; ++k) ++end[r[k] + 1];
        for (Int i = 0; i < rows; ++i) end[i + 1] += end[i];
        for (Long k = 0; k < entries; ++k) order[end[r[k]]++] = static_cast<Int>(k); // `end` are starts until then
        index.reserve(static_cast<std::size_t>(entries));
        for (Int i = 0, first = 0; i < rows; first = end[i++]) {
            sort_by_column(order.data() + first, order.data() + end[i], c);
            for (Int k = first; k < end[i]; ++k) {
                const Int e = order[k];
                if (k == first || c[e] != c[order[k - 1]]) index.push_back(c[e]);
                position[e] = static_cast<Long>(index.size()) - 1;
            }
            ptr[i + 1] = static_cast<Long>(index.size());
        }
        index.shrink_to_fit();
    }
    return nb::make_tuple(give(std::move(ptr)), give(std::move(index)), give(std::move(position)));
}

nb::tuple transpose(In<Long> indptr, In<Int> indices, Int columns) {
    Owned t;
    {
        nb::gil_scoped_release free;
        t = transposed(rows_of(indptr, indices, columns));
    }
    return nb::make_tuple(give(std::move(t.ptr)), give(std::move(t.index)));
}

// The same, and where each entry went.
nb::tuple turn(In<Long> indptr, In<Int> indices, Int columns) {
    const Rows g = rows_of(indptr, indices, columns);
    const Long entries = g.ptr[g.count];
    std::vector<Long> ptr(size(columns) + 1, 0);
    std::vector<Int> index(static_cast<std::size_t>(entries)), place(static_cast<std::size_t>(entries));
    {
        nb::gil_scoped_release free;
        for (Long k = 0; k < entries; ++k) ++ptr[g.index[k] + 1];
        for (Int c = 0; c < columns; ++c) ptr[c + 1] += ptr[c];
        std::vector<Int> next(ptr.begin(), ptr.end() - 1);
        for (Int r = 0; r < g.count; ++r)
            for (Long k = g.ptr[r]; k < g.ptr[r + 1]; ++k) index[place[k] = next[g.index[k]]++] = r;
    }
    return nb::make_tuple(give(std::move(ptr)), give(std::move(index)), give(std::move(place)));
}

// What is solved for in which row, states given: compressed columns -> compressed rows of slopes in columns of states, of values in
// the others.
nb::tuple active(In<Int> indptr, In<Int> indices, In<std::uint8_t> by_value, In<std::uint8_t> by_slope, In<std::uint8_t> state, Int rows) {
    const auto columns = static_cast<Int>(state.shape(0));
    std::vector<Long> ptr(size(rows) + 1, 0);
    std::vector<Int> index;
    {
        nb::gil_scoped_release free;
        const Int *begin = indptr.data(), *row = indices.data();
        const auto each = [&](auto&& use) {
            for (Int c = 0; c < columns; ++c) {
                const std::uint8_t* part = (state.data()[c] ? by_slope : by_value).data();
                for (Int k = begin[c]; k < begin[c + 1]; ++k)
                    if (part[k]) use(row[k], c);
            }
        };
        each([&](Int r, Int) { ++ptr[r + 1]; });
        for (Int r = 0; r < rows; ++r) ptr[r + 1] += ptr[r];
        index.resize(static_cast<std::size_t>(ptr[rows]));
        std::vector<Int> next(ptr.begin(), ptr.end() - 1);
        each([&](Int r, Int c) { index[next[r]++] = c; });
    }
    return nb::make_tuple(give(std::move(ptr)), give(std::move(index)));
}

// ---------------------------------------------------------------------------------------------------------------------- unions

// Disjoint sets whose members carry a sign relative to their representative, the smallest member. Linking the larger
// representative below the smaller one, with path compression, costs O(log n) amortised, and about constant in practice.
class SignedSets {
  public:
    explicit SignedSets(Int n) : parent(size(n)), turned(size(n), 0), zero(size(n), 0) {
        for (Int i = 0; i < n; ++i) parent[i] = i;
    }

    // The representative; afterwards turned[] is relative to it for the whole path (first pass: add up, second: rewrite).
    Int find(Int node) {
        Int root = node;
        std::uint8_t sign = 0;
        while (parent[root] != root) {
            sign ^= turned[root];
            root = parent[root];
        }
        while (parent[node] != root && node != root) {
            const Int next = parent[node];
            const std::uint8_t mine = turned[node];
            parent[node] = root;
            turned[node] = sign;
            sign ^= mine;
            node = next;
        }
        return root;
    }

    void join(Int i, Int j, std::uint8_t opposite) {
        Int a = find(i), b = find(j);
        const std::uint8_t between = static_cast<std::uint8_t>(turned[i] ^ turned[j] ^ opposite);
        if (a == b) {
            zero[a] |= between;  // x = -x
            return;
        }
        if (b < a) std::swap(a, b);
        parent[b] = a;
        turned[b] = between;
        zero[a] |= zero[b];
    }

    std::vector<Int> parent;
    Mask turned, zero;
};

nb::tuple signed_components(Int n, In<Int> i, In<Int> j, In<std::int8_t> sign) {
    std::vector<Int> representative;
    std::vector<std::int8_t> signs(size(n), 1);
    Mask conflict(size(n), 0);
    {
        nb::gil_scoped_release free;
        SignedSets sets(n);
        for (std::size_t e = 0; e < i.shape(0); ++e) sets.join(i.data()[e], j.data()[e], sign.data()[e] < 0);
        for (Int k = 0; k < n; ++k) {
            const Int root = sets.find(k);
            conflict[k] = sets.zero[root];
            if (sets.turned[k] && !conflict[k]) signs[k] = -1;
        }
        representative = std::move(sets.parent);  // every path is compressed now
    }
    return nb::make_tuple(give(std::move(representative)), give(std::move(signs)), give(std::move(conflict)));
}

Out<Int> components(Int n, In<Int> i, In<Int> j) {
    std::vector<Int> parent(size(n));
    {
        nb::gil_scoped_release free;
        Int count = 0;
        for (Int k = 0; k < n; ++k) parent[k] = k;
        const auto find = [&](Int k) {
            while (parent[k] != k) k = parent[k] = parent[parent[k]];
            return k;
        };
        for (std::size_t e = 0; e < i.shape(0); ++e) {
            const Int a = find(i.data()[e]), b = find(j.data()[e]);
            parent[std::max(a, b)] = std::min(a, b);
        }
        // A parent is never larger than its child, so one ascending sweep turns parents into labels, in order of appearance.
        for (Int k = 0; k < n; ++k) parent[k] = parent[k] == k ? count++ : parent[parent[k]];
    }
    return give(std::move(parent));
}

// ---------------------------------------------------------------------------------------------------------------------- blocks

// Tarjan's strongly connected components, the recursion unrolled. A row depends on the rows matched with its other columns; a
// component is complete after everything it depends on, so components come out in evaluation order.
class Blocks {
  public:
    Blocks(const Rows& graph, const Int* column_of_row, const Int* row_of_column)
        : pointers(1, 0), g(graph), owner(row_of_column), low(size(g.count), 0), next(g.ptr, g.ptr + g.count) {
        for (Int r = 0; r < g.count; ++r)
            if (column_of_row[r] >= 0 && low[r] == 0) visit(r);
    }

    std::vector<Int> pointers, order;

  private:
    // low[row]: 0 new; > 0 the earliest row still open that is known to be reachable, as a number of visit; `done` when in a block.
    static constexpr Int done = std::numeric_limits<Int>::max();

    void visit(Int root) {
        enter(root);
        while (!path.empty()) {
            const auto [r, number] = path.back();
            const Int deeper = unvisited_dependency(r);
            if (deeper >= 0) {
                enter(deeper);
                continue;
            }
            path.pop_back();
            if (low[r] == number)
                close(r);
            else
                low[path.back().first] = std::min(low[path.back().first], low[r]);
        }
    }

    void enter(Int r) {
        low[r] = ++visited;
        path.emplace_back(r, visited);
        open.push_back(r);
    }

    Int unvisited_dependency(Int r) {
        while (next[r] < g.ptr[r + 1]) {
            const Int other = owner[g.index[next[r]++]];
            if (other < 0) continue;
            if (low[other] == 0) return other;
            if (low[other] != done) low[r] = std::min(low[r], low[other]);
        }
        return -1;
    }

    void close(Int r) {
        const std::size_t first = order.size();
        Int member = -1;
        do {
            member = open.back();
            open.pop_back();
            low[member] = done;
            order.push_back(member);
        } while (member != r);
        std::sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.end());
        pointers.push_back(static_cast<Int>(order.size()));
    }

    Rows g;
    const Int* owner;
    Int visited = 0;
    std::vector<Int> low;
    std::vector<Long> next;
    std::vector<Int> open;
    std::vector<std::pair<Int, Int>> path;
};

nb::tuple blocks(In<Long> indptr, In<Int> indices, In<Int> column_of_row, In<Int> row_of_column) {
    std::vector<Int> pointers, order;
    {
        nb::gil_scoped_release free;
        const Rows g = rows_of(indptr, indices, static_cast<Int>(row_of_column.shape(0)));
        Blocks found(g, column_of_row.data(), row_of_column.data());
        pointers = std::move(found.pointers);
        order = std::move(found.order);
    }
    return nb::make_tuple(give(std::move(pointers)), give(std::move(order)));
}

}  // namespace

void bind_graph(nb::module_& m) {
    using namespace nb::literals;
    m.def("graph_compress", &compress, "row"_a, "column"_a, "rows"_a, "columns"_a,
          "Pairs -> (indptr, indices, position of each pair).");
    m.def("graph_transpose", &transpose, "indptr"_a, "indices"_a, "columns"_a, "Columns as rows -> (indptr, indices).");
    m.def("graph_turn", &turn, "indptr"_a, "indices"_a, "columns"_a, "Columns as rows -> (indptr, indices, place of each entry).");
    m.def("graph_active", &active, "indptr"_a, "indices"_a, "by_value"_a, "by_slope"_a, "state"_a, "rows"_a,
          "What is solved for in which row, states given -> (indptr, indices).");
    m.def("graph_signed_components", &signed_components, "n"_a, "i"_a, "j"_a, "sign"_a, "-> (representative, sign, conflict).");
    m.def("graph_components", &components, "n"_a, "i"_a, "j"_a, "-> label of each node.");
    m.def("graph_blocks", &blocks, "indptr"_a, "indices"_a, "column_of_row"_a, "row_of_column"_a, "-> (pointers, row order).");
}
