#include "attention/merge/task.h"

#include "core/argument_tables.h"
#include "core/kernel_arguments.h"

namespace gyre {
namespace {

KernelTable<MergeKernel> merge_kernels("merge", [](const Kernel &k) {
    return MergeKernel{&k,
                       kernel_dtype(k, "part_dtype"),
                       kernel_dtype(k),
                       attribute(k, "most_tokens", 0),
                       attribute(k, "most_heads", 0),
                       static_cast<size_t>(attribute(k, "workspace", 0)),
                       attribute(k, "few_rows") == "true"};
});

} // namespace

const MergeKernel *find_merge_kernel(const gyre_context &context, gyre_dtype part_dtype, gyre_dtype dtype,
                                     gyre_device device, bool few_rows) {
    for (const MergeKernel &k : merge_kernels.rows(*context.kernels))
        if (k.part_dtype == part_dtype && k.dtype == dtype && k.few_rows == few_rows &&
            may_use(context, *k.kernel, device))
            return &k;
    return nullptr;
}

size_t MergeTask::scratch_bytes() const {
    return kernel->workspace + round_up(static_cast<size_t>(kernel->most_tokens * kernel->most_heads) * sizeof(float));
}

bool MergeTask::run(const Rows &r, int64_t count, char *scratch, const HeadTerms *terms) const {
    const auto lse_at = [&](const Lse &lse) { return lse.at(r.batch, r.first_token, r.first_head); };
    const halide_type_t f32 = halide_type(GYRE_F32);
    const Heads &from = parts.out, &to = merged.out;
    // A merge of no parts reads nothing, but kernels take an address.
    Buffer part_out(
        count ? from.at(r.batch, r.first_token, r.first_head) : to.data, halide_type(from.dtype),
        {{from.dim, 1}, {r.heads, from.head_stride}, {r.tokens, from.token_stride}, {count, out_part_stride}});
    Buffer part_lse(count ? lse_at(parts.lse) : reinterpret_cast<float *>(to.data), f32,
                    {{r.tokens, 1}, {r.heads, parts.lse.head_stride}, {count, lse_part_stride}});
    Buffer out(to.at(r.batch, r.first_token, r.first_head), halide_type(to.dtype),
               {{to.dim, 1}, {r.heads, to.head_stride}, {r.tokens, to.token_stride}});
    const bool wanted = merged.lse.data != nullptr;
    Buffer lse(wanted ? lse_at(merged.lse) : reinterpret_cast<float *>(scratch + kernel->workspace), f32,
               {{r.tokens, 1}, {r.heads, wanted ? merged.lse.head_stride : r.tokens}});
    Buffer sinks = (terms ? *terms : HeadTerms()).merged_sinks(r.first_head, r.heads);
    using A = MergeArguments;
    KernelArguments<A> arguments;
    arguments[A::sinks] = &sinks;
    arguments[A::part_lse] = &part_lse;
    arguments[A::part_out] = &part_out;
    arguments[A::out] = &out;
    arguments[A::lse] = &lse;
    Slab slab(scratch, kernel->workspace);
    return arguments.call(*kernel->kernel, slab);
}

} // namespace gyre
