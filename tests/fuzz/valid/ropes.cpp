#include "ropes.h"
#include "placement.h"
#include "support/random.h"

#include <algorithm>
#include <cmath>

namespace gyre::fuzz {
namespace {

void draw_sections(ByteReader &r, gyre_rope *rope, int64_t pairs) {
    rope->section_order = r.rarely(2) ? GYRE_SECTIONS_INTERLEAVED : GYRE_SECTIONS_CONTIGUOUS;
    int64_t left = pairs;
    for (int32_t axis = 0; axis < rope->axes; axis++) {
        const bool last = axis == rope->axes - 1;
        rope->sections[axis] = (int32_t)(last ? left : r.between(0, left));
        left -= rope->sections[axis];
    }
}

void draw_frequencies(ByteReader &r, Store &store, gyre_rope *rope, int64_t pairs) {
    std::vector<double> &numbers = store.frequencies.emplace_back((size_t)pairs);
    test::Random random(r.number<uint16_t>());
    const double largest = r.pick<double>({1, 1, 0.001, 100});
    for (double &number : numbers) number = largest * (2 * random.uniform() - 1);
    rope->inv_freq = numbers.data();
}

/// Rows of numbers near a circle, but not on it.
const gyre_tensor *draw_table(ByteReader &r, Store &store, const std::vector<int64_t> &shape,
                              const std::vector<bool> &used_rows) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    Input &table = store.read(GYRE_F32, shape, random_placement(r, shape, {}),
                              test::normal_numbers(r.number<uint16_t>(), count, 0.7));
    if (used_rows.empty()) return &table.view();
    std::vector<bool> hidden((size_t)count);
    for (size_t i = 0; i < hidden.size(); i++) {
        const size_t row = i / (size_t)shape.back();
        hidden[i] = row >= used_rows.size() || !used_rows[row];
    }
    table.hide(hidden);
    return &table.view();
}

} // namespace

int64_t pairs_of(const gyre_rope &rope, int64_t dim) {
    return (rope.rotary_dim ? rope.rotary_dim : dim - rope.rotary_offset) / 2;
}

gyre_rope &random_rope(ByteReader &r, Store &store, const RopeRules &rules) {
    gyre_rope &rope = store.ropes.emplace_back(gyre_rope_defaults());
    rope.pairing = r.rarely(2) ? GYRE_INTERLEAVED : GYRE_HALF;
    const int64_t offset = rules.may_have_offset && r.rarely(3) ? r.between(0, rules.dim - 2) : 0;
    const int64_t most_pairs = (rules.dim - offset) / 2;
    const bool all = (rules.dim - offset) % 2 == 0 && !r.rarely(2);
    rope.rotary_offset = (int32_t)offset;
    rope.rotary_dim = all ? 0 : (int32_t)(2 * r.between(1, most_pairs));
    rope.theta = r.pick<double>({10000, 10000, 1, 100, 1e6});
    rope.frequency_base = r.rarely(3) ? GYRE_OVER_HEAD_DIM : GYRE_OVER_ROTARY_DIM;
    rope.attention_factor = r.rarely(4) ? 0.5 + r.below(20) / 10.0 : 1;
    rope.axes = rules.axes == 1 ? (int32_t)r.below(2) : rules.axes;
    const int64_t pairs = pairs_of(rope, rules.dim);
    if (rope.axes > 1) draw_sections(r, &rope, pairs);
    if (r.rarely(4)) draw_frequencies(r, store, &rope, pairs);
    return rope;
}

void add_tables(ByteReader &r, Store &store, gyre_rope *rope, int64_t dim, const TableRows &rows) {
    const std::vector<int64_t> shape{rows.count, pairs_of(*rope, dim)};
    rope->cos = draw_table(r, store, shape, rows.used);
    rope->sin = draw_table(r, store, shape, rows.used);
}

void add_token_tables(ByteReader &r, Store &store, gyre_rope *rope, int64_t dim, int64_t batch, int64_t tokens) {
    const std::vector<int64_t> shape{batch, tokens, pairs_of(*rope, dim)};
    rope->cos = draw_table(r, store, shape, {});
    rope->sin = draw_table(r, store, shape, {});
}

RandomPositions random_positions(ByteReader &r, Store &store, const PositionRules &rules) {
    const bool by_batch = r.rarely(2);
    std::vector<int64_t> shape;
    if (rules.axes > 1) shape.push_back(rules.axes);
    if (by_batch) shape.push_back(rules.batch);
    shape.push_back(rules.tokens);
    const int64_t entries = by_batch ? rules.batch : 1;
    const size_t count = (size_t)(rules.axes * entries * rules.tokens);
    test::Random random(r.number<uint16_t>());
    const int64_t most = r.rarely(2) ? rules.limit : std::min<int64_t>(rules.limit, 300);
    std::vector<double> values(count), clean(count);
    std::vector<bool> hidden(count);
    RandomPositions result{nullptr, test::Tensor(GYRE_I64, shape), {}, {}};
    const int64_t longest =
        rules.lengths.empty() ? rules.tokens : *std::max_element(rules.lengths.begin(), rules.lengths.end());
    for (size_t i = 0; i < count; i++) {
        const auto token = (int64_t)i % rules.tokens, entry = (int64_t)i / rules.tokens % entries;
        const int64_t length = rules.lengths.empty() || !by_batch ? longest : rules.lengths[(size_t)entry];
        hidden[i] = token >= length;
        values[i] = (double)random.integer(0, most - 1);
        clean[i] = hidden[i] ? 0 : values[i];
        if (!hidden[i]) result.used.push_back((int64_t)values[i]);
    }
    const bool any_hidden = std::find(hidden.begin(), hidden.end(), true) != hidden.end();
    PlacementRules placement;
    placement.last_contiguous = false;
    Input &given = store.read(r.rarely(2) ? GYRE_I64 : GYRE_I32, shape, random_placement(r, shape, placement), values);
    if (any_hidden) given.hide(hidden);
    result.given = &given.view();
    result.clean.set_values(clean);
    result.clean_view = result.clean.view();
    return result;
}

} // namespace gyre::fuzz
