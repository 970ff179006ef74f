#include "linear_cuda.h"

#include "../passes/cuda/primitives.h"

namespace gyre::linear {
using namespace Halide;
namespace {

Expr within(const Expr &index, const Expr &extent) {
    return unsafe_promise_clamped(clamp(index, 0, extent - 1), 0, extent - 1);
}

constexpr int most_tokens = 1 << 28;
constexpr int at_once = 4; // terms of a sum, whose loads wait for nothing between them

/// Whole runs of terms, and those that are left.
Turns turns(const std::string &name, const Expr &extent) {
    RDom r(0, at_once, 0, extent / at_once, name);
    return {r.y, r.x, r.y * at_once + r.x};
}
Turns rest(const std::string &name, const Expr &extent) {
    RDom r(0, 1, 0, extent % at_once, name);
    return {r.y, r.x, extent / at_once * at_once + r.y};
}

} // namespace

Expr Sequences::begin(const Expr &s) const { return cuda::choose(packed, clamp(bounds(s), 0, tokens), 0); }

Expr Sequences::length(const Expr &s) const {
    return cuda::choose(packed, max(clamp(bounds(s + 1), 0, tokens) - begin(s), 0), tokens);
}

Expr Sequences::keys(const Expr &s) const {
    return cuda::choose(has_key_counts, clamp(key_counts(s), 0, length(s)), length(s));
}

Expr Sequences::first_slot(const Expr &s) const { return select(packed, begin(s) / chunk + 2 * s, 0); }

Slot slot_of(const Sequences &in, const std::string &name, const Var &t, const Var &z) {
    Slot slot;
    slot.t = t;
    slot.z = z;
    RDom before(1, select(in.packed, in.count, 1) - 1, name + "_before");
    slot.before = before;
    slot.sequence = Func(name + "_sequence");
    slot.sequence(t, z) = z;
    slot.sequence(t, z) += select(in.first_slot(before) <= t, 1, 0);
    const Expr s = within(slot.sequence(t, z), in.count);
    const Expr of_sequence = max(t - in.first_slot(s), 0), passed = of_sequence * chunk;
    slot.place = Func(name + "_place");
    slot.place(t, z) = Tuple(min(in.begin(s) + passed, in.tokens), clamp(in.length(s) - passed, 0, chunk),
                             clamp(in.keys(s) - passed, 0, chunk), of_sequence, s);
    return slot;
}

Expr Slot::first() const { return unsafe_promise_clamped(place(t, z)[0], 0, most_tokens); }
Expr Slot::tokens() const { return unsafe_promise_clamped(place(t, z)[1], 0, chunk); }
Expr Slot::keys() const { return unsafe_promise_clamped(place(t, z)[2], 0, chunk); }

ChunkStages chunk_algorithm(const ChunkInputs &in, const Func &kv, const Func &k_sum) {
    ChunkStages s;
    const Var &e = s.e, &d = s.d, &t = s.t, &h = s.h, &z = s.z;
    s.of_products = slot_of(in.sequences, "products", t, z);
    s.of_sums = slot_of(in.sequences, "totals", t, z);
    const Expr keys = s.of_products.keys();
    RDom r(0, chunk, "summed_token");
    r.where(r < s.of_sums.keys());
    s.token = turns("token", chunk);
    s.summed_token = r;
    s.product = Func("product");
    s.product(e, d, t, h, z) = 0.0f;
    // Keys that do not exist add 0, whatever they hold.
    const Expr token = s.of_products.first() + s.token.index;
    s.product(e, d, t, h, z) += select(s.token.index < keys, in.k_rotated(d, h, token, z) * in.v(e, h, token, z), 0.0f);
    s.total = Func("total");
    s.total(d, t, h, z) += in.k(d, h, s.of_sums.first() + r, z);
    s.kv = kv;
    s.k_sum = k_sum;
    s.kv(e, d, t, h, z) = s.product(e, d, t, h, z);
    s.k_sum(d, t, h, z) = s.total(d, t, h, z);
    return s;
}

SumStages sum_algorithm(const SumInputs &in, const Func &sums) {
    SumStages s;
    const Var &e = s.e, &d = s.d, &h = s.h;
    const Sequences &of = in.sequences;
    RDom r(0, in.slots, 0, select(of.packed, of.count, 1), 0, in.entries, "slots");
    const Expr sequence = select(of.packed, r.y, r.z);
    r.where(r.x <= of.chunks(sequence));
    s.slot = r.x;
    s.sequence = r.y;
    s.entry = r.z;
    const Expr first = of.first_slot(sequence);
    const Expr entry = select(in.last_only, sequence, r.z);
    const auto slot = [&](const Expr &n) { return select(in.last_only, 0, min(first + n, in.slots - 1)); };
    const Expr last = max(r.x - 1, 0);
    s.sums = sums;
    s.sums(e, d, s.x, h, s.z) = undef<float>();
    s.sums(e, d, slot(r.x), h, entry) =
        cuda::choose(r.x == 0, cuda::choose(in.has_before, in.before(e, d, h, sequence), 0.0f),
                     s.sums(e, d, slot(last), h, entry) + in.chunks(e, d, min(first + last, in.slots - 1), h, r.z));
    return s;
}

RowStages row_algorithm(const RowInputs &in, const Func &out) {
    RowStages s;
    const Var &e = s.e, &j = s.j, &i = s.i, &l = s.l, &t = s.t, &h = s.h, &z = s.z;
    s.slot = slot_of(in.queries, "rows", t, z);
    const Expr first = s.slot.first(), head = unsafe_promise_clamped(h / in.group, 0, in.key_heads - 1);
    const Expr sequence = s.slot.place(t, z)[4];
    const Expr keys = s.slot.keys();
    s.states = Func("states_slot");
    s.states(t, z) = min(cuda::choose(in.causal, t, in.keys.first_slot(sequence) + in.keys.chunks(sequence)),
                         in.slots - 1); // of all chunks before, or of all
    const Expr slot = unsafe_promise_clamped(s.states(t, z), 0, in.slots - 1);
    const auto sees = [&](const Expr &row, const Expr &key) { return key <= row && key < keys; };

    s.scores = Func("scores");
    s.unrotated = Func("unrotated");
    s.scores(j, i, t, h, z) = 0.0f;
    s.unrotated(j, i, t, h, z) = 0.0f;
    const Expr of_scores = select(in.causal, in.features, 0), of_others = select(in.rotated, of_scores, 0);
    for (const Turns &a : {turns("score_feature", of_scores), rest("score_rest", of_scores)}) {
        s.scores(j, i, t, h, z) += in.q_rotated(first + i, a.index, h, z) * in.k_rotated(first + j, a.index, head, z);
        s.score_features.push_back(a);
    }
    for (const Turns &a : {turns("share_feature", of_others), rest("share_rest", of_others)}) {
        s.unrotated(j, i, t, h, z) += in.q(first + i, a.index, h, z) * in.k(first + j, a.index, head, z);
        s.share_features.push_back(a);
    }
    s.weights = Func("weights");
    const Expr score = s.scores(j, i, t, h, z);
    s.weights(j, i, t, h, z) = Tuple(select(sees(i, j), score, 0.0f),
                                     select(sees(i, j), select(in.rotated, s.unrotated(j, i, t, h, z), score), 0.0f));

    // Each part has neighbouring keys, and every fourth feature.
    constexpr int count = parts_of_denominator;
    RDom own(0, chunk / count, "own_key"), share(0, (in.features + count - 1) / count, "share");
    share.where(share * count + l < in.features);
    s.own_key = own;
    s.share = share;
    s.parts = Func("parts");
    s.parts(l, i, t, h, z) += s.weights(l * (chunk / count) + own, i, t, h, z)[1];
    s.parts(l, i, t, h, z) += in.q(first + i, share * count + l, h, z) * in.k_before(share * count + l, slot, head, z);
    Expr denominator = 0.0f;
    for (int part = 0; part < count; part++) denominator += s.parts(part, i, t, h, z);

    s.sum = Func("sum");
    s.sum(e, i, t, h, z) = 0.0f;
    // A row takes no key that it does not see, since 0 times what the value holds need not be 0.
    const Turns key = turns("key", select(in.causal, chunk, 0));
    s.sum(e, i, t, h, z) +=
        select(sees(i, key.index), s.weights(key.index, i, t, h, z)[0] * in.v(e, head, first + key.index, z), 0.0f);
    s.summed.push_back(key);
    for (const Turns &a : {turns("depth", in.features), rest("depth_rest", in.features)}) {
        s.sum(e, i, t, h, z) += in.q_rotated(first + i, a.index, h, z) * in.kv_before(e, a.index, slot, head, z);
        s.summed.push_back(a);
    }
    const Expr bits = reinterpret<uint32_t>(denominator) & Expr(0x7fffffffu);
    const Expr inverse = select(bits == Expr(0u), 0.0f, 1.0f / denominator);
    s.out = out;
    s.out(e, h, i, t, z) =
        cuda::placed(s.sum(e, i, t, h, z) * inverse, (first - t * chunk) * in.out_stride, i < s.slot.tokens());
    return s;
}

} // namespace gyre::linear
