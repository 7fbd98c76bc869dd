#include "markowitz.h"

#include <algorithm>
#include <cmath>

namespace acausal {

namespace {

constexpr double share = 0.01; // of the largest entry of a column, rows being scaled: a smaller one is no pivot
constexpr int looked_at = 6;   // rows and columns before the best entry so far is taken

// Rows or columns by their number of entries, those of each number in a list.
class Lists {
  public:
    explicit Lists(int64_t n) : head(n + 2, -1), next(n, -1), previous(n, -1), length(n, -1) {}
    void put(int k, int64_t entries) {
        if (length[k] == entries) return;
        take(k);
        length[k] = entries;
        next[k] = head[entries], previous[k] = -1;
        if (next[k] >= 0) previous[next[k]] = k;
        head[entries] = k;
    }
    void take(int k) {
        if (length[k] < 0) return;
        if (previous[k] >= 0) next[previous[k]] = next[k];
        else head[length[k]] = next[k];
        if (next[k] >= 0) previous[next[k]] = previous[k];
        length[k] = -1;
    }
    int first(int64_t entries) const { return head[entries]; }
    int after(int k) const { return next[k]; }

  private:
    std::vector<int> head, next, previous;
    std::vector<int64_t> length;
};

struct Entry {
    int column;
    double value;
};

class Elimination {
  public:
    Elimination(int64_t n, const int *indptr, const int *indices, const double *values)
        : n(n), rows(n), columns(n), by_row(n), by_column(n), place(n, -1) {
        std::vector<double> largest(n, 0.0);
        for (int64_t k = 0; k < indptr[n]; ++k) largest[indices[k]] = std::max(largest[indices[k]], std::fabs(values[k]));
        for (int64_t j = 0; j < n; ++j)
            for (int k = indptr[j]; k < indptr[j + 1]; ++k) {
                rows[indices[k]].push_back({(int)j, values[k] / largest[indices[k]]});
                columns[j].push_back(indices[k]);
            }
        for (int64_t k = 0; k < n; ++k) by_row.put((int)k, rows[k].size()), by_column.put((int)k, columns[k].size());
    }

    bool run(double most, Pivots &found) {
        for (int64_t k = 0; k < n; ++k) {
            if (!choose() || looked > most) return false;
            found.rows.push_back(row), found.columns.push_back(column);
            eliminate();
        }
        return true;
    }

  private:
    // The entry that fills in least, among those of the shortest rows and columns.
    bool choose() {
        cost = -1;
        int seen = 0;
        for (int64_t entries = 1; entries <= n; ++entries) {
            if (cost >= 0 && cost <= (double)(entries - 1) * (double)(entries - 1)) return true;
            for (int j = by_column.first(entries); j >= 0; j = by_column.after(j)) {
                double least = share * largest_of(j);
                for (int i : columns[j]) consider(i, j, least);
                if (++seen >= looked_at && cost >= 0) return true;
            }
            if (cost >= 0 && cost <= (double)entries * (double)(entries - 1)) return true;
            for (int i = by_row.first(entries); i >= 0; i = by_row.after(i)) {
                for (const Entry &e : rows[i])
                    if (cost < 0 || product(i, e.column) < cost) consider(i, e.column, share * largest_of(e.column));
                if (++seen >= looked_at && cost >= 0) return true;
            }
        }
        return cost >= 0;
    }

    double product(int i, int j) const { return (double)(rows[i].size() - 1) * (double)(columns[j].size() - 1); }

    void consider(int i, int j, double least) {
        double now = product(i, j);
        if (cost >= 0 && now >= cost) return;
        double value = std::fabs(at(i, j));
        if (value > 0 && value >= least) cost = now, row = i, column = j;
    }

    double at(int i, int j) {
        looked += (double)rows[i].size();
        for (const Entry &e : rows[i])
            if (e.column == j) return e.value;
        return 0;
    }

    double largest_of(int j) {
        double largest = 0;
        for (int i : columns[j]) largest = std::max(largest, std::fabs(at(i, j)));
        return largest;
    }

    // Takes the pivot's row and column out.
    void eliminate() {
        std::vector<Entry> pivot = std::move(rows[row]);
        std::vector<int> below = std::move(columns[column]);
        rows[row].clear(), columns[column].clear();
        by_row.take(row), by_column.take(column);
        auto own = std::find_if(pivot.begin(), pivot.end(), [&](const Entry &e) { return e.column == column; });
        double value = own->value;
        pivot.erase(own);
        for (const Entry &e : pivot) looked += (double)columns[e.column].size(), remove(columns[e.column], row);
        for (int i : below)
            if (i != row) subtract(i, pivot, value);
        for (const Entry &e : pivot) by_column.put(e.column, columns[e.column].size());
    }

    void subtract(int i, const std::vector<Entry> &pivot, double value) {
        std::vector<Entry> &target = rows[i];
        looked += (double)(target.size() + pivot.size());
        auto own = std::find_if(target.begin(), target.end(), [&](const Entry &e) { return e.column == column; });
        double factor = own->value / value;
        *own = target.back(), target.pop_back();
        for (size_t k = 0; k < target.size(); ++k) place[target[k].column] = (int)k;
        size_t had = target.size();
        for (const Entry &e : pivot) {
            if (place[e.column] >= 0) target[place[e.column]].value -= factor * e.value;
            else target.push_back({e.column, -factor * e.value}), columns[e.column].push_back(i);
        }
        for (size_t k = 0; k < had; ++k) place[target[k].column] = -1;
        by_row.put(i, target.size());
    }

    static void remove(std::vector<int> &from, int what) {
        auto found = std::find(from.begin(), from.end(), what);
        *found = from.back(), from.pop_back();
    }

    int64_t n;
    std::vector<std::vector<Entry>> rows;
    std::vector<std::vector<int>> columns;
    Lists by_row, by_column;
    std::vector<int> place; // of columns in the row at hand
    int row = -1, column = -1; // of the pivot
    double cost = -1, looked = 0; // looked: at so many entries
};

} // namespace

bool markowitz(int64_t n, const int *indptr, const int *indices, const double *values, double most, Pivots &found) {
    for (int64_t k = 0; k < indptr[n]; ++k)
        if (!std::isfinite(values[k])) return false;
    return Elimination(n, indptr, indices, values).run(most, found);
}

} // namespace acausal
