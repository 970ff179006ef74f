#include "../valid/trial.h"
#include "bounds.h"
#include "linear_call.h"
#include "relation.h"
#include "support/kernel_facts.h"
#include "support/random.h"

#include <algorithm>

namespace gyre::fuzz {
namespace {

LinearResult call(gyre_context *context, const Problem &p, bool causal, const LinearState *before = nullptr,
                  const Presentation &as = {}) {
    relation_tally().calls++;
    return run_linear(context, p, causal, before, as);
}

std::string expect_same(const LinearResult &base, const LinearResult &other) {
    if (!other.wrong.empty()) return other.wrong;
    if (!same_bits(base.out.data, other.out.data)) return "out has other bits";
    if (!same_bits(base.after.kv, other.after.kv)) return "kv_state_out has other bits";
    return same_bits(base.after.k, other.after.k) ? "" : "k_state_out has other bits";
}

std::string compare_states(const Problem &p, const LinearState &got, const LinearResult &base, bool causal) {
    const LinearState a = allowed_linear(p, causal, base).after;
    const std::string wrong = compare("kv_state_out", got.kv, base.after.kv, a.kv, a.kv, GYRE_F32);
    return wrong.empty() ? compare("k_state_out", got.k, base.after.k, a.k, a.k, GYRE_F32) : wrong;
}

std::string permute_keys(const TargetContexts &on, const Problem &p, bool, const LinearResult &base, uint16_t seed) {
    const LinearResult other = call(on.several, p.with_order(random_order(p, seed)), false);
    if (!other.wrong.empty()) return other.wrong;
    const std::vector<double> a = allowed_linear(p, false, base).out;
    const std::string wrong = compare("out", other.out.data, base.out.data, a, a, p.dtype);
    return wrong.empty() ? compare_states(p, other.after, base, false) : wrong;
}

/// The keys of a call, and after them others from its state: all queries of the second call see all.
std::string split_keys(const TargetContexts &on, const Problem &p, bool, const LinearResult &base, uint16_t seed) {
    const int64_t at = seed % (p.keys() + 1);
    if (at == 0 || at == p.keys()) return "";
    const LinearResult first = call(on.alone, p.with_keys(0, at), false);
    if (!first.wrong.empty()) return first.wrong;
    const LinearResult second = call(on.several, p.with_keys(at, p.keys()), false, &first.after);
    if (!second.wrong.empty()) return second.wrong;
    const std::vector<double> a = allowed_linear(p, false, base).out;
    const std::string wrong = compare("out", second.out.data, base.out.data, a, a, p.dtype);
    return wrong.empty() ? compare_states(p, second.after, base, false) : wrong;
}

/// A causal sequence in pieces, from state to state; whole chunks give the same bits.
std::string causal_in_pieces(const TargetContexts &on, const Problem &p, bool, const LinearResult &base,
                             uint16_t seed) {
    test::Random random(seed);
    const int64_t rows = std::stoll(test::fact_of(base.kernel, "rows"));
    const bool whole_chunks = random.chance(0.5);
    const std::vector<double> a = allowed_linear(p, true, base).out;
    LinearState state;
    test::Dense out(p.batch(), p.queries(), p.heads(), p.v.dim);
    for (int64_t from = 0, to = 0; from < p.queries(); from = to) {
        to = std::min(p.queries(), from + (whole_chunks ? rows * random.integer(1, 2) : random.integer(1, 100)));
        const Problem piece = p.with_keys(from, to).with_queries(from, to);
        const LinearResult r = call(on.several, piece, true, from ? &state : nullptr);
        if (!r.wrong.empty()) return r.wrong;
        state = r.after;
        for (int64_t b = 0; b < p.batch(); b++)
            std::copy_n(r.out.data.data() + b * (to - from) * p.heads() * p.v.dim, (to - from) * p.heads() * p.v.dim,
                        out.head(b, from, 0));
    }
    if (whole_chunks && !same_bits(out.data, base.out.data)) return "pieces of whole chunks: out has other bits";
    const std::string wrong = compare("out", out.data, base.out.data, a, a, p.dtype);
    return wrong.empty() ? compare_states(p, state, base, true) : wrong;
}

std::string entries_alone(const TargetContexts &on, const Problem &p, bool causal, const LinearResult &base, uint16_t) {
    const auto part = [&](const std::vector<double> &x, int64_t b) {
        const auto size = (int64_t)x.size() / p.batch();
        return std::vector<double>(x.begin() + b * size, x.begin() + (b + 1) * size);
    };
    for (int64_t b = 0; b < p.batch(); b++) {
        LinearResult expected;
        expected.out = entry_of(base.out, b);
        expected.after = {part(base.after.kv, b), part(base.after.k, b)};
        const std::string wrong = expect_same(expected, call(b % 2 ? on.alone : on.several, p.with_entry(b), causal));
        if (!wrong.empty()) return "entry " + std::to_string(b) + ": " + wrong;
    }
    return "";
}

std::string present_otherwise(const TargetContexts &on, const Problem &p, bool causal, const LinearResult &base,
                              uint16_t seed) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(&seed);
    ByteReader r(bytes, sizeof seed);
    const Presentation as = random_presentation(r, p);
    if (as.layout == GYRE_THD && causal && p.has_lengths()) return ""; // as many queries as keys
    const std::string wrong = expect_same(base, call(on.odd, p, causal, nullptr, as));
    return wrong.empty() ? "" : "layout " + std::to_string(as.layout) + ": " + wrong;
}

/// Twice the values: twice the result, the same bits but for numbers near the type's smallest.
std::string twice_values(const TargetContexts &on, const Problem &p, bool causal, const LinearResult &base, uint16_t) {
    Problem other = p;
    other.v = scaled(p.v, 2);
    const LinearResult r = call(on.several, other, causal);
    if (!r.wrong.empty()) return r.wrong;
    const std::vector<double> tolerance(r.out.data.size(), smallest_of(p.dtype));
    const std::string wrong =
        find_difference("half of out", scaled(r.out, 0.5).data, base.out.data, tolerance, p.dtype);
    if (!wrong.empty()) return wrong;
    return same_bits(base.after.k, r.after.k) ? "" : "k_state_out has other bits";
}

struct Relation {
    const char *name;
    std::string (*holds)(const TargetContexts &, const Problem &, bool causal, const LinearResult &, uint16_t seed);
    enum { any, full, causal } kind = any;
};

constexpr Relation relations[] = {
    {"linear attention, keys in another order", permute_keys, Relation::full},
    {"linear attention, keys in two parts", split_keys, Relation::full},
    {"linear attention, causal in pieces", causal_in_pieces, Relation::causal},
    {"linear attention, entries alone", entries_alone},
    {"linear attention, other layouts", present_otherwise},
    {"linear attention, twice the values", twice_values},
};

} // namespace

std::string try_linear(ByteReader &r) {
    const Relation &relation = relations[r.below(std::size(relations))];
    const bool causal = relation.kind == Relation::causal || (relation.kind == Relation::any && r.rarely(2));
    ProblemRules rules;
    rules.may_depend_on_order = false;
    rules.square = causal;
    Problem p = random_problem(r, rules).with_positions();
    p.mask.clear();
    p.bias.clear();
    p.value_rope.reset();
    for (std::vector<double> *positions : {&p.q_positions, &p.k_positions})
        for (double &position : *positions) position = std::max(position, 0.0);
    const auto seed = r.number<uint16_t>();
    const std::string wrong = on_each_target([&](const TargetContexts &on) {
        const LinearResult base = call(on.alone, p, causal);
        if (!base.wrong.empty()) return base.wrong;
        return relation.holds(on, p, causal, base, seed);
    });
    return wrong.empty() ? "" : std::string(relation.name) + ": " + wrong + "\n" + p.text();
}

} // namespace gyre::fuzz
