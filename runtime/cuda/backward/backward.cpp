#include "cuda/backward/backward.h"

#include "core/contract.h"
#include "core/workspace.h"
#include "cuda/attention/score_tensors.h"
#include "cuda/driver/tensors.h"
#include "cuda/driver/workspace.h"

#include <algorithm>

namespace gyre::cuda {
namespace {

KernelTable<GradientKernel> gradient_kernels("backward", [](const Kernel &k) {
    return GradientKernel{&k,
                          attribute(k, "of"),
                          attribute(k, "general") == "true",
                          kernel_dtype(k),
                          attribute(k, "head_dim", 0),
                          attribute(k, "task_rows", 0),
                          find_places_on_device(k)};
});
KernelTable<const Kernel *> delta_kernels("delta", [](const Kernel &k) { return &k; });

} // namespace

Rotated BackwardOnDevice::keys_by(const Rotation &rotation, bool on, const char *name) const {
    return {on ? rotation : Rotation(), call.forward.k_positions, name};
}

bool BackwardOnDevice::is_general() const { return call.forward.general() || call.forward.dropout.on; }

gyre_status BackwardOnDevice::find_kernels(const gyre_context &context) {
    const AttentionCall &f = call.forward;
    delta_kernel = nullptr;
    for (const Kernel *k : delta_kernels.rows(*context.kernels))
        if (!delta_kernel && may_use(context, *k, GYRE_CUDA) && kernel_dtype(*k) == f.q.dtype) delta_kernel = k;
    bool complete = delta_kernel != nullptr;
    for (Gradient &g : gradients) {
        g.kernel = nullptr;
        for (const GradientKernel &k : gradient_kernels.rows(*context.kernels))
            if (!g.kernel && may_use(context, *k.kernel, GYRE_CUDA) && k.of == g.of && k.dtype == f.q.dtype &&
                k.general == is_general() && k.head_dim == f.q.dim && k.head_dim == f.v.dim)
                g.kernel = &k;
        complete = complete && g.kernel;
    }
    if (complete) return GYRE_OK;
    return refuse(GYRE_UNSUPPORTED, "forward.q",
                  "no linked kernels of a CUDA device form gradients of %s with head sizes %lld and %lld%s",
                  dtype_name(f.q.dtype), static_cast<long long>(f.q.dim), static_cast<long long>(f.v.dim),
                  is_general() ? ", and a bias, ALiBi, a cap or dropout" : "");
}

gyre_status BackwardOnDevice::prepare(gyre_context &context) {
    GYRE_TRY(check_target_device(context, GYRE_CUDA, "out_grad"));
    GYRE_TRY(find_kernels(context));
    const AttentionCall &f = call.forward;
    const Rotated of_queries = rotated_queries(f, f.rope, "forward.rope"),
                  of_results = rotated_queries(f, f.value_rope, "forward.value_rope");
    const Rotated of_keys = keys_by(f.rope, f.rotate_keys, "forward.rope"),
                  of_values = keys_by(f.value_rope, f.rotate_values, "forward.value_rope");
    GYRE_TRY(q.prepare(context, f.q, of_queries, "forward.q", f.q.dim, f.q.dtype));
    GYRE_TRY(k.prepare(context, f.k, of_keys, "forward.k", f.k.dim, f.k.dtype));
    GYRE_TRY(v.prepare(context, f.v, of_values, "forward.v", f.v.dim, f.v.dtype));
    GYRE_TRY(out_grad.prepare(context, call.out_grad, of_results, "out_grad", call.out_grad.dim, call.out_grad.dtype));
    GYRE_TRY(gradients[0].rows.prepare(context, call.q_grad, of_queries, "q_grad"));
    GYRE_TRY(gradients[1].rows.prepare(context, call.k_grad, of_keys, "k_grad"));
    gradients[2].cache = 1;
    return gradients[2].rows.prepare(context, call.v_grad, of_values, "v_grad");
}

size_t BackwardOnDevice::delta_bytes() const {
    const Heads &rows = call.forward.q;
    return round_up(static_cast<size_t>(rows.batch * rows.heads * rows.seqlen) * sizeof(float));
}

/// They are formed and stored one after the other, in the same memory.
size_t BackwardOnDevice::gradient_bytes() const {
    return std::max({gradients[0].rows.bytes(), gradients[1].rows.bytes(), gradients[2].rows.bytes()});
}

size_t BackwardOnDevice::workspace_bytes(const gyre_context &) const {
    return q.bytes() + k.bytes() + v.bytes() + out_grad.bytes() + delta_bytes() + gradient_bytes();
}

bool BackwardOnDevice::rows_in_reach() const {
    const AttentionCall &f = call.forward;
    for (const Heads *t : {&q.view(), &k.view(), &v.view(), &out_grad.view(), &f.out, &call.out_grad,
                           &gradients[0].rows.view(), &gradients[1].rows.view(), &gradients[2].rows.view()})
        if (!in_reach(*t, t->batch)) return false;
    if (!in_reach(f, f.bias, f.q.batch)) return false;
    return fits_kernel_index({{f.q.seqlen, 1}, {f.q.heads, f.lse.head_stride}, {f.q.batch, f.lse.batch_stride}});
}

gyre_status BackwardOnDevice::run(gyre_context &context) {
    context.select(*gradients[0].kernel->kernel);
    const bool nothing = call.q_grad.empty() && call.k_grad.empty() && call.v_grad.empty();
    if (device < 0 || nothing) return GYRE_OK;
    Scope scope;
    GYRE_TRY(scope.enter(device, stream_of(context)));
    Workspace workspace(scope);
    GYRE_TRY(workspace.acquire(device, args.workspace, args.workspace_size, workspace_bytes(context)));
    char *memory = workspace.data();
    for (DenseRows *rows : {&q, &k, &v, &out_grad}) {
        rows->place(memory);
        memory += rows->bytes();
    }
    for (DenseRows *rows : {&q, &k}) GYRE_TRY(rows->fill(context, scope, context.frequencies[0]));
    for (DenseRows *rows : {&v, &out_grad}) GYRE_TRY(rows->fill(context, scope, context.frequencies[1]));
    GYRE_TRY(form(context, scope, memory, memory + delta_bytes()));
    context.select(*gradients[0].kernel->kernel);
    return GYRE_OK;
}

gyre_status BackwardOnDevice::form(gyre_context &context, const Scope &scope, char *of_delta, char *memory) {
    auto *delta = reinterpret_cast<float *>(of_delta);
    const int64_t batch = call.forward.q.batch, at_once = rows_in_reach() ? batch : 1;
    for (int64_t first = 0; first < batch; first += at_once)
        GYRE_TRY(launch_delta(context, scope, delta, first, std::min(at_once, batch - first)));
    for (Gradient &g : gradients) {
        g.rows.place(memory);
        for (int64_t first = 0; first < batch; first += at_once)
            GYRE_TRY(launch_gradient(context, scope, g, delta, first, std::min(at_once, batch - first)));
        GYRE_TRY(g.rows.store(context, scope, context.frequencies[g.cache]));
    }
    return GYRE_OK;
}

} // namespace gyre::cuda
