#include "rotary_algorithm.h"

namespace gyre::rotary {
using namespace Halide;
namespace {

/// {first cos - second sin, second cos + first sin} as they are stored.
Tuple rotate(const Expr &first, const Expr &second, const Expr &cos, const Expr &sin, const Expr &direction,
             const Type &type, Bf16 bf16) {
    if (!type.is_int()) {
        const Expr x = widen(first, bf16), y = widen(second, bf16), s = direction * sin;
        return {narrow(x * cos - y * s, type, bf16), narrow(y * cos + x * s, type, bf16)};
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
    const Var &i = s.i;
    const bool half = pairing == Pairing::half;
    const auto at = [&](const Expr &first) {
        std::vector<Expr> place{first, s.a, s.b};
        if (in.x.dimensions() > 3) place.emplace_back(s.c);
        return place;
    };

    const Expr first = in.x(at(in.offset + (half ? Expr(i) : 2 * i)));
    const Expr second = in.x(at(in.offset + (half ? i + in.pairs : 2 * i + 1)));
    s.rotated = Func("rotated");
    s.rest = Func("rest");
    std::vector<Var> pair{i, s.a, s.b}, feature{s.d, s.a, s.b};
    if (in.x.dimensions() > 3) {
        pair.push_back(s.c);
        feature.push_back(s.c);
    }
    for (Func *rotated : {&s.rotated, &s.rest})
        (*rotated)(pair) = rotate(first, second, in.cos(at(i)), in.sin(at(i)), in.direction, type, in.bf16);

    s.out(feature) = undef(type);
    const bool has_rest = in.whole.defined(), has_last = in.whole_copied.defined();
    RDom before(0, in.copied_before, "before");
    RDom after(in.after, has_last ? in.whole_copied : in.copied_after, "after");
    const auto copied = [&](const Expr &feature) {
        const Expr x = in.x(at(feature));
        return x.type() == type ? x : narrow(widen(x, in.bf16), type, in.bf16);
    };
    const auto place = [&](const Expr &value, int n) { return in.place ? in.place(value, n) : value; };
    s.out(at(before)) = place(copied(before), 0);
    s.out(at(after)) = place(copied(after), 1);
    const auto store = [&](const Func &rotated, const RDom &n) {
        const Expr feature = in.offset + (half ? n.y + n.x * in.pairs : 2 * n.y + n.x);
        s.out(at(feature)) = place(mux(n.x, {rotated(at(n.y))[0], rotated(at(n.y))[1]}), 2);
    };
    RDom n(0, 2, 0, has_rest ? in.whole : in.pairs, "n");
    store(s.rotated, n);
    s.before = before.x;
    s.after = after.x;
    s.parity = n.x;
    s.pair = n.y;
    if (has_rest) {
        RDom m(0, 2, in.whole, in.pairs - in.whole, "m");
        store(s.rest, m);
        s.rest_parity = m.x;
        s.rest_pair = m.y;
    }
    if (has_last) {
        RDom last(in.after + in.whole_copied, in.copied_after - in.whole_copied, "last");
        s.out(at(last)) = copied(last);
    }
    return s;
}

} // namespace gyre::rotary
