#include "cuda/linear/linear.h"

#include "core/contract.h"
#include "core/kernel_call.h"
#include "core/workspace.h"
#include "cuda/driver/launch.h"
#include "cuda/driver/workspace.h"

#include <algorithm>

namespace gyre::cuda {
namespace {

KernelTable<LinearStep> step_kernels("linear",
                                     [](const Kernel &k) { return LinearStep{&k, find_places_on_device(k)}; });

const LinearStep *find_step(const gyre_context &context, const char *of) {
    for (const LinearStep &step : step_kernels.rows(*context.kernels))
        if (may_use(context, *step.kernel, GYRE_CUDA) && attribute(*step.kernel, of) == "true") return &step;
    return nullptr;
}

} // namespace

gyre_status LinearOnDevice::check(bool need_data) {
    GYRE_TRY(adopt_tensors(tensors, &device));
    GYRE_TRY(check_linear(args, need_data, &call, false));
    if (need_data) GYRE_TRY(check_data(tensors));
    const AttentionCall &c = call.heads;
    for (const auto &[t, name] :
         {std::pair(&c.q, "q"), std::pair(&c.k, "k"), std::pair(&c.v, "v"), std::pair(&c.out, "out")})
        if (!in_reach(*t, 1)) return refuse(GYRE_UNSUPPORTED, name, "one batch entry reaches over 2^31 elements");
    if (c.rope.on && !call.causal && !has_known_query_positions(c))
        return refuse(
            GYRE_UNSUPPORTED, "q_positions",
            "got NULL, on CUDA devices expected those of rotated queries whose sequences have lengths of their own");
    return GYRE_OK;
}

gyre_status LinearOnDevice::prepare(gyre_context &context) {
    GYRE_TRY(check_target_device(context, GYRE_CUDA, "q"));
    const AttentionCall &c = call.heads;
    features = find_features(context, c.q.dtype);
    copies = find_features(context, GYRE_F32);
    chunks = find_step(context, "of_chunks");
    sums = find_step(context, "of_sums");
    rows = find_step(context, "of_rows");
    rotary = c.rope.on ? find_row_writer(context, GYRE_F32, GYRE_F32, c.rope) : nullptr;
    if (!features || !copies || !chunks || !sums || !rows || (c.rope.on && !rotary))
        return refuse(GYRE_UNSUPPORTED, "q", "no linked kernels of a CUDA device do linear attention in %s",
                      dtype_name(c.q.dtype));
    const bool packed = args.cu_seqlens_q;
    queries = Rotated{c.rope, c.q_positions, "rope", {}};
    keys = Rotated{c.rope, c.k_positions, "rope", {}};
    if (packed && !c.q_positions.given) queries.packed = {c.cu_seqlens_q, c.sequences};
    if (packed && !c.k_positions.given) keys.packed = {c.cu_seqlens_k, c.sequences};
    if (!call.causal) queries = rotated_queries(c, c.rope, "rope");
    const auto reach = [&](int64_t count) {
        return in_reach(c.q, count) && in_reach(c.k, count) && in_reach(c.v, count) &&
               memory.prepare(call, packed, count);
    };
    if (!reach(std::max<int64_t>(c.q.batch, 1)) && !reach(1))
        return refuse(GYRE_UNSUPPORTED, "q", "what one batch entry comes to in f32 reaches over 2^31 elements");
    return results.prepare(context, c.out, Rotated{Rotation(), Positions(), "rope", {}}, "out");
}

gyre_status LinearOnDevice::run(gyre_context &context) {
    context.select(*rows->kernel);
    const AttentionCall &c = call.heads;
    const bool nothing = c.out.empty() && !call.after.kv.data;
    if (device < 0 || nothing || c.sequences == 0) return GYRE_OK;
    Scope scope;
    GYRE_TRY(scope.enter(device, stream_of(context)));
    Workspace workspace(scope);
    GYRE_TRY(workspace.acquire(device, args.workspace, args.workspace_size, workspace_bytes(context)));
    memory.place(workspace.data());
    results.place(workspace.data() + memory.bytes());
    for (int64_t first = 0; first < c.q.batch; first += memory.entries)
        GYRE_TRY(run_entries({context, scope, first, std::min(memory.entries, c.q.batch - first)}));
    if (!c.out.empty()) GYRE_TRY(results.store(context, scope, context.frequencies[0]));
    context.select(*rows->kernel);
    return GYRE_OK;
}

gyre_status LinearOnDevice::run_entries(const Entries &of) const {
    const bool has_rows = !call.heads.out.empty();
    GYRE_TRY(form_keys(of));
    if (has_rows) GYRE_TRY(form_queries(of));
    GYRE_TRY(add_chunks(of));
    GYRE_TRY(add_sums(of, memory.k_chunks, memory.k_before, call.before.k, call.after.k));
    GYRE_TRY(add_sums(of, memory.kv_chunks, memory.kv_before, call.before.kv, call.after.kv));
    return has_rows ? attend(of) : GYRE_OK;
}

} // namespace gyre::cuda
