#include "cuda/gradient_rows.h"

#include "core/kernel_call.h"
#include "core/workspace.h"
#include "cuda/rotary_launch.h"
#include "cuda/tensors.h"

namespace gyre::cuda {
namespace {

/// A copy is what every kernel does without a rotation.
const RotaryKernel *find_writer(const gyre_context &context, gyre_dtype from, gyre_dtype to, const Rotation &r,
                                bool appended) {
    for (const gyre_pairing pairing : {r.pairing, GYRE_HALF, GYRE_INTERLEAVED})
        if (!r.on || pairing == r.pairing)
            if (const RotaryKernel *k = find_rotary_kernel(context, from, to, pairing, GYRE_CUDA, appended)) return k;
    return nullptr;
}

constexpr int64_t bytes_of_copy = 16; // at once, asynchronously

bool has_aligned_rows(const Heads &t) {
    const auto size = static_cast<int64_t>(element_size(t.dtype));
    bool aligned = t.data && reinterpret_cast<uintptr_t>(t.data) % bytes_of_copy == 0;
    for (const auto &[extent, stride] :
         {std::pair(t.batch, t.batch_stride), std::pair(t.seqlen, t.token_stride), std::pair(t.heads, t.head_stride)})
        aligned = aligned && (extent < 2 || stride * size % bytes_of_copy == 0);
    return aligned;
}

/// Queues what writes `to`: `from`, rotated. In place, features beside the rotated ones stay.
gyre_status rotate(gyre_context &context, const Scope &scope, const RotaryKernel &kernel, const Rotated &how,
                   float direction, const Heads &from, const Heads &to, gyre_context::Frequencies &cache) {
    const Rotation none, &by = how.by.on ? how.by : none;
    TokenAngles angles;
    GYRE_TRY(angles.prepare(by, how.rope, cache));
    const RotaryLaunch what{&kernel, by, how.positions, {}, how.rope, direction};
    const RotatedTensor tensor{from, to, how.rope, how.rope, from.data == to.data};
    return rotate(context, scope, what, tensor, &angles);
}

Heads dense_like(const Heads &like, gyre_dtype dtype) {
    Heads rows = {nullptr, dtype, like.batch, like.seqlen, like.heads, like.dim, 0, like.heads * like.dim, like.dim};
    rows.batch_stride = rows.seqlen * rows.token_stride;
    return rows;
}

size_t bytes_of(const Heads &rows) {
    return round_up(static_cast<size_t>(rows.batch * rows.batch_stride) * element_size(rows.dtype));
}

gyre_status check_dense_reach(const Heads &rows, const char *name) {
    if (in_reach(rows, 1)) return GYRE_OK;
    return refuse(GYRE_UNSUPPORTED, name, "one batch entry has over 2^31 elements");
}

} // namespace

gyre_status OperandRows::prepare(const gyre_context &context, const Heads &given, const Rotated &how, const char *of) {
    from = rows = given;
    rotated = how;
    name = of;
    kernel = nullptr;
    if (from.empty() || (!how.by.on && from.data && has_aligned_rows(from))) return GYRE_OK;
    kernel = find_writer(context, from.dtype, from.dtype, how.by, false);
    if (!kernel)
        return refuse(GYRE_UNSUPPORTED, how.by.on ? how.rope : name, "no linked kernel %s %s of %s on a CUDA device",
                      how.by.on ? "rotates" : "aligns rows of", name, dtype_name(from.dtype));
    rows = dense_like(from, from.dtype);
    return check_dense_reach(rows, name);
}

size_t OperandRows::bytes() const { return kernel ? bytes_of(rows) : 0; }

void OperandRows::place(char *memory) {
    if (kernel) rows.data = memory;
}

gyre_status OperandRows::fill(gyre_context &context, const Scope &scope, gyre_context::Frequencies &cache) const {
    if (!kernel) return GYRE_OK;
    return rotate(context, scope, *kernel, rotated, 1, from, rows, cache);
}

gyre_status GradientRows::prepare(const gyre_context &context, const Heads &given, const Rotated &how, const char *of) {
    to = given;
    rotated = how;
    name = of;
    rows = dense_like(to, GYRE_F32);
    rotate_back = convert = nullptr;
    if (to.empty()) return GYRE_OK;
    const bool narrow = to.dtype != GYRE_F32;
    if (how.by.on || !narrow) rotate_back = find_writer(context, GYRE_F32, GYRE_F32, how.by, false);
    if (narrow) convert = find_writer(context, GYRE_F32, to.dtype, Rotation(), true);
    if (((how.by.on || !narrow) && !rotate_back) || (narrow && !convert))
        return refuse(GYRE_UNSUPPORTED, name, "no linked kernel stores it as %s on a CUDA device",
                      dtype_name(to.dtype));
    return check_dense_reach(rows, name);
}

size_t GradientRows::bytes() const { return bytes_of(rows); }

gyre_status GradientRows::store(gyre_context &context, const Scope &scope, gyre_context::Frequencies &cache) const {
    if (rotate_back) {
        GYRE_TRY(rotate(context, scope, *rotate_back, rotated, -1, rows, convert ? rows : to, cache));
    }
    return convert ? narrow(context, scope) : GYRE_OK;
}

/// A cache that has room for these tokens alone takes them as they are.
gyre_status GradientRows::narrow(gyre_context &context, const Scope &scope) const {
    const bool whole = in_reach(rows, rows.batch) && in_reach(to, to.batch);
    const int64_t at_once = whole ? to.batch : 1;
    const halide_type_t i32 = halide_type(GYRE_I32);
    for (int64_t first = 0; first < to.batch; first += at_once) {
        TokenAngles none;
        gyre_context::Frequencies unused;
        GYRE_TRY(none.prepare(Rotation(), rotated.rope, unused));
        GYRE_TRY(none.place(Positions(), rotated.rope, first, 0, at_once, to.seqlen));
        const auto dim = static_cast<int32_t>(to.dim), tokens = static_cast<int32_t>(to.seqlen);
        const auto entries = static_cast<int32_t>(at_once), entry_stride = static_cast<int32_t>(to.batch_stride);
        const int32_t nothing = 0, page_bits = 0;
        const float direction = 1;
        const bool no = false;
        Buffer x(
            rows.at(first, 0, 0), halide_type(GYRE_F32),
            {{to.dim, 1}, {to.heads, rows.head_stride}, {to.seqlen, rows.token_stride}, {at_once, rows.batch_stride}});
        Buffer out(to.at(first, 0, 0), halide_type(to.dtype),
                   {{to.dim, 1}, {to.heads, to.head_stride}, {to.seqlen, to.token_stride}, {at_once, 0}});
        Buffer bounds(nullptr, i32, {{1, 1}}), held(nullptr, i32, {{1, 1}}),
            table(nullptr, i32, {{1, 1}, {entries, 0}});
        using A = RotaryCudaArguments;
        KernelArguments<A> arguments(convert->places_on_device);
        none.add_to(&arguments);
        arguments[A::offset] = &nothing;
        arguments[A::pairs] = &nothing;
        arguments[A::direction] = &direction;
        arguments[A::copied_before] = &nothing;
        arguments[A::after] = &nothing;
        arguments[A::copied_after] = &dim;
        arguments[A::bounds] = &bounds;
        arguments[A::held] = &held;
        arguments[A::page_table] = &table;
        arguments[A::packed] = &no;
        arguments[A::has_held] = &no;
        arguments[A::paged] = &no;
        arguments[A::sequences] = &entries;
        arguments[A::page_bits] = &page_bits;
        arguments[A::capacity] = &tokens;
        arguments[A::entries] = &entries;
        arguments[A::entry_stride] = &entry_stride;
        arguments[A::x] = &x;
        arguments[A::out] = &out;
        GYRE_TRY(launch(context, scope, *convert->kernel, arguments));
    }
    return GYRE_OK;
}

} // namespace gyre::cuda
