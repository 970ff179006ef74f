#include "rotary/rotary_kernel.h"

#include "core/argument_tables.h"
#include "core/contract.h"
#include "core/kernel_arguments.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace gyre {
namespace {

constexpr int64_t fewest_streamed_bytes = int64_t{16} << 20;

gyre_dtype from_dtype(const Kernel &kernel) {
    return kernel_dtype(kernel, attribute(kernel, "from_dtype").empty() ? "dtype" : "from_dtype");
}

/// Heads or tokens.
struct Repeated {
    int64_t extent, from_stride, to_stride, row_stride;
};

/// What the processor stored past its caches is seen by other threads after this.
void finish_streaming() {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

KernelTable<RotaryKernel> kernels("rotary", [](const Kernel &k) {
    return RotaryKernel{&k,
                        from_dtype(k),
                        kernel_dtype(k),
                        attribute(k, "pairing") == "half" ? GYRE_HALF : GYRE_INTERLEAVED,
                        static_cast<size_t>(attribute(k, "workspace", 0)),
                        attribute(k, "appended") == "true",
                        attribute(k, "vector_bytes", 0),
                        find_places_on_device(k)};
});

/// The first kernel for these types and pairs that is `wanted`.
template <typename Wanted>
const RotaryKernel *first_kernel(const gyre_context &context, gyre_dtype from, gyre_dtype to, gyre_pairing pairing,
                                 const Wanted &wanted) {
    for (const RotaryKernel &k : kernels.rows(*context.kernels))
        if (k.from == from && k.to == to && k.pairing == pairing && wanted(k)) return &k;
    return nullptr;
}

} // namespace

const RotaryKernel *find_rotary_kernel(const gyre_context &context, gyre_dtype from, gyre_dtype to,
                                       gyre_pairing pairing, gyre_device device, bool appended) {
    return first_kernel(context, from, to, pairing, [&](const RotaryKernel &k) {
        return k.appended == appended && !k.vector_bytes && may_use(context, *k.kernel, device);
    });
}

const RotaryKernel *find_streaming_kernel(const gyre_context &context, gyre_dtype dtype, gyre_pairing pairing) {
    return first_kernel(context, dtype, dtype, pairing,
                        [&](const RotaryKernel &k) { return k.vector_bytes && may_use(context, *k.kernel); });
}

bool pays_to_stream(const RotaryKernel &streaming, const Heads &from, const Heads &to, const Rotation &rotation) {
    const auto size = static_cast<int64_t>(element_size(to.dtype));
    // What addresses and a head's pairs are multiples of.
    const int64_t all = reinterpret_cast<int64_t>(to.data) |
                        size * (to.batch_stride | to.token_stride | to.head_stride | rotation.pairs);
    return from.data != to.data && rotation.offset == 0 && 2 * rotation.pairs == to.dim &&
           all % streaming.vector_bytes == 0 &&
           to.batch * to.seqlen * to.heads * to.dim * size >= fewest_streamed_bytes;
}

bool fits_run(const Heads &view, int64_t in_a_row) {
    return fits_kernel_index(
        {{view.heads, view.head_stride}, {std::min(run_tokens, in_a_row), view.token_stride}, {view.dim, 1}});
}

bool HeadRotation::run(const TokenRun &from, const TokenRun &to, int64_t tokens, int64_t heads, int64_t dim,
                       const float *rows, char *scratch) const {
    static const float no_angles[1] = {0};
    const int64_t row = 2 * static_cast<int64_t>(pairs);
    if (!pairs) rows = no_angles;
    // The kernel walks the denser of tokens and heads first; the angles of a token are the same for all its heads.
    Repeated inner{heads, from.head_stride, to.head_stride, 0};
    Repeated outer{tokens, from.token_stride, to.token_stride, row};
    if (std::abs(from.head_stride) > std::abs(from.token_stride)) std::swap(inner, outer);
    if (!pairs) { // what lies densely on both sides is copied as one row
        for (Repeated *r : {&inner, &outer}) {
            if (r->extent > 1 && (r->from_stride != dim || r->to_stride != dim)) break;
            dim *= r->extent;
            r->extent = 1;
        }
    }
    const auto view = [&](const void *data, halide_type_t type, int64_t extent, int64_t Repeated::*stride) {
        return Buffer(data, type, {{extent, 1}, {inner.extent, inner.*stride}, {outer.extent, outer.*stride}});
    };
    const halide_type_t f32 = halide_type(GYRE_F32);
    const int32_t end = offset + 2 * pairs;
    const int32_t before = in_place ? 0 : offset;
    const int32_t after = in_place ? 0 : static_cast<int32_t>(dim) - end;
    Buffer cos = view(rows, f32, pairs, &Repeated::row_stride);
    Buffer sin = view(rows + pairs, f32, pairs, &Repeated::row_stride);
    Buffer x = view(from.data, halide_type(kernel->from), dim, &Repeated::from_stride);
    Buffer out = view(to.data, halide_type(kernel->to), dim, &Repeated::to_stride);
    using A = RotaryArguments;
    KernelArguments<A> arguments;
    arguments[A::cos] = &cos;
    arguments[A::sin] = &sin;
    arguments[A::offset] = &offset;
    arguments[A::pairs] = &pairs;
    arguments[A::direction] = &direction;
    arguments[A::copied_before] = &before;
    arguments[A::after] = &end;
    arguments[A::copied_after] = &after;
    arguments[A::x] = &x;
    arguments[A::out] = &out;
    Slab slab(scratch, kernel->workspace);
    const bool ok = arguments.call(*kernel->kernel, slab);
    if (kernel->vector_bytes) finish_streaming();
    return ok;
}

} // namespace gyre
