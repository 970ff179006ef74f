/// @file
/// Views of tensors, from C++ types and containers.
#ifndef GYRE_VIEW_HPP
#define GYRE_VIEW_HPP

#include "error.hpp"
#include "tensor.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace gyre {
inline namespace v0 { // keeps these names apart from the library's own

/// 1 to GYRE_MAX_RANK extents or strides, outermost first: {2, 128, 8, 64}, or any container of integers.
/// Throws Error (GYRE_BAD_SHAPE) for more or fewer.
class Extents {
public:
    /// The numbers of a list.
    Extents(std::initializer_list<std::int64_t> extents) { assign(extents.begin(), extents.end()); }
    /// The numbers of a container.
    template <typename Container, typename = decltype(std::begin(std::declval<const Container &>()))>
    Extents(const Container &extents) {
        assign(std::begin(extents), std::end(extents));
    }

    /// How many there are.
    std::int32_t rank() const { return rank_; }
    /// [rank()] numbers, outermost first.
    const std::int64_t *data() const { return extents_.data(); }
    /// The number of elements of a tensor of this shape. Throws Error (GYRE_BAD_SHAPE) for extents below 0 and more than 2^63 - 1 elements.
    std::int64_t product() const {
        std::int64_t product = 1;
        for (std::int32_t i = 0; i < rank_; i++) {
            const std::int64_t extent = extents_[static_cast<std::size_t>(i)];
            if (extent < 0)
                throw Error(GYRE_BAD_SHAPE, "view: got an extent of " + std::to_string(extent) + ", expected >= 0");
            if (extent > 0 && product > std::numeric_limits<std::int64_t>::max() / extent)
                throw Error(GYRE_BAD_SHAPE, "view: got a shape of more than 2^63 - 1 elements, expected fewer");
            product *= extent;
        }
        return product;
    }

private:
    template <typename Iterator>
    void assign(Iterator begin, Iterator end) {
        const auto count = std::distance(begin, end);
        if (count < 1 || count > GYRE_MAX_RANK)
            throw Error(GYRE_BAD_SHAPE, "view: got " + std::to_string(count) + " dimensions, expected 1 to " +
                                            std::to_string(GYRE_MAX_RANK));
        for (; begin != end; ++begin) extents_[static_cast<std::size_t>(rank_++)] = *begin;
    }

    std::array<std::int64_t, GYRE_MAX_RANK> extents_{};
    std::int32_t rank_ = 0;
};

/// The element type of a C++ type. f16 and bf16 have none: give GYRE_F16 or GYRE_BF16 to view().
template <typename T>
constexpr gyre_dtype dtype_of() {
    using Element = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<Element, float>)
        return GYRE_F32;
    else if constexpr (std::is_same_v<Element, double>)
        return GYRE_F64;
    else if constexpr (std::is_same_v<Element, bool>)
        return GYRE_BOOL;
    else if constexpr (std::is_integral_v<Element> && std::is_signed_v<Element> && sizeof(Element) == 4)
        return GYRE_I32;
    else {
        static_assert(std::is_integral_v<Element> && std::is_signed_v<Element> && sizeof(Element) == 8,
                      "no gyre_dtype for this type: expected float, double, bool, int32_t or int64_t");
        return GYRE_I64;
    }
}

/// A view of CPU memory in C order.
inline gyre_tensor view(const void *data, gyre_dtype dtype, const Extents &shape) {
    return gyre_tensor_dense(data, dtype, shape.rank(), shape.data());
}

/// A view of CPU memory with strides in elements. Throws Error (GYRE_BAD_SHAPE) unless there are as many as extents.
inline gyre_tensor view(const void *data, gyre_dtype dtype, const Extents &shape, const Extents &strides) {
    if (strides.rank() != shape.rank())
        throw Error(GYRE_BAD_SHAPE, "view: got " + std::to_string(strides.rank()) + " strides, expected " +
                                        std::to_string(shape.rank()));
    gyre_tensor tensor = view(data, dtype, shape);
    for (std::int32_t i = 0; i < shape.rank(); i++) tensor.strides[i] = strides.data()[i];
    return tensor;
}

/// A view of CPU memory in C order, whose element type is that of the pointer.
template <typename T>
gyre_tensor view(T *data, const Extents &shape) {
    return view(data, dtype_of<T>(), shape);
}

/// A view of CPU memory with strides in elements, whose element type is that of the pointer. Throws Error (GYRE_BAD_SHAPE) unless
/// there are as many strides as extents.
template <typename T>
gyre_tensor view(T *data, const Extents &shape, const Extents &strides) {
    return view(data, dtype_of<T>(), shape, strides);
}

/// A view of all elements of a std::vector, std::array, std::span … in C order. Throws Error (GYRE_BAD_SHAPE) unless
/// the shape has as many elements.
template <typename Container, typename = decltype(std::data(std::declval<Container &>()))>
gyre_tensor view(Container &elements, const Extents &shape) {
    if (shape.product() != static_cast<std::int64_t>(std::size(elements)))
        throw Error(GYRE_BAD_SHAPE, "view: got " + std::to_string(std::size(elements)) +
                                        " elements, expected the shape's " + std::to_string(shape.product()));
    return view(std::data(elements), shape);
}

/// Views a DLPack tensor: DLTensor of dlpack.h, which is known by its byte_offset.
template <typename DLPackTensor, typename = decltype(std::declval<const DLPackTensor &>().byte_offset)>
gyre_tensor view(const DLPackTensor &tensor) {
    gyre_tensor result;
    check(gyre_tensor_from_dlpack(&tensor, &result));
    return result;
}

} // namespace v0
} // namespace gyre
#endif
