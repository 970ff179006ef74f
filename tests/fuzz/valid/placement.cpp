#include "placement.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gyre::fuzz {

test::Placement random_placement(ByteReader &r, const std::vector<int64_t> &shape, const PlacementRules &rules) {
    if (r.rarely(2)) return {};
    const size_t rank = shape.size(), free = rules.last_contiguous ? rank - 1 : rank;
    std::vector<size_t> order(rank); // innermost first
    std::iota(order.rbegin(), order.rend(), 0);
    const size_t fixed = rank - free;
    for (size_t i = rank; i > fixed + 1; i--) std::swap(order[i - 1], order[fixed + r.below((uint32_t)(i - fixed))]);
    std::vector<int64_t> strides(rank);
    int64_t reach = 1;
    for (const size_t d : order) {
        const bool last = rules.last_contiguous && d == rank - 1;
        if (!last) reach += r.rarely(3) ? r.below(5) : 0;
        strides[d] = reach;
        const bool repeats = rules.may_repeat && !last && r.rarely(8);
        if (repeats)
            strides[d] = 0;
        else
            reach *= std::max<int64_t>(shape[d], 1);
        if (!last && rules.may_go_back && r.rarely(8)) strides[d] = -strides[d];
        if (shape[d] == 1 && r.rarely(8)) strides[d] = last ? 7 : r.edge();
    }
    return test::Placement::with_strides(strides);
}

} // namespace gyre::fuzz
