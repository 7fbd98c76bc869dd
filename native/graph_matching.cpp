// Matchings of equations with unknowns, and what they reach; src/acausal/structure/matching.py states the problem.
#include "graph.h"

using namespace acausal::graph;

namespace {

// Maximum matching in three layers, each of which keeps what the former matched:
//   1. Karp-Sipser: whatever has a single free neighbour left is matched with it (never wrong, so chains and trees are done here);
//      when there is none, the next row takes its free column of smallest degree.
//   2. Hopcroft-Karp: breadth-first levels, then vertex-disjoint shortest augmenting paths; O(sqrt(n)) such phases.
//   3. After each phase, roots still free search depth-first without levels (Duff, Kaya, Ucar 2011: HKDW). Long paths are then
//      found in the first phases instead of one length a phase.
// Layers 2 and 3 start from the side with fewer free nodes: each phase walks all that free roots reach, and where rows outnumber
// columns most of that is in vain.
// Only columns of rank <= `limit` take part. An augmenting path never frees a column, so raising `limit` step by step gives columns
// of low rank precedence: the sets of columns that can be matched together form a matroid, on which greed is optimal.

// One side of the graph, from which paths are searched: its nodes lead to nodes of the other side.
struct Side {
    Rows graph;
    std::vector<Int>& mate;   // of this side's nodes
    std::vector<Int>& other;  // of the other side's nodes
    const Int *rank, *other_rank;
    Int limit;

    bool is_free(Int node) const { return mate[node] < 0 && (rank == nullptr || rank[node] <= limit); }
    bool takes_part(Int target) const { return other_rank == nullptr || other_rank[target] <= limit; }
};

// Layers 2 and 3: augmenting paths from the free nodes of one side.
class Augmentation {
  public:
    explicit Augmentation(const Side& from)
        : side(from), g(from.graph), next(g.ptr, g.ptr + g.count), look(next), level(size(g.count)) {
        while (find_levels()) {
            std::copy(g.ptr, g.ptr + g.count, next.begin());
            for (const Int r : free_roots) along_levels(r);
            backwards = !backwards;
            std::copy(g.ptr + backwards, g.ptr + g.count + backwards, next.begin());
            std::fill(level.begin(), level.end(), unseen);
            for (const Int r : free_roots) anywhere(r);
        }
    }

    Long visits = 0;

  private:
    static constexpr Int unseen = -1, closed = -2, none = std::numeric_limits<Int>::max();

    // Level of a node: number of matched nodes of this side passed on the shortest alternating path from a free one.
    bool find_levels() {
        std::fill(level.begin(), level.end(), unseen);
        queue.clear();
        for (Int r = 0; r < g.count; ++r)
            if (side.is_free(r)) {
                level[r] = 0;
                queue.push_back(r);
            }
        free_roots = queue;
        Int last = none;
        for (std::size_t head = 0; head < queue.size() && level[queue[head]] <= last; ++head) {
            const Int r = queue[head];
            visits += g.ptr[r + 1] - g.ptr[r];
            for (Long k = g.ptr[r]; k < g.ptr[r + 1]; ++k) {
                const Int c = g.index[k], beyond = side.other[c];
                if (!side.takes_part(c)) continue;
                if (beyond < 0) {
                    last = level[r];
                } else if (level[beyond] == unseen && level[r] < last) {
                    level[beyond] = level[r] + 1;
                    queue.push_back(beyond);
                }
            }
        }
        return last != none;
    }

    // Pair the nodes of `path` anew, from its end, where `target` is free, to its root.
    void flip_path(Int target) {
        for (std::size_t k = path.size(); k-- > 0;) {
            const Int before = side.mate[path[k]];
            side.mate[path[k]] = target;
            side.other[target] = path[k];
            level[path[k]] = closed;
            target = before;
        }
    }

    void along_levels(Int root) {
        path.assign(1, root);
        while (!path.empty()) {
            const Int r = path.back();
            Int deeper = -1;
            while (next[r] < g.ptr[r + 1] && deeper < 0) {
                const Int c = g.index[next[r]++], beyond = side.other[c];
                ++visits;
                if (!side.takes_part(c)) continue;
                if (beyond < 0) return flip_path(c);
                if (level[beyond] == level[r] + 1) deeper = beyond;
            }
            if (deeper >= 0) {
                path.push_back(deeper);
            } else {
                level[r] = closed;
                path.pop_back();
            }
        }
    }

