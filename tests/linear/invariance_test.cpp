/// gyre_linear_attention(): sequences in pieces, results in place, threads and workspaces: what must not matter does not.
#include "support/asked_workspace.h"
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
                const auto bits = [&] {
                    return std::vector<std::vector<uint64_t>>{c.out.bits(), c.kv_state_out.bits(),
                                                              c.k_state_out.bits()};
                };
                if (first.empty()) first = bits();
                CHECK(bits() == first);

                gyre_linear_attention_args sizes = c.args;
                sizes.q.data = sizes.k.data = sizes.v.data = sizes.out.data = nullptr;
                size_t bytes = 0;
                REQUIRE_MESSAGE(gyre_linear_attention_workspace_size(context, &sizes, &bytes) == GYRE_OK,
                                text(gyre_last_error()));
                check_asked_workspace(c, context, bytes, bits);
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
