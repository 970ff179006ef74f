#include "attention_schedules.h"

namespace gyre::attention {
using namespace Halide;
namespace {

void check(const Sizes &z, const Knobs &k) {
    _halide_user_assert(z.one_tile && z.as_stored && z.lanes == 1)
        << "expected dense=true as_stored=true task_tiles=1 and fold equal to lanes\n";
    _halide_user_assert(z.key_block % k.key_unroll == 0 && z.key_block % k.lanes == 0 &&
                        z.v_head_dim % z.feature_chunk == 0 && z.feature_chunk % k.lanes == 0)
        << "expected key_unroll and lanes to divide key_block, lanes feature_chunk, and that head_dim\n";
}

void schedule_rotations(Func rows, const RotatedRows &vars, int update) {
    rows.update(update).unscheduled();
    rows.update(update + 1).unscheduled();
    rows.update(update + 2).unroll(vars.parity);
}

} // namespace

// Only what runs for each element of a key or a value is unrolled, into a register tile: all rows with a few keys, or with a
// chunk of features. Beside each row stand `fold` neighbouring features, a vector of them, as keys and values have them.
// Weights are formed a vector of keys at a time. All else is loops over rows and features, since each is code.
void schedule_bare(Stages &s, const Knobs &k) {
    const Sizes &z = s.sizes;
    check(z, k);
    Var ro("ro"), ri("ri"), jo("jo"), ji("ji"), chunk("chunk"), dc("dc");
    const Var column = s.q_folded.args()[2]; // of `fold` features
    s.q_folded.compute_root()
        .bound_storage(s.t, 1)
        .bound(s.f, 0, z.fold)
        .bound(s.r, 0, z.row_tile)
        .reorder(s.f, column, s.r, s.t)
        .vectorize(s.f);
    s.q_rows.compute_at(s.q_folded, s.r);
    schedule_rotations(s.q_rows, s.q_rotated, 0);

    s.state.compute_root()
        .bound_storage(s.t, 1)
        .bound(s.e, 0, z.v_head_dim / z.feature_chunk)
        .bound(s.r, 0, z.row_tile);
    s.state.update().reorder(s.r, s.e, s.t, s.block).never_partition_all();

    for (Func *one_block : {&s.masked, &s.weights, &s.block_max, &s.block_sum, &s.weighted_rows})
        one_block->compute_at(s.state, s.block).bound_storage(s.b, 1);
    s.masked.bound_storage(s.j, z.key_block)
        .reorder_storage(s.j, s.r, s.t, s.b)
        .tile(s.r, s.j, ro, jo, ri, ji, z.row_tile, k.key_unroll, TailStrategy::RoundUp)
        .reorder(ri, ji, ro, jo)
        .unroll(ri)
        .unroll(ji);
    s.masked.update().unscheduled();
    s.folded_scores.compute_at(s.masked, ro).bound(s.f, 0, z.fold);
    for (Stage stage : {Stage(s.folded_scores), s.folded_scores.update().reorder(s.f, s.r, s.j, s.feature)})
        stage.vectorize(s.f).unroll(s.r).unroll(s.j);
    s.block_max.update().unscheduled();
    s.weights.bound_storage(s.j, z.key_block)
        .reorder_storage(s.j, s.r, s.t, s.b)
        .vectorize(s.j, k.lanes, TailStrategy::RoundUp);
    s.block_sum.update().unscheduled();
    s.weighted_rows.compute_at(s.state, s.e);
    for (Stage stage : {Stage(s.weighted_rows), s.weighted_rows.update().reorder(s.d, s.r, s.value_j)})
        stage.vectorize(s.d, k.lanes).unroll(s.d).unroll(s.r);

    s.inverse_sum.compute_root().bound_storage(s.t, 1);
    s.lse.compute_root();
    s.out_copy.compute_root()
        .bound_storage(s.t, 1)
        .bound_storage(s.d, z.v_head_dim)
        .split(s.d, chunk, dc, z.feature_chunk)
        .unroll(dc);
    s.out.compute_root().vectorize(s.d, k.lanes);
    schedule_rotations(s.out, s.out_rotated, 0);
}

} // namespace gyre::attention
