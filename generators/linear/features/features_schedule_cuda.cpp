#include "features_schedules.h"

namespace gyre::features {
using namespace Halide;
namespace {

constexpr int features = 4, runs_of_block = 8, tokens_of_block = 32;

} // namespace

// Lanes walk along tokens, so that columns are written whole; a thread reads features that lie together.
void schedule_cuda(TensorStages &s) {
    Var runs("runs"), run("run"), n("n"), tokens("tokens"), token("token");
    s.out.split(s.d, runs, n, features, TailStrategy::GuardWithIf)
        .split(runs, runs, run, runs_of_block, TailStrategy::GuardWithIf)
        .split(s.i, tokens, token, tokens_of_block, TailStrategy::GuardWithIf)
        .reorder(n, token, run, runs, tokens, s.h, s.z)
        .unroll(n)
        .gpu_blocks(tokens, s.h, s.z)
        .gpu_threads(token, run);
}

} // namespace gyre::features
