#include "cuda/rotary/launch.h"

#include "cuda/driver/tensors.h"

#include <algorithm>
#include <cstdlib>

namespace gyre::cuda {
namespace {

/// Tokens of a batch entry whose elements a kernel's index reaches.
int64_t tokens_in_reach(const Heads &x) {
    const int64_t rest = std::abs(x.head_stride) * (x.heads - 1) + x.dim;
    const int64_t stride = std::abs(x.token_stride);
    return stride == 0 ? x.seqlen : std::min(x.seqlen, (INT32_MAX - rest - 1) / stride + 1);
}

} // namespace

RotatedFeatures::RotatedFeatures(const Rotation &by, int64_t dim, float sign, bool in_place)
    : offset(by.offset), pairs(by.pairs), end(offset + 2 * pairs), before(in_place ? 0 : offset),
      after(in_place ? 0 : static_cast<int32_t>(dim) - end), direction(sign) {}

void RotatedFeatures::add_to(KernelArguments<RotaryCudaArguments> *arguments) const {
    using A = RotaryCudaArguments;
    (*arguments)[A::offset] = &offset;
    (*arguments)[A::pairs] = &pairs;
    (*arguments)[A::direction] = &direction;
    (*arguments)[A::copied_before] = &before;
    (*arguments)[A::after] = &end;
    (*arguments)[A::copied_after] = &after;
}

gyre_status rotate(gyre_context &context, const Scope &scope, const RotaryLaunch &what, const RotatedTensor &tensor,
                   TokenAngles *angles) {
    const Heads &from = tensor.from;
    const Heads &to = tensor.to;
    const bool whole = in_reach(from, from.batch) && in_reach(to, to.batch);
    const int64_t batches = whole ? from.batch : 1;
    const int64_t tokens = whole ? from.seqlen : std::min(tokens_in_reach(from), tokens_in_reach(to));
    const RotatedFeatures features(what.rotation, from.dim, what.direction, tensor.in_place);
    const bool packed = what.packed.bounds != nullptr;
    const auto sequences = static_cast<int32_t>(packed ? what.packed.sequences : batches);
    Buffer bounds(what.packed.bounds, halide_type(GYRE_I32), {{packed ? sequences + 1 : 1, 1}});
    for (int64_t batch = 0; batch < from.batch; batch += batches)
        for (int64_t token = 0; token < from.seqlen; token += tokens) {
            const int64_t here = std::min(tokens, from.seqlen - token);
            GYRE_TRY(angles->place(what.positions, what.rope, batch, token, batches, here));
            const auto view = [&](Buffer *b, const Heads &h) {
                b->describe(h.at(batch, token, 0), halide_type(h.dtype),
                            {{h.dim, 1}, {h.heads, h.head_stride}, {here, h.token_stride}, {batches, h.batch_stride}});
            };
            Buffer x;
            Buffer out;
            view(&x, from);
            view(&out, to);
            using A = RotaryCudaArguments;
            KernelArguments<A> arguments(what.kernel->places_on_device);
            angles->add_to(&arguments);
            features.add_to(&arguments);
            arguments[A::bounds] = &bounds;
            arguments[A::packed] = &packed;
            arguments[A::sequences] = &sequences;
            arguments[A::x] = &x;
            arguments[A::out] = &out;
            GYRE_TRY(launch(context, scope, *what.kernel->kernel, arguments));
        }
    return GYRE_OK;
}

} // namespace gyre::cuda
