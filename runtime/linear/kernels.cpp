#include "linear/kernels.h"

#include "core/argument_tables.h"
#include "core/contract.h"
#include "core/kernel_call.h"

#include <algorithm>
#include <numeric>

namespace gyre {
namespace {

// clang-format off
constexpr ArgumentTable tables[] = {
    argument_table<FeaturesArguments>("features"),
    argument_table<LinearArguments>("linear"),
    argument_table<NormsArguments>("norms"),
    argument_table<OuterArguments>("outer"),
    argument_table<PanelsArguments>("panels"),
    argument_table<SlopesArguments>("slopes"),
    argument_table<SumsArguments>("sums"),
};
// clang-format on

struct Row {
    const Kernel *kernel;
    gyre_dtype dtype;
};
Row read(const Kernel &k) { return {&k, kernel_dtype(k)}; }

KernelTable<Row> linear_rows("linear", read), outer_rows("outer", read), sums_rows("sums", read),
    panels_rows("panels", read), features_rows("features", read), slopes_rows("slopes", read),
    norms_rows("norms", read);

LinearPart find(KernelTable<Row> &rows, const gyre_context &context, gyre_dtype dtype) {
    for (const Row &row : rows.rows(*context.kernels))
        if (row.dtype == dtype && may_use(context, *row.kernel))
            return {row.kernel, static_cast<size_t>(attribute(*row.kernel, "workspace", 0))};
    return {};
}

/// A copy that converts: either pairing's will do.
const RotaryKernel *find_copy(const gyre_context &context, gyre_dtype from, gyre_dtype to) {
    const RotaryKernel *half = find_rotary_kernel(context, from, to, GYRE_HALF);
    return half ? half : find_rotary_kernel(context, from, to, GYRE_INTERLEAVED);
}

} // namespace

const ArgumentTables linear_tables = {tables, sizeof tables / sizeof tables[0]};

size_t LinearKernels::workspace() const {
    size_t most = 0;
    for (const LinearPart *part : {&linear, &outer, &sums, &panels, &features, &slopes, &norms, &norms_in_f32})
        most = std::max(most, part->workspace);
    for (const RotaryKernel *copy : {rotary, load, store})
        if (copy) most = std::max(most, copy->workspace);
    return most;
}

gyre_status find_linear_kernels(const gyre_context &context, const AttentionCall &c, bool backward,
                                LinearKernels *found) {
    LinearKernels &k = *found;
    const gyre_dtype dtype = c.q.dtype;
    k.linear = find(linear_rows, context, GYRE_F32);
    k.outer = find(outer_rows, context, GYRE_F32);
    k.sums = find(sums_rows, context, GYRE_F32);
    k.panels = find(panels_rows, context, GYRE_F32);
    k.features = find(features_rows, context, dtype);
    k.norms = find(norms_rows, context, dtype);
    k.load = find_copy(context, dtype, GYRE_F32);
    bool complete = k.linear.kernel && k.outer.kernel && k.sums.kernel && k.panels.kernel && k.features.kernel &&
                    k.norms.kernel && k.load;
    if (c.rope.on) {
        k.rotary = find_rotary_kernel(context, GYRE_F32, GYRE_F32, c.rope.pairing);
        complete = complete && k.rotary;
    }
    if (backward) {
        k.slopes = find(slopes_rows, context, dtype);
        k.norms_in_f32 = find(norms_rows, context, GYRE_F32);
        k.store = find_copy(context, GYRE_F32, dtype);
        complete = complete && k.slopes.kernel && k.norms_in_f32.kernel && k.store;
    }
    if (!complete)
        return refuse(GYRE_UNSUPPORTED, backward ? "forward.q" : "q",
                      "no linked kernels of %s do linear attention%s in %s", context.best->name,
                      backward ? "'s gradients" : "", dtype_name(dtype));
    const Kernel &linear = *k.linear.kernel, &outer = *k.outer.kernel;
    k.chunk = attribute(linear, "rows", 1);
    k.tile = attribute(linear, "tile_size", 1);
    k.key_lanes = attribute(linear, "key_lanes", 1);
    for (const auto &[kernel, fact] : {std::pair{&linear, "features"}, std::pair{&outer, "features"},
                                       std::pair{&outer, "tile_size"}, std::pair{k.panels.kernel, "block"}})
        k.features_multiple = std::lcm(k.features_multiple, attribute(*kernel, fact, 1));
    return GYRE_OK;
}

} // namespace gyre
