// Which candidates become assignments: the native half of `_Levels` in families/explicit.py, which states the rule.
#include "graph.h"

using namespace acausal::graph;

namespace {

// A candidate is decided when all candidates that it is computed from are.
class Levels {
  public:
    Levels(const Int* indptr, const Int* indices, Int unknowns, const Int* row_of, Int rows, const Int* read_row, const Int* read, Long extra)
        : n(unknowns), indptr(indptr), indices(indices), level(size(unknowns), 0), owner(size(rows), -1), waits(size(unknowns), 0),
          first(size(unknowns) + 1, 0), reader_first(size(unknowns) + 1, 0), begin(size(unknowns), 0), length(size(unknowns), 0), seen(size(unknowns), -1), read_row(read_row), read(read),
          extra(extra) {
        for (Int u = 0; u < n; ++u)
            if (row_of[u] >= 0) owner[row_of[u]] = u;
        find_sources(row_of);
    }

    void decide(Int deepest, Int most) {
        std::vector<Int> ready;
        for (Int u = 0; u < n; ++u)
            if (candidate(u) && !waits[u]) ready.push_back(u);
        for (std::size_t k = 0; k < ready.size(); ++k) {
            const Int u = ready[k];
            take(u, deepest, most);
            for (Int j = reader_first[u]; j < reader_first[u + 1]; ++j)
                if (!--waits[readers[j]]) ready.push_back(readers[j]);
        }
    }

    std::vector<Int> level_of_taken() { return std::move(level); }

  private:
    bool candidate(Int u) const { return waits[u] >= 0; }

    template <class Use> void each_pair(Use&& use) const {
        for (Int u = 0; u < n; ++u)
            for (Int k = indptr[u]; k < indptr[u + 1]; ++k)
                if (const Int target = owner[indices[k]]; target >= 0 && target != u) use(target, u);
        for (Long k = 0; k < extra; ++k)
            if (const Int target = owner[read_row[k]]; target >= 0 && target != read[k]) use(target, read[k]);
    }

    void find_sources(const Int* row_of) {
        for (Int u = 0; u < n; ++u) waits[u] = row_of[u] >= 0 ? 0 : -1;
        each_pair([&](Int target, Int source) {
            ++first[target + 1];
            if (candidate(source)) ++reader_first[source + 1], ++waits[target];
        });
        for (Int u = 0; u < n; ++u) first[u + 1] += first[u], reader_first[u + 1] += reader_first[u];
        sources.resize(size(first[n])), readers.resize(size(reader_first[n]));
        std::vector<Int> next(first.begin(), first.end() - 1), next_reader(reader_first.begin(), reader_first.end() - 1);
        each_pair([&](Int target, Int source) {
            sources[next[target]++] = source;
            if (candidate(source)) readers[next_reader[source]++] = target;
        });
    }

    // If its dependence on unknowns that stay is small, and it is not too deep.
    void take(Int u, Int deepest, Int most) {
        const auto start = static_cast<Int>(pool.size());
        Int depth = 1;
        const auto add = [&](Int column) {
            if (seen[column] != u) seen[column] = u, pool.push_back(column);
        };
        for (Int k = first[u]; k < first[u + 1]; ++k) {
            const Int source = sources[k];
            if (!level[source]) {
                add(source);
                continue;
            }
            depth = std::max(depth, level[source] + 1);
            for (Int j = begin[source]; j < begin[source] + length[source]; ++j) add(pool[j]);
        }
        const Long count = static_cast<Long>(pool.size()) - start, consumers = indptr[u + 1] - indptr[u] - 1;
        if (count > most || count * consumers > 3 * (count + consumers) + 8 || depth > deepest) {
            pool.resize(size(start));
            return;
        }
        level[u] = depth, begin[u] = start, length[u] = static_cast<Int>(count);
    }

    const Int n;
    const Int *indptr, *indices;
    std::vector<Int> level;  // of those that are taken; 0: not
    std::vector<Int> owner, waits, first, reader_first, begin, length, seen, sources, readers, pool;
    const Int *read_row, *read;
    const Long extra;
};

Out<Int> levels(In<Int> indptr, In<Int> indices, In<Int> row_of, Int rows, In<Int> read_row, In<Int> read, Int deepest, Int most) {
    std::vector<Int> found;
    {
        nb::gil_scoped_release free;
        Levels all(indptr.data(), indices.data(), static_cast<Int>(row_of.shape(0)), row_of.data(), rows, read_row.data(), read.data(),
                   static_cast<Long>(read.shape(0)));
        all.decide(deepest, most);
        found = all.level_of_taken();
    }
    return give(std::move(found));
}

}  // namespace

void bind_explicit(nb::module_& module) {
    module.def("graph_levels", &levels, nb::arg("indptr"), nb::arg("indices"), nb::arg("row_of"), nb::arg("rows"), nb::arg("read_row"),
               nb::arg("read"), nb::arg("deepest"), nb::arg("most"), "-> level of each unknown that is assigned, 0 of the others.");
}
