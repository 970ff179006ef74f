/// gyre_linear_attention_backward() against the oracle, over extents, options, types and layouts; and the oracle against central
/// differences of the forward one.
#include "support/asked_workspace.h"
#include "support/central_differences.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/linear_backward_case.h"
#include "support/random_linear.h"

using namespace gyre::test;

namespace {

double weighted(const std::vector<double> &values, const std::vector<double> &weights) {
    double sum = 0;
    for (size_t n = 0; n < weights.size(); n++) sum += values[n] * weights[n];
    return sum;
}

} // namespace

TEST_CASE("linear backward: the oracle's gradients are the forward oracle's central differences") {
    gyre_rope rope = gyre_rope_defaults();
    rope.theta = 100;
    rope.rotary_dim = 4;
    rope.attention_factor = 1.25;
    for (int option = 0; option < 8; option++) {
        LinearBackwardCase c(
            AttentionShape().batches(2).lengths(5, option & 1 ? 5 : 7).head_counts(4, 2).dims(6, 3).of(GYRE_F64));
        LinearCase &f = c.forward;
        f.args.causal = option & 1;
        if (option & 2) f.args.rope = &rope;
        if (option & 4) c.give_states();
        f.want_states();
        if (option == 5) f.args.seqused_k = f.hold(GYRE_I32, {3, 5});
        CAPTURE(f.describe());
        const OracleLinearBackward expected = oracle_linear_backward(c.args);
        const std::vector<double> out_weights = Dense(c.args.out_grad, GYRE_BSHD).data;
        constexpr double step = 1e-5;
        const auto loss = [&] {
            const OracleLinear result = oracle_linear(f.args);
            double sum = weighted(result.out.exact, out_weights);
            if (!c.args.kv_state_out_grad) return sum;
            sum += weighted(result.kv_state.exact, c.kv_state_out_grad.values());
            return sum + weighted(result.k_state.exact, c.k_state_out_grad.values());
        };
        check_close("q", expected.q.exact, central_differences(f.q, step, loss), 1e-8);
        check_close("k", expected.k.exact, central_differences(f.k, step, loss), 1e-8);
        check_close("v", expected.v.exact, central_differences(f.v, step, loss), 1e-8);
        if (!(option & 4)) continue;
        check_close("kv_state", expected.kv_state.exact, central_differences(f.kv_state, step, loss), 1e-8);
        check_close("k_state", expected.k_state.exact, central_differences(f.k_state, step, loss), 1e-8);
    }
}

TEST_CASE("linear backward: every kind of head_dim, with causal and without") {
    const int64_t pairs[][2] = {{32, 32},   {64, 64}, {80, 80}, {96, 96}, {128, 128},
                                {256, 256}, {1, 1},   {7, 5},   {33, 64}, {72, 16}};
    for (const int causal : {0, 1})
        for (const auto &dims : pairs) {
            LinearBackwardCase c(AttentionShape().lengths(110, 110).dims(dims[0], dims[1]));
            c.forward.args.causal = causal;
            c.give_states();
            c.check();
        }
}

TEST_CASE("linear backward: every pair of lengths, around the ends of chunks") {
    for (const int64_t length : {0, 1, 2, 11, 12, 13, 31, 33, 63, 64, 65, 95, 96, 97, 128, 193})
        for (const int states : {0, 1}) {
            LinearBackwardCase causal(AttentionShape().lengths(length, length).dims(32));
            causal.forward.args.causal = 1;
            if (states) causal.give_states();
            causal.check();
            for (const int64_t queries : {0, 1, 97}) {
                LinearBackwardCase full(AttentionShape().lengths(queries, length).dims(32));
                if (states) full.give_states();
                full.check();
            }
        }
}

TEST_CASE("linear backward: grouped and multi-query heads, batches, layouts and strides") {
    const int64_t counts[][2] = {{1, 1}, {4, 2}, {6, 3}, {5, 1}};
    for (const auto &heads : counts)
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD})
            for (const int causal : {0, 1})
                for (const int64_t gap : {0, 5}) {
                    LinearBackwardCase c(AttentionShape()
                                             .batches(2)
                                             .lengths(110, 110)
                                             .head_counts(heads[0], heads[1])
                                             .dims(40, 24)
                                             .in(layout, Placement::with_gaps(gap)));
                    c.forward.args.causal = causal;
                    c.give_states();
                    c.check();
                }
}

