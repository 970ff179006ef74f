// RotaryCall on a CUDA device: one launch a tensor, which forms its angles itself.
#include "cuda/angles.h"
#include "cuda/launch.h"
#include "cuda/turns.h"
#include "rotary/rotary_call.h"

#include <algorithm>

namespace gyre {
namespace {

constexpr int most_pairs = 256; // of a kernel, which is handed their frequencies by value

/// What a kernel reads beside the heads, in its order.
struct DeviceAngles {
    uint64_t frequencies[most_pairs] = {};
    uint8_t axis_of_pair[most_pairs] = {};
    Buffer frequencies_view, axes_view, cos_view, sin_view;
    cuda::DevicePositions positions;
    bool has_tables = false, per_token = false;
    int32_t position_offset = 0;
    float scale = 1;
};

gyre_status prepare_angles(gyre_context &context, const Rotation &r, DeviceAngles *a) {
    a->scale = r.scale;
    a->has_tables = r.cos != nullptr;
    a->per_token = r.per_token;
    if (r.pairs > most_pairs)
        return fail(GYRE_UNSUPPORTED, "rope.rotary_dim: got %d, on CUDA devices expected at most %d", 2 * r.pairs,
                    2 * most_pairs);
    if (!r.cos) {
        const double *inv_freq;
        GYRE_TRY(find_frequencies(r, context.frequencies[0], &inv_freq));
        for (int i = 0; i < r.pairs; i++) a->frequencies[i] = cuda::turns_of(inv_freq[i]);
    }
    for (int i = 0; i < r.pairs; i++) a->axis_of_pair[i] = static_cast<uint8_t>(r.axis_of_pair(i));
    a->frequencies_view.describe(a->frequencies, {halide_type_uint, 64, 1}, {{most_pairs, 1}});
    a->axes_view.describe(a->axis_of_pair, {halide_type_uint, 8, 1}, {{most_pairs, 1}});
    return GYRE_OK;
}

/// Positions and tables of tokens from `token` of batch entry `batch` on.
gyre_status place_angles(const Rotation &r, const Positions &p, int64_t batch, int64_t token, int64_t batches,
                         int64_t tokens, DeviceAngles *a) {
    const halide_type_t f32 = halide_type(GYRE_F32);
    a->position_offset = static_cast<int32_t>(p.offset + token);
    GYRE_TRY(a->positions.place(p, "positions", batch, token, batches, tokens, r.axes));
    for (const gyre_tensor *table : {r.cos, r.sin}) {
        Buffer &view = table == r.cos ? a->cos_view : a->sin_view;
        if (!table) {
            a->cos_view.describe(nullptr, f32, {{r.pairs, 1}, {1, 0}, {1, 0}});
            a->sin_view.describe(nullptr, f32, {{r.pairs, 1}, {1, 0}, {1, 0}});
            break;
        }
        const int64_t row = table->strides[table->rank - 2], entry = r.per_token ? table->strides[0] : 0;
        const auto *data = static_cast<const float *>(table->data) + (r.per_token ? batch * entry + token * row : 0);
        const int64_t rows = r.per_token ? tokens : table->shape[0];
        const std::initializer_list<Buffer::Dimension> extents = {
            {r.pairs, 1}, {rows, row}, {r.per_token ? batches : 1, entry}};
        if (!fits_kernel_index(extents))
            return fail(GYRE_UNSUPPORTED, "rope.%s: strides reach over 2^31 elements", table == r.cos ? "cos" : "sin");
        view.describe(data, f32, extents);
    }
    return GYRE_OK;
}

/// Tokens of a batch entry whose elements a kernel's index reaches.
int64_t tokens_in_reach(const Heads &x) {
    const int64_t rest = std::abs(x.head_stride) * (x.heads - 1) + x.dim;
    const int64_t stride = std::abs(x.token_stride);
    return stride == 0 ? x.seqlen : std::min(x.seqlen, (INT32_MAX - rest - 1) / stride + 1);
}

bool in_reach(const Heads &x) {
    return fits_kernel_index(
        {{x.dim, 1}, {x.heads, x.head_stride}, {x.seqlen, x.token_stride}, {x.batch, x.batch_stride}});
}

} // namespace

gyre_status RotaryCall::prepare_on_device(const gyre_context &context) {
    const Heads &x = tensors[0].from;
    kernel = find_rotary_kernel(context, x.dtype, x.dtype, rotation.pairing, GYRE_CUDA);
    if (!kernel)
        return fail(GYRE_UNSUPPORTED, "%s: no linked kernel rotates %s on a CUDA device", tensors[0].from_name,
                    dtype_name(x.dtype));
    return GYRE_OK;
}

gyre_status RotaryCall::run_on_device(gyre_context &context) const {
    context.selected = kernel->kernel;
    if (device < 0) return GYRE_OK;
    cuda::Scope scope;
    GYRE_TRY(scope.enter(device));
    DeviceAngles angles;
    GYRE_TRY(prepare_angles(context, rotation, &angles));
    for (int i = 0; i < count; i++) {
        const Heads &from = tensors[i].from, &to = tensors[i].to;
        if (from.empty()) continue;
        const bool whole = in_reach(from) && in_reach(to);
        const int64_t batches = whole ? from.batch : 1;
        const int64_t tokens = whole ? from.seqlen : std::min(tokens_in_reach(from), tokens_in_reach(to));
        const auto dim = static_cast<int32_t>(from.dim);
        const int32_t offset = rotation.offset, pairs = rotation.pairs, end = offset + 2 * pairs;
        const int32_t before = tensors[i].in_place ? 0 : offset, after = tensors[i].in_place ? 0 : dim - end;
        for (int64_t batch = 0; batch < from.batch; batch += batches)
            for (int64_t token = 0; token < from.seqlen; token += tokens) {
                const int64_t here = std::min(tokens, from.seqlen - token);
                GYRE_TRY(place_angles(rotation, positions, batch, token, batches, here, &angles));
                const auto view = [&](Buffer *b, const Heads &h) {
                    b->describe(
                        h.at(batch, token, 0), halide_type(h.dtype),
                        {{h.dim, 1}, {h.heads, h.head_stride}, {here, h.token_stride}, {batches, h.batch_stride}});
                };
                Buffer x, out;
                view(&x, from), view(&out, to);
                KernelArguments arguments;
                arguments.add(&angles.frequencies_view, &angles.axes_view, &angles.positions.view,
                              &angles.positions.given, &angles.position_offset, &angles.cos_view, &angles.sin_view,
                              &angles.has_tables, &angles.per_token, &angles.scale, &offset, &pairs, &direction,
                              &before, &end, &after, &x, &out);
                GYRE_TRY(cuda::launch(context, scope, *kernel->kernel, arguments));
            }
    }
    return GYRE_OK;
}

} // namespace gyre
