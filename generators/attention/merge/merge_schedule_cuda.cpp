#include "merge_schedules.h"

namespace gyre::merge {
using namespace Halide;

constexpr int features = 64, lanes = 16;

// A block of threads is a row: a thread adds up a feature of all parts, neighbours read neighbours. What each part weighs is
// relative to a row's greatest lse, and to their sum: found by some threads, a few parts each, in shared memory.
void schedule_cuda(Stages &s, const Var &z) {
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
