// One look-up for each distinct state: what a function of a table gave is kept, and given again to whoever asks for the same state.
//
// Residuals, the Jacobian, crossing functions, explicit variables and connected components ask for the same states, each in a kernel
// of its own, one after the other. A cache for each thread and function knows the last ones by their arguments, bit by bit. It has
// sets of four, of which the oldest makes room, and grows with the distance (in look-ups) over which states are asked for again:
// that is the number of states in the plant, and four times as many rows keep nearly all. More would be further away in memory: it
// begins with what stays in a processor's nearest cache.
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
        constexpr uint64_t width = 2 + arguments + outputs;  // serial number of the table, arguments, how many outputs are there, outputs
        ++counts.calls;
        if (tags_.empty()) resize(smallest, width);
        uint64_t key[1 + arguments];
        key_of<arguments>(table, x, key);
        const uint64_t hash = hash_of<arguments>(key);
        const uint64_t set = (hash & mask_) * ways;
        Tag* tag = tags_.data() + set;
        int oldest = 0;
        for (int k = 0; k < ways; ++k) {
            double* row = rows_.data() + (set + k) * width;
            if (tag[k].hash == hash && is_of<arguments>(row, key)) {
                if (row[1 + arguments] >= wanted) {
                    std::memcpy(out, row + 2 + arguments, wanted * sizeof(double));
                    again(tag[k].age, width);
                    return;
                }
                oldest = k;  // it lacks derivatives
                break;
            }
            if (tag[k].age < tag[oldest].age) oldest = k;
        }
        ++counts.lookups;
        f(&table, x, out);
        if (was_here(hash) && grows(width)) return;
        double* row = rows_.data() + (set + oldest) * width;
        tag[oldest] = {hash, ++now_};
        std::memcpy(row, key, sizeof key);
        row[1 + arguments] = wanted;
        std::memcpy(row + 2 + arguments, out, wanted * sizeof(double));
    }

    // What is kept of a state already: its first `wanted` outputs, or nothing.
    template <int arguments, int outputs, int wanted>
    const double* kept(const Table& table, const double* x) const {
        if (tags_.empty()) return nullptr;
        uint64_t key[1 + arguments];
        key_of<arguments>(table, x, key);
        const uint64_t hash = hash_of<arguments>(key), set = (hash & mask_) * ways;
        for (int k = 0; k < ways; ++k) {
            if (tags_[set + k].hash != hash) continue;
            const double* row = rows_.data() + (set + k) * (2 + arguments + outputs);
            if (is_of<arguments>(row, key) && row[1 + arguments] >= wanted) return row + 2 + arguments;
        }
        return nullptr;
    }

    Counts counts;

   private:
    template <int arguments>
    static void key_of(const Table& table, const double* x, uint64_t* key) {
        key[0] = table.serial;
        for (int k = 0; k < arguments; ++k) key[1 + k] = bits(x[k]);
    }

    // Both halves of one long product (as wyhash has it): a chain of products, key by key, would take as long as the rest of the search.
    static uint64_t product(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
        const unsigned __int128 all = static_cast<unsigned __int128>(a) * b;
        return static_cast<uint64_t>(all) ^ static_cast<uint64_t>(all >> 64);
#else
        const uint64_t all = (a ^ (a >> 32)) * (b | 1);
        return all ^ (all >> 29);
#endif
    }

    // One by one: kernels have just written the arguments one by one, and a processor waits for those that it reads together.
    static uint64_t bits(const double& x) {
        uint64_t found;
        std::memcpy(&found, &x, sizeof x);
#if defined(__GNUC__)
        asm("" : "+r"(found));
#endif
        return found;
    }

    template <int arguments>
    static bool is_of(const double* row, const uint64_t* key) {
        bool same = true;
        for (int k = 0; k <= arguments; ++k) same &= bits(row[k]) == key[k];
        return same;
    }

    template <int arguments>
    static uint64_t hash_of(const uint64_t* key) {
        static_assert(arguments <= 3);
        const uint64_t second = arguments > 1 ? key[arguments > 1 ? 2 : 0] : 0, third = arguments > 2 ? key[arguments > 2 ? 3 : 0] : 0;
        return product(key[1] ^ 0x9e3779b97f4a7c15u, second ^ (third >> 7) ^ (key[0] << 40) ^ 0xd6e8feb86659fd93u);
    }

    struct Tag {
        uint64_t hash, age;
    };
    static constexpr int ways = 4;
    static constexpr uint64_t smallest = 16, largest = 16384;  // sets
    static constexpr uint64_t few = 8, patience = 64;  // one in so many may be far: a plant at rest asks for a state of long ago
    static constexpr uint64_t marks = 2048;

    void again(uint64_t age, uint64_t width) {
        const uint64_t sets = mask_ + 1;
        if (now_ - age <= sets || sets >= largest) far_ -= far_ > 0;
        else grows(width);
    }

    bool grows(uint64_t width) {
        if (mask_ + 1 >= largest || (far_ += few) <= patience) return false;
        resize(4 * (mask_ + 1), width);
        return true;
    }

    // Whether a state that is to be looked up was looked up before and made room since: of a plant with many more states than rows none is
    // found again, and nothing else would show that they are asked for again. A few bits of each are kept, where others may overwrite them.
    bool was_here(uint64_t hash) {
        uint16_t& mark = gone_[(hash >> 24) % marks];
        const uint16_t mine = static_cast<uint16_t>(hash >> 48) | 1;
        const bool was = mark == mine;
        mark = mine;
        return was;
    }

    void resize(uint64_t sets, uint64_t width) {
        tags_.assign(sets * ways, Tag{0, 0});
        rows_.assign(sets * ways * width, 0.0);  // a serial number of zero: nothing is there
        gone_.assign(marks, 0);
        mask_ = sets - 1;
        far_ = 0;
    }

    std::vector<Tag> tags_;  // apart from the rows, so that a search reads one line of memory
    std::vector<double> rows_;
    std::vector<uint16_t> gone_;
    uint64_t mask_ = 0, now_ = 0, far_ = 0;
};

}  // namespace acausal::media
