#include "cuda/rows/features.h"

#include "core/argument_tables.h"
#include "core/kernel_arguments.h"

namespace gyre::cuda {
namespace {

KernelTable<const Kernel *> feature_kernels("features", [](const Kernel &k) { return &k; });

} // namespace

const Kernel *find_features(const gyre_context &context, gyre_dtype from) {
    for (const Kernel *k : feature_kernels.rows(*context.kernels))
        if (may_use(context, *k, GYRE_CUDA) && kernel_dtype(*k) == from) return k;
    return nullptr;
}

gyre_status write_features(gyre_context &context, const Scope &scope, const Kernel &kernel, const Heads &from,
                           const FeatureRows &to, bool mapped) {
    Buffer x(from.data, halide_type(from.dtype),
             {{from.dim, 1},
              {from.heads, from.head_stride},
              {from.seqlen, from.token_stride},
              {from.batch, from.batch_stride}});
    Buffer out(to.data, halide_type(GYRE_F32),
               {{from.dim, to.feature_stride},
                {from.heads, to.head_stride},
                {from.seqlen, to.token_stride},
                {from.batch, to.entry_stride}});
    using A = FeaturesCudaArguments;
    KernelArguments<A> arguments;
    arguments[A::x] = &x;
    arguments[A::mapped] = &mapped;
    arguments[A::out] = &out;
    return launch(context, scope, kernel, arguments);
}

} // namespace gyre::cuda
