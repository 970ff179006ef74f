#include "backward/kernels.h"

#include "attention/dispatch/dispatch.h"
#include "attention/plan/split.h"
#include "core/argument_tables.h"
#include "core/contract.h"
#include "core/kernel_call.h"
#include "cpu/cpu_features.h"

#include <algorithm>

namespace gyre {
namespace {

constexpr ArgumentTable tables[] = {argument_table<BackwardArguments>("backward"),
                                    argument_table<DeltaArguments>("delta"), argument_table<PanelsArguments>("panels")};

size_t workspace_of(const Kernel &k) { return static_cast<size_t>(attribute(k, "workspace", 0)); }

KernelTable<BlockKernel> block_kernels("backward", [](const Kernel &k) {
    BlockKernel b;
    b.kernel = &k;
    b.capped = attribute(k, "capped") == "true";
    b.general = attribute(k, "general") == "true";
    b.totals = attribute(k, "totals") == "true";
    b.pairs = attribute(k, "pairs") == "true";
    b.rows = attribute(k, "rows", 0);
    b.keys = attribute(k, "keys", 0);
    b.tile = attribute(k, "tile_size", 0);
    b.key_lanes = attribute(k, "key_lanes", 0);
    b.features = attribute(k, "features", 0);
    b.workspace = workspace_of(k);
    b.places = find_places<BackwardArguments>(k);
    return b;
});
SmallKernel read_small(const Kernel &k) { return {&k, workspace_of(k)}; }
KernelTable<SmallKernel> panel_kernels("panels", read_small);
KernelTable<SmallKernel> delta_kernels("delta", read_small);

const SmallKernel *find_small(KernelTable<SmallKernel> &kernels, const gyre_context &context) {
    for (const SmallKernel &k : kernels.rows(*context.kernels))
        if (may_use(context, *k.kernel)) return &k;
    return nullptr;
}

const BlockKernel *find_blocks(const gyre_context &context, bool capped, bool general, bool pairs) {
    for (const BlockKernel &k : block_kernels.rows(*context.kernels))
        if (!k.totals && k.general == general && k.capped == (capped && !general) && k.pairs == pairs &&
            may_use(context, *k.kernel))
            return &k;
    return nullptr;
}

/// The kernel whose weights have the bits of those of `blocks`.
const BlockKernel *find_totals(const gyre_context &context, const BlockKernel &blocks) {
    for (const BlockKernel &k : block_kernels.rows(*context.kernels))
        if (k.totals && k.kernel->row == blocks.kernel->row && k.rows == blocks.rows && k.keys == blocks.keys &&
            k.tile == blocks.tile && k.key_lanes == blocks.key_lanes && k.features == blocks.features)
            return &k;
    return nullptr;
}

} // namespace

const ArgumentTables backward_tables = {tables, sizeof tables / sizeof tables[0]};

size_t BackwardKernels::workspace() const {
    size_t most = std::max({blocks->workspace, panels->workspace, delta->workspace});
    for (const BlockKernel *other : {totals, pairs})
        if (other) most = std::max(most, other->workspace);
    for (int pairing : {GYRE_HALF, GYRE_INTERLEAVED})
        most = std::max({most, load[pairing]->workspace, store[pairing]->workspace});
    return most;
}

ForwardRounding find_forward_rounding(const gyre_context &context, const AttentionCall &c) {
    ForwardRounding found;
    if (c.empty() || !(c.rope.on || c.value_rope.on)) return found;
    found.kernels = find_sequence_kernels(context, c, has_few_queries(c, true));
    found.call = found.kernels.usual ? &c : nullptr;
    return found;
}

bool forward_splits_numbers(const gyre_context &context, const AttentionCall &c) {
    if (c.empty()) return false;
    const AttentionKernel *forward = find_attention_kernel(context, c, has_few_queries(c, true));
    return forward && forward->has_terms();
}

gyre_status find_backward_kernels(const gyre_context &context, const AttentionCall &c, BackwardKernels *found) {
    BackwardKernels &k = *found;
    const bool capped = c.softcap > 0, general = c.bias.data || c.dropout.on;
    k.blocks = find_blocks(context, capped, general, false);
    if (c.q.dtype == GYRE_BF16) k.pairs = find_blocks(context, capped, general, true);
    if (k.pairs && k.pairs->kernel->row != context.forced && has_slow_bf16_dots()) k.pairs = nullptr;
    k.panels = find_small(panel_kernels, context);
    k.delta = find_small(delta_kernels, context);
    bool complete = k.blocks && k.panels && k.delta;
    if (k.blocks && c.q.dtype == GYRE_F32 && !capped && !general) k.totals = find_totals(context, *k.blocks);
    for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED}) {
        k.load[pairing] = find_rotary_kernel(context, c.q.dtype, GYRE_F32, pairing);
        k.store[pairing] = find_rotary_kernel(context, GYRE_F32, c.q.dtype, pairing);
        for (const Rotation *r : {&c.rope, &c.value_rope})
            if (r->on && r->pairing == pairing) complete = complete && k.load[pairing] && k.store[pairing];
    }
    for (auto *by_pairing : {k.load, k.store}) { // to copy, either will do
        if (!by_pairing[GYRE_HALF]) by_pairing[GYRE_HALF] = by_pairing[GYRE_INTERLEAVED];
        if (!by_pairing[GYRE_INTERLEAVED]) by_pairing[GYRE_INTERLEAVED] = by_pairing[GYRE_HALF];
        complete = complete && by_pairing[GYRE_HALF];
    }
    if (complete) return GYRE_OK;
    return refuse(GYRE_UNSUPPORTED, "forward.q", "no linked kernels of %s form gradients of attention in %s%s",
                  context.best->name, dtype_name(c.q.dtype),
                  general  ? " with a bias or dropout"
                  : capped ? " with softcap"
                           : "");
}

} // namespace gyre