TEST_CASE("linear backward: rotary, both pairings, parts of heads, positions, factors") {
    for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
        for (const int32_t rotary_dim : {0, 6, 32})
            for (const int causal : {0, 1})
                for (const int given : {0, 1}) {
                    LinearBackwardCase c(AttentionShape().batches(2).lengths(110, 110).head_counts(4, 2).dims(40));
                    gyre_rope rope = gyre_rope_defaults();
                    rope.pairing = pairing;
                    rope.rotary_dim = rotary_dim;
                    rope.attention_factor = 1.125;
                    c.forward.args.rope = c.forward.hold(rope);
                    c.forward.args.causal = causal;
                    if (given) {
                        Tensor q_positions(GYRE_I32, {2, 110}), k_positions(GYRE_I64, {110});
                        q_positions.fill_uniform_integers(3, 0, 100000);
                        k_positions.fill_uniform_integers(4, 0, 100000);
                        c.forward.args.q_positions = c.forward.hold(q_positions);
                        c.forward.args.k_positions = c.forward.hold(k_positions);
                    }
                    c.check();
                }
    LinearBackwardCase longer(AttentionShape().lengths(20, 130).dims(32)); // queries stand where the last keys do
    const gyre_rope rope = gyre_rope_defaults();
    longer.forward.args.rope = &rope;
    longer.check();
}

TEST_CASE("linear backward: key lengths and packed sequences") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const int causal : {0, 1})
        for (const int rotated : {0, 1}) {
            LinearBackwardCase used(AttentionShape().batches(4).lengths(130, 130).head_counts(2, 1).dims(32));
            used.forward.args.causal = causal;
            used.forward.args.rope = rotated ? &rope : nullptr;
            used.forward.args.seqused_k = used.forward.hold(GYRE_I32, {0, 97, 130, 1});
            used.check();
            used.give_states();
            used.check();
            LinearBackwardCase packed(AttentionShape().lengths(260, 260).head_counts(4, 2).dims(32).in(GYRE_THD), 1, 4);
            packed.forward.args.causal = causal;
            packed.forward.args.rope = rotated ? &rope : nullptr;
            packed.forward.args.cu_seqlens_q = packed.forward.hold(GYRE_I32, {0, 0, 20, 125, 260});
            packed.forward.args.cu_seqlens_k =
                causal ? packed.forward.args.cu_seqlens_q : packed.forward.hold(GYRE_I32, {0, 30, 90, 90, 260});
            packed.give_states();
            packed.check();
            packed.forward.args.seqused_k = packed.forward.hold(GYRE_I32, {0, 15, 0, 100});
            packed.check();
        }
}

TEST_CASE("linear backward: bf16 and f16") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const gyre_dtype dtype : {GYRE_BF16, GYRE_F16})
        for (const int64_t head_dim : {32, 72})
            for (const int causal : {0, 1}) {
                LinearBackwardCase c(AttentionShape().lengths(110, 110).head_counts(2, 1).dims(head_dim).of(dtype));
                c.forward.args.causal = causal;
                c.forward.args.rope = &rope;
                c.give_states();
                c.check();
            }
}

TEST_CASE("linear backward: random combinations of all options match the oracle") {
    for (uint64_t seed = 1; seed <= 30; seed++) {
        CAPTURE(seed);
        RandomLinear random(seed, 210);
        LinearBackwardCase c(random.shape, seed);
        if (random.set_options(c.forward)) c.give_states();
        c.check();
    }
}

TEST_CASE(
    "linear backward: the same bits every time, with any number of threads, and with the workspace that is asked for") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const int causal : {0, 1})
        for (const std::string &target : runnable_targets()) {
            LinearBackwardCase c(AttentionShape().batches(2).lengths(210, 210).head_counts(10, 5).dims(40));
            c.forward.args.causal = causal;
            c.forward.args.rope = &rope;
            c.give_states();
            std::vector<std::vector<uint64_t>> first;
            for (const int32_t threads : {1, 1, 2, 3, 7}) {
                const Context context(target.c_str(), threads);
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const auto bits = [&] {
                    return std::vector<std::vector<uint64_t>>{c.q_grad.bits(), c.k_grad.bits(), c.v_grad.bits(),
                                                              c.kv_state_grad.bits(), c.k_state_grad.bits()};
                };
                if (first.empty()) first = bits();
                CHECK(bits() == first);

                gyre_linear_attention_args no_data = c.forward.args;
                gyre_linear_attention_backward_args sizes = c.args;
                no_data.q.data = no_data.k.data = no_data.v.data = nullptr;
                sizes.forward = &no_data;
                sizes.out_grad.data = sizes.q_grad.data = sizes.k_grad.data = sizes.v_grad.data = nullptr;
                size_t bytes = 0;
                REQUIRE_MESSAGE(gyre_linear_attention_backward_workspace_size(context, &sizes, &bytes) == GYRE_OK,
                                text(gyre_last_error()));
                check_asked_workspace(c, context, bytes, bits);
            }
        }
}
