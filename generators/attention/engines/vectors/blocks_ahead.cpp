// Keys and values that are read as they are stored, and once: the lines of both are asked for a block ahead.
#include "attention/attention_schedules.h"
#include "passes/lines_ahead.h"
#include "passes/prefetched_lines.h"

namespace gyre::attention {
using namespace Halide;
namespace {

/// In turn `turn` of `turns`: its share of the lines of a block of rows of `features` elements, the first of which is row `first`.
/// Of places far from each other in turn: a processor reads several pages at once quicker than one.
std::vector<LineAhead> share_of_block(const Sizes &z, const Func &offsets, int first, int features, const Type &type,
                                      const Expr &turn, int turns) {
    constexpr int places = 8;
    const int of_line = cache_line_bytes / type.bytes();
    const int of_row = (features + of_line - 1) / of_line, all = z.key_block * of_row;
    std::vector<LineAhead> asked;
    for (int n = 0; n < (all + turns - 1) / turns; n++) {
        const Expr before = turn * all / turns + n;
        const Expr line = before % places * (all / places) + before / places;
        asked.push_back({offsets, first + line / of_row, line % of_row * of_line});
    }
    return asked;
}

} // namespace

void ask_for_blocks(Internal::GeneratorBase &generator, Stages &s, const Knobs &k, const OutputImageParam &keys,
                    const OutputImageParam &values) {
    const Sizes &z = s.sizes;
    for (auto [offsets, rows] : {std::pair{&s.k_offsets, 2 * z.key_block}, {&s.v_offsets, z.key_block}}) {
        const int whole_vectors = (rows + z.lanes - 1) / z.lanes * z.lanes;
        offsets->bound(s.j, 0, whole_vectors).bound_storage(s.j, whole_vectors);
    }
    const int steps = z.head_dim / z.fold, chunks = z.v_head_dim / z.feature_chunk;
    ask_ahead(generator, s.folded_scores, "features", values, [=](const LoopValues &value) {
        return share_of_block(z, s.v_offsets, 0, z.v_head_dim, values.type(), value("jo") * steps + value("features"),
                              z.key_block / k.key_unroll * steps);
    });
    ask_ahead(generator, s.weighted_rows, "keys", keys, [=](const LoopValues &value) {
        return share_of_block(z, s.k_offsets, z.key_block, z.head_dim, keys.type(),
                              value("e") * z.key_block + value("keys"), chunks * z.key_block);
    });
}

} // namespace gyre::attention
