/// gyre_linear_attention() against the oracle, over extents, options, types and layouts; and sequences in pieces.
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/kernel_facts.h"
#include "support/linear_allowance.h"
#include "support/linear_case.h"
#include "support/random.h"

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
    for (const int64_t length : {0, 1, 2, 11, 12, 13, 31, 33, 95, 96, 97, 191, 192, 193, 300})
        for (const int states : {0, 1}) {
            LinearCase causal(AttentionShape().lengths(length, length).dims(32));
            causal.args.causal = 1;
            if (states) causal.give_states(), causal.want_states();
            causal.check();
            for (const int64_t queries : {0, 1, 97}) {
                LinearCase full(AttentionShape().lengths(queries, length).dims(32));
                if (states) full.give_states(), full.want_states();
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
                    gyre_rope rope = gyre_rope_defaults();
                    rope.pairing = pairing;
                    rope.rotary_dim = rotary_dim;
                    rope.attention_factor = 1.125;
                    c.args.rope = c.hold(rope);
                    c.args.causal = causal;
                    if (given) {
                        Tensor q_positions(GYRE_I32, {2, 110}), k_positions(GYRE_I64, {110});
                        q_positions.fill_uniform_integers(3, 0, 100000);
                        k_positions.fill_uniform_integers(4, 0, 100000);
                        c.args.q_positions = c.hold(q_positions);
                        c.args.k_positions = c.hold(k_positions);
                    }
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

TEST_CASE("linear: random combinations of all options match the oracle") {
    for (uint64_t seed = 1; seed <= 40; seed++) {
        CAPTURE(seed);
        Random random(seed);
        const int causal = random.chance(0.6);
        const int64_t kv_heads = random.integer(1, 3), keys = random.integer(1, 260);
        const int64_t queries = causal ? keys : random.integer(1, 260),
                      head_dim = random.pick<int64_t>({4, 16, 32, 33, 64, 80});
        LinearCase c(
            AttentionShape()
                .batches(random.integer(1, 3))
                .lengths(queries, keys)
                .head_counts(kv_heads * random.integer(1, 3), kv_heads)
                .dims(head_dim, random.chance(0.6) ? head_dim : random.integer(1, 100))
                .of(random.chance(0.7) ? GYRE_F32 : GYRE_BF16)
                .in(random.pick<gyre_layout>({GYRE_BSHD, GYRE_BHSD}), Placement::with_gaps(random.integer(0, 4))),
            seed);
        c.args.causal = causal;
        if (random.chance(0.4)) {
            std::vector<double> used;
            for (int64_t b = 0; b < c.shape.batch; b++) used.push_back((double)random.integer(0, keys));
            c.args.seqused_k = c.hold(GYRE_I32, used);
        }
        if (random.chance(0.5)) {
            gyre_rope rope = gyre_rope_defaults();
            rope.pairing = random.pick<gyre_pairing>({GYRE_HALF, GYRE_INTERLEAVED});
            rope.rotary_dim = (int32_t)(2 * random.integer(1, head_dim / 2));
            c.args.rope = c.hold(rope);
            Tensor positions(GYRE_I32, {queries}), of_keys(GYRE_I32, {keys});
            positions.fill_uniform_integers(seed, 0, 5000);
            of_keys.fill_uniform_integers(seed + 1, 0, 5000);
            c.args.q_positions = c.hold(positions);
            c.args.k_positions = c.hold(of_keys);
        }
        if (random.chance(0.5)) {
            c.give_states();
            c.want_states();
        }
        c.check();
    }
}

TEST_CASE("linear: a sequence in pieces, down to single tokens, is the sequence") {
    const gyre_rope rope = gyre_rope_defaults();
    const int64_t length = 230, batch = 2, dim = 40;
    each_target([&](gyre_context *context) {
        LinearCase whole(AttentionShape().batches(batch).lengths(length, length).head_counts(4, 2).dims(dim));
        whole.args.causal = 1;
        whole.args.rope = &rope;
        whole.want_states();
        const OracleLinear expected = oracle_linear(whole.args);
        REQUIRE(whole.run(context) == GYRE_OK);
        const std::vector<uint64_t> bits = whole.out.bits(), state_bits = whole.kv_state_out.bits();
        const int64_t chunk = std::stoll(fact_of(gyre_selected_kernel(context), "rows"));
        for (const std::vector<int64_t> &pieces : std::vector<std::vector<int64_t>>{
                 {chunk, length}, {chunk, 2 * chunk, length}, {1, 2, 3, 50, 51, 150, length}}) {
            whole.out.poison();
            whole.kv_state_out.fill(0);
            whole.k_state_out.fill(0);
            int64_t first = 0;
            for (int64_t end : pieces) {
                end = std::min(end, length);
                if (end == first) continue;
                std::vector<double> places;
                for (int64_t i = first; i < end; i++) places.push_back((double)i);
                Tensor positions(GYRE_I32, {end - first});
                positions.set_values(places);
                const gyre_tensor view = positions.view(), kv = whole.kv_state_out.view(), k = whole.k_state_out.view();
                gyre_linear_attention_args piece = whole.args;
                for (gyre_tensor *t : {&piece.q, &piece.k, &piece.v, &piece.out}) {
                    t->shape[1] = end - first;
                    t->data = (float *)t->data + first * t->strides[1];
                }
                piece.q_positions = piece.k_positions = &view;
                piece.kv_state = piece.kv_state_out = &kv;
                piece.k_state = piece.k_state_out = &k; // in place
                REQUIRE_MESSAGE(gyre_linear_attention(context, &piece) == GYRE_OK, text(gyre_last_error()));
                first = end;
            }
            check_numbers("out", whole.out.values(), expected.out, GYRE_F32, linear_error(whole.args));
            check_numbers("kv_state", whole.kv_state_out.values(), expected.kv_state, GYRE_F32,
                          linear_error(whole.args));
            check_numbers("k_state", whole.k_state_out.values(), expected.k_state, GYRE_F32, linear_error(whole.args));
            if (pieces.front() != chunk) continue;
            CHECK(whole.out.bits() == bits);
            CHECK(whole.kv_state_out.bits() == state_bits);
        }
    });
}

TEST_CASE("linear: keys that only a state knows, and results in place of the queries") {
    each_target([&](gyre_context *context) {
        LinearCase full(AttentionShape().lengths(70, 150).head_counts(2, 2).dims(32)),
            none(AttentionShape().lengths(70, 0).head_counts(2, 2).dims(32));
        full.want_states();
        REQUIRE(full.run(context) == GYRE_OK);
        none.give_states();
        none.kv_state.set_values(full.kv_state_out.values());
        none.k_state.set_values(full.k_state_out.values());
        REQUIRE(none.run(context) == GYRE_OK);
        CHECK(none.out.bits() == full.out.bits());
        for (const int causal : {0, 1}) {
            LinearCase c(AttentionShape().lengths(150, 150).head_counts(4, 2).dims(32));
            c.args.causal = causal;
            REQUIRE(c.run(context) == GYRE_OK);
            const std::vector<uint64_t> bits = c.out.bits();
            c.args.out = c.args.q;
            REQUIRE_MESSAGE(gyre_linear_attention(context, &c.args) == GYRE_OK, text(gyre_last_error()));
            CHECK(c.q.bits() == bits);
        }
    });
}

TEST_CASE("linear: features of large and small arguments, and a NaN stays where it is seen") {
    each_target([&](gyre_context *context) {
        for (const double scale : {0.01, 8.0, 1000.0}) {
            LinearCase c(AttentionShape().lengths(100, 100).dims(32));
            c.args.causal = 1;
            c.q.fill_normal(1, scale);
            c.k.fill_normal(2, scale);
            for (Tensor *t : {&c.q, &c.k}) {
                std::vector<double> values = t->values();
                for (double &x : values) x = std::max(x, -40.0);
                t->set_values(values);
            }
            REQUIRE(c.run(context) == GYRE_OK);
            check_numbers("out", c.out.values(), oracle_linear(c.args).out, GYRE_F32, 8e-6); // e^x at -40
        }
        LinearCase tiny(AttentionShape().lengths(9, 9).dims(32));
        tiny.q.fill(-60);
        tiny.k.fill(-60); // all features alike: the mean of the values
        REQUIRE(tiny.run(context) == GYRE_OK);
        tiny.q.fill(1);
        tiny.k.fill(1);
        check_numbers("out", tiny.out.values(), oracle_linear(tiny.args).out, GYRE_F32, 1e-5);

        for (const int which : {0, 1, 2}) { // of token 70
            LinearCase c(AttentionShape().lengths(130, 130).dims(32));
            c.args.causal = 1;
            Tensor &poisoned = which == 0 ? c.q : which == 1 ? c.k : c.v;
            poisoned.set({0, 70, 0, 3}, std::numeric_limits<double>::quiet_NaN());
            REQUIRE(c.run(context) == GYRE_OK);
            for (int64_t i = 0; i < 130; i++)
                for (int64_t e = 0; e < 32; e++) {
                    const bool seen = which == 0 ? i == 70 : which == 1 ? i >= 70 : i >= 70 && e == 3;
                    // A weight of 0 times a NaN is one: values show in queries shortly before them, too.
                    const bool before = which == 2 && e == 3 && i < 70 && i > 70 - 32;
                    if (!before) CHECK(std::isnan(c.out.get({0, i, 0, e})) == seen);
                }
        }
    });
}

TEST_CASE("linear: features fall to the least one that the header names, and no further") {
    each_target([&](gyre_context *context) {
        const bool without_subnormals = text(gyre_context_target(context)) == "arm_32_neon";
        const double least = without_subnormals ? 0x1p-52 : 0x1p-64;
        for (const double x : {-30.0, -44.0, -45.0, -60.0, -1e4, -1e30}) {
            LinearCase c(AttentionShape().lengths(1, 1).dims(32));
            c.want_states();
            c.k.fill(x);
            REQUIRE(c.run(context) == GYRE_OK);
            const std::vector<double> got = c.k_state_out.values();
            const double expected = std::max(std::exp(x), least);
            // A power is off by 1e-6 and by what rounding its exponent, up to 64, leaves: 64 ln 2 times 2^-24.
            check_close("k_state_out", got, std::vector<double>(got.size(), expected), expected * 4e-6);
        }
    });
}

TEST_CASE("linear: 2048 tokens lose no more than short sequences") {
    for (const int causal : {0, 1}) {
        LinearCase c(AttentionShape().lengths(2048, 2048).dims(32));
        const gyre_rope rope = gyre_rope_defaults();
        c.args.causal = causal;
        c.args.rope = &rope;
        c.check();
    }
}

TEST_CASE("linear: the same bits every time, with any number of threads, and with the workspace that is asked for") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const int causal : {0, 1})
        for (const std::string &target : runnable_targets()) {
            LinearCase c(AttentionShape().batches(2).lengths(210, 210).head_counts(10, 5).dims(40));
            c.args.causal = causal;
            c.args.rope = &rope;
            c.give_states();
            c.want_states();
            std::vector<std::vector<uint64_t>> first;
            for (const int32_t threads : {1, 1, 2, 3, 7}) {
                const Context context(target.c_str(), threads);
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<std::vector<uint64_t>> bits = {c.out.bits(), c.kv_state_out.bits(),
                                                                 c.k_state_out.bits()};
                if (first.empty()) first = bits;
                CHECK(bits == first);

                gyre_linear_attention_args sizes = c.args;
                sizes.q.data = sizes.k.data = sizes.v.data = sizes.out.data = nullptr;
                size_t bytes = 0;
                REQUIRE_MESSAGE(gyre_linear_attention_workspace_size(context, &sizes, &bytes) == GYRE_OK,
                                text(gyre_last_error()));
                Tensor workspace(GYRE_F64, {(int64_t)(bytes / 8 + 1)});
                c.args.workspace = workspace.view().data;
                c.args.workspace_size = bytes;
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CHECK(std::vector<std::vector<uint64_t>>{c.out.bits(), c.kv_state_out.bits(), c.k_state_out.bits()} ==
                      first);
                CHECK(workspace.surroundings_intact());
                c.args.workspace_size = bytes - 1;
                CHECK(c.run(context) == GYRE_WORKSPACE_TOO_SMALL);
                c.args.workspace = nullptr;
                c.args.workspace_size = 0;
            }
        }
}

