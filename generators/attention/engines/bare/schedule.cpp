#include "bare.h"

#include "passes/loop_name.h"
#include "passes/memory/equal_elements.h"
#include "passes/memory/formed_in_place.h"
#include "passes/memory/joined_tuples.h"
#include "passes/order/empty_loops.h"
#include "passes/order/joined_loops.h"
#include "passes/order/loop_branches.h"
#include "passes/order/opaque_loops.h"

namespace gyre::attention {
using namespace Halide;

void Bare::check() const {
    const Sizes &z = s.sizes;
    _halide_user_assert(z.task_tiles == 1 && provider->reads_in_place() && z.lanes == 1)
        << "expected dense=true as_stored=true task_tiles=1 and fold equal to lanes\n";
    _halide_user_assert(!facts.integer_scores || k.fold == 1) << "expected fold=1 with integer_scores=true\n";
    _halide_user_assert(z.key_block % k.key_unroll == 0 && z.key_block % k.lanes == 0 &&
                        z.v_head_dim % (z.feature_chunk * k.lanes) == 0)
        << "expected key_unroll and lanes to divide key_block, and lanes head_dim\n";
    _halide_user_assert(facts.integer_scores || z.head_dim / k.fold % k.feature_unroll == 0)
        << "expected feature_unroll to divide head_dim / fold\n";
}

// A step of keys for all rows. Where neighbours are summed by an instruction, a row's scores of a step are a vector.
void Bare::schedule_scores() {
    s.folded_scores.compute_at(s.masked, s.key_step).bound(s.f, 0, k.fold);
    for (Stage stage : {Stage(s.folded_scores), s.folded_scores.update().reorder(s.f, s.r, s.j, s.feature)})
        stage.vectorize(s.f).unroll(s.r).unroll(s.j);
    if (k.feature_unroll > 1) s.folded_scores.update().unroll(s.feature, k.feature_unroll);
    Stage step = s.masked.update(0);
    if (!sums_neighbours()) {
        step.reorder(s.r, s.formed_j, s.key_step).unroll(s.r).unroll(s.formed_j);
        return;
    }
    step.reorder(s.formed_j, s.r, s.key_step).allow_race_conditions().vectorize(s.formed_j).unroll(s.r);
    s.scores.compute_at(s.masked, s.key_step).bound(s.r, 0, s.sizes.row_tile).reorder_storage(s.j, s.r, s.t, s.b);
    s.scores.vectorize(s.j, k.key_unroll).unroll(s.r);
    s.scores.update().reorder(s.lane, s.j, s.r).vectorize(s.j, k.key_unroll).atomic().vectorize(s.lane).unroll(s.r);
}

// Only what runs for each element of a key or a value is unrolled, into a register tile: all rows with a few keys, or with a
// chunk of features. Beside each row stand `fold` neighbouring features, a vector of them, as keys and values have them.
// Weights are formed a vector of keys at a time. All else is loops over rows and features, since each is code.
void Bare::schedule() {
    const Sizes &z = s.sizes;
    check();
    Var d_o("do"), di("di"), lane("lane");
    s.q_rows.compute_root().bound_storage(s.t, 1).bound(s.d, 0, z.head_dim).bound(s.r, 0, z.row_tile);
    if (facts.integer_scores) {
        const Var column = s.q_folded.args()[2]; // of `fold` features
        s.q_folded.compute_root()
            .bound_storage(s.t, 1)
            .bound(s.f, 0, k.fold)
            .bound(s.r, 0, z.row_tile)
            .reorder(s.f, column, s.r, s.t);
        s.q_peak.compute_root().bound_storage(s.t, 1).update().unscheduled();
    }
    schedule_whole_vectors(s.q_rows, s.q_rotated, k.lanes);

    s.state.compute_root()
        .bound_storage(s.t, 1)
        .bound(s.e, 0, tuples())
        .bound(s.r, 0, z.row_tile)
        .reorder_storage(s.e, s.r, s.t)
        .align_storage(s.e, row_of_state()); // a row's tuples lie one after the other: join_tuple()
    s.state.update().reorder(s.e, s.r, s.t, s.block).vectorize(s.e, k.lanes).never_partition_all();

    for (Func *one_block : {&s.masked, &s.block_max, &s.block_sum})
        one_block->compute_at(s.state, s.block).bound_storage(s.b, 1);
    s.masked.bound_storage(s.j, z.key_block).bound(s.r, 0, z.row_tile).reorder_storage(s.j, s.r, s.t, s.b);
    schedule_scores();
    const int mask = s.masked.num_update_definitions() - 1;
    if (k.lanes > 1)
        s.masked.update(mask).allow_race_conditions().vectorize(s.mask_j);
    else
        s.masked.update(mask).unscheduled();
    if (mask > 1) {
        Stage cap = s.masked.update(1).never_partition_all();
        if (k.lanes > 1) cap.allow_race_conditions().vectorize(s.general.cap_j);
    }
    if (s.operands.key_scales.defined())
        s.operands.key_scales.compute_at(s.state, s.block)
            .bound_storage(s.b, 1)
            .bound_storage(s.t, 1)
            .bound_storage(s.j, z.key_block)
            .update()
            .unscheduled();
    s.weights.compute_at(s.state, s.block)
        .bound_storage(s.b, 1)
        .bound_storage(s.j, z.key_block)
        .reorder_storage(s.j, s.r, s.t, s.b)
        .update()
        .allow_race_conditions()
        .reorder(s.weight_j, s.weight_step, s.r)
        .vectorize(s.weight_j)
        .never_partition_all();
    if (k.lanes > 1) {
        s.block_max.update().atomic().vectorize(s.max_j);
        s.lane_sums.compute_at(s.block_sum, s.r).bound(s.f, 0, k.lanes).vectorize(s.f);
        s.lane_sums.update().allow_race_conditions().vectorize(s.sum_j);
    } else {
        s.block_max.update().unscheduled();
        s.block_sum.update().unscheduled();
    }
    int register_tile = k.feature_chunk;
    while (z.v_head_dim % register_tile != 0) register_tile /= 2;
    s.weighted_sums.compute_at(s.state, s.block)
        .bound_storage(s.b, 1)
        .bound(s.d, 0, z.v_head_dim)
        .bound(s.r, 0, z.row_tile)
        .align_storage(s.d, row_of_state())
        .split(s.d, d_o, di, register_tile)
        .reorder(di, s.r, d_o)
        .vectorize(di, k.lanes)
        .unroll(di)
        .unroll(s.r);
    s.weighted_rows.compute_at(s.weighted_sums, d_o);
    schedule_weighted_rows(s, k.lanes);
    if (z.row_tile > 1) s.weighted_sums.update().reorder(s.d, s.r, s.edge).vectorize(s.d, k.lanes);

    s.inverse_sum.compute_root().bound_storage(s.t, 1);
    s.lse.compute_root();
    s.out.compute_root();
    schedule_whole_vectors(s.out, s.out_rotated, k.lanes);
}

// Each tuple of the state holds its row's maximum: what a block does to the row is formed once.
void Bare::lower(const Lowering &lowering) const {
    if (tuples() > k.lanes)
        load_equal_elements_once(lowering.generator, s.state.name() + "." + std::to_string(s.sizes.feature_chunk),
                                 s.e.name());
    branch_before_loops(lowering.generator);
    hide_loop_variable(lowering.generator, loop_of(s.block), lowering.zero);
    join_tuple(lowering.generator, s.state.name(), tuples());
    if (s.sizes.row_tile > 1) form_in_place(lowering.generator, s.weighted_sums.name(), s.state.name());
    join_loops(lowering.generator, s.weights.name(), (k.lanes > 1 ? s.lane_sums : s.block_sum).name(), s.r.name());
    for (const Func &rows : {s.q_rows, s.out}) skip_empty_loops(lowering.generator, rows.name(), s.r.name());
}

} // namespace gyre::attention
