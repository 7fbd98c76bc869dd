// Families as structural analysis reads them: where their derivatives stand, row by row.
#pragma once

#include "graph.h"

namespace acausal::graph {

// The slots (slot, row) of a family, the targets (output, row) it adds to, and of each derivative its output and its slot.
// A slot with a minus sign is stored as ~index.
class FamilyTable {
  public:
    FamilyTable(nb::handle family, Int offset) : offset(offset) {
        nb::tuple parts = nb::cast<nb::tuple>(family);
        slots = nb::cast<Table>(parts[0]), rows = nb::cast<Table>(parts[1]);
        outputs = nb::cast<In<Long>>(parts[2]), places = nb::cast<In<Long>>(parts[3]);
        count = static_cast<Long>(rows.shape(1)), entries = static_cast<Long>(outputs.shape(0));
        bool fits = places.shape(0) == outputs.shape(0) && slots.shape(1) == rows.shape(1);
        for (Long k = 0; fits && k < entries; ++k)
            fits = at(outputs, k) >= 0 && at(outputs, k) < Long(rows.shape(0)) && at(places, k) >= 0 && at(places, k) < Long(slots.shape(0));
        if (!fits) throw nb::value_error("the tables of a family do not fit together");
    }

    Long size() const { return entries * count; }

    // use(target, index) for each row of each derivative, in the order of the table of positions.
    template <class Use> void each(Use&& use) const {
        for (Long k = 0; k < entries; ++k) {
            const Int *row = rows.data() + at(outputs, k) * count, *slot = slots.data() + at(places, k) * count;
            for (Long i = 0; i < count; ++i) use(row[i] + offset, slot[i] < 0 ? ~slot[i] : slot[i]);
        }
    }

    // use(target, derivatives) for each row of each output.
    template <class Use> void each_target(Use&& use) const {
        for (std::size_t output = 0; output < rows.shape(0); ++output) {
            Int times = 0;
            for (Long k = 0; k < entries; ++k) times += at(outputs, k) == Long(output);
            const Int* row = rows.data() + Long(output) * count;
            for (Long i = 0; times && i < count; ++i) use(row[i] + offset, times);
        }
    }

  private:
    using Table = nb::ndarray<const Int, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    static Long at(const In<Long>& numbers, Long k) { return numbers.data()[k]; }

    Table slots, rows;
    In<Long> outputs, places;
    Long count = 0, entries = 0;
    Int offset;
};

inline std::vector<FamilyTable> family_tables(nb::list families, Int offset = 0) {
    std::vector<FamilyTable> found;
    found.reserve(nb::len(families));
    for (nb::handle family : families) found.emplace_back(family, offset);
    return found;
}

inline Long total(const std::vector<FamilyTable>& tables) {
    Long entries = 0;
    for (const FamilyTable& table : tables) entries += table.size();
    return entries;
}

}  // namespace acausal::graph
