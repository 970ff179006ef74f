/// gyre_linear_attention() against the oracle, over extents, options, types and layouts.
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/kernel_facts.h"
#include "support/linear_allowance.h"
#include "support/random_linear.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace gyre::test;

TEST_CASE("linear: every kind of head_dim, with causal and without") {
    const int64_t pairs[][2] = {{32, 32}, {64, 64}, {80, 80}, {96, 96}, {128, 128}, {256, 256},
                                {1, 1},   {7, 5},   {33, 64}, {72, 16}, {100, 40},  {512, 2}};
    for (const int causal : {0, 1})
        for (const auto &dims : pairs) {
            LinearCase c(AttentionShape().lengths(130, 130).dims(dims[0], dims[1]));
            c.args.causal = causal;
            c.give_states();
            c.want_states();
            c.check();
        }
}

TEST_CASE("linear: every pair of lengths, around the ends of chunks") {
    for (const int64_t length : {0, 1, 2, 11, 12, 13, 31, 33, 63, 64, 65, 95, 96, 97, 191, 192, 193, 300})
        for (const int states : {0, 1}) {
            LinearCase causal(AttentionShape().lengths(length, length).dims(32));
            causal.args.causal = 1;
            if (states) {
                causal.give_states();
                causal.want_states();
            }
            causal.check();
            for (const int64_t queries : {0, 1, 97}) {
                LinearCase full(AttentionShape().lengths(queries, length).dims(32));
                if (states) {
                    full.give_states();
                    full.want_states();
                }
                full.check();
            }
        }
}

TEST_CASE("linear: grouped and multi-query heads, batches, layouts and strides") {
    const int64_t counts[][2] = {{1, 1}, {4, 2}, {6, 3}, {5, 1}};
    for (const auto &heads : counts)
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD})
            for (const int causal : {0, 1})
                for (const int64_t gap : {0, 5}) {
                    LinearCase c(AttentionShape()
                                     .batches(2)
                                     .lengths(110, 110)
                                     .head_counts(heads[0], heads[1])
                                     .dims(40, 24)
                                     .in(layout, Placement::with_gaps(gap)));
                    c.args.causal = causal;
                    c.give_states();
                    c.want_states();
                    c.check();
                }
}

TEST_CASE("linear: rotary, both pairings, parts of heads, positions, factors") {
    for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
        for (const int32_t rotary_dim : {0, 6, 32})
            for (const int causal : {0, 1})
                for (const int given : {0, 1}) {
                    LinearCase c(AttentionShape().batches(2).lengths(110, 110).head_counts(4, 2).dims(40));
                    c.rotate(pairing, rotary_dim, given);
                    c.args.causal = causal;
                    c.check();
                }
    LinearCase longer(AttentionShape().lengths(20, 130).dims(32)); // queries stand where the last keys do
    const gyre_rope rope = gyre_rope_defaults();
    longer.args.rope = &rope;
    longer.check();
}

TEST_CASE("linear: key lengths and packed sequences") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const int causal : {0, 1})
        for (const int rotated : {0, 1}) {
            LinearCase used(AttentionShape().batches(4).lengths(130, 130).head_counts(2, 1).dims(32));
            used.args.causal = causal;
            used.args.rope = rotated ? &rope : nullptr;
            used.args.seqused_k = used.hold(GYRE_I32, {0, 97, 130, 1});
            used.check();
            used.give_states();
            used.want_states();
            used.check();
            LinearCase packed(AttentionShape().lengths(260, 260).head_counts(4, 2).dims(32).in(GYRE_THD), 1, 4);
            packed.args.causal = causal;
            packed.args.rope = rotated ? &rope : nullptr;
            packed.args.cu_seqlens_q = packed.hold(GYRE_I32, {0, 0, 20, 125, 260});
            packed.args.cu_seqlens_k = causal ? packed.args.cu_seqlens_q : packed.hold(GYRE_I32, {0, 30, 90, 90, 260});
            packed.give_states();
            packed.want_states();
            packed.check();
            packed.args.seqused_k = packed.hold(GYRE_I32, {0, 15, 0, 100});
            packed.check();
        }
}

TEST_CASE("linear: bf16 and f16") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const gyre_dtype dtype : {GYRE_BF16, GYRE_F16})
        for (const int64_t head_dim : {32, 72, 128})
            for (const int causal : {0, 1}) {
                LinearCase c(AttentionShape().batches(2).lengths(110, 110).head_counts(4, 2).dims(head_dim).of(dtype));
                c.args.causal = causal;
                c.args.rope = &rope;
                c.give_states();
                c.want_states();
                c.check();
            }
}

TEST_CASE("linear: causal queries and keys with positions in one array, read by strides and as numbers of their own") {
    gyre_rope rope = gyre_rope_defaults();
    LinearCase c(AttentionShape().batches(2).lengths(20, 20).head_counts(4, 2).dims(16));
    c.args.causal = 1;
    c.args.rope = &rope;
    Tensor all(GYRE_I64, {80});
    all.fill_uniform_integers(3, 0, 1000);
    const gyre_tensor numbers = *c.hold(std::move(all));
    const auto view = [&](gyre_dtype type, const std::vector<int64_t> &strides) {
        gyre_tensor t = numbers;
        t.dtype = type;
        t.rank = static_cast<int32_t>(strides.size());
        const int64_t shape[] = {2, 2, 20};
        std::copy(shape + 3 - t.rank, shape + 3, t.shape);
        std::copy(strides.begin(), strides.end(), t.strides);
        return t;
    };
    gyre_tensor of_queries = view(GYRE_I64, {20, 1}), of_keys;
    c.args.q_positions = &of_queries;
    c.args.k_positions = &of_keys;
    for (const gyre_dtype type : {GYRE_I64, GYRE_I32})
        for (const std::vector<int64_t> &strides : {std::vector<int64_t>{20, 1}, {0, 1}, {20, 2}}) {
            of_keys = view(type, strides);
            c.check();
        }
    rope.axes = 2;
    rope.sections[0] = rope.sections[1] = 4;
    of_queries = view(GYRE_I64, {40, 20, 1});
    for (const int64_t axis_stride : {40, 20}) {
        of_keys = view(GYRE_I64, {axis_stride, 20, 1});
        c.check();
    }
}

TEST_CASE("linear: states with gaps between their rows") {
    for (const int causal : {0, 1}) {
        LinearCase c(AttentionShape().batches(2).lengths(40, 40).head_counts(4, 2).dims(16, 24));
        c.args.causal = causal;
        c.give_states();
        for (auto [state, values] :
             {std::pair{&c.args.kv_state, c.kv_state.values()}, {&c.args.k_state, c.k_state.values()}}) {
            Tensor apart(GYRE_F32, state == &c.args.kv_state ? c.kv_state.shape() : c.k_state.shape(),
                         Placement::with_gaps(5));
            apart.set_values(values);
            *state = c.hold(std::move(apart));
        }
        c.check();
    }
}

TEST_CASE("linear: random combinations of all options match the oracle") {
    for (uint64_t seed = 1; seed <= 40; seed++) {
        CAPTURE(seed);
        RandomLinear random(seed, 260);
        LinearCase c(random.shape, seed);
        if (random.set_options(c)) {
            c.give_states();
            c.want_states();
        }
        c.check();
    }
}
