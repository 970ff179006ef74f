#include "backward/task.h"

#include "backward/runner.h"

#include <algorithm>
#include <cstring>

namespace gyre {
namespace {

constexpr int64_t cache_line_floats = 16;

} // namespace

const BlockKernel &BackwardTask::blocks_of(const Sequence &s) const {
    const AttentionCall &c = call.forward;
    const bool is_rotated = c.rope.on || c.value_rope.on;
    return kernels.pairs && (!is_rotated || rounding.of(s)) ? *kernels.pairs : *kernels.blocks;
}

const BlockKernel &BackwardTask::selected() const {
    for (int64_t index = 0; kernels.pairs && index < call.forward.lengths(); index++)
        if (&blocks_of(call.forward.sequence(index)) == kernels.pairs) return *kernels.pairs;
    return *kernels.blocks;
}

size_t BackwardTask::bytes() const {
    size_t most = 0;
    for (const BlockKernel *b : {kernels.blocks, kernels.pairs})
        if (b) most = std::max(most, BackwardMemory(sizes(*b), nullptr).bytes);
    return most;
}

BackwardSizes BackwardTask::sizes(const BlockKernel &b) const {
    const AttentionCall &c = call.forward;
    BackwardSizes z;
    z.features = round_to(std::max(c.q.dim, c.v.dim), b.features);
    z.stride = z.features + cache_line_floats;
    z.group = c.sharing();
    z.rows = round_to(c.q.seqlen, b.rows); // packed sequences: together they are no longer
    z.keys = b.keys;
    z.run = b.rows;
    z.workspace = kernels.workspace();
    return z;
}

int64_t BackwardTask::sequences_together() const {
    return call.bias_grad.data && call.bias_grad.shape[0] == 1 ? call.forward.sequences : 1;
}

int64_t BackwardTask::heads_together() const {
    return call.bias_grad.data && call.bias_grad.shape[1] == 1 ? call.forward.k.heads : 1;
}

int64_t BackwardTask::count() const {
    if (call.forward.q.empty() && call.forward.k.empty()) return 0;
    const int64_t all = call.forward.sequences * call.forward.k.heads;
    return all ? all / (sequences_together() * heads_together()) : 0;
}

void BackwardTask::clear_bias_gradient() const {
    const BiasGradient &grad = call.bias_grad;
    const Heads rows = grad.as_heads();
    if (!grad.data || rows.empty()) return;
    for (int64_t b = 0; b < rows.batch; b++)
        for (int64_t h = 0; h < rows.heads; h++)
            for (int64_t i = 0; i < rows.seqlen; i++)
                std::memset(rows.at(b, i, h), 0, static_cast<size_t>(rows.dim) * sizeof(float));
}

bool BackwardTask::run(int64_t task, char *memory) const {
    const int64_t sequences = sequences_together(), heads = heads_together();
    const int64_t head_tasks = call.forward.k.heads / heads;
    const int64_t first = task / head_tasks * sequences, first_head = task % head_tasks * heads;
    for (int64_t index = first; index < first + sequences; index++)
        for (int64_t head = first_head; head < first_head + heads; head++)
            if (!BackwardRunner(*this, index, head, memory).run()) return false;
    return true;
}

} // namespace gyre