TEST_CASE("linear: positions of keys that do not exist may be anything, with tables and without") {
    Tensor table(GYRE_F32, {90, 32});
    table.fill_normal(3);
    const gyre_tensor view = table.view();
    gyre_rope plain = gyre_rope_defaults(), with_tables = gyre_rope_defaults();
    with_tables.cos = with_tables.sin = &view;
    for (const gyre_rope *rope : {&plain, &with_tables})
        for (const bool causal : {false, true}) {
            LinearCase c(AttentionShape().batches(2).lengths(70, 70).dims(64));
            c.args.causal = causal;
            c.args.rope = rope;
            c.args.seqused_k = c.hold(GYRE_I32, {31, 40});
            Tensor clean(GYRE_I64, {2, 70});
            clean.fill_uniform_integers(5, 0, 89);
            c.args.q_positions = c.hold(Tensor(clean));
            Tensor given = clean;
            for (int64_t j = 40; j < 70; j++) given.set({j % 2, j}, j % 2 ? -1 : 1e15);
            c.args.k_positions = c.hold(std::move(clean));
            const OracleLinear expected = oracle_linear(c.args);
            c.args.k_positions = c.hold(std::move(given));
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                check_numbers("out", Dense(c.args.out, GYRE_BSHD).data, expected.out, GYRE_F32, linear_error(c.args));
            });
        }
}
