#include "arrays.h"

#include "vectorised.h"

namespace acausal {

namespace {

struct Range {
    int32_t smallest, largest;
};

VECTORISED Range range_of(const int32_t *data, int64_t size) {
    int32_t smallest = 0, largest = -1;
    for (int64_t k = 0; k < size; ++k) {
        int32_t folded = data[k] ^ (data[k] >> 31); // i for i >= 0, ~i below
        largest = largest > folded ? largest : folded;  // std::max takes references, which keeps GCC 12 from vectorising
        smallest = smallest < data[k] ? smallest : data[k];
    }
    return {smallest, largest};
}

} // namespace

int64_t largest_index(const int32_t *data, int64_t size, bool signed_indices, const char *name) {
    const auto [smallest, largest] = range_of(data, size);
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
