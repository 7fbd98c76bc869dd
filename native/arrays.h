// Arrays that come from Python: checked once, with a message that shows what arrived, then kept alive without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace acausal {

template <typename T> constexpr const char *dtype_name() {
    if constexpr (std::is_same_v<std::remove_const_t<T>, double>) return "float64";
    else if constexpr (std::is_same_v<std::remove_const_t<T>, int32_t>) return "int32";
    else return "bool";
}

inline std::string text_of(nb::handle value) {
    return nb::cast<std::string>(nb::steal<nb::object>(PyObject_Str(value.ptr())));
}

// What arrived, for a message: type, and for arrays dtype, shape and layout.
inline std::string describe(nb::handle value) {
    std::string text = text_of(nb::object(value.type().attr("__name__")));
    if (nb::hasattr(value, "dtype")) text += " of " + text_of(nb::object(value.attr("dtype")));
    if (nb::hasattr(value, "shape")) text += ", shape " + text_of(nb::object(value.attr("shape")));
    if (nb::hasattr(value, "flags") && text_of(nb::object(value.attr("flags").attr("c_contiguous"))) == "False") text += ", not C-contiguous";
    return text;
}

// A C-contiguous numpy array of exactly this type; `T` const accepts read-only arrays. Never converts, so never copies.
template <typename T, int Dimensions> struct Array {
    T *data = nullptr;
    int64_t shape[Dimensions] = {};
    nb::object owner;

    Array() = default;
    Array(nb::handle value, const char *name) {
        using View = nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;
        View view;
        if (!nb::try_cast<View>(value, view, false)) {
            std::string text = std::string("`") + name + "` must be a C-contiguous numpy array of " + dtype_name<T>() + " with " +
                               std::to_string(Dimensions) + " dimension(s), not " + describe(value);
            throw nb::type_error(text.c_str());
        }
        data = view.data();
        for (int k = 0; k < Dimensions; ++k) shape[k] = (int64_t)view.shape(k);
        owner = nb::borrow(value);
    }

    int64_t size() const {
        int64_t product = 1;
        for (int k = 0; k < Dimensions; ++k) product *= shape[k];
        return product;
    }
};

using Doubles = Array<const double, 1>;
using Integers = Array<const int32_t, 1>;
using Table = Array<const int32_t, 2>;

template <typename T> void require_size(const Array<T, 1> &array, int64_t size, const char *name) {
    if (array.shape[0] == size) return;
    std::string text = std::string("`") + name + "` must have " + std::to_string(size) + " elements, not " + std::to_string(array.shape[0]);
    throw nb::value_error(text.c_str());
}

// Largest index of a table; an index with a minus sign is stored as ~i, so it counts as i where `signed_indices` allows it.
int64_t largest_index(const int32_t *data, int64_t size, bool signed_indices, const char *name);

// The (code, data) addresses of the functions a kernel calls: any sequence of integers.
std::vector<void *> addresses(nb::handle sequence);

} // namespace acausal
