#include "merge_schedules.h"

namespace gyre::merge {
using namespace Halide;

constexpr int features = 64, lanes = 16;
constexpr int shares = most_features / features, lanes_of_few = 32; // of few rows: a block has most_features threads

// A thread waits for one part after the other: of few rows several threads share the parts of a feature, whose sums meet in shared memory.
static void share_parts(Stages &s, const Var &z) {
    Var feature("shared_feature"), features_of("shared_features_of"), share("share");
    RVar of_share("of_share"), turns("shared_turns");
    s.sum.update().split(s.part, turns, of_share, shares, TailStrategy::GuardWithIf);
    Func of_shares = s.sum.update().rfactor(of_share, share);
    of_shares.compute_at(s.out, s.i)
        .store_in(MemoryType::GPUShared)
        .bound_storage(s.d, most_features)
        .split(s.d, features_of, feature, features, TailStrategy::GuardWithIf)
        .reorder(features_of, feature, share, s.i, s.h, z)
        .gpu_threads(feature, share);
    of_shares.update()
        .split(s.d, features_of, feature, features, TailStrategy::GuardWithIf)
        .reorder(turns, features_of, feature, share, s.i, s.h, z)
        .gpu_threads(feature, share);
}

// A block of threads is a row: a thread adds up a feature of all parts, neighbours read neighbours. What each part weighs is
// relative to a row's greatest lse, and to their sum: found by some threads, a few parts each, in shared memory.
void schedule_cuda(Stages &s, const Var &z, bool few_rows) {
    Var feature("feature"), features_of("features_of"), lane("lane");
    RVar of_lane("of_lane"), turns("turns");
    s.out.split(s.d, features_of, feature, features, TailStrategy::GuardWithIf)
        .reorder(feature, features_of, s.i, s.h, z)
        .gpu_blocks(s.i, s.h, z)
        .gpu_threads(feature, features_of);
    s.lse.reorder(s.i, s.h, z).gpu_blocks(s.i, s.h, z);
    s.lse.compute_with(s.out, s.i);
    s.sum.compute_at(s.out, feature).store_in(MemoryType::Register);
    if (few_rows) share_parts(s, z);
    for (Func *per_row : {&s.top, &s.total}) {
        per_row->update().split(s.part, turns, of_lane, few_rows ? lanes_of_few : lanes, TailStrategy::GuardWithIf);
        Func of_lanes = per_row->update().rfactor(of_lane, lane);
        of_lanes.compute_at(s.out, s.i).store_in(MemoryType::GPUShared).gpu_threads(lane);
        of_lanes.update().gpu_threads(lane);
        per_row->compute_at(s.out, s.i).store_in(MemoryType::GPUShared);
    }
    s.shared.compute_at(s.out, s.i).store_in(MemoryType::GPUShared);
}

} // namespace gyre::merge
