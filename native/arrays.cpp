#include "arrays.h"

#include <algorithm>

namespace acausal {

int64_t largest_index(const int32_t *data, int64_t size, bool signed_indices, const char *name) {
    int32_t largest = -1, smallest = 0;
    for (int64_t k = 0; k < size; ++k) {
        int32_t folded = data[k] ^ (data[k] >> 31); // i for i >= 0, ~i below
        largest = std::max(largest, folded);
        smallest = std::min(smallest, data[k]);
    }
    if (smallest < 0 && !signed_indices) {
        std::string text = std::string("`") + name + "` holds the negative index " + std::to_string(smallest);
        throw nb::value_error(text.c_str());
    }
    return largest;
}

std::vector<void *> addresses(nb::handle sequence) {
    std::vector<void *> found;
    if (sequence.is_none()) return found;
    for (nb::handle item : nb::iter(sequence)) found.push_back(reinterpret_cast<void *>(nb::cast<uintptr_t>(nb::int_(item))));
    if (found.size() % 2) throw nb::value_error("`functions` must hold pairs of addresses: code, data (0 if none)");
    return found;
}

} // namespace acausal
