#include "merge_schedules.h"

namespace gyre::merge {
using namespace Halide;

constexpr int features = 64, lanes = 16;
constexpr int lanes_of_features = 32; // where threads share a row's parts

// Several threads share the parts of a row, where there are few rows, and load some of them at once. What they find meets in shared memory.
static void share_parts(Stages &s, const Var &z) {
    Var feature("feature"), features_of("features_of"), share("of_share"), n("n");
    s.out.split(s.d, features_of, feature, lanes_of_features, TailStrategy::GuardWithIf)
        .split(features_of, features_of, share, shares, TailStrategy::GuardWithIf)
        .reorder(features_of, feature, share, s.i, s.h, z)
        .gpu_blocks(s.i, s.h, z)
        .gpu_threads(feature, share);
    s.lse.reorder(s.i, s.h, z).gpu_blocks(s.i, s.h, z);
    s.lse.compute_with(s.out, s.i);
    s.sum.compute_at(s.out, features_of).store_in(MemoryType::Register);
    s.sum.update().unroll(s.all_shares);
    for (Func f : {s.part_lses, s.part_weights}) {
        Var lane("lane"), turn("turn"), of_turn("of_turn");
        f.compute_at(s.out, s.i)
            .store_in(MemoryType::GPUShared)
            .bound_storage(s.p, most_shared_parts)
            .split(s.p, share, lane, lanes_of_features, TailStrategy::GuardWithIf)
            .split(share, turn, of_turn, shares, TailStrategy::GuardWithIf)
            .reorder(turn, lane, of_turn, s.i, s.h, z)
            .gpu_threads(lane, of_turn);
    }
    for (Func f : {s.lane_tops, s.lane_totals}) {
        f.compute_at(s.out, s.i).store_in(MemoryType::GPUShared).gpu_threads(s.lane);
        f.update().reorder(s.part_of_lane, s.lane, s.i, s.h, z).gpu_threads(s.lane);
    }
    for (Func f : {s.top, s.total}) f.compute_at(s.out, s.i).store_in(MemoryType::GPUShared);
    s.shared.compute_at(s.out, s.i).store_in(MemoryType::GPUShared);
    s.shared_sums.compute_at(s.out, s.i)
        .store_in(MemoryType::GPUShared)
        .bound_storage(s.d, most_features)
        .split(s.d, feature, n, features_at_once)
        .split(feature, features_of, feature, lanes_of_features, TailStrategy::GuardWithIf)
        .reorder(n, features_of, feature, s.share, s.i, s.h, z)
        .vectorize(n)
        .gpu_threads(feature, s.share);
    s.share_sums.compute_at(s.shared_sums, features_of).store_in(MemoryType::Register).vectorize(s.d);
    s.share_sums.update()
        .reorder(s.d, s.part_of_turn, s.turn, s.share, s.i, s.h, z)
        .vectorize(s.d)
        .unroll(s.part_of_turn);
}

// A block of threads is a row: a thread adds up a feature of all parts, neighbours read neighbours. What each part weighs is
// relative to a row's greatest lse, and to their sum: found by some threads, a few parts each, in shared memory.
void schedule_cuda(Stages &s, const Var &z) {
    if (s.shared_sums.defined()) return share_parts(s, z);
    Var feature("feature"), features_of("features_of"), lane("lane");
    RVar of_lane("of_lane"), turns("turns");
    s.out.split(s.d, features_of, feature, features, TailStrategy::GuardWithIf)
        .reorder(feature, features_of, s.i, s.h, z)
        .gpu_blocks(s.i, s.h, z)
        .gpu_threads(feature, features_of);
    s.lse.reorder(s.i, s.h, z).gpu_blocks(s.i, s.h, z);
    s.lse.compute_with(s.out, s.i);
    s.sum.compute_at(s.out, feature).store_in(MemoryType::Register);
    for (Func *per_row : {&s.top, &s.total}) {
        per_row->update().split(s.part, turns, of_lane, lanes, TailStrategy::GuardWithIf);
        Func of_lanes = per_row->update().rfactor(of_lane, lane);
        of_lanes.compute_at(s.out, s.i).store_in(MemoryType::GPUShared).gpu_threads(lane);
        of_lanes.update().gpu_threads(lane);
        per_row->compute_at(s.out, s.i).store_in(MemoryType::GPUShared);
    }
    s.shared.compute_at(s.out, s.i).store_in(MemoryType::GPUShared);
}

} // namespace gyre::merge
