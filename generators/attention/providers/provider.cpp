#include "provider.h"

#include "attention/recurrence/cache_lines.h"
#include "attention/recurrence/features.h"

namespace gyre::attention {
using namespace Halide;

Expr Provider::stored_value(const Inputs &in, const Expr &key, const Expr &feature) const {
    return in.v.elements(feature, unsafe_promise_clamped(offset_of_key(in.pages, in.v, key), 0, in.v.size - 1));
}

void Provider::schedule_offsets(Stages &s, int lanes) const {
    for (Func *offsets : {&s.operands.k_offsets, &s.operands.v_offsets}) {
        if (!offsets->defined()) continue;
        offsets->compute_at(s.state, s.block)
            .bound_storage(s.b, 1)
            .bound_storage(s.j, (s.sizes.key_block + lanes - 1) / lanes * lanes)
            .vectorize(s.j, lanes, TailStrategy::RoundUp);
        if (s.operands.key_heads.defined()) offsets->bound_storage(s.operands.g, s.sizes.task_tiles);
        if (s.operands.has_one_page.defined()) offsets->specialize(s.operands.has_one_page);
    }
}

void Provider::schedule_copies(Stages &s, int lanes) const {
    if (reads_in_place()) return;
    const Sizes &z = s.sizes;
    OperandStages &o = s.operands;
    // Rows are a cache line longer than they need be: at a power of two, equal features of all keys would share a few
    // sets of the L1 cache.
    for (auto [rows, dim] : {std::pair{&o.k_rows, z.head_dim}, std::pair{&o.v_rows, z.v_head_dim}})
        rows->compute_at(s.state, s.block)
            .bound_storage(s.b, 1)
            .bound_storage(s.j, z.key_block)
            .bound_storage(s.d, dim + cache_line);
    for (auto [rows, rotated] : {std::pair{&o.k_rows, &o.k_rotated}, std::pair{&o.v_rows, &o.v_rotated}}) {
        if (counts_features(s))
            schedule_rotated_rows(*rows, *rotated, lanes);
        else
            schedule_rotated_rows(*rows, *rotated, lanes, lanes);
    }
}

} // namespace gyre::attention
