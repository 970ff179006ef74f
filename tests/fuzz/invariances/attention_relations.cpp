#include "../valid/trial.h"
#include "attention_calls.h"
#include "relation.h"
#include "support/element.h"
#include "support/random.h"
#include "support/tensor.h"

#include <algorithm>
#include <cmath>

namespace gyre::fuzz {
namespace {

using test::Dense;

std::string expect_same(const AttentionResult &base, const AttentionResult &other) {
    if (!other.wrong.empty()) return other.wrong;
    if (!same_bits(base.out.data, other.out.data)) return "out has other bits";
    return same_bits(base.lse, other.lse) ? "" : "lse has other bits";
}

/// Keys in another order, each with its position, bias and mask.
std::string permute_keys(const TargetContexts &on, const Problem &p, const AttentionResult &base, uint16_t seed) {
    const Problem permuted = p.with_positions().with_order(random_order(p, seed));
    return compare_results(p, base, permuted, call(on.several, permuted));
}

/// Each entry of the batch in a call of its own.
std::string entries_alone(const TargetContexts &on, const Problem &p, const AttentionResult &base, uint16_t) {
    const auto out_size = (int64_t)base.out.data.size() / p.batch(), lse_size = (int64_t)base.lse.size() / p.batch();
    for (int64_t b = 0; b < p.batch(); b++) {
        AttentionResult expected;
        expected.out.data.assign(base.out.data.begin() + b * out_size, base.out.data.begin() + (b + 1) * out_size);
        expected.lse.assign(base.lse.begin() + b * lse_size, base.lse.begin() + (b + 1) * lse_size);
        const std::string wrong = expect_same(expected, call(b % 2 ? on.alone : on.several, p.with_entry(b)));
        if (!wrong.empty()) return "entry " + std::to_string(b) + ": " + wrong;
    }
    return "";
}

/// Other layouts and strides, room for more keys, and pages.
std::string present_otherwise(const TargetContexts &on, const Problem &p, const AttentionResult &base, uint16_t seed) {
    test::Random random(seed);
    std::vector<uint8_t> bytes(16);
    for (uint8_t &byte : bytes) byte = (uint8_t)random.integer(0, 255);
    ByteReader r(bytes.data(), bytes.size());
    Presentation as = random_presentation(r, p);
    std::string wrong = expect_same(base, call(on.several, p, as));
    if (!wrong.empty()) return "layout " + std::to_string(as.layout) + ": " + wrong;
    const int64_t size = INT64_C(1) << random.integer(0, 6), room = (p.keys() + size - 1) / size * size;
    const Problem roomy = p.with_room(room + size * random.integer(0, 1), p.dtype == GYRE_F16 ? INFINITY : 3e38);
    if (as.layout != GYRE_THD) wrong = expect_same(base, call(on.odd, roomy, as));
    if (!wrong.empty()) return "with room for " + std::to_string(roomy.keys()) + " keys: " + wrong;
    as.page_size = size;
    wrong = expect_same(base, call(on.several, roomy, as));
    return wrong.empty() ? "" : "in pages of " + std::to_string(size) + ": " + wrong;
}

/// Causal prefill in pieces, each of which sees the keys so far.
std::string prefill_in_pieces(const TargetContexts &on, const Problem &p, const AttentionResult &base, uint16_t seed) {
    test::Random random(seed);
    const Problem whole = p.with_positions();
    for (int64_t from = 0, to = 0; from < p.queries(); from = to) {
        to = std::min(p.queries(), from + (random.chance(0.3) ? 1 : random.integer(1, 200)));
        Problem piece = whole.with_keys(0, to).with_queries(from, to);
        AttentionResult expected;
        expected.kernel = base.kernel;
        expected.rounding = base.rounding;
        expected.out = tokens_of(base.out, from, to);
        for (int64_t row = 0; row < p.batch() * p.heads(); row++)
            expected.lse.insert(expected.lse.end(), base.lse.begin() + row * p.queries() + from,
                                base.lse.begin() + row * p.queries() + to);
        const std::string wrong = compare_results(piece, expected, piece, call(on.several, piece));
        if (!wrong.empty()) return "queries " + std::to_string(from) + " to " + std::to_string(to) + ": " + wrong;
    }
    return "";
}

/// Twice the queries at half the scale, and twice the values: the same bits, but for numbers near the type's smallest.
std::string scale_by_two(const TargetContexts &on, const Problem &p, const AttentionResult &base, uint16_t) {
    Problem other = p;
    other.q = scaled(p.q, 2);
    other.v = scaled(p.v, 2);
    other.options.scale = (float)p.scale() / 2;
    AttentionResult r = call(on.several, other);
    if (!r.wrong.empty()) return r.wrong;
    const std::vector<double> allowed(base.out.data.size(), smallest_of(p.dtype));
    const std::string wrong = find_difference("half of out", scaled(r.out, 0.5).data, base.out.data, allowed, p.dtype);
    if (!wrong.empty()) return wrong;
    return same_bits(base.lse, r.lse) ? "" : "lse has other bits";
}

/// Grouped heads with keys and values of their own.
std::string own_heads(const TargetContexts &on, const Problem &p, const AttentionResult &base, uint16_t) {
    const Problem other = p.with_own_heads();
    return compare_results(p, base, other, call(on.several, other));
}

/// A number that is added to all scores moves lse alone.
std::string shift_scores(const TargetContexts &on, const Problem &p, const AttentionResult &base, uint16_t) {
    Problem other = p;
    if (p.bias.empty()) other.bias.assign((size_t)(p.batch() * p.queries() * p.keys()), 0);
    for (double &number : other.bias) number += 1;
    for (double &sink : other.sinks) sink += 1;
    AttentionResult r = call(on.several, other);
    for (double &number : r.lse) number -= 1;
    return compare_results(p, base, other, r);
}

/// Positions that are further on by the same number. Angles are exact to 2e-6, twice of each pair in a score.
std::string shift_positions(const TargetContexts &on, const Problem &p, const AttentionResult &base, uint16_t seed) {
    if (p.value_rope) return ""; // whose values have angles in them, too: tests of RoPER do this
    Problem other = p.with_positions();
    for (std::vector<double> *positions : {&other.q_positions, &other.k_positions})
        for (double &position : *positions) position += 1 + seed % 5000;
    constexpr double of_angles = 4 * 1.42 * 2e-6 / 0x1p-24;
    return compare_results(p, base, other, call(on.several, other), 8 + of_angles);
}

/// causal, and the mask that says the same.
std::string spell_as_mask(const TargetContexts &on, const Problem &p, const AttentionResult &base, uint16_t) {
    Problem other = p;
    if (p.mask.empty()) other.mask.assign((size_t)(p.batch() * p.queries() * p.keys()), 1);
    for (int64_t b = 0; b < p.batch(); b++)
        for (int64_t i = 0; i < p.queries(); i++)
            for (int64_t j = 0; j < p.keys(); j++)
                if (j > i + p.k_length[(size_t)b] - p.queries())
                    other.mask[(size_t)((b * p.queries() + i) * p.keys() + j)] = 0;
    other.options.causal = 0;
    return compare_results(p, base, other, call(on.several, other));
}

/// Documents one behind the other, causal or not, in some of which a key is hidden from one row.
std::vector<double> mask_of_documents(const Problem &p, uint16_t seed) {
    test::Random random(seed);
    const bool causal = random.chance(0.5);
    std::vector<double> mask;
    for (int64_t b = 0; b < p.batch(); b++) {
        int64_t first = 0, length = 1;
        for (int64_t i = 0; i < p.queries(); i++) {
            if (i == 0 || random.chance(0.03)) {
                first = random.integer(0, p.keys() - 1);
                length = random.integer(1, p.keys());
            }
            const int64_t hidden = random.chance(0.02) ? random.integer(0, p.keys() - 1) : -1;
            for (int64_t j = 0; j < p.keys(); j++)
                mask.push_back(j >= first && j < first + length && j != hidden && (!causal || j - i <= first));
        }
    }
    return mask;
}

/// The mask looked at before the call.
std::string prepare_mask(const TargetContexts &on, const Problem &p, const AttentionResult &base, uint16_t seed) {
    Presentation as;
    as.layout = seed % 2 ? GYRE_BHSD : GYRE_BSHD;
    as.seed = seed;
    as.prepares_mask = true;
    const std::string wrong = expect_same(base, call(on.several, p, as));
    return wrong.empty() ? expect_same(base, call(on.alone, p, as)) : wrong;
}

struct Relation {
    const char *name;
    std::string (*holds)(const TargetContexts &, const Problem &, const AttentionResult &, uint16_t seed);
    bool independent_of_order = false, square = false, causal = false, masked = false;
};

constexpr Relation relations[] = {
    {"keys in another order", permute_keys, true},
    {"keys in parts, merged", split_keys, true},
    {"entries alone", entries_alone},
    {"other layouts, room and pages", present_otherwise},
    {"causal prefill in pieces", prefill_in_pieces, false, true, true},
    {"twice the queries and values", scale_by_two},
    {"heads of their own", own_heads},
    {"scores shifted", shift_scores},
    {"positions shifted", shift_positions},
    {"causal as a mask", spell_as_mask, false, false, true},
    {"a prepared mask", prepare_mask, false, false, false, true},
};

} // namespace

std::string try_attention(ByteReader &r) {
    const Relation &relation = relations[r.below(std::size(relations))];
    ProblemRules rules;
    rules.may_depend_on_order = !relation.independent_of_order;
    rules.square = relation.square;
    Problem p = random_problem(r, rules);
    if (relation.causal) p.options.causal = 1;
    const auto seed = r.number<uint16_t>();
    if (relation.masked) p.mask = mask_of_documents(p, seed);
    const std::string wrong = on_each_target([&](const TargetContexts &on) {
        const AttentionResult base = call(on.alone, p);
        if (!base.wrong.empty()) return base.wrong;
        return relation.holds(on, p, base, seed);
    });
    return wrong.empty() ? "" : std::string(relation.name) + ": " + wrong + "\n" + p.text();
}

} // namespace gyre::fuzz
