// One look-up for each distinct state: what a function of a table gave is kept, and given again to whoever asks for the same state.
//
// Residuals, the Jacobian, crossing functions, explicit variables and connected components ask for the same states, each in a kernel
// of its own, one after the other. A cache for each thread and function knows the last ones by their arguments, bit by bit. It has
// sets of four, of which the oldest makes room, and grows with the distance (in look-ups) over which states are asked for again:
// that is the number of states in the plant, and eight times as many rows keep them all.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "media_table.h"

namespace acausal::media {

struct Counts {
    uint64_t calls = 0, lookups = 0;
};

class Memo {
   public:
    // `f(table, arguments, out)`, or what it gave before. Arguments and outputs are few: their numbers are the function's own.
    template <int arguments, int outputs>
    void operator()(Function f, const Table& table, const double* x, double* out) {
        constexpr uint64_t width = 2 + arguments + outputs;  // serial number of the table, age, arguments, outputs
        ++counts.calls;
        if (rows_.empty()) resize(smallest, width);
        uint64_t key[1 + arguments];
        key[0] = table.serial;
        std::memcpy(key + 1, x, arguments * sizeof(double));
        uint64_t hash = 0;
        for (uint64_t k : key) hash = (hash ^ k) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
        double* row = rows_.data() + (hash & mask_) * ways * width;
        double* oldest = row;
        for (int k = 0; k < ways; ++k, row += width) {
            if (std::memcmp(row, key, sizeof(uint64_t)) == 0 && std::memcmp(row + 2, key + 1, arguments * sizeof(double)) == 0) {
                std::memcpy(out, row + 2 + arguments, outputs * sizeof(double));
                again(age_of(row), width);
                return;
            }
            if (age_of(row) < age_of(oldest)) oldest = row;
        }
        ++counts.lookups;
        f(&table, x, out);
        const uint64_t age = ++now_;
        std::memcpy(oldest, key, sizeof(uint64_t));
        std::memcpy(oldest + 1, &age, sizeof age);
        std::memcpy(oldest + 2, key + 1, arguments * sizeof(double));
        std::memcpy(oldest + 2 + arguments, out, outputs * sizeof(double));
    }

    Counts counts;

   private:
    static constexpr int ways = 4;
    static constexpr uint64_t smallest = 64, largest = 16384;  // sets

    static uint64_t age_of(const double* row) {
        uint64_t age;
        std::memcpy(&age, row + 1, sizeof age);
        return age;
    }

    void again(uint64_t age, uint64_t width) {
        const uint64_t sets = mask_ + 1;
        if (2 * (now_ - age) > sets && sets < largest) resize(4 * sets, width);
    }

    void resize(uint64_t sets, uint64_t width) {
        rows_.assign(sets * ways * width, 0.0);  // a serial number of zero: nothing is there
        mask_ = sets - 1;
    }

    std::vector<double> rows_;
    uint64_t mask_ = 0, now_ = 0;
};

}  // namespace acausal::media
