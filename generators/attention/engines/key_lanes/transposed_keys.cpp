// A tile of many rows: the keys of a step are transposed, as they are stored, and all rows multiply vectors of keys. A key is then shuffled and widened
// once, however many rows there are.
#include "key_lanes.h"
#include "math/lane_rounds.h"
#include "math/storage.h"
#include "passes/instructions/prefetched_lines.h"
#include "passes/loop_name.h"
#include "passes/order/lines_ahead.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr int vector_keys = 16;   // of a block that is transposed
constexpr int vector_halves = 32; // features of a key in a vector
constexpr int lane_halves = 8;    // in 16 bytes
constexpr int steps_ahead = 2;    // between the keys that are multiplied and those that are asked for

} // namespace

// Each round pairs a vector with the one 8 further. The highest bit of the vector's number becomes the lowest of the lane's, within what the round
// takes apart, and the lane's highest the lowest of the vector's. Rounds within 16 bytes come first, since they are twice as quick.
void KeyLanes::define_transposed_keys() {
    const Var &j = s.j, &b = s.b, &d = s.d, lane("lane"), upper("upper"), pair("pair"), chunk("chunk"), group("group");
    const Func &k_rows = s.operands.k_rows;
    // Vectors are taken in an order after which lanes have that of keys.
    const LaneOfVector element = [&](const Expr &at, const Expr &vector) -> Expr {
        if (!s.key_rounds.empty()) return s.key_rounds.back()(at, vector % 2, vector / 2, chunk, group, b);
        const Expr key = vector % 2 * lane_halves + vector / 2;
        return reinterpret(UInt(16), k_rows(chunk * vector_halves + at, group * vector_keys + key, b));
    };
    const Interleaving within{lane_halves, 1}, across{vector_halves, lane_halves};
    for (const Interleaving &moved : {within, within, within, across}) {
        Func round("key_round_" + std::to_string(s.key_rounds.size()));
        round(lane, upper, pair, chunk, group, b) =
            lane_of_interleaved(element, pair, vector_keys / 2, moved, lane, upper);
        s.key_rounds.push_back(round);
    }
    // A vector has two features, 8 apart.
    const Expr of_chunk = d % vector_halves;
    const Expr vector = of_chunk % lane_halves * 2 + of_chunk / 16, at = of_chunk / lane_halves % 2 * vector_keys;
    s.key_columns = Func("key_columns");
    s.key_columns(j, d, b) =
        s.key_rounds.back()(at + j % vector_keys, vector % 2, vector / 2, d / vector_halves, j / vector_keys, b);
}

void KeyLanes::define_transposed_scores(const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b;
    facts.in_columns ? define_key_columns(in) : define_transposed_keys();
    RDom features(0, z.padded ? unsafe_promise_clamped(in.head_dim, 1, z.head_dim) : Expr(z.head_dim), "features");
    // Only those vectors of a step's keys of which some row sees one.
    if (k.key_unroll > k.lanes)
        features.where(b * z.key_block + j / vector_keys * vector_keys <= visible(in).tile_last);
    s.feature = features;
    s.folded_scores = Func("folded_scores");
    const Expr key = facts.in_columns ? s.key_columns(j, place_of_feature(in, features), b)
                                      : widen(reinterpret(Float(16), s.key_columns(j, features, b)));
    s.folded_scores(j, r, t, b) += s.q_rows(features, r, t) * key;
    s.scores = Func("scores");
    s.scores(r, j, t, b) = s.folded_scores(j, r, t, b);
}

void KeyLanes::schedule_key_rounds() {
    const std::vector<Var> at = s.key_rounds.back().args(); // lane, upper, pair, chunk, …
    for (Func &round : s.key_rounds)
        round.bound_storage(s.b, 1)
            .bound(at[0], 0, vector_halves)
            .bound(at[1], 0, 2)
            .bound(at[2], 0, vector_keys / 2)
            .vectorize(at[0])
            .unroll(at[1])
            .unroll(at[2]);
    Func &last = s.key_rounds.back();
    last.compute_at(s.masked, s.key_step)
        .bound(at[3], 0, s.sizes.head_dim / vector_halves)
        .bound_extent(at[4], k.key_unroll / vector_keys)
        .store_in(MemoryType::Stack);
    for (size_t round = 0; round + 1 < s.key_rounds.size(); round++) s.key_rounds[round].compute_at(last, at[3]);
}

void KeyLanes::schedule_transposed_scores() {
    facts.in_columns ? schedule_key_columns() : schedule_key_rounds();
    // Asking for a line reads any memory but registers, for all that the compiler knows.
    s.folded_scores.compute_at(s.masked, s.t)
        .store_in(MemoryType::Register)
        .bound_extent(s.j, k.key_unroll)
        .bound(s.r, 0, s.sizes.row_tile);
    const Var lane("key_lane");
    s.folded_scores.vectorize(s.j, k.lanes).unroll(s.j);
    unroll_rows(s.folded_scores, s.folded_scores, s.r);
    Stage sum = s.folded_scores.update();
    sum.split(s.j, s.j, lane, k.lanes).reorder(lane, s.r, s.j, s.feature).vectorize(lane).unroll(s.j);
    unroll_rows(sum, s.folded_scores, s.r);
}

int KeyLanes::keys_asked_ahead() const { return steps_ahead * k.key_unroll; }

// A turn of the loop over features asks for its share of the step's values, and of the keys of a step further on.
void KeyLanes::ask_for_next_steps(const Lowering &lowering) const {
    const Sizes &z = s.sizes;
    const Func offsets = s.operands.k_offsets; // the table of values is not there yet, and is mostly the same
    const int keys = k.key_unroll, of_row = z.head_dim / vector_halves;
    const int lines = std::max(1, keys * of_row / z.head_dim), table = z.key_block + keys_asked_ahead();
    Func(offsets).bound(s.j, 0, table).bound_storage(s.j, table);
    const std::string step = loop_of(s.key_step), feature = loop_of(s.feature), tile = s.t.name();
    const bool has_tiles = z.task_tiles > 1;
    const auto lines_of_step = [=](const LoopValues &value, int ahead) {
        Asked asked{{}, has_tiles ? value(tile) == 0 : Internal::const_true()};
        for (int n = 0; n < lines; n++) {
            const Expr line = value(feature) * lines + n;
            asked.lines.push_back(
                {offsets, (value(step) + ahead) * keys + line / of_row, line % of_row * vector_halves});
        }
        return asked;
    };
    ask_ahead(lowering.generator, s.folded_scores, feature, lowering.values,
              [=](const LoopValues &value) { return lines_of_step(value, 0); });
    ask_ahead(lowering.generator, s.folded_scores, feature, lowering.keys,
              [=](const LoopValues &value) { return lines_of_step(value, steps_ahead); });
}

} // namespace gyre::attention
