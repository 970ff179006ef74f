/// Checks of a caller's tensors, and the one view of sequences that operations work on.
#pragma once
#include "gyre/gyre.h"

#include <initializer_list>

namespace gyre {

/// Bytes; 0 of no type that there is.
constexpr size_t element_size(gyre_dtype dtype) {
    switch (dtype) {
    case GYRE_F32:
    case GYRE_I32:
        return 4;
    case GYRE_F16:
    case GYRE_BF16:
        return 2;
    case GYRE_F64:
    case GYRE_I64:
        return 8;
    case GYRE_BOOL:
        return 1;
    }
    return 0;
}
const char *dtype_name(gyre_dtype dtype);

/// "[2, 3, 4]" of a shape, for messages; in a per-thread buffer that the next few calls reuse.
const char *shape_text(const int64_t *shape, int rank);

/// A tensor has at most so many elements, repeated ones counted: memory holds fewer, and sums of a few such sizes stay in 63 bits.
constexpr int64_t most_elements = INT64_C(1) << 46;

enum Strides { contiguous, any_strides };

/// Everything that must hold of any tensor before its shape is looked at: rank, element type, device, extents >= 0 that
/// do not overflow, data that is aligned and not NULL (unless the tensor is empty or `need_data` is false), and, unless
/// any strides will do, a contiguous last dimension.
gyre_status check_tensor(const gyre_tensor &t, const char *name, std::initializer_list<int> ranks,
                         std::initializer_list<gyre_dtype> dtypes, bool need_data, Strides strides = contiguous);

/// Extents must be equal to `expected`. Errors: BAD_SHAPE, which shows both.
gyre_status check_shape(const gyre_tensor &t, const char *name, std::initializer_list<int64_t> expected);

/// True if all elements of a tensor are, were its data `shift` elements, 0 or more, further on.
bool in_address_space(const gyre_tensor &t, int64_t shift);

/// The strides of a checked tensor: one along a dimension of one element means nothing, and becomes that of a dense tensor.
void find_strides(const gyre_tensor &t, int64_t (&strides)[GYRE_MAX_RANK]);

/// A tensor of heads in any layout.   Strides in elements; thd is one batch entry.
struct Heads {
    char *data = nullptr;
    gyre_dtype dtype = GYRE_F32;
    int64_t batch = 0;
    int64_t seqlen = 0;
    int64_t heads = 0;
    int64_t dim = 0;
    int64_t batch_stride = 0;
    int64_t token_stride = 0;
    int64_t head_stride = 0;

    char *at(int64_t b, int64_t token, int64_t head) const {
        return data + (b * batch_stride + token * token_stride + head * head_stride) *
                          static_cast<int64_t>(element_size(dtype));
    }
    bool empty() const { return batch == 0 || seqlen == 0 || heads == 0 || dim == 0; }
};

/// A switch: 0 or 1. Errors: BAD_ARGUMENT, which names it `name`.
gyre_status check_flag(int32_t flag, const char *name);

/// Errors: BAD_ARGUMENT, which names it `name`.
gyre_status check_layout(gyre_layout layout, const char *name = "layout");

/// check_tensor() for a layout's rank, then the view.
gyre_status view_heads(const gyre_tensor &t, const char *name, gyre_layout layout,
                       std::initializer_list<gyre_dtype> dtypes, bool need_data, Heads *view);

} // namespace gyre
