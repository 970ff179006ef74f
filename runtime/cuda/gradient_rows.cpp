#include "cuda/gradient_rows.h"

#include "core/kernel_call.h"
#include "cuda/tensors.h"

namespace gyre::cuda {

gyre_status GradientRows::prepare(const gyre_context &context, const Heads &given, const Rotated &how, const char *of) {
    to = given;
    rotated = how;
    name = of;
    rows = dense_like(to, GYRE_F32);
    rotate_back = convert = nullptr;
    if (to.empty()) return GYRE_OK;
    const bool narrow = to.dtype != GYRE_F32;
    if (how.by.on || !narrow) rotate_back = find_row_writer(context, GYRE_F32, GYRE_F32, how.by);
    if (narrow) convert = find_row_writer(context, GYRE_F32, to.dtype, Rotation(), true);
    if (((how.by.on || !narrow) && !rotate_back) || (narrow && !convert))
        return refuse(GYRE_UNSUPPORTED, name, "no linked kernel stores it as %s on a CUDA device",
                      dtype_name(to.dtype));
    return check_dense_reach(rows, name);
}

size_t GradientRows::bytes() const { return bytes_of_dense(rows); }

gyre_status GradientRows::store(gyre_context &context, const Scope &scope, gyre_context::Frequencies &cache) const {
    if (rotate_back) {
        GYRE_TRY(rotate_rows(context, scope, *rotate_back, rotated, -1, rows, convert ? rows : to, cache));
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
