#include "problem.h"
#include "support/element.h"
#include "support/random.h"

#include <numeric>

namespace gyre::fuzz {
namespace {

using test::Dense;

Dense random_dense(ByteReader &r, gyre_dtype dtype, int64_t batch, int64_t tokens, int64_t heads, int64_t dim) {
    Dense x(batch, tokens, heads, dim);
    const double scale = r.pick<double>({1, 1, 1, 0.01, 4});
    x.data = test::normal_numbers(r.number<uint16_t>(), (int64_t)x.data.size(), scale);
    for (double &number : x.data) number = test::rounded(dtype, number); // sums and halves of them are exact
    return x;
}

int64_t random_dim(ByteReader &r) {
    return r.rarely(4) ? r.between(1, 140) : r.pick<int64_t>({64, 64, 128, 32, 80, 256});
}

std::optional<gyre_rope> random_rope_of(ByteReader &r, int64_t dim) {
    if (dim < 2 || !r.rarely(2)) return {};
    gyre_rope rope = gyre_rope_defaults();
    rope.pairing = r.rarely(2) ? GYRE_INTERLEAVED : GYRE_HALF;
    rope.rotary_dim = (int32_t)(2 * (r.rarely(2) ? r.between(1, dim / 2) : dim / 2));
    return rope;
}

/// Multiples of 1/16 below 8, which all types hold, and so they do their sums with 1.
std::vector<double> random_bias(ByteReader &r, int64_t count) {
    test::Random random(r.number<uint16_t>());
    const double masked = r.pick<double>({0, 0.2, 0.9});
    std::vector<double> bias((size_t)count);
    for (double &number : bias) number = random.chance(masked) ? -INFINITY : (double)random.integer(-100, 100) / 16;
    return bias;
}

std::vector<double> random_mask(ByteReader &r, int64_t count) {
    test::Random random(r.number<uint16_t>());
    const double seen = r.pick<double>({0.9, 0.5, 0.02});
    std::vector<double> mask((size_t)count);
    for (double &flag : mask) flag = random.chance(seen);
    return mask;
}

/// A mask that shows each entry a range of keys, as padding does.
std::vector<double> random_ranges(ByteReader &r, int64_t batch, int64_t queries, int64_t keys) {
    std::vector<double> mask;
    for (int64_t b = 0; b < batch; b++) {
        const int64_t first = r.between(0, keys), end = r.between(first, keys);
        for (int64_t n = 0; n < queries * keys; n++) mask.push_back(n % keys >= first && n % keys < end);
    }
    return mask;
}

void draw_order_dependent(ByteReader &r, const ProblemRules &rules, Problem *p) {
    p->options.causal = r.rarely(2);
    if (r.rarely(4)) p->options.window_left = r.pick<int64_t>({0, 5, 33, 150});
    if (!rules.square && r.rarely(6)) p->options.window_right = r.pick<int64_t>({0, 5, 33});
    if (r.rarely(6)) p->alibi = test::normal_numbers(r.number<uint16_t>(), p->heads(), 0.1);
}

} // namespace

Problem random_problem(ByteReader &r, const ProblemRules &rules) {
    Problem p;
    p.dtype = r.pick<gyre_dtype>({GYRE_F32, GYRE_F32, GYRE_F16, GYRE_BF16});
    const int64_t kv_heads = r.between(1, 3), heads = kv_heads * r.pick<int64_t>({1, 1, 2, 4}), batch = r.between(1, 3);
    const int64_t dim = random_dim(r), v_dim = r.rarely(4) ? random_dim(r) : dim;
    const int64_t keys = r.rarely(3) ? r.between(1, rules.most_keys) : r.between(1, 90);
    const int64_t queries = rules.square ? keys : r.rarely(2) ? r.between(1, 6) : r.between(1, 120);
    p.q = random_dense(r, p.dtype, batch, queries, heads, dim);
    p.k = random_dense(r, p.dtype, batch, keys, kv_heads, dim);
    p.v = random_dense(r, p.dtype, batch, keys, kv_heads, v_dim);
    const bool all_exist = rules.square || r.rarely(2);
    for (int64_t b = 0; b < batch; b++) p.k_length.push_back(all_exist ? keys : r.between(0, keys));
    if (rules.may_depend_on_order) draw_order_dependent(r, rules, &p);
    if (!rules.has_gradients && r.rarely(4))
        p.mask = r.rarely(3) ? random_ranges(r, batch, queries, keys) : random_mask(r, batch * queries * keys);
    if (r.rarely(4)) p.bias = random_bias(r, batch * queries * keys);
    if (!rules.has_gradients && r.rarely(5)) p.sinks = test::normal_numbers(r.number<uint16_t>(), heads);
    if (r.rarely(6)) p.options.softcap = r.pick<float>({5, 50});
    if (r.rarely(3)) p.options.scale = r.pick<float>({0.125f, 0.03f, -0.25f});
    p.rope = random_rope_of(r, dim);
    p.value_rope = random_rope_of(r, v_dim);
    // Positions are at least 0: defaults are, where no entry has fewer keys than queries.
    bool defaults = r.rarely(2);
    for (const int64_t length : p.k_length) defaults = defaults && length >= queries;
    if ((!p.rope && !p.value_rope) || defaults) return p;
    for (int64_t n = 0; n < batch * queries; n++) p.q_positions.push_back((double)r.between(0, 4000));
    for (int64_t n = 0; n < batch * keys; n++) p.k_positions.push_back((double)((n * 7) % 3000));
    return p;
}

std::vector<std::vector<int64_t>> random_order(const Problem &p, uint16_t seed) {
    test::Random random(seed);
    std::vector<std::vector<int64_t>> order;
    for (int64_t b = 0; b < p.batch(); b++) {
        std::vector<int64_t> &of_entry = order.emplace_back((size_t)p.keys());
        std::iota(of_entry.begin(), of_entry.end(), 0);
        for (int64_t j = p.k_length[(size_t)b]; j > 1; j--)
            std::swap(of_entry[(size_t)j - 1], of_entry[(size_t)random.integer(0, j - 1)]);
    }
    return order;
}

} // namespace gyre::fuzz
