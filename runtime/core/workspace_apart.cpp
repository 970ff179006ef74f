#include "core/workspace_apart.h"

#include "core/saturated.h"
#include "core/tensor.h"

#include <algorithm>

namespace gyre {

void WorkspaceApart::check(const gyre_tensor &t, const char *name, int64_t shift) {
    if (status != GYRE_OK || !t.data || t.rank < 1 || t.rank > GYRE_MAX_RANK) return;
    if (std::any_of(t.shape, t.shape + t.rank, [](int64_t extent) { return extent < 1; })) return;
    int64_t below = 0;
    int64_t above = saturated_sum(shift, 1);
    for (int i = 0; i < t.rank; i++) {
        int64_t &side = t.strides[i] < 0 ? below : above;
        side = saturated_sum(side, reach(t.shape[i], t.strides[i]));
    }
    const auto size = static_cast<int64_t>(element_size(t.dtype));
    const auto bytes_below = static_cast<uint64_t>(saturated_product(below, size));
    const auto bytes_above = static_cast<uint64_t>(saturated_product(above, size));
    const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(t.data));
    const uint64_t first = address - std::min(address, bytes_below);
    const uint64_t past = address + std::min(UINT64_MAX - address, bytes_above);
    if (first < reinterpret_cast<uintptr_t>(end) && reinterpret_cast<uintptr_t>(begin) < past)
        status = refuse(GYRE_BAD_ARGUMENT, "workspace", "overlaps %s%s, expected other memory", structure, name);
}

} // namespace gyre
