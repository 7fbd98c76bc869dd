// What the parts of the structural analysis share: graphs as compressed rows, and how arrays come and go.
//
// A bipartite graph comes as compressed rows: the columns of row r are indices[indptr[r] ... indptr[r + 1]). Rows are equations,
// columns are unknowns, -1 means "none". Everything here is iterative (a chain of 10^6 equations must not overflow the stack),
// takes O(rows + columns + entries) memory, releases the GIL, and is deterministic. Numbers are checked on the Python side.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace acausal::graph {

namespace nb = nanobind;

using Int = std::int32_t;
using Long = std::int64_t;
template <class T> using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

inline std::size_t size(Int n) { return static_cast<std::size_t>(n); }

// A vector whose elements have no value until they are written: one pass over the memory less where all of them will be.
template <class T> struct Unwritten : std::allocator<T> {
    template <class U> struct rebind { using other = Unwritten<U>; };
    template <class U> void construct(U* place) noexcept { ::new (static_cast<void*>(place)) U; }
    template <class U, class... Args> void construct(U* place, Args&&... args) { ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...); }
};
template <class T> using Raw = std::vector<T, Unwritten<T>>;

// Hand a vector over to numpy without copying.
template <class T, class A> Out<T> give(std::vector<T, A>&& values) {
    using Kept = std::vector<T, A>;
    auto* kept = new Kept(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Kept*>(p); });
    return Out<T>(kept->data(), {kept->size()}, owner);
}

// A mask is given as uint8; numpy views it as bool.
using Mask = std::vector<std::uint8_t>;

struct Rows {
    const Long* ptr;
    const Int* index;
    Int count;
    Int columns;
};

inline Rows rows_of(const In<Long>& indptr, const In<Int>& indices, Int columns) {
    return {indptr.data(), indices.data(), static_cast<Int>(indptr.shape(0) - 1), columns};
}

struct Owned {
    std::vector<Long> ptr;
    std::vector<Int> index;
    Rows view(Int columns) const { return {ptr.data(), index.data(), static_cast<Int>(ptr.size() - 1), columns}; }
};

// Columns as rows. Row numbers come out ascending in each column, because rows are visited in order.
inline Owned transposed(const Rows& g) {
    const auto entries = static_cast<std::size_t>(g.ptr[g.count]);
    Owned t{std::vector<Long>(size(g.columns) + 1, 0), std::vector<Int>(entries)};
    for (Long k = 0; k < g.ptr[g.count]; ++k) ++t.ptr[g.index[k] + 1];
    for (Int c = 0; c < g.columns; ++c) t.ptr[c + 1] += t.ptr[c];
    std::vector<Long> next(t.ptr.begin(), t.ptr.end() - 1);
    for (Int r = 0; r < g.count; ++r)
        for (Long k = g.ptr[r]; k < g.ptr[r + 1]; ++k) t.index[next[g.index[k]]++] = r;
    return t;
}

}  // namespace acausal::graph
