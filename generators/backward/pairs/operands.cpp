#include "backward/pairs/parts.h"
#include "math/bf16_pairs.h"

namespace gyre::backward {
using namespace Halide;

void define_operands(PairStages &s, const Inputs &in, const KeyPairs &keys) {
    const Sizes &z = s.sizes;
    const Var &c = s.c, &d = s.d, &y = s.y, &t = s.t, &l = s.l;
    const auto until_end = [](const char *name, int count, const Expr &end, int size) {
        RDom n(0, count, name);
        n.where(n * size < end);
        return n;
    };
    const RDom tile = until_end("operand_tiles", z.rows / z.tile, in.rows, z.tile);
    const RDom panel = until_end("operand_panels", z.keys / z.key_lanes, in.keys, z.key_lanes);
    const auto of_features = [&](Func &pairs, const char *name, const Func &rows) {
        pairs = Func(name);
        pairs(c, y, t) = undef<uint32_t>();
        pairs(c, y, tile) = bf16_pair(rows(c * 2, y, tile), rows(c * 2 + 1, y, tile));
    };
    of_features(s.q_features, "q_features", in.q);
    of_features(s.out_grad_features, "out_grad_features", in.out_grad);
    const auto of_panels = [&](Func &pairs, const char *name, const Func &panels) {
        pairs = Func(name);
        pairs(l, c, t) = undef<uint32_t>();
        pairs(l, c, panel) = bf16_pair(panels(l, c * 2, panel), panels(l, c * 2 + 1, panel));
    };
    of_panels(s.k_features, "k_features", in.k_panels);
    of_panels(s.v_features, "v_features", in.v_panels);
    const auto of_rows = [&](Func &pairs, const char *name, const Func &rows) {
        pairs = Func(name);
        pairs(d, c, t) = undef<uint32_t>();
        pairs(d, c, tile) = bf16_pair(rows(d, c * 2, tile), rows(d, c * 2 + 1, tile));
    };
    of_rows(s.q_rows, "q_rows", in.q);
    of_rows(s.out_grad_rows, "out_grad_rows", in.out_grad);
    const auto key = [&](const Expr &j) { return in.k(d, j % s.sizes.tile, j / s.sizes.tile); };
    const Expr first = keys.first_key(panel, c);
    s.k_keys = Func("k_keys");
    s.k_keys(d, c, t) = undef<uint32_t>();
    s.k_keys(d, c, panel) = bf16_pair(key(first), key(first + keys.distance()));
}

} // namespace gyre::backward
