// The Jacobian of residuals that read computed cells: its pattern, where each entry goes, and the products of the chain rule.
//
// The native half of families/chain.py, which states the problem; rows are targets (m residuals, then z computed cells), sorted by
// counting. A target's columns are its own and those of the cells that it reads; cells are visited after those that they read.
#include "family_tables.h"

using namespace acausal::graph;

namespace {

struct Entry {
    Int source, number;
};

struct Entries {  // of each target in ascending order, by their numbers
    std::vector<Int> start;
    Raw<Entry> entry;
    Mask links;  // of each target, whether it reads a computed cell
};

Entries by_target(const std::vector<FamilyTable>& tables, Int targets, Int first_computed) {
    const Long count = total(tables);
    if (count > std::numeric_limits<Int>::max()) throw std::overflow_error("more derivatives than can be numbered in 32 bits");
    Entries e{std::vector<Int>(size(targets) + 1, 0), Raw<Entry>(static_cast<std::size_t>(count)), Mask(size(targets), 0)};
    for (const FamilyTable& table : tables)
        table.each_target([&](Int target, Int derivatives) {
            if (target < 0 || target >= targets) throw std::out_of_range("a row of a family is neither a residual nor a computed cell");
            e.start[target + 1] += derivatives;
        });
    for (Int t = 0; t < targets; ++t) e.start[t + 1] += e.start[t];
    std::vector<Int> next(e.start.begin(), e.start.end() - 1);
    Int number = 0;
    for (const FamilyTable& table : tables)
        table.each([&number, first_computed, free = next.data(), into = e.entry.data(), links = e.links.data()](Int target, Int source) {
            into[free[target]++] = {source, number++};
            if (source >= first_computed) links[target] = 1;
        });
    return e;
}

class Chain {
  public:
    Chain(Int m, Int z, Int known, const std::vector<FamilyTable>& tables)
        : m(m), z(z), targets(m + z), first_computed(2 * m + known), entries(by_target(tables, targets, first_computed)), count(entries.entry.size()) {}

    // False: computed cells that depend on each other in a ring.
    bool close() {
        find_next();
        find_links();
        if (!find_levels()) return false;
        start.assign(size(targets), 0), length.assign(size(targets), 0), seen.assign(size(m), -1), at.assign(size(m), 0);
        for (Int t : in_rounds()) gather(t);
        columns.resize(top);
        return true;
    }

    // Residuals in compressed columns, computed cells behind them row by row, then links, then what is by nothing that is solved for.
    void place_all() {
        indptr.assign(size(m) + 1, 0);
        for (Int r = 0; r < m; ++r)
            for (Int k = start[r]; k < start[r] + length[r]; ++k) ++indptr[columns[k] + 1];
        for (Int c = 0; c < m; ++c) indptr[c + 1] += indptr[c];
        nnz = indptr[m];
        place.resize(columns.size()), indices.resize(size(nnz)), by_value.resize(size(nnz)), by_slope.resize(size(nnz));
        std::vector<Int> next(indptr.begin(), indptr.end() - 1);
        put_in_columns(next.data());
        first_link = nnz;
        for (Int t = m; t < targets; ++t)
            for (Int k = start[t]; k < start[t] + length[t]; ++k) place[k] = first_link++;
        dump = first_link + static_cast<Int>(link_source.size());
        position.resize(count);
        for (Int t = 0; t < targets; ++t) {
            show_places(t);
            for (Int k = entries.start[t]; k < entries.start[t + 1]; ++k) {
                const auto [source, e] = entries.entry[k];
                position[e] = source < 2 * m ? at[column(source)] : source < first_computed ? dump : first_link + (source - first_computed);
            }
        }
    }

    // Into which place, by which link, from which place; what is read is complete before.
    Raw<Int> products() {
        std::size_t all = 0;
        for (Int c : link_source) all += static_cast<std::size_t>(length[m + c]);
        Raw<Int> found(3 * all);  // all places into which, then all links, then all places from which
        Int *into = found.data(), *by = into + all, *from = by + all;
        for (Int t : in_rounds()) {
            if (link_start[t] == link_start[t + 1]) continue;
            show_places(t);
            for (Int l = link_start[t]; l < link_start[t + 1]; ++l) {
                const Int s = m + link_source[l];
                for (Int j = start[s], end = start[s] + length[s]; j < end; ++j)
                    *into++ = at[columns[j]], *by++ = first_link + l, *from++ = place[j];
            }
        }
        return found;
    }

    std::vector<Int> indptr;
    Raw<Int> indices, position;
    Raw<std::uint8_t> by_value, by_slope;
    Int nnz = 0, dump = 0;

