#include "merge_schedules.h"

namespace gyre::merge {
using namespace Halide;

constexpr int features = 128, lanes = 16, parts_at_once = 8;

// A block of threads is a row: neighbours read neighbouring features, and several threads share the parts of a feature, because a thread
// waits for each load. What each part weighs is relative to a row's greatest lse, and to their sum: found by some threads, a few parts
// each. What threads tell each other is in shared memory.
void schedule_cuda(Stages &s, const Var &z) {
    Var feature("feature"), features_of("features_of"), lane("lane");
    RVar of_lane("of_lane"), turns("turns");
    s.out.split(s.d, features_of, feature, features, TailStrategy::GuardWithIf)
        .reorder(feature, features_of, s.i, s.h, z)
        .gpu_blocks(s.i, s.h, z)
        .gpu_threads(feature);
    s.lse.reorder(s.i, s.h, z).gpu_blocks(s.i, s.h, z);
    s.lse.compute_with(s.out, s.i);
    s.sum.update().split(s.part, turns, of_lane, parts_at_once, TailStrategy::GuardWithIf);
    Func of_parts = s.sum.update().rfactor(of_lane, lane);
    of_parts.compute_at(s.out, features_of).store_in(MemoryType::GPUShared).bound_storage(s.d, features);
    of_parts.gpu_threads(s.d, lane);
    of_parts.update().reorder(turns, s.d, lane).gpu_threads(s.d, lane);
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
