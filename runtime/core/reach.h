/// How far a tensor's elements lie from its data.
#pragma once
#include "core/saturated.h"
#include "gyre/gyre.h"

namespace gyre {

/// The distance from the first element to the lowest and to the highest one, in elements.
struct Reach {
    int64_t below = 0;
    int64_t above = 0;

    void add(int64_t extent, int64_t stride) {
        int64_t &side = stride < 0 ? below : above;
        side = saturated_sum(side, reach(extent, stride));
    }
};

/// Extents may be 0, and count as 1.
inline Reach reach_of(const gyre_tensor &t) {
    Reach r;
    for (int i = 0; i < t.rank; i++) r.add(t.shape[i], t.strides[i]);
    return r;
}

} // namespace gyre
