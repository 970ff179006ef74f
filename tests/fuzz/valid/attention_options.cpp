#include "attention_options.h"
#include "support/oracle_scores.h"
#include "support/random.h"

#include <cmath>

namespace gyre::fuzz {
namespace {

/// Calls visit(sequence, head, i, j) for the scores that these arguments do not mask.
template <typename Visit>
void each_visible(gyre_attention_args a, const Visit &visit) {
    a.rope = nullptr;
    a.value_rope = nullptr;
    const test::OracleScores scores(a);
    for (const test::OracleSequence &s : scores.sequences())
        for (int64_t h = 0; h < scores.q().heads; h++)
            for (int64_t i = 0; i < s.q_length; i++)
                for (int64_t j = 0; j < s.k_length; j++)
                    if (!scores.masks(s, h, i, j)) visit(s, h, i, j);
}

/// A tensor that broadcasts to all scores.
struct Broadcast {
    std::vector<int64_t> shape; // its last dimensions, of four

    Broadcast(ByteReader &r, const AttentionPlan &p) {
        const std::vector<int64_t> full{p.batch, p.heads, p.seqlen_q, p.seqlen_kv};
        const size_t left_out = r.rarely(3) ? r.below(4) : 0;
        for (size_t d = left_out; d < 4; d++) shape.push_back(r.rarely(3) ? 1 : full[d]);
    }
    int64_t count() const {
        int64_t all = 1;
        for (const int64_t extent : shape) all *= extent;
        return all;
    }
    size_t index(const int64_t (&at)[4]) const {
        int64_t flat = 0;
        for (size_t k = 0; k < shape.size(); k++)
            flat = flat * shape[k] + (shape[k] == 1 ? 0 : at[4 - shape.size() + k]);
        return (size_t)flat;
    }
    /// What no score reads that is visible but for this tensor.
    std::vector<bool> hidden(const gyre_attention_args &a) const {
        std::vector<bool> all((size_t)count(), true);
        each_visible(a, [&](const test::OracleSequence &s, int64_t h, int64_t i, int64_t j) {
            all[index({s.entry, h, i, j})] = false;
        });
        return all;
    }
};

const gyre_tensor *place(ByteReader &r, Store &store, gyre_dtype dtype, const Broadcast &b,
                         const std::vector<double> &values, const gyre_attention_args &a) {
    PlacementRules rules;
    rules.last_contiguous = false;
    Input &input = store.read(dtype, b.shape, random_placement(r, b.shape, rules), values);
    input.hide(b.hidden(a));
    return &input.view();
}

/// Padding on either side, perhaps causal, and perhaps other than that in one place.
std::vector<double> range_of_keys(ByteReader &r, const Broadcast &b) {
    const int64_t keys = b.shape.back(), rows = b.shape.size() > 1 ? b.shape[b.shape.size() - 2] : 1;
    const int64_t end = keys - r.pick<int64_t>({0, 0, 1, keys / 3}), first = r.pick<int64_t>({0, 0, 1, keys / 2, end});
    const int64_t beyond = r.pick<int64_t>({keys, keys - rows, 0});
    std::vector<double> values((size_t)b.count());
    for (size_t i = 0; i < values.size(); i++) {
        const auto key = (int64_t)i % keys, row = (int64_t)i / keys % rows;
        values[i] = key >= first && key < end && key <= row + beyond;
    }
    if (!values.empty() && r.rarely(4)) values[r.number<uint32_t>() % values.size()] = 1;
    return values;
}

void draw_mask(ByteReader &r, Store &store, const AttentionPlan &p, gyre_attention_args *a) {
    const Broadcast b(r, p);
    test::Random random(r.number<uint16_t>());
    const double chance = r.pick<double>({0.7, 0.7, 0.1, 1, 0});
    std::vector<double> values((size_t)b.count());
    for (double &value : values) value = random.chance(chance);
    if (r.rarely(2)) values = range_of_keys(r, b);
    a->mask = place(r, store, GYRE_BOOL, b, values, *a);
}

void draw_bias(ByteReader &r, Store &store, const AttentionPlan &p, gyre_attention_args *a) {
    const Broadcast b(r, p);
    test::Random random(r.number<uint16_t>());
    const double masked = r.pick<double>({0, 0, 0.3, 1}), scale = r.pick<double>({1, 1, 10});
    std::vector<double> values((size_t)b.count());
    for (double &value : values) value = random.chance(masked) ? -INFINITY : scale * random.normal();
    a->bias = place(r, store, random_dtype(r), b, values, *a);
}

const gyre_tensor *draw_per_head(ByteReader &r, Store &store, const AttentionPlan &p) {
    const std::vector<int64_t> shape{p.heads};
    return &store.read(GYRE_F32, shape, {}, test::normal_numbers(r.number<uint16_t>(), p.heads)).view();
}

} // namespace

void draw_options(ByteReader &r, Store &store, const AttentionPlan &p, const OptionRules &rules,
                  gyre_attention_args *a) {
    a->causal = r.rarely(2);
    a->alignment = r.rarely(4) ? GYRE_TOP_LEFT : GYRE_BOTTOM_RIGHT;
    if (r.rarely(4)) a->window_left = r.pick<int64_t>({0, 1, 7, 40, INT64_MAX});
    if (r.rarely(6)) a->window_right = r.pick<int64_t>({0, 1, 7, 40, INT64_MAX});
    if (r.rarely(4)) a->scale = (float)r.between(-10, 10) / 20;
    if (p.value_blocks) return;
    if (r.rarely(6)) a->softcap = r.pick<float>({0.5f, 5, 50});
    if (rules.may_have_sinks && r.rarely(6)) a->sinks = draw_per_head(r, store, p);
    if (r.rarely(6)) a->alibi = draw_per_head(r, store, p);
    if (!p.packed() && rules.may_have_mask && r.rarely(4)) draw_mask(r, store, p, a);
    if (!p.packed() && r.rarely(4)) draw_bias(r, store, p, a);
    if (!rules.may_have_dropout || !r.rarely(8)) return;
    a->dropout = r.pick<float>({0.1f, 0.5f, 0.9f});
    a->dropout_offset = r.number<uint32_t>();
    a->dropout_seed = r.number<uint64_t>();
}

std::vector<bool> hidden_elements(const gyre_attention_args &a, const Extents &of) {
    std::vector<bool> hidden((size_t)of.count(), true);
    const int64_t num_heads = a.layout == GYRE_BHSD ? a.q.shape[1] : a.q.shape[a.q.rank - 2];
    each_visible(a, [&](const test::OracleSequence &s, int64_t h, int64_t, int64_t j) {
        const int64_t kv_head = h / (num_heads / of.heads);
        for (int64_t d = 0; d < of.dim; d++) hidden[of.index(s.batch, s.k_begin + j, kv_head, d)] = false;
    });
    return hidden;
}

} // namespace gyre::fuzz
