#include "results.h"

#include "attention/recurrence/scores.h"
#include "math/storage.h"
#include "operands.h"
#include "passes/cuda/primitives.h"
#include "passes/cuda/warp_nest.h"

namespace gyre::attention {
using namespace Halide;

void define_results(CudaStages &s, const CudaInputs &in, const Type &type) {
    const CudaSizes &sizes = s.sizes;
    const CudaTile &tile = s.tile;
    const int rows = sizes.query_rows;
    const Var &d = s.d, &h = s.h, &x = s.x, &z = s.z, &i = s.i, &t = s.t;
    s.lse_rows = Func(sizes.loads_queries ? "rows_of_lse"
                                          : "lse_rows"); // by whose name they follow out_rows, in row_tokens' place
    const FuncRef end = s.state(0, i, t, h, z);
    const auto total = [&](const FuncRef &of) {
        if (sizes.general && !sizes.partial) return s.head.with_sink(of[0], of[1], h);
        return Tuple(of[1], 1.0f,
                     sizes.general ? Expr(of[0]) : of[0] * in.scale); // sinks join parts when they are merged
    };
    const Tuple of_end = total(end);
    // In halves where that is the size of what shared memory held before. Rows lie turned against each other, by 8 features each, so
    // that those which a warp stores at once are in different banks.
    const int parts = sizes.loads_queries || (sizes.warpgroups && sizes.v_head_dim > 128) ? 2 : 1,
              features = sizes.v_head_dim / parts;
    const int runs = features / cuda::tile_columns;
    const auto turned = [&](const Expr &feature, const Expr &of_row) {
        const Expr run = (feature / cuda::tile_columns + of_row) % runs;
        return unsafe_promise_clamped(run * cuda::tile_columns + feature % cuda::tile_columns, 0, features - 1);
    };
    for (int part = 0; part < parts; part++) {
        const FuncRef all = s.state(part * features + d, i, t, h, z);
        const Tuple of_all = total(all);
        Expr share = of_all[1];
        if (in.dropout.keep_scale.defined()) share = share * in.dropout.keep_scale;
        s.out_rows.emplace_back(parts > 1 ? "out_rows_" + std::to_string(part) : "out_rows");
        s.out_rows.back()(d, i, t, h, z) = cuda::placed(select(all[1] == 0.0f, 0.0f, all[2] * (share / of_all[0])),
                                                        turned(d, i) - d, Internal::const_true());
    }
    const Expr nothing = reinterpret<float>(Expr(0xff800000u)); // -inf
    s.lse_rows(i, t, h, z) = select(end[1] == 0.0f, nothing, (of_end[2] + cuda::log2_approx(of_end[0])) * ln_2);
    const Expr of = x / rows, end_row = tile.first_row(of) + x % rows;
    const Expr exists = end_row >= 0 && end_row < tile.row_count(of);
    const auto result = [&](const Expr &feature) {
        Expr found;
        for (int part = parts - 1; part >= 0; part--) {
            const Expr of_part = parts > 1 ? clamp(feature - part * features, 0, features - 1) : feature;
            const Expr here = s.out_rows[static_cast<size_t>(part)](turned(of_part, x % rows), x % rows, of, h, z);
            found = found.defined() ? select(feature / cuda::tile_columns < (part + 1) * runs, here, found) : here;
        }
        return found;
    };
    const Expr rotated = rotated_feature(in.value_rope, d, sizes.v_head_dim, -1,
                                         query_angle(tile, in, in.value_angles, of, end_row), result);
    // Warpgroups have a multiprocessor for themselves, and nobody multiplies meanwhile.
    const Expr value = sizes.warpgroups ? cuda::choose(in.value_rope.count > 0, rotated, result(d)) : rotated;
    const Expr token = tile.first_query(of) + tile.query(end_row), of_heads = tile.of_heads(end_row);
    const Expr heads = in.key_heads * in.sequences.group;
    if (sizes.partial) { // [z][token][head][d], of which h is several heads and x stands still, and [z][head][token]
        s.out(d, h, x, z) = cuda::placed(value, (token * heads + of_heads) * sizes.v_head_dim, exists);
        s.lse(x, h, z) =
            cuda::placed(s.lse_rows(x % rows, of, h, z), of_heads * in.sequences.queries + token - x, exists);
    } else {
        const Expr distance = tile.first_query(of) + tile.first_row(of) - of * rows;
        s.out(d, h, x, z) = cuda::placed(narrow(value, type, Bf16::as_casts), distance * in.out_stride, exists);
        s.lse(x, h, z) = cuda::placed(s.lse_rows(x % rows, of, h, z), distance, exists);
    }
}

} // namespace gyre::attention
