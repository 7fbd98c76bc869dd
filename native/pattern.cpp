// The sparsity pattern of dF/dy + c·dF/dy' and the place of each derivative in it: the native half of families/pattern.py.
#include "family_tables.h"

using namespace acausal::graph;

namespace {

struct Entry {
    Int row;
    std::uint32_t number;  // twice the number of the derivative, and one more where it is by a slope
};

// By rows; columns are short, and mostly in order.
void sort_by_row(Entry* first, Entry* last) {
    if (last - first > 32) {
        std::stable_sort(first, last, [](const Entry& a, const Entry& b) { return a.row < b.row; });
        return;
    }
    for (Entry* next = first + 1; next < last; ++next) {
        const Entry entry = *next;
        Entry* place = next;
        for (; place > first && place[-1].row > entry.row; --place) *place = place[-1];
        *place = entry;
    }
}

class Pattern {
  public:
    Pattern(const std::vector<FamilyTable>& tables, Int equations, Int unknowns) : indptr(size(unknowns) + 1, 0), n(unknowns) {
        const Long derivatives = total(tables);
        if (derivatives > std::numeric_limits<Int>::max()) throw std::overflow_error("more derivatives than can be numbered in 32 bits");
        for (const FamilyTable& table : tables)
            table.each_target([&](Int row, Int) {
                if (row < 0 || row >= equations) throw std::out_of_range("a row of a family is not a row of the system");
            });
        each(tables, [n = n, counts = indptr.data() + 1](Int, Int index) {
            if (index < 2 * n) ++counts[index < n ? index : index - n];
        });
        for (Int c = 0; c < n; ++c) indptr[c + 1] += indptr[c];
        bucket(tables);
        merge(derivatives);
    }

    std::vector<Int> indptr;
    Raw<Int> indices, position;
    Mask by_value, by_slope;

  private:
    template <class Use> static void each(const std::vector<FamilyTable>& tables, Use&& use) {
        for (const FamilyTable& table : tables) table.each(use);
    }

    void bucket(const std::vector<FamilyTable>& tables) {
        entries.resize(static_cast<std::size_t>(indptr[n]));
        std::vector<Int> next(indptr.begin(), indptr.end() - 1);
        std::uint32_t number = 0;
        each(tables, [&number, n = n, free = next.data(), into = entries.data(), known = &by_known](Int row, Int index) {
            if (index < 2 * n) into[free[index < n ? index : index - n]++] = {row, 2 * number + (index >= n)};
            else known->push_back(number);
            ++number;
        });
    }

    // Several derivatives of a row by one unknown share a place; those by what is known have none, behind the last.
    void merge(Long derivatives) {
        indices.resize(entries.size()), by_value.resize(entries.size()), by_slope.resize(entries.size());
        position.resize(static_cast<std::size_t>(derivatives));
        Int first = 0, place = -1, *const where = position.data(), *const rows = indices.data();
        std::uint8_t* const parts[] = {by_value.data(), by_slope.data()};  // pointers of our own: bytes may be anything's
        for (Int c = 0; c < n; ++c) {
            const Int last = indptr[c + 1];
            Entry* const own = entries.data();
            sort_by_row(own + first, own + last);
            for (Int k = first, row = -1; k < last; ++k) {
                const Entry entry = own[k];
                if (entry.row != row) rows[++place] = row = entry.row;
                parts[entry.number & 1][place] = 1;
                where[entry.number >> 1] = place;
            }
            first = last;
            indptr[c + 1] = place + 1;
        }
        indices.resize(size(++place)), by_value.resize(size(place)), by_slope.resize(size(place));
        for (std::uint32_t number : by_known) where[number] = place;
    }

    const Int n;
    Raw<Entry> entries;  // by column
    std::vector<std::uint32_t> by_known;  // numbers of derivatives by what is known
};

nb::tuple pattern(nb::list families, Int equations, Int unknowns) {
    const std::vector<FamilyTable> tables = family_tables(families);
    std::optional<Pattern> found;
    {
        nb::gil_scoped_release free;
        found.emplace(tables, equations, unknowns);
    }
    return nb::make_tuple(give(std::move(found->indptr)), give(std::move(found->indices)), give(std::move(found->position)),
                          give(std::move(found->by_value)), give(std::move(found->by_slope)));
}

}  // namespace

void bind_pattern(nb::module_& module) {
    module.def("graph_pattern", &pattern, nb::arg("families"), nb::arg("equations"), nb::arg("unknowns"),
               "Families -> (indptr, indices, place of each derivative, by value, by slope).");
}
