#include "rotary_algorithm.h"

#include "../common/storage.h"

namespace gyre::rotary {
using namespace Halide;
namespace {

/// {first cos - second sin, second cos + first sin} as they are stored.
Tuple rotate(const Expr &first, const Expr &second, const Expr &cos, const Expr &sin, const Expr &direction,
             const Type &type, bool bf16_instruction) {
    if (!type.is_int()) {
        const Expr x = widen(first), y = widen(second), s = direction * sin;
        return {narrow(x * cos - y * s, type, bf16_instruction), narrow(y * cos + x * s, type, bf16_instruction)};
    }
    const auto rounded = [&](const Expr &q30) { return saturating_cast(type, (q30 + (1 << 14)) >> 15); };
    const Expr x = cast<int32_t>(first), y = cast<int32_t>(second), c = cast<int32_t>(cos);
    const Expr s = cast<int32_t>(direction) * cast<int32_t>(sin);
    return {rounded(x * c - y * s), rounded(y * c + x * s)};
}

} // namespace

Stages algorithm(const Inputs &in, Pairing pairing, const Func &out, const Type &type) {
    Stages s;
    s.out = out;
    const Var &d = s.d, &a = s.a, &b = s.b, &i = s.i;
    const bool half = pairing == Pairing::half;

    const Expr first = in.x(in.offset + (half ? Expr(i) : 2 * i), a, b);
    const Expr second = in.x(in.offset + (half ? i + in.pairs : 2 * i + 1), a, b);
    s.rotated = Func("rotated"), s.rest = Func("rest");
    for (Func *rotated : {&s.rotated, &s.rest})
        (*rotated)(i, a, b) =
            rotate(first, second, in.cos(i, a, b), in.sin(i, a, b), in.direction, type, in.bf16_instruction);

    s.out(d, a, b) = undef(type);
    const bool has_rest = in.whole.defined(), has_last = in.whole_copied.defined();
    RDom before(0, in.copied_before, "before");
    RDom after(in.after, has_last ? in.whole_copied : in.copied_after, "after");
    const auto copied = [&](const Expr &feature) {
        const Expr x = in.x(feature, a, b);
        return x.type() == type ? x : narrow(widen(x), type, in.bf16_instruction);
    };
    s.out(before, a, b) = copied(before);
    s.out(after, a, b) = copied(after);
    const auto store = [&](const Func &rotated, const RDom &n) {
        const Expr feature = in.offset + (half ? n.y + n.x * in.pairs : 2 * n.y + n.x);
        s.out(feature, a, b) = mux(n.x, {rotated(n.y, a, b)[0], rotated(n.y, a, b)[1]});
    };
    RDom n(0, 2, 0, has_rest ? in.whole : in.pairs, "n");
    store(s.rotated, n);
    s.before = before.x, s.after = after.x, s.parity = n.x, s.pair = n.y;
    if (has_rest) {
        RDom m(0, 2, in.whole, in.pairs - in.whole, "m");
        store(s.rest, m);
        s.rest_parity = m.x, s.rest_pair = m.y;
    }
    if (has_last) {
        RDom last(in.after + in.whole_copied, in.copied_after - in.whole_copied, "last");
        s.out(last, a, b) = copied(last);
    }
    return s;
}

} // namespace gyre::rotary