    // Rows are read forwards and backwards in turn: a search misled by the order of a row is not misled again in the next phase.
    // (Seen on a grid of 10^6 with a third of its columns ranked last: 2 s instead of 45 s.)
    void anywhere(Int root) {
        if (side.mate[root] >= 0 || level[root] == closed) return;
        path.assign(1, root);
        level[root] = closed;
        while (!path.empty()) {
            const Int r = path.back();
            if (const Int c = free_target(r); c >= 0) return flip_path(c);
            Int deeper = -1;
            while (next[r] != g.ptr[r + !backwards] && deeper < 0) {
                const Int c = g.index[backwards ? --next[r] : next[r]++];
                ++visits;
                if (side.takes_part(c) && level[side.other[c]] != closed) deeper = side.other[c];
            }
            if (deeper >= 0) {
                level[deeper] = closed;
                path.push_back(deeper);
            } else {
                path.pop_back();
            }
        }
    }

    // `look` only moves forward, as a target once matched stays matched: all looking ahead costs O(entries) together.
    Int free_target(Int r) {
        for (; look[r] < g.ptr[r + 1]; ++look[r], ++visits) {
            const Int c = g.index[look[r]];
            if (side.other[c] < 0 && side.takes_part(c)) return c;
        }
        return -1;
    }

    Side side;
    Rows g;
    bool backwards = false;
    std::vector<Long> next, look;
    std::vector<Int> level, path, queue, free_roots;
};

class Matcher {
  public:
    Matcher(const Rows& graph, const Int* rank_of_column)
        : column_of_row(size(graph.count), -1), row_of_column(size(graph.columns), -1), g(graph), rank(rank_of_column) {}

    void start_from(const Int* columns) {
        for (Int r = 0; r < g.count; ++r)
            if (columns[r] >= 0) pair(r, columns[r]);
    }

    void grow(Int rank_limit) {
        limit = rank_limit;
        if (free_rows() == 0) return;
        assign_cheaply();
        const Int rows = free_rows(), columns = free_columns();
        if (rows == 0 || columns == 0) return;
        const Side by_rows{g, column_of_row, row_of_column, nullptr, rank, limit};
        const Side by_columns{transpose_of_g.view(g.count), row_of_column, column_of_row, rank, nullptr, limit};
        visits += Augmentation(rows <= columns ? by_rows : by_columns).visits;
    }

    std::vector<Int> column_of_row, row_of_column;
    Long visits = 0;  // entries looked at: the work done, for tests of complexity

  private:
    bool is_free(Int c) const { return row_of_column[c] < 0 && (rank == nullptr || rank[c] <= limit); }

    Int free_rows() const { return static_cast<Int>(std::count(column_of_row.begin(), column_of_row.end(), -1)); }

    Int free_columns() const {
        Int count = 0;
        for (Int c = 0; c < g.columns; ++c) count += is_free(c);
        return count;
    }

    void pair(Int r, Int c) {
        column_of_row[r] = c;
        row_of_column[c] = r;
    }

    // Layer 1. Degrees count free neighbours; nodes are rows 0 ... count-1, then columns.
    void assign_cheaply() {
        if (transpose_of_g.ptr.empty()) transpose_of_g = transposed(g);
        count_degrees();
        single.clear();
        for (Int node = 0; node < g.count + g.columns; ++node)
            if (degree[node] == 1) single.push_back(node);
        for (Int r = 0; r < g.count; ++r) {
            settle_single_choices();
            if (column_of_row[r] < 0 && degree[r] > 0) take(r, smallest_free_column(r));
        }
        settle_single_choices();
    }

    void count_degrees() {
        degree.assign(size(g.count) + size(g.columns), 0);
        visits += g.ptr[g.count];
        for (Int r = 0; r < g.count; ++r) {
            if (column_of_row[r] >= 0) continue;
            for (Long k = g.ptr[r]; k < g.ptr[r + 1]; ++k) {
                if (!is_free(g.index[k])) continue;
                ++degree[r];
                ++degree[g.count + g.index[k]];
            }
        }
    }

