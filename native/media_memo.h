// One look-up for each distinct state: what a function of a table gave is kept, and given again to whoever asks for the same state.
//
// Residuals, the Jacobian, crossing functions, explicit variables and connected components ask for the same states, each in a kernel
// of its own, one after the other. A cache for each thread and function keeps the last look-ups in the order in which they were made,
// and knows them by their arguments, bit by bit. Kernels go over their rows in the same order, so whoever asks for a state again
// mostly asks for the one after the last that was asked for: it is looked at first, and memory is read from one end to the other.
// Otherwise tags tell where a state is, in sets of four, of which the oldest makes room. The cache grows with the distance (in
// look-ups) over which states are asked for again: that is the number of states in the plant, and twice as many rows keep nearly
// all. More would be further away in memory.
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
    // The first `wanted` of all `outputs` of `f(table, arguments, out)`, or what it gave before. These numbers are the function's own.
    template <int arguments, int outputs, int wanted>
    void operator()(Function f, const Table& table, const double* x, double* out) {
        constexpr int words = 1 + arguments;
        constexpr uint64_t width = words + 1 + outputs;  // serial number of the table, arguments, how many outputs are there, outputs
        ++counts.calls;
        if (tags_.empty()) resize(smallest, width);
        uint64_t key[words];
        key[0] = table.serial;
        std::memcpy(key + 1, x, arguments * sizeof(double));
        for (uint64_t number : {last_ + 1, last_}) {
            const double* row = rows_.data() + (number & mask_) * width;
            if (number > now_ || !is<words>(row, key) || !(row[words] >= wanted)) continue;
            std::memcpy(out, row + words + 1, wanted * sizeof(double));
            again(last_ = number, width);
            return;
        }
        uint64_t hash = 0;
        for (uint64_t k : key) hash = (hash ^ k) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
        Tag *set = tags_.data() + (hash & tag_mask_) * ways, *oldest = set;
        for (Tag* tag = set; tag < set + ways; ++tag) {
            const double* row = rows_.data() + (tag->number & mask_) * width;
            if (tag->hash == hash && is<words>(row, key)) {
                if (row[words] >= wanted) {
                    std::memcpy(out, row + words + 1, wanted * sizeof(double));
                    again(last_ = tag->number, width);
                    return;
                }
                oldest = tag;  // it lacks derivatives
                break;
            }
            if (tag->number < oldest->number) oldest = tag;
        }
        ++counts.lookups;
        if (uint64_t distance = 0; too_small(hash, distance)) {
            resize(fitting(distance), width);
            oldest = tags_.data() + (hash & tag_mask_) * ways;
        }
        f(&table, x, out);
        const uint64_t place = ++now_ & mask_;
        in_vain_ = served_[place] ? in_vain_ - (in_vain_ > 0) : in_vain_ + (in_vain_ < most_in_vain);
        served_[place] = 0;
        double* row = rows_.data() + place * width;
        *oldest = {hash, last_ = now_};
        std::memcpy(row, key, sizeof key);
        row[words] = wanted;
        std::memcpy(row + words + 1, out, wanted * sizeof(double));
    }

    Counts counts;

   private:
    struct Tag {
        uint64_t hash, number;  // of the look-up
    };
    static constexpr uint64_t ways = 4, smallest = 128, largest = 65536;  // rows
    static constexpr uint64_t drawn = 16, one_in = 64, most_in_vain = 64;
    static constexpr uint64_t few = 8, patience = 64;  // one in so many may be far: a plant at rest asks for a state of long ago

    template <int words>
    static bool is(const double* row, const uint64_t* key) {
        uint64_t found[words], apart = 0;
        std::memcpy(found, row, sizeof found);
        for (int k = 0; k < words; ++k) apart |= found[k] ^ key[k];
        return apart == 0;
    }

    void again(uint64_t number, uint64_t width) {
        const uint64_t rows = mask_ + 1;
        served_[number & mask_] = 1;
        if (now_ - number <= rows / 2 || rows >= largest) far_ -= far_ > 0;
        else if ((far_ += few) > patience) resize(2 * rows, width);
    }

    // Where all rows are taken anew before a state is asked for again, nothing is ever found. So some look-ups, drawn by their hashes,
    // are witnesses: whether they are made a second time. True: many of them were, this one `distance` look-ups ago, and most rows
    // go without having been of use. (A run that is made once more has the same states, too, but its rows were of use.)
    bool too_small(uint64_t hash, uint64_t& distance) {
        if (in_vain_ < most_in_vain / 2 || mask_ + 1 >= largest) return false;
        Tag& witness = witnesses_[(hash >> 52) % drawn];
        if (witness.number && witness.hash == hash) {
            distance = now_ - witness.number;
            witness = {0, 0};
            if ((missed_ += 2) > drawn) return true;
        } else if (witness.number && now_ - witness.number > largest) {
            witness = {0, 0};
            missed_ -= missed_ > 0;
        }
        if (!witness.number && (hash >> 40) % one_in == 0) witness = {hash, now_ + 1};
        return false;
    }

    uint64_t fitting(uint64_t distance) const {
        uint64_t rows = mask_ + 1;
        while (rows < 2 * distance && rows < largest) rows *= 2;
        return rows;
    }

    void resize(uint64_t rows, uint64_t width) {
        tags_.assign(2 * rows, Tag{0, 0});
        rows_.assign(rows * width, 0.0);  // a serial number of zero: nothing is there
        served_.assign(rows, 1);
        mask_ = rows - 1, tag_mask_ = 2 * rows / ways - 1;
        now_ = last_ = far_ = missed_ = in_vain_ = 0;
        for (Tag& witness : witnesses_) witness = {0, 0};
    }

    std::vector<Tag> tags_;     // apart from the rows, so that a search reads one line of memory
    std::vector<uint8_t> served_;  // whether what is in a row was asked for again
    std::vector<double> rows_;  // look-up k is in row k, counted from the first again when all are taken
    Tag witnesses_[drawn] = {};
    uint64_t mask_ = 0, tag_mask_ = 0, now_ = 0, last_ = 0, far_ = 0, missed_ = 0, in_vain_ = 0;
};

}  // namespace acausal::media
