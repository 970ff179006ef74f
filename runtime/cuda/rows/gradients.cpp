#include "cuda/rows/gradients.h"

#include "core/kernel_call.h"
#include "cuda/driver/tensors.h"
#include "cuda/rows/slots.h"

namespace gyre::cuda {

gyre_status GradientRows::prepare(const gyre_context &context, const Heads &given, const Rotated &how, const char *of) {
    to = given;
    rotated = how;
    name = of;
    rows = dense_like(to, GYRE_F32, to.dim);
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
    for (int64_t first = 0; first < to.batch; first += at_once) {
        TokenAngles none;
        gyre_context::Frequencies unused;
        GYRE_TRY(none.prepare(Rotation(), rotated.rope, unused));
        GYRE_TRY(none.place(Positions(), rotated.rope, first, 0, at_once, to.seqlen));
        SlotLists lists;
        lists.sequences = at_once;
        lists.capacity = to.seqlen;
        SlotTensors tensors{rows, to, at_once, to.seqlen};
        tensors.from.data = rows.at(first, 0, 0);
        tensors.to.data = to.at(first, 0, 0);
        tensors.from.batch = tensors.to.batch = at_once;
        GYRE_TRY(write_slots(context, scope, *convert, Rotation(), &none, lists, tensors));
    }
    return GYRE_OK;
}

} // namespace gyre::cuda