    void settle_single_choices() {
        while (!single.empty()) {
            const Int node = single.back();
            single.pop_back();
            if (degree[node] != 1) continue;  // its neighbour went elsewhere meanwhile
            if (node < g.count)
                take(node, smallest_free_column(node));
            else
                take(free_row_of(node - g.count), node - g.count);
        }
    }

    Int smallest_free_column(Int r) {
        Int best = -1;
        visits += g.ptr[r + 1] - g.ptr[r];
        for (Long k = g.ptr[r]; k < g.ptr[r + 1]; ++k) {
            const Int c = g.index[k];
            if (is_free(c) && (best < 0 || degree[g.count + c] < degree[g.count + best])) best = c;
        }
        return best;
    }

    Int free_row_of(Int c) {
        const Owned& t = transpose_of_g;
        visits += t.ptr[c + 1] - t.ptr[c];
        const auto first = t.index.begin() + t.ptr[c], end = t.index.begin() + t.ptr[c + 1];
        return *std::find_if(first, end, [&](Int r) { return column_of_row[r] < 0; });  // its degree says that there is one
    }

    void take(Int r, Int c) {
        const Owned& t = transpose_of_g;
        pair(r, c);
        degree[r] = degree[g.count + c] = 0;
        for (Long k = g.ptr[r]; k < g.ptr[r + 1]; ++k)
            if (is_free(g.index[k])) lower(g.count + g.index[k]);
        for (Long k = t.ptr[c]; k < t.ptr[c + 1]; ++k)
            if (column_of_row[t.index[k]] < 0) lower(t.index[k]);
        visits += g.ptr[r + 1] - g.ptr[r] + t.ptr[c + 1] - t.ptr[c];
    }

    void lower(Int node) {
        if (--degree[node] == 1) single.push_back(node);
    }

    Rows g;
    const Int* rank;
    Int limit = 0;
    Owned transpose_of_g;
    std::vector<Int> degree, single;
};

nb::tuple match(In<Long> indptr, In<Int> indices, Int columns, std::optional<In<Int>> rank, std::optional<In<Int>> start) {
    std::vector<Int> of_row, of_column;
    Long visits = 0;
    {
        nb::gil_scoped_release free;
        Matcher matcher(rows_of(indptr, indices, columns), rank ? rank->data() : nullptr);
        if (start) matcher.start_from(start->data());
        std::vector<Int> ranks{0};
        if (rank) ranks.assign(rank->data(), rank->data() + columns);
        std::sort(ranks.begin(), ranks.end());
        ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
        for (const Int limit : ranks) matcher.grow(limit);
        of_row = std::move(matcher.column_of_row);
        of_column = std::move(matcher.row_of_column);
        visits = matcher.visits;
    }
    return nb::make_tuple(give(std::move(of_row)), give(std::move(of_column)), visits);
}

// Everything reached from the rows `start`: a row leads to all its columns, a column to the row it is matched with.
nb::tuple reach(In<Long> indptr, In<Int> indices, In<Int> row_of_column, In<Int> start) {
    const Rows g = rows_of(indptr, indices, static_cast<Int>(row_of_column.shape(0)));
    Mask row(size(g.count), 0), column(size(g.columns), 0);
    {
        nb::gil_scoped_release free;
        std::vector<Int> queue;
        const auto add = [&](Int r) {
            if (r >= 0 && !row[r]) {
                row[r] = 1;
                queue.push_back(r);
            }
        };
        for (std::size_t k = 0; k < start.shape(0); ++k) add(start.data()[k]);
        for (std::size_t head = 0; head < queue.size(); ++head)
            for (Long k = g.ptr[queue[head]]; k < g.ptr[queue[head] + 1]; ++k) {
                column[g.index[k]] = 1;
                add(row_of_column.data()[g.index[k]]);
            }
    }
    return nb::make_tuple(give(std::move(row)), give(std::move(column)));
}

}  // namespace

void bind_matching(nb::module_& m) {
    using namespace nb::literals;
    m.def("graph_match", &match, "indptr"_a, "indices"_a, "columns"_a, "rank"_a.none(), "start"_a.none(),
          "-> (column of each row, row of each column, entries looked at).");
    m.def("graph_reach", &reach, "indptr"_a, "indices"_a, "row_of_column"_a, "start"_a, "-> (rows reached, columns reached).");
}