  private:
    Int column(Int index) const { return index < m ? index : index - m; }

    // Residuals, row by row, to the next free place of each column. Pointers are its own: bytes that are written may be anything's.
    void put_in_columns(Int* next) {
        Int *into = place.data(), *rows = indices.data();
        std::uint8_t *value = by_value.data(), *slope = by_slope.data();
        const Int* column = columns.data();
        const std::uint8_t* part = parts.data();
        for (Int r = 0; r < m; ++r)
            for (Int k = start[r], end = start[r] + length[r]; k < end; ++k) {
                const Int p = into[k] = next[column[k]]++;
                rows[p] = r, value[p] = part[k] & 1, slope[p] = part[k] >> 1;
            }
    }

    // Cells before those that read them, each level in ascending order; then the residuals.
    Raw<Int> in_rounds() const {
        Raw<Int> order(size(targets));
        std::vector<Int> next(size(deepest) + 2, 0);
        for (Int c = 0; c < z; ++c) ++next[level[c] + 1];
        for (Int k = 0; k <= deepest; ++k) next[k + 1] += next[k];
        for (Int c = 0; c < z; ++c) order[next[level[c]]++] = m + c;
        for (Int r = 0; r < m; ++r) order[z + r] = r;
        return order;
    }

    // In `at`: of each column of a target its place.
    void show_places(Int t) {
        const Int *column = columns.data() + start[t], *const end = column + length[t], *to = place.data() + start[t];
        for (Int* const shown = at.data(); column < end; ++column, ++to) shown[*column] = *to;
    }

    // Which targets read the next cell wherever the target before them reads one: rows of an array. Theirs is what that has, moved on.
    void find_next() {
        is_next.assign(size(targets), 0);
        for (Int t = 1; t < targets; ++t) {
            const Entry *mine = entries.entry.data() + entries.start[t], *end = entries.entry.data() + entries.start[t + 1];
            const Entry* before = entries.entry.data() + entries.start[t - 1];
            bool next = t != m && end - mine == mine - before;
            for (; next && mine < end; ++mine, ++before) next = follows(before->source, mine->source);
            is_next[t] = next;
        }
    }

    // Of two known cells no one asks which they are.
    bool follows(Int before, Int source) const {
        if (source >= 2 * m && source < first_computed) return before >= 2 * m && before < first_computed;
        return source == before + 1 && source != m && source != first_computed;
    }

    // Distinct ones, ascending by target and source; entries that go through one have its number from then on.
    void find_links() {
        link_source.reserve(size(targets)), link_target.reserve(size(targets));
        link_start.assign(size(targets) + 1, 0);
        std::vector<Int> mine;
        Raw<Int> number(size(z));
        for (Int t = 0; t < targets; ++t) {
            if (is_next[t]) {
                add_next_links(t);
                continue;
            }
            mine.clear();
            for (Int k = entries.links[t] ? entries.start[t] : entries.start[t + 1]; k < entries.start[t + 1]; ++k)
                if (const Int s = entries.entry[k].source; s >= first_computed) mine.push_back(s - first_computed);
            if (!mine.empty()) {
                std::sort(mine.begin(), mine.end());
                mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
                for (Int s : mine) number[s] = static_cast<Int>(link_source.size()), link_source.push_back(s), link_target.push_back(t);
                for (Int k = entries.start[t]; k < entries.start[t + 1]; ++k)
                    if (Int& s = entries.entry[k].source; s >= first_computed) s = first_computed + number[s - first_computed];
            }
            link_start[t + 1] = static_cast<Int>(link_source.size());
        }
    }

    void add_next_links(Int t) {
        const Int first = link_start[t - 1], links = link_start[t] - first;
        for (Int l = first; l < first + links; ++l) link_source.push_back(link_source[l] + 1), link_target.push_back(t);
        const Entry* before = entries.entry.data() + entries.start[t - 1];
        for (Int k = links ? entries.start[t] : entries.start[t + 1]; k < entries.start[t + 1]; ++k, ++before)
            if (Int& s = entries.entry[k].source; s >= first_computed) s = before->source + links;
        link_start[t + 1] = link_start[t] + links;
    }

