#include "core/tensor.h"

#include "core/error.h"
#include "core/reach.h"

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

/// What a tensor of extents >= 0 takes, in elements.
struct Room {
    int64_t elements = 1; // an extent of 0 counts as 1
    Reach reach;
    bool empty = false;

    explicit Room(const gyre_tensor &t) : reach(reach_of(t)) {
        for (int i = 0; i < t.rank; i++) {
            empty |= t.shape[i] == 0;
            if (t.shape[i] > 1) elements = saturated_product(elements, t.shape[i]);
        }
    }

    /// True if all elements have addresses, were the tensor's data `shift` elements, 0 or more, further on.
    bool has_addresses(const gyre_tensor &t, int64_t shift) const {
        if (empty) return true;
        const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(t.data));
        const uint64_t size = element_size(t.dtype);
        const uint64_t limit = UINTPTR_MAX / size;
        const uint64_t low = static_cast<uint64_t>(reach.below);
        const uint64_t high = static_cast<uint64_t>(saturated_sum(reach.above, shift));
        if (low > limit || high >= limit) return false;
        return !t.data || (low * size <= address && (high + 1) * size <= UINTPTR_MAX - address);
    }
};

/// Extents and strides with which sums of sizes stay in 63 bits, and elements in the address space.
gyre_status check_extents(const gyre_tensor &t, const char *name, const Room &room) {
    for (int i = 0; i < t.rank; i++)
        if (t.shape[i] < 0)
            return refuse(GYRE_BAD_SHAPE, name, "got shape %s, expected extents >= 0", shape_text(t.shape, t.rank));
    if (std::max({room.elements, room.reach.below, room.reach.above}) <= most_elements && room.has_addresses(t, 0))
        return GYRE_OK;
    return refuse(GYRE_BAD_SHAPE, name, "shape %s with strides %s overflows the address space",
                  shape_text(t.shape, t.rank), shape_text(t.strides, t.rank));
}

} // namespace

bool in_address_space(const gyre_tensor &t, int64_t shift) { return Room(t).has_addresses(t, shift); }

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
        return refuse(GYRE_BAD_SHAPE, name, "got rank %d, expected %s", t.rank,
                      alternatives(ranks, [](int rank) { return std::to_string(rank); }).c_str());
    if (std::find(dtypes.begin(), dtypes.end(), t.dtype) == dtypes.end())
        return refuse(GYRE_BAD_TYPE, name, "got %s, expected %s", dtype_name(t.dtype),
                      alternatives(dtypes, dtype_name).c_str());
    if (t.device == GYRE_CUDA)
        return refuse(GYRE_UNSUPPORTED, name, "is on a CUDA device, where no linked kernel takes it");
    if (t.device != GYRE_CPU)
        return refuse(GYRE_BAD_ARGUMENT, name, "got device %d, expected GYRE_CPU (1)", static_cast<int>(t.device));
    const Room room(t);
    GYRE_TRY(check_extents(t, name, room));
    if (need_data && !room.empty && !t.data)
        return refuse(GYRE_BAD_ARGUMENT, name, "data is NULL, expected %s", shape_text(t.shape, t.rank));
    if (reinterpret_cast<uintptr_t>(t.data) % element_size(t.dtype))
        return refuse(GYRE_BAD_ARGUMENT, name, "data at %p is not aligned to its %zu-byte elements", t.data,
                      element_size(t.dtype));
    const int last = t.rank - 1;
    if (strides == contiguous && t.shape[last] > 1 && t.strides[last] != 1)
        return refuse(GYRE_BAD_SHAPE, name, "got strides %s, expected the last to be 1", shape_text(t.strides, t.rank));
    return GYRE_OK;
}

gyre_status check_shape(const gyre_tensor &t, const char *name, std::initializer_list<int64_t> expected) {
    if (static_cast<size_t>(t.rank) == expected.size() && std::equal(expected.begin(), expected.end(), t.shape))
        return GYRE_OK;
    return refuse(GYRE_BAD_SHAPE, name, "got shape %s, expected %s", shape_text(t.shape, t.rank),
                  shape_text(expected.begin(), static_cast<int>(expected.size())));
}

gyre_status check_flag(int32_t flag, const char *name) {
    if (flag == 0 || flag == 1) return GYRE_OK;
    return refuse(GYRE_BAD_ARGUMENT, name, "got %d, expected 0 or 1", flag);
}

gyre_status check_layout(gyre_layout layout, const char *name) {
    if (layout >= GYRE_BSHD && layout <= GYRE_THD) return GYRE_OK;
    return refuse(GYRE_BAD_ARGUMENT, name, "got %d, expected GYRE_BSHD, GYRE_BHSD or GYRE_THD",
                  static_cast<int>(layout));
}

} // namespace gyre
