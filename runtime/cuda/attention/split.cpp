#include "cuda/attention/split.h"

#include <algorithm>
#include <limits>

namespace gyre::cuda {
namespace {

constexpr int64_t most_grid = 65535; // along batch entries and parts

/// Blocks of threads that a multiprocessor works on at once: what seven tenths of its shared memory have room for. More read no faster, and leave
/// more parts to merge: of 32768 keys an H200 took 48.5 us with 4 of head size 128, and 49.8 with 6. Two blocks of keys and of values are there,
/// their rows padded; a few hundred bytes are the kernel's and the device's own.
int64_t blocks_at_once(int64_t shared, const AttentionKernel &kernel, const AttentionCall &c) {
    constexpr int64_t unknown = 4, most = 8, padding = 16, reserved = 1024; // most: of what registers have room for
    const auto row = [&](int64_t dim) { return dim * static_cast<int64_t>(element_size(c.k.dtype)) + padding; };
    const int64_t of_block = 2 * kernel.key_block * (row(c.k.dim) + row(c.v.dim)) + reserved;
    return shared > 0 ? std::clamp<int64_t>(shared * 7 / 10 / of_block, 1, most) : unknown;
}

/// Counts the blocks of threads that a device works on at once; with -1 those of the largest one.
gyre_status count_blocks(Device device, const AttentionKernel &kernel, const AttentionCall &c, int64_t *count) {
    const char *why;
    const Driver *driver = find_driver(&why);
    if (!driver) return fail(Failure::unsupported, "device: %s", why);
    *count = 1;
    int devices = 0;
    if (device < 0 && driver->DeviceGetCount(&devices)) devices = 0;
    for (int i = 0; i < std::max(devices, 1); i++) {
        Device asked = device;
        int multiprocessors = 0, shared = 0;
        if (device < 0 && driver->DeviceGet(&asked, i)) continue;
        if (driver->DeviceGetAttribute(&multiprocessors, device_multiprocessors, asked) ||
            driver->DeviceGetAttribute(&shared, device_shared_of_multiprocessor, asked))
            continue;
        *count = std::max(*count, multiprocessors * blocks_at_once(shared, kernel, c));
    }
    return GYRE_OK;
}

} // namespace

gyre_status Split::prepare(const gyre_context &context, const AttentionCall &c, const AttentionKernel &kernel,
                           int64_t rows, Device device) {
    task = {};
    out_bytes = 0;
    lse_bytes = 0;
    count = 1;
    if (!kernel.is(trait::partial)) return GYRE_OK;
    task.kernel = find_merge_kernel(context, GYRE_F32, c.out.dtype, GYRE_CUDA);
    key_heads = c.k.heads;
    const Heads &q = c.q;
    Heads &out = task.parts.out;
    out = {nullptr, GYRE_F32, q.batch, q.seqlen, q.heads, c.v.dim, 0, q.heads * c.v.dim, c.v.dim};
    out.batch_stride = q.seqlen * out.token_stride;
    task.parts.lse = {nullptr, q.heads * q.seqlen, q.seqlen};
    task.merged = {c.out, c.lse};
    sinks = c.sinks;

    int64_t at_once = 0;
    GYRE_TRY(count_blocks(device, kernel, c, &at_once));
    const int64_t blocks = std::max<int64_t>(ceil_div(rows, kernel.task_rows) * key_heads * q.batch, 1);
    const int64_t in_reach = std::numeric_limits<int32_t>::max() / std::max<int64_t>(out.batch_stride, 1);
    count = std::min({at_once / blocks, ceil_div(c.k.seqlen, least_part), most_parts, in_reach});
    count = std::max<int64_t>(count, 1);
    const auto bytes = [&](int64_t entry) {
        return round_up(static_cast<size_t>(count * std::min(q.batch, most_batches()) * entry) * sizeof(float));
    };
    out_bytes = bytes(out.batch_stride);
    lse_bytes = bytes(task.parts.lse.batch_stride);
    return GYRE_OK;
}

int64_t Split::most_batches() const {
    if (!on()) return std::numeric_limits<int64_t>::max();
    const int64_t of_parts = count * std::max<int64_t>(task.parts.out.batch_stride, 1);
    return std::max<int64_t>(std::min(most_grid / count, std::numeric_limits<int32_t>::max() / of_parts), 1);
}

void Split::place(char *memory) {
    task.parts.out.data = memory;
    task.parts.lse.data = reinterpret_cast<float *>(memory + out_bytes);
}

void Split::view(int64_t rows, int64_t batches, Buffer *out, Buffer *lse) const {
    const Heads &o = task.parts.out;
    const Lse &l = task.parts.lse;
    const int64_t group = o.heads / std::max<int64_t>(key_heads, 1);
    const halide_type_t f32 = halide_type(GYRE_F32);
    out->describe(o.data, f32,
                  {{o.dim, 1}, {key_heads, group * o.head_stride}, {rows, 0}, {count * batches, o.batch_stride}});
    lse->describe(l.data, f32, {{rows, 1}, {key_heads, group * l.head_stride}, {count * batches, l.batch_stride}});
}

gyre_status Split::merge(gyre_context &context, const Scope &scope, int64_t first, int64_t batches) const {
    MergeTask t = task;
    t.parts.out.batch = t.merged.out.batch = batches;
    t.out_part_stride = batches * t.parts.out.batch_stride;
    t.lse_part_stride = batches * t.parts.lse.batch_stride;
    t.merged.out.data = task.merged.out.at(first, 0, 0);
    if (t.merged.lse.data) t.merged.lse.data = task.merged.lse.at(first, 0, 0);
    return cuda::merge(context, scope, t, count, sinks);
}

} // namespace gyre::cuda