    // One more than the highest level of the cells that a cell reads.
    bool find_levels() {
        level.assign(size(z), 0);
        std::vector<Int> next(size(z) + 1, 0);
        const Int first = link_start[m], links = link_start[targets];
        for (Int l = first; l < links; ++l) ++next[link_source[l] + 1];
        for (Int c = 0; c < z; ++c) next[c + 1] += next[c];
        std::vector<Int> begin(next);
        std::vector<Int> readers(static_cast<std::size_t>(links - first)), waits(size(z), 0), ready;
        for (Int l = first; l < links; ++l) readers[next[link_source[l]]++] = link_target[l] - m, ++waits[link_target[l] - m];
        for (Int c = 0; c < z; ++c)
            if (!waits[c]) ready.push_back(c);
        for (std::size_t k = 0; k < ready.size(); ++k) {
            const Int c = ready[k];
            deepest = std::max(deepest, level[c]);
            for (Int l = begin[c]; l < begin[c + 1]; ++l) {
                const Int r = readers[l];
                level[r] = std::max(level[r], level[c] + 1);
                if (!--waits[r]) ready.push_back(r);
            }
        }
        return ready.size() == size(z);
    }

    // Columns of a target, of cells ascending, and whether by value (1), by slope (2) or both (3).
    void gather(Int t) {
        if (is_next[t] && (is_next[t] = reads_next_columns(t))) return gather_next(t);
        take_room(t);
        Int *mine = columns.data() + top, found = 0;
        std::uint8_t* const part = parts.data() + top;
        const auto add = [&found, t, mine, part, last = seen.data(), at = at.data()](Int c, std::uint8_t by) {
            if (last[c] != t) last[c] = t, at[c] = found, mine[found] = c, part[found++] = 0;
            part[at[c]] |= by;
        };
        const Entry *own = entries.entry.data() + entries.start[t], *const end = entries.entry.data() + entries.start[t + 1];
        for (const Int m = this->m; own < end; ++own)
            if (const Int s = own->source; s < 2 * m) add(s < m ? s : s - m, s < m ? 1 : 2);
        for (Int l = link_start[t]; l < link_start[t + 1]; ++l) {
            const Int s = m + link_source[l];
            for (Int k = start[s]; k < start[s] + length[s]; ++k) add(columns[k], parts[k]);
        }
        if (t >= m && !std::is_sorted(mine, mine + found)) {  // residuals are put into the order of columns anyway
            std::vector<std::uint8_t> unsorted(part, part + found);
            std::sort(mine, mine + found);
            for (Int k = 0; k < found; ++k) part[k] = unsorted[at[mine[k]]];
        }
        start[t] = static_cast<Int>(top), length[t] = found, top += size(found);
    }

    // Whether the cells that a target reads have the next columns, too. Then it is of the level of the target before, which was gathered.
    bool reads_next_columns(Int t) const {
        for (Int l = link_start[t]; l < link_start[t + 1]; ++l)
            if (!is_next[m + link_source[l]]) return false;
        return true;
    }

    void gather_next(Int t) {
        const Int first = start[t - 1], found = length[t - 1];
        take_room_for(size(found));
        for (Int k = 0; k < found; ++k) columns[top + k] = columns[first + k] + 1, parts[top + k] = parts[first + k];
        start[t] = static_cast<Int>(top), length[t] = found, top += size(found);
    }

    // For as many columns as a target can have.
    void take_room(Int t) {
        std::size_t most = size(entries.start[t + 1] - entries.start[t]);
        for (Int l = link_start[t]; l < link_start[t + 1]; ++l) most += size(length[m + link_source[l]]);
        take_room_for(most);
    }

    void take_room_for(std::size_t more) {
        if (top + more > size(std::numeric_limits<Int>::max())) throw std::overflow_error("more derivatives than can be numbered in 32 bits");
        if (top + more > columns.size()) columns.resize(std::max(top + more, std::max(count, 2 * columns.size()))), parts.resize(columns.size());
    }

    const Int m, z, targets, first_computed;
    Entries entries;
    const std::size_t count;
    Int deepest = 0, first_link = 0;
    std::size_t top = 0;  // of the columns of all targets
    std::vector<Int> link_target, link_source, level, seen, at;
    Raw<Int> columns, place;
    std::vector<Int> link_start, start, length;
    Raw<std::uint8_t> parts;
    Mask is_next;
};

nb::object chain(nb::list families, nb::list assignments, Int m, Int z, Int known) {
    std::vector<FamilyTable> tables = family_tables(families);
    for (FamilyTable& table : family_tables(assignments, m)) tables.push_back(std::move(table));
    Raw<Int> products;
    std::optional<Chain> found;
    bool acyclic;
    {
        nb::gil_scoped_release free;
        found.emplace(m, z, known, tables);
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
    module.def("graph_chain", &chain, nb::arg("families"), nb::arg("assignments"), nb::arg("m"), nb::arg("z"), nb::arg("known"));
}
