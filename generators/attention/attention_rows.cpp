#include "attention_rows.h"

#include "../common/bf16_rounding.h"
#include "../common/storage.h"

namespace gyre::attention {
using namespace Halide;

Row row_of_task(const Inputs &in, const Expr &task_row) {
    const Expr row = min(task_row, in.rows - 1);
    if (Internal::is_const_one(in.heads)) return {row, 0};
    // Exact below 2^20 rows, and quicker than a division.
    const Expr quotient = cast<int>((cast<float>(row) + 0.5f) * (1.0f / cast<float>(in.heads)));
    const Expr token = unsafe_promise_clamped(quotient, 0, in.tokens - 1);
    return {token, unsafe_promise_clamped(row - token * in.heads, 0, in.heads - 1)};
}

Expr offset_of_key(const Pages &pages, const KeyRows &rows, const Expr &key) {
    if (!pages.table.defined()) return key * rows.slot_stride;
    const Expr slot = pages.first_slot + key;
    const Expr page = pages.table(unsafe_promise_clamped(slot >> pages.bits, 0, pages.count - 1));
    return page * rows.page_stride + (slot & ((1 << pages.bits) - 1)) * rows.slot_stride;
}

Func stage_rows(const std::string &name, const StoredRows &in, const std::vector<Var> &args, const RowForm &form,
                RotatedRows &rotated) {
    Func rows(name);
    RowElements elements;
    elements.source = [&](const Expr &feature) { return widen(in.element(feature)); };
    elements.stored = [&](const Expr &value) { return form.as_bits ? bf16_rounding(value) : value; };
    elements.copied = [&](const Expr &feature) {
        const auto copied = [&](const Expr &inside) -> Expr {
            if (form.unwidened) return in.element(inside);
            return form.as_bits ? reinterpret<uint16_t>(in.element(inside)) : elements.source(inside);
        };
        if (!form.padded) return copied(feature);
        const Expr inside = copied(min(feature, in.extent - 1));
        return select(feature < in.extent, inside, cast(inside.type(), 0));
    };
    if (form.as_stored)
        rows(args) = elements.copied(args[0]);
    else
        rotated = rotate(rows, args, in.angle_row, form.features, form.features, in.rotation, elements);
    return rows;
}

} // namespace gyre::attention
