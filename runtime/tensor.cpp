#include "tensor.h"

#include "error.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace gyre {
namespace {

template <typename List, typename Name>
std::string alternatives(const List &list, Name name) {
    std::string text;
    for (const auto &item : list) text += (text.empty() ? "" : " or ") + std::string(name(item));
    return text;
}

/// Extents and strides whose offsets stay in 63 bits of bytes.
gyre_status check_extents(const gyre_tensor &t, const char *name) {
    constexpr int64_t limit = INT64_MAX / 64;
    int64_t elements = 1, reach = 0;
    for (int i = 0; i < t.rank; i++) {
        if (t.shape[i] < 0)
            return fail(GYRE_BAD_SHAPE, "%s: got shape %s, expected extents >= 0", name, shape_text(t.shape, t.rank));
        int64_t far;
        if (__builtin_mul_overflow(elements, std::max<int64_t>(t.shape[i], 1), &elements) || elements > limit ||
            __builtin_mul_overflow(std::max<int64_t>(t.shape[i] - 1, 0), t.strides[i], &far) || far > limit ||
            far < -limit || __builtin_add_overflow(reach, far < 0 ? -far : far, &reach) || reach > limit)
            return fail(GYRE_BAD_SHAPE, "%s: shape %s with strides %s overflows the address space", name,
                        shape_text(t.shape, t.rank), shape_text(t.strides, t.rank));
    }
    return GYRE_OK;
}

} // namespace

size_t element_size(gyre_dtype dtype) {
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

const char *dtype_name(gyre_dtype dtype) {
    constexpr const char *names[] = {"f32", "f16", "bf16", "f64", "i32", "i64", "bool"};
    return element_size(dtype) ? names[dtype] : "an unknown type";
}

const char *shape_text(const int64_t *shape, int rank) {
    static thread_local char buffers[4][128];
    static thread_local int turn = 0;
    char *text = buffers[turn++ % 4];
    int length = std::snprintf(text, sizeof buffers[0], "[");
    for (int i = 0; i < rank && length < static_cast<int>(sizeof buffers[0]) - 24; i++)
        length += std::snprintf(text + length, sizeof buffers[0] - static_cast<size_t>(length), i ? ", %lld" : "%lld",
                                static_cast<long long>(shape[i]));
    std::snprintf(text + length, sizeof buffers[0] - static_cast<size_t>(length), "]");
    return text;
}

gyre_status check_tensor(const gyre_tensor &t, const char *name, std::initializer_list<int> ranks,
                         std::initializer_list<gyre_dtype> dtypes, bool need_data, Strides strides) {
    if (std::find(ranks.begin(), ranks.end(), t.rank) == ranks.end())
        return fail(GYRE_BAD_SHAPE, "%s: got rank %d, expected %s", name, t.rank,
                    alternatives(ranks, [](int rank) { return std::to_string(rank); }).c_str());
    if (std::find(dtypes.begin(), dtypes.end(), t.dtype) == dtypes.end())
        return fail(GYRE_BAD_TYPE, "%s: got %s, expected %s", name, dtype_name(t.dtype),
                    alternatives(dtypes, dtype_name).c_str());
    if (t.device == GYRE_CUDA)
        return fail(GYRE_UNSUPPORTED, "%s: is on a CUDA device, where no linked kernel takes it", name);
    if (t.device != GYRE_CPU)
        return fail(GYRE_BAD_ARGUMENT, "%s: got device %d, expected GYRE_CPU (1)", name, static_cast<int>(t.device));
    GYRE_TRY(check_extents(t, name));
    const bool empty = std::any_of(t.shape, t.shape + t.rank, [](int64_t extent) { return extent == 0; });
    if (need_data && !empty && !t.data)
        return fail(GYRE_BAD_ARGUMENT, "%s: data is NULL, expected %s", name, shape_text(t.shape, t.rank));
    if (reinterpret_cast<uintptr_t>(t.data) % element_size(t.dtype))
        return fail(GYRE_BAD_ARGUMENT, "%s: data at %p is not aligned to its %zu-byte elements", name, t.data,
                    element_size(t.dtype));
    const int last = t.rank - 1;
    if (strides == contiguous && t.shape[last] > 1 && t.strides[last] != 1)
        return fail(GYRE_BAD_SHAPE, "%s: got strides %s, expected the last to be 1", name,
                    shape_text(t.strides, t.rank));
    return GYRE_OK;
}

gyre_status check_shape(const gyre_tensor &t, const char *name, std::initializer_list<int64_t> expected) {
    if (static_cast<size_t>(t.rank) == expected.size() && std::equal(expected.begin(), expected.end(), t.shape))
        return GYRE_OK;
    return fail(GYRE_BAD_SHAPE, "%s: got shape %s, expected %s", name, shape_text(t.shape, t.rank),
                shape_text(expected.begin(), static_cast<int>(expected.size())));
}

gyre_status check_layout(gyre_layout layout, const char *name) {
    if (layout >= GYRE_BSHD && layout <= GYRE_THD) return GYRE_OK;
    return fail(GYRE_BAD_ARGUMENT, "%s: got %d, expected GYRE_BSHD, GYRE_BHSD or GYRE_THD", name,
                static_cast<int>(layout));
}

gyre_status view_heads(const gyre_tensor &t, const char *name, gyre_layout layout,
                       std::initializer_list<gyre_dtype> dtypes, bool need_data, Heads *view) {
    GYRE_TRY(check_tensor(t, name, {layout == GYRE_THD ? 3 : 4}, dtypes, need_data));
    int batch = 0, token = 1, head = 2;
    if (layout == GYRE_BHSD) token = 2, head = 1;
    if (layout == GYRE_THD) batch = -1, token = 0, head = 1;
    *view = {static_cast<char *>(t.data),
             t.dtype,
             batch < 0 ? 1 : t.shape[batch],
             t.shape[token],
             t.shape[head],
             t.shape[t.rank - 1],
             batch < 0 ? 0 : t.strides[batch],
             t.strides[token],
             t.strides[head]};
    return GYRE_OK;
}

} // namespace gyre
