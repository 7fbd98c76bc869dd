// The Jacobian of residuals that read computed cells: its pattern, where each entry goes, and the products of the chain rule.
//
// The native half of families/chain.py, which states the problem; rows are targets (m residuals, then z computed cells), sorted by
// counting. A target's columns are its own and those of the cells that it reads; cells are visited after those that they read.
#include "graph.h"

using namespace acausal::graph;

namespace {

struct Entries { // of each target in ascending order, by their numbers
    std::vector<Long> start;
    std::vector<Int> number;
};

Entries by_target(const Int* target, Long count, Int targets) {
    Entries e{std::vector<Long>(size(targets) + 1, 0), std::vector<Int>(static_cast<std::size_t>(count))};
    for (Long k = 0; k < count; ++k) ++e.start[target[k] + 1];
    for (Int t = 0; t < targets; ++t) e.start[t + 1] += e.start[t];
    std::vector<Long> next(e.start.begin(), e.start.end() - 1);
    for (Long k = 0; k < count; ++k) e.number[next[target[k]]++] = static_cast<Int>(k);
    return e;
}

class Chain {
  public:
    Chain(Int m, Int z, Int known, const Int* target, const Int* source, Long count)
        : m(m), z(z), targets(m + z), first_computed(2 * m + known), target(target), source(source), count(count), entries(by_target(target, count, targets)) {}

    // False: computed cells that depend on each other in a ring.
    bool close() {
        find_links();
        if (!find_levels()) return false;
        start.assign(size(targets), 0), length.assign(size(targets), 0), seen.assign(size(m), -1), at.assign(size(m), 0);
        std::vector<Int> order(size(z));
        std::vector<Long> next(size(deepest) + 2, 0);
        for (Int c = 0; c < z; ++c) ++next[level[c] + 1];
        for (Int k = 0; k <= deepest; ++k) next[k + 1] += next[k];
        for (Int c = 0; c < z; ++c) order[next[level[c]]++] = c;
        columns.reserve(static_cast<std::size_t>(2 * count)), parts.reserve(static_cast<std::size_t>(2 * count));
        for (Int c : order) gather(m + c);
        for (Int r = 0; r < m; ++r) gather(r);
        return true;
    }

    // Residuals in compressed columns, computed cells behind them row by row, then links, then what is by nothing that is solved for.
    void place_all() {
        indptr.assign(size(m) + 1, 0);
        for (Int r = 0; r < m; ++r)
            for (Long k = start[r]; k < start[r] + length[r]; ++k) ++indptr[columns[k] + 1];
        for (Int c = 0; c < m; ++c) indptr[c + 1] += indptr[c];
        nnz = indptr[m];
        place.resize(columns.size()), indices.resize(size(nnz)), by_value.resize(size(nnz)), by_slope.resize(size(nnz));
        std::vector<Int> next(indptr.begin(), indptr.end() - 1);
        for (Int r = 0; r < m; ++r)
            for (Long k = start[r]; k < start[r] + length[r]; ++k) {
                Int p = place[k] = next[columns[k]]++;
                indices[p] = r, by_value[p] = parts[k] & 1, by_slope[p] = parts[k] >> 1;
            }
        first_link = nnz;
        for (Int t = m; t < targets; ++t)
            for (Long k = start[t]; k < start[t] + length[t]; ++k) place[k] = first_link++;
        dump = first_link + static_cast<Int>(link_source.size());
        position.assign(static_cast<std::size_t>(count), dump);
        for (Int t = 0; t < targets; ++t) {
            for (Long k = start[t]; k < start[t] + length[t]; ++k) at[columns[k]] = place[k];
            for (Long k = entries.start[t]; k < entries.start[t + 1]; ++k) {
                const Int e = entries.number[k];
                if (source[e] < 2 * m) position[e] = at[column(source[e])];
                else if (source[e] >= first_computed) position[e] = first_link + link_of[e];
            }
        }
    }

    // Into which place, by which link, from which place; what is read is complete before.
    std::vector<Int> products() {
        std::vector<std::vector<Int>> rounds(size(deepest) + 2);
        const auto links = static_cast<Int>(link_source.size());
        for (Int l = 0; l < links; ++l) rounds[link_target[l] < m ? deepest + 1 : level[link_target[l] - m]].push_back(l);
        std::size_t all = 0, next = 0;
        for (Int c : link_source) all += static_cast<std::size_t>(length[m + c]);
        std::vector<Int> found(3 * all); // all places into which, then all links, then all places from which
        Int here = -1;
        for (const auto& round : rounds)
            for (Int l : round) {
                const Int t = link_target[l], s = m + link_source[l];
                if (t != here) // links of a target come one after the other
                    for (Long k = start[here = t]; k < start[t] + length[t]; ++k) at[columns[k]] = place[k];
                for (Long j = start[s]; j < start[s] + length[s]; ++j, ++next)
                    found[next] = at[columns[j]], found[all + next] = first_link + l, found[2 * all + next] = place[j];
            }
        return found;
    }

