// RotaryCall on a CUDA device: one launch a tensor, which forms its angles itself.
#include "cuda/launch.h"
#include "cuda/token_angles.h"
#include "rotary/rotary_call.h"

#include <algorithm>

namespace gyre {
namespace {

/// Tokens of a batch entry whose elements a kernel's index reaches.
int64_t tokens_in_reach(const Heads &x) {
    const int64_t rest = std::abs(x.head_stride) * (x.heads - 1) + x.dim;
    const int64_t stride = std::abs(x.token_stride);
    return stride == 0 ? x.seqlen : std::min(x.seqlen, (INT32_MAX - rest - 1) / stride + 1);
}

} // namespace

gyre_status RotaryCall::prepare_on_device(const gyre_context &context) {
    const Heads &x = tensors[0].from;
    kernel = find_rotary_kernel(context, x.dtype, x.dtype, rotation.pairing, GYRE_CUDA);
    if (!kernel)
        return refuse(GYRE_UNSUPPORTED, tensors[0].from_name, "no linked kernel rotates %s on a CUDA device",
                      dtype_name(x.dtype));
    return GYRE_OK;
}

gyre_status RotaryCall::run_on_device(gyre_context &context) const {
    context.select(*kernel->kernel);
    if (device < 0) return GYRE_OK;
    cuda::Scope scope;
    GYRE_TRY(scope.enter(device));
    cuda::TokenAngles angles;
    GYRE_TRY(angles.prepare(rotation, "rope", context.frequencies[0]));
    for (int i = 0; i < count; i++) {
        const Heads &from = tensors[i].from, &to = tensors[i].to;
        if (from.empty()) continue;
        const bool whole = cuda::in_reach(from, from.batch) && cuda::in_reach(to, to.batch);
        const int64_t batches = whole ? from.batch : 1;
        const int64_t tokens = whole ? from.seqlen : std::min(tokens_in_reach(from), tokens_in_reach(to));
        const auto dim = static_cast<int32_t>(from.dim);
        const int32_t offset = rotation.offset, pairs = rotation.pairs, end = offset + 2 * pairs;
        const int32_t before = tensors[i].in_place ? 0 : offset, after = tensors[i].in_place ? 0 : dim - end;
        for (int64_t batch = 0; batch < from.batch; batch += batches)
            for (int64_t token = 0; token < from.seqlen; token += tokens) {
                const int64_t here = std::min(tokens, from.seqlen - token);
                GYRE_TRY(angles.place(positions, "rope", batch, token, batches, here));
                const auto view = [&](Buffer *b, const Heads &h) {
                    b->describe(
                        h.at(batch, token, 0), halide_type(h.dtype),
                        {{h.dim, 1}, {h.heads, h.head_stride}, {here, h.token_stride}, {batches, h.batch_stride}});
                };
                Buffer x, out;
                view(&x, from), view(&out, to);
                using A = RotaryCudaArguments;
                KernelArguments<A> arguments(kernel->places_on_device);
                angles.add_to(&arguments);
                arguments[A::offset] = &offset;
                arguments[A::pairs] = &pairs;
                arguments[A::direction] = &direction;
                arguments[A::copied_before] = &before;
                arguments[A::after] = &end;
                arguments[A::copied_after] = &after;
                arguments[A::x] = &x;
                arguments[A::out] = &out;
                GYRE_TRY(cuda::launch(context, scope, *kernel->kernel, arguments));
            }
    }
    return GYRE_OK;
}

} // namespace gyre
