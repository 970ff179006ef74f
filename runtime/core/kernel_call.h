/// What kernels take: Halide's buffer descriptions, and the one place that turns its index order into ours.
#pragma once
#include "core/context.h"
#include "core/error.h"
#include "core/saturated.h"

#include <HalideRuntime.h>

#include <initializer_list>

namespace gyre {

/// A view of up to five dimensions, innermost first, as Halide has them.
class Buffer {
public:
    struct Dimension {
        int64_t extent, stride;
    };

    Buffer() = default;
    Buffer(const void *data, halide_type_t type, std::initializer_list<Dimension> dimensions) {
        describe(data, type, dimensions);
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;

    void describe(const void *data, halide_type_t type, std::initializer_list<Dimension> dimensions) {
        buffer.dimensions = 0;
        for (const Dimension &d : dimensions)
            dims[buffer.dimensions++] = {0, static_cast<int32_t>(d.extent), static_cast<int32_t>(d.stride), 0};
        buffer.host = static_cast<uint8_t *>(const_cast<void *>(data));
        buffer.type = type;
        buffer.dim = dims;
    }

    halide_buffer_t *get() { return &buffer; }

private:
    halide_buffer_t buffer{};
    halide_dimension_t dims[5];
};

/// True if every offset of the view fits the 32 bits in which kernels count elements, and so does the end of each dimension, which kernels
/// with assertions count, too.
inline bool fits_kernel_index(std::initializer_list<Buffer::Dimension> dimensions) {
    int64_t sum = 0;
    for (const auto &[extent, stride] : dimensions) {
        if (extent > 1 && reach(extent + 1, stride) > INT32_MAX) return false;
        sum = saturated_sum(sum, reach(extent, stride));
    }
    return sum < INT32_MAX;
}

inline halide_type_t halide_type(gyre_dtype dtype) {
    switch (dtype) {
    case GYRE_F16:
        return {halide_type_float, 16, 1};
    case GYRE_BF16:
        return {halide_type_bfloat, 16, 1};
    case GYRE_F64:
        return {halide_type_float, 64, 1};
    case GYRE_I32:
        return {halide_type_int, 32, 1};
    case GYRE_I64:
        return {halide_type_int, 64, 1};
    case GYRE_BOOL:
        return {halide_type_uint, 8, 1};
    default:
        return {halide_type_float, 32, 1};
    }
}

/// A storage type that a kernel was made for: its attribute dtype=float32, float16 or bfloat16.
inline gyre_dtype kernel_dtype(const Kernel &kernel, std::string_view name = "dtype") {
    const std::string_view type = attribute(kernel, name);
    return type == "float16" ? GYRE_F16 : type == "bfloat16" ? GYRE_BF16 : GYRE_F32;
}

} // namespace gyre
