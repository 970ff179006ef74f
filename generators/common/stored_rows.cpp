#include "stored_rows.h"

#include "../math/bf16_rounding.h"
#include "../math/storage.h"

namespace gyre {
using namespace Halide;

RotatedRows define_rows(Func rows, const StoredRows &in, const std::vector<Var> &args, const RowForm &form) {
    RowElements elements;
    elements.source = [&](const Expr &feature) { return widen(in.element(feature)); };
    const auto multiplied = [&](const Expr &value) { return form.factor.defined() ? value * form.factor : value; };
    elements.stored = [&](const Expr &value) {
        return form.as_bits ? bf16_rounding(multiplied(value)) : multiplied(value);
    };
    elements.copied = [&](const Expr &feature) {
        const auto copied = [&](const Expr &inside) -> Expr {
            if (form.unwidened) return in.element(inside);
            if (form.as_bits && !form.factor.defined()) return reinterpret<uint16_t>(in.element(inside));
            return elements.stored(elements.source(inside));
        };
        if (!form.padded) return copied(feature);
        // Vectors without padding in a loop of their own: they are loads.
        const Expr inside = copied(min(likely(feature), in.extent - 1));
        return select(likely(feature < in.extent), inside, cast(inside.type(), 0));
    };
    const Expr count = form.count.defined() ? form.count : Expr(form.features);
    if (!form.as_stored) return rotate(rows, args, in.angle_row, count, form.features, in.rotation, elements);
    rows(args) = elements.copied(args[0]);
    return {};
}

} // namespace gyre
