#include "core/workspace_apart.h"

#include "core/reach.h"
#include "core/tensor.h"

#include <algorithm>

namespace gyre {
namespace {

/// The addresses of a tensor's elements.
class Places {
public:
    /// `copies` of the tensor, `copy_stride` elements apart.
    Places(const gyre_tensor &t, int64_t copies, int64_t copy_stride) : element(element_size(t.dtype)) {
        add(copies, copy_stride);
        for (int i = 0; i < t.rank; i++) add(t.shape[i], t.strides[i]);
        const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(t.data));
        const uint64_t bytes_below = bytes(reach.below);
        const uint64_t bytes_above = bytes(reach.above);
        is_known = bytes_below <= address && bytes_above <= UINT64_MAX - address - element;
        lowest = address - std::min(address, bytes_below);
    }

    /// True if an element has a byte from `begin` to before `end`; also if it is not known where all elements are, or if they
    /// lie so that finding out would take long.
    bool meet(uint64_t begin, uint64_t end) {
        if (!is_known) return true;
        visits = 0;
        return meets(rank, lowest, begin, end);
    }

private:
    struct Dimension {
        uint64_t extent, stride; // in bytes
    };

    uint64_t bytes(int64_t elements) const {
        return static_cast<uint64_t>(saturated_product(elements, static_cast<int64_t>(element)));
    }

    void add(int64_t extent, int64_t stride) {
        if (extent < 2 || stride == 0) return;
        reach.add(extent, stride);
        int place = rank++; // the shortest stride first
        const uint64_t length = bytes(magnitude(stride));
        for (; place > 0 && dims[place - 1].stride > length; place--) dims[place] = dims[place - 1];
        dims[place] = {static_cast<uint64_t>(extent), length};
    }

    /// Does what meet() does for the elements that the first `count` dimensions tell apart. The lowest of them is at `at`.
    bool meets(int count, uint64_t at, uint64_t begin, uint64_t end) {
        uint64_t span = element; // of all of them
        for (int i = 0; i < count; i++) span += (dims[i].extent - 1) * dims[i].stride;
        if (end <= at || at + span <= begin) return false;
        if (count == 0 || (begin <= at && at + span <= end)) return true;
        constexpr int most_visits = 1000;
        if (++visits > most_visits) return true;
        const auto [extent, stride] = dims[count - 1];
        const uint64_t part = span - (extent - 1) * stride;
        const uint64_t from = at + part > begin ? 0 : (begin - at - part) / stride + 1;
        const uint64_t last = std::min(extent - 1, (end - 1 - at) / stride);
        for (uint64_t i = from; i <= last; i++)
            if (meets(count - 1, at + i * stride, begin, end)) return true;
        return false;
    }

    uint64_t element;
    Dimension dims[GYRE_MAX_RANK + 1];
    int rank = 0;
    Reach reach;
    uint64_t lowest;
    bool is_known;
    int visits;
};

} // namespace

void WorkspaceApart::check(const gyre_tensor &t, const char *name, int64_t copies, int64_t copy_stride) {
    if (status != GYRE_OK || !t.data || copies < 1 || t.rank < 1 || t.rank > GYRE_MAX_RANK) return;
    if (std::any_of(t.shape, t.shape + t.rank, [](int64_t extent) { return extent < 1; })) return;
    if (Places(t, copies, copy_stride).meet(reinterpret_cast<uintptr_t>(begin), reinterpret_cast<uintptr_t>(end)))
        status = refuse(GYRE_BAD_ARGUMENT, "workspace", "overlaps %s%s, expected other memory", structure, name);
}

} // namespace gyre
