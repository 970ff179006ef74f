#include "cuda/attention/merge.h"

#include "attention/merge/check.h"
#include "core/argument_tables.h"
#include "core/kernel_arguments.h"

#include <algorithm>
#include <cstring>

namespace gyre::cuda {
namespace {

bool fits_index(const MergeTask &t, int64_t batches, int64_t count) {
    const Heads &part = t.parts.out, &out = t.merged.out;
    const auto reaches = [&](const Lse &lse, int64_t parts, int64_t part_stride) {
        return fits_kernel_index(
            {{out.seqlen, 1}, {out.heads, lse.head_stride}, {batches, lse.batch_stride}, {parts, part_stride}});
    };
    return in_reach(out, batches) && reaches(t.merged.lse, 1, 0) && reaches(t.parts.lse, count, t.lse_part_stride) &&
           fits_kernel_index({{part.dim, 1},
                              {part.heads, part.head_stride},
                              {part.seqlen, part.token_stride},
                              {batches, part.batch_stride},
                              {count, t.out_part_stride}});
}

/// Whether a kernel may read what several threads share: some numbers of a part at once, aligned to 16 bytes.
bool are_shareable(const MergeTask &t, int64_t count) {
    constexpr int64_t most_parts = 512, at_once = 4; // most_shared_parts and features_at_once of the generator
    const Heads &parts = t.parts.out;
    for (const int64_t n : {parts.dim, parts.head_stride, parts.token_stride, parts.batch_stride, t.out_part_stride})
        if (n % at_once) return false;
    return count <= most_parts && reinterpret_cast<uintptr_t>(parts.data) % 16 == 0;
}

/// The kernel for so many rows: where a device has room for all of them at once, what takes time is how many parts a thread waits for, one after
/// the other.
const MergeKernel &kernel_for(const gyre_context &context, const Scope &scope, const MergeTask &t, int64_t count,
                              int64_t rows) {
    constexpr int64_t least_parts = 8, rows_at_once = 4; // of a multiprocessor, of 512 threads each
    Device device = 0;
    int multiprocessors = 0;
    if (count < least_parts || !are_shareable(t, count) || scope.driver->CtxGetDevice(&device) ||
        scope.driver->DeviceGetAttribute(&multiprocessors, device_multiprocessors, device) ||
        rows > rows_at_once * multiprocessors)
        return *t.kernel;
    const MergeKernel *few = find_merge_kernel(context, t.parts.out.dtype, t.merged.out.dtype, GYRE_CUDA, true);
    return few ? *few : *t.kernel;
}

gyre_status launch_merge(gyre_context &context, const Scope &scope, const MergeTask &t, int64_t count, int64_t first,
                         int64_t batches, const float *head_sinks) {
    const halide_type_t f32 = halide_type(GYRE_F32);
    const Heads &from = t.parts.out, &to = t.merged.out;
    Buffer part_out(from.at(first, 0, 0), halide_type(from.dtype),
                    {{from.dim, 1},
                     {from.heads, from.head_stride},
                     {from.seqlen, from.token_stride},
                     {batches, from.batch_stride},
                     {count, t.out_part_stride}});
    Buffer part_lse(t.parts.lse.at(first, 0, 0), f32,
                    {{to.seqlen, 1},
                     {to.heads, t.parts.lse.head_stride},
                     {batches, t.parts.lse.batch_stride},
                     {count, t.lse_part_stride}});
    Buffer out(to.at(first, 0, 0), halide_type(to.dtype),
               {{to.dim, 1}, {to.heads, to.head_stride}, {to.seqlen, to.token_stride}, {batches, to.batch_stride}});
    const Lse &wanted = t.merged.lse;
    Buffer lse(nullptr, f32, {{0, 1}, {0, 0}, {0, 0}});
    if (wanted.data)
        lse.describe(wanted.at(first, 0, 0), f32,
                     {{to.seqlen, 1}, {to.heads, wanted.head_stride}, {batches, wanted.batch_stride}});
    const bool has_sinks = head_sinks;
    Buffer sinks(head_sinks, f32, {{to.heads, 1}});
    using A = MergeCudaArguments;
    KernelArguments<A> arguments;
    arguments[A::sinks] = &sinks;
    arguments[A::has_sinks] = &has_sinks;
    arguments[A::part_lse] = &part_lse;
    arguments[A::part_out] = &part_out;
    arguments[A::out] = &out;
    arguments[A::lse] = &lse;
    const MergeKernel &kernel = kernel_for(context, scope, t, count, to.seqlen * to.heads * batches);
    return launch(context, scope, *kernel.kernel, arguments);
}

} // namespace

gyre_status merge(gyre_context &context, const Scope &scope, const MergeTask &t, int64_t count, const float *sinks) {
    const int64_t all = t.merged.out.batch, batches = fits_index(t, all, count) ? all : 1;
    for (int64_t first = 0; first < all; first += batches)
        GYRE_TRY(launch_merge(context, scope, t, count, first, batches, sinks));
    return GYRE_OK;
}

MergeOnDevice::MergeOnDevice(const gyre_attention_merge_args &given) : Call(given) {
    // Other parts lie as far from the first as strides say, which is checked of the last one.
    const auto add_last = [&](const gyre_tensor &first, int64_t stride, gyre_tensor *last, const char *name) {
        *last = first;
        const auto offset = static_cast<uint64_t>(args.parts - 1) * static_cast<uint64_t>(stride) *
                            static_cast<uint64_t>(element_size(first.dtype));
        const uintptr_t address = reinterpret_cast<uintptr_t>(first.data) + offset; // wherever that is
        std::memcpy(&last->data, &address, sizeof address);
        tensors(*last, name);
    };
    if (args.parts > 1 && args.part_out.data && args.part_lse.data) {
        add_last(args.part_out, args.part_out_stride, &last_out, "part_out");
        add_last(args.part_lse, args.part_lse_stride, &last_lse, "part_lse");
    }
}

gyre_status MergeOnDevice::check(bool need_data) {
    GYRE_TRY(adopt_tensors(tensors, &device));
    GYRE_TRY(check_merge(args, need_data, &task));
    if (!fits_index(task, 1, args.parts))
        return refuse(GYRE_UNSUPPORTED, "part_out", "one batch entry of all parts reaches over 2^31 elements");
    return GYRE_OK;
}

gyre_status MergeOnDevice::prepare(gyre_context &context) {
    GYRE_TRY(check_target_device(context, GYRE_CUDA, "part_out"));
    task.kernel = find_merge_kernel(context, task.parts.out.dtype, task.merged.out.dtype, GYRE_CUDA);
    if (!task.kernel)
        return refuse(GYRE_UNSUPPORTED, "part_out", "no linked kernel of a CUDA device merges %s into %s",
                      dtype_name(task.parts.out.dtype), dtype_name(task.merged.out.dtype));
    return GYRE_OK;
}

gyre_status MergeOnDevice::run(gyre_context &context) {
    context.select(*task.kernel->kernel);
    if (device < 0 || task.merged.out.empty()) return GYRE_OK;
    Scope scope;
    GYRE_TRY(scope.enter(device, stream_of(context)));
    return merge(context, scope, task, args.parts);
}

} // namespace gyre::cuda
