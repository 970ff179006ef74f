#include "cuda/rotary.h"

#include "core/error.h"

#include <algorithm>

namespace gyre::cuda {
namespace {

/// Tokens of a batch entry whose elements a kernel's index reaches.
int64_t tokens_in_reach(const Heads &x) {
    const int64_t rest = std::abs(x.head_stride) * (x.heads - 1) + x.dim;
    const int64_t stride = std::abs(x.token_stride);
    return stride == 0 ? x.seqlen : std::min(x.seqlen, (INT32_MAX - rest - 1) / stride + 1);
}

} // namespace

gyre_status RotaryLaunches::check_positions_data(const gyre_tensor *positions) const {
    if (call.tensors[0].from.empty() || !positions || positions->data) return GYRE_OK;
    return refuse(GYRE_BAD_ARGUMENT, "positions", "data is NULL, expected %s",
                  shape_text(positions->shape, std::clamp(positions->rank, 0, GYRE_MAX_RANK)));
}

gyre_status RotaryLaunches::prepare(const gyre_context &context) {
    const RotatedTensor &first = call.tensors[0];
    GYRE_TRY(check_target_device(context, GYRE_CUDA, first.from_name));
    kernel = find_rotary_kernel(context, first.from.dtype, first.from.dtype, call.rotation.pairing, GYRE_CUDA);
    if (!kernel)
        return refuse(GYRE_UNSUPPORTED, first.from_name, "no linked kernel rotates %s on a CUDA device",
                      dtype_name(first.from.dtype));
    return GYRE_OK;
}

gyre_status RotaryLaunches::run(gyre_context &context, Device device) const {
    context.select(*kernel->kernel);
    if (device < 0) return GYRE_OK;
    Scope scope;
    GYRE_TRY(scope.enter(device));
    TokenAngles angles;
    GYRE_TRY(angles.prepare(call.rotation, "rope", context.frequencies[0]));
    for (int i = 0; i < call.count; i++)
        if (!call.tensors[i].from.empty()) GYRE_TRY(rotate(context, scope, call.tensors[i], angles));
    return GYRE_OK;
}

gyre_status RotaryLaunches::rotate(gyre_context &context, const Scope &scope, const RotatedTensor &tensor,
                                   TokenAngles &angles) const {
    const Heads &from = tensor.from;
    const Heads &to = tensor.to;
    const bool whole = in_reach(from, from.batch) && in_reach(to, to.batch);
    const int64_t batches = whole ? from.batch : 1;
    const int64_t tokens = whole ? from.seqlen : std::min(tokens_in_reach(from), tokens_in_reach(to));
    const auto dim = static_cast<int32_t>(from.dim);
    const int32_t offset = call.rotation.offset;
    const int32_t pairs = call.rotation.pairs;
    const int32_t end = offset + 2 * pairs;
    const int32_t before = tensor.in_place ? 0 : offset;
    const int32_t after = tensor.in_place ? 0 : dim - end;
    for (int64_t batch = 0; batch < from.batch; batch += batches)
        for (int64_t token = 0; token < from.seqlen; token += tokens) {
            const int64_t here = std::min(tokens, from.seqlen - token);
            GYRE_TRY(angles.place(call.positions, "rope", batch, token, batches, here));
            const auto view = [&](Buffer *b, const Heads &h) {
                b->describe(h.at(batch, token, 0), halide_type(h.dtype),
                            {{h.dim, 1}, {h.heads, h.head_stride}, {here, h.token_stride}, {batches, h.batch_stride}});
            };
            Buffer x;
            Buffer out;
            view(&x, from);
            view(&out, to);
            using A = RotaryCudaArguments;
            KernelArguments<A> arguments(kernel->places_on_device);
            angles.add_to(&arguments);
            arguments[A::offset] = &offset;
            arguments[A::pairs] = &pairs;
            arguments[A::direction] = &call.direction;
            arguments[A::copied_before] = &before;
            arguments[A::after] = &end;
            arguments[A::copied_after] = &after;
            arguments[A::x] = &x;
            arguments[A::out] = &out;
            GYRE_TRY(launch(context, scope, *kernel->kernel, arguments));
        }
    return GYRE_OK;
}

} // namespace gyre::cuda