    std::vector<Int> indptr, indices, position;
    Mask by_value, by_slope;
    Int nnz = 0, dump = 0;

  private:
    Int column(Int index) const { return index < m ? index : index - m; }

    // Distinct ones, ascending by target and source, and the number of each entry's.
    void find_links() {
        link_of.assign(static_cast<std::size_t>(count), -1);
        link_start.assign(size(targets) + 1, 0);
        std::vector<Int> mine;
        for (Int t = 0; t < targets; ++t) {
            mine.clear();
            for (Long k = entries.start[t]; k < entries.start[t + 1]; ++k)
                if (const Int s = source[entries.number[k]]; s >= first_computed) mine.push_back(s - first_computed);
            if (!mine.empty()) {
                std::sort(mine.begin(), mine.end());
                mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
                const auto first = static_cast<Int>(link_source.size());
                for (Int s : mine) link_source.push_back(s), link_target.push_back(t);
                for (Long k = entries.start[t]; k < entries.start[t + 1]; ++k)
                    if (const Int s = source[entries.number[k]]; s >= first_computed)
                        link_of[entries.number[k]] = first + static_cast<Int>(std::lower_bound(mine.begin(), mine.end(), s - first_computed) - mine.begin());
            }
            link_start[t + 1] = static_cast<Long>(link_source.size());
        }
    }

    // One more than the highest level of the cells that a cell reads.
    bool find_levels() {
        level.assign(size(z), 0);
        std::vector<Long> next(size(z) + 1, 0);
        const Long first = link_start[m], links = link_start[targets];
        for (Long l = first; l < links; ++l) ++next[link_source[l] + 1];
        for (Int c = 0; c < z; ++c) next[c + 1] += next[c];
        std::vector<Long> begin(next);
        std::vector<Int> readers(static_cast<std::size_t>(links - first)), waits(size(z), 0), ready;
        for (Long l = first; l < links; ++l) readers[next[link_source[l]]++] = link_target[l] - m, ++waits[link_target[l] - m];
        for (Int c = 0; c < z; ++c)
            if (!waits[c]) ready.push_back(c);
        for (std::size_t k = 0; k < ready.size(); ++k) {
            const Int c = ready[k];
            deepest = std::max(deepest, level[c]);
            for (Long l = begin[c]; l < begin[c + 1]; ++l) {
                const Int r = readers[l];
                level[r] = std::max(level[r], level[c] + 1);
                if (!--waits[r]) ready.push_back(r);
            }
        }
        return ready.size() == size(z);
    }

    // Columns of a target, of cells ascending, and whether by value (1), by slope (2) or both (3).
    void gather(Int t) {
        start[t] = static_cast<Long>(columns.size());
        mine.clear();
        auto add = [&](Int c, std::uint8_t part) {
            if (seen[c] != t) seen[c] = t, at[c] = 0, mine.push_back(c);
            at[c] |= part;
        };
        for (Long k = entries.start[t]; k < entries.start[t + 1]; ++k)
            if (const Int s = source[entries.number[k]]; s < 2 * m) add(column(s), s < m ? 1 : 2);
        for (Long l = link_start[t]; l < link_start[t + 1]; ++l) {
            const Int s = m + link_source[l];
            for (Long k = start[s]; k < start[s] + length[s]; ++k) add(columns[k], parts[k]);
        }
        if (t >= m) std::sort(mine.begin(), mine.end()); // residuals are put into the order of columns anyway
        for (Int c : mine) columns.push_back(c), parts.push_back(static_cast<std::uint8_t>(at[c]));
        length[t] = static_cast<Long>(mine.size());
    }

    const Int m, z, targets, first_computed;
    const Int *target, *source;
    const Long count;
    const Entries entries;
    Int deepest = 0, first_link = 0;
    std::vector<Int> link_target, link_source, link_of, level, columns, place, seen, at, mine;
    std::vector<Long> link_start, start, length;
    std::vector<std::uint8_t> parts;
};

nb::object chain(In<Int> target, In<Int> source, Int m, Int z, Int known) {
    std::vector<Int> products;
    std::optional<Chain> found;
    bool acyclic;
    {
        nb::gil_scoped_release free;
        found.emplace(m, z, known, target.data(), source.data(), static_cast<Long>(target.shape(0)));
        acyclic = found->close();
        if (acyclic) found->place_all(), products = found->products();
    }
    if (!acyclic) return nb::none();
    const Int cells = found->dump - found->nnz;
    return nb::make_tuple(give(std::move(found->indptr)), give(std::move(found->indices)), give(std::move(found->position)),
                          give(std::move(found->by_value)), give(std::move(found->by_slope)), give(std::move(products)), cells);
}

}  // namespace

void bind_chain(nb::module_& module) {
    module.def("graph_chain", &chain, nb::arg("target"), nb::arg("source"), nb::arg("m"), nb::arg("z"), nb::arg("known"));
}
