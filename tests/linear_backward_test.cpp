/// gyre_linear_attention_backward() against the oracle, over extents, options, types and layouts; and the oracle against central
/// differences of the forward one.
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/linear_backward_case.h"
#include "support/random.h"

using namespace gyre::test;

namespace {

double weighted(const std::vector<double> &values, const std::vector<double> &weights) {
    double sum = 0;
    for (size_t n = 0; n < weights.size(); n++) sum += values[n] * weights[n];
    return sum;
}

/// The gradient with respect to a tensor in double, by central differences of what the forward oracle gives.
template <typename Loss>
std::vector<double> by_differences(Tensor &of, const Loss &loss) {
    constexpr double step = 1e-5;
    const std::vector<double> values = of.values();
    std::vector<double> gradient;
    for (size_t n = 0; n < values.size(); n++) {
        double side[2];
        for (const int sign : {0, 1}) {
            std::vector<double> moved = values;
            moved[n] += sign ? step : -step;
            of.set_values(moved);
            side[sign] = loss();
        }
        gradient.push_back((side[1] - side[0]) / (2 * step));
    }
    of.set_values(values);
    return gradient;
}

} // namespace

TEST_CASE("linear backward: the oracle's gradients are the forward oracle's central differences") {
    gyre_rope rope = gyre_rope_defaults();
    rope.theta = 100;
    rope.rotary_dim = 4;
    rope.attention_factor = 1.25;
    for (int option = 0; option < 8; option++) {
        LinearBackwardCase c(AttentionShape().batches(2).lengths(5, option & 1 ? 5 : 7).head_counts(4, 2).dims(6, 3).of(GYRE_F64));
        LinearCase &f = c.forward;
        f.args.causal = option & 1;
        if (option & 2) f.args.rope = &rope;
        if (option & 4) c.give_states();
        f.want_states();
        if (option == 5) f.args.seqused_k = f.hold(GYRE_I32, {3, 5});
        CAPTURE(f.describe());
        const OracleLinearBackward expected = oracle_linear_backward(c.args);
        const std::vector<double> out_weights = Dense(c.args.out_grad, GYRE_BSHD).data;
        const auto loss = [&] {
            const OracleLinear result = oracle_linear(f.args);
            double sum = weighted(result.out.exact, out_weights);
            if (!c.args.kv_state_out_grad) return sum;
            sum += weighted(result.kv_state.exact, c.kv_state_out_grad.values());
            return sum + weighted(result.k_state.exact, c.k_state_out_grad.values());
        };
        check_close("q", expected.q.exact, by_differences(f.q, loss), 1e-8);
        check_close("k", expected.k.exact, by_differences(f.k, loss), 1e-8);
        check_close("v", expected.v.exact, by_differences(f.v, loss), 1e-8);
        if (!(option & 4)) continue;
        check_close("kv_state", expected.kv_state.exact, by_differences(f.kv_state, loss), 1e-8);
        check_close("k_state", expected.k_state.exact, by_differences(f.k_state, loss), 1e-8);
    }
}

TEST_CASE("linear backward: every kind of head_dim, with causal and without") {
    const int64_t pairs[][2] = {{32, 32}, {64, 64}, {80, 80}, {96, 96}, {128, 128}, {256, 256}, {1, 1}, {7, 5}, {33, 64}, {72, 16}};
    for (const int causal : {0, 1})
        for (const auto &dims : pairs) {
            LinearBackwardCase c(AttentionShape().lengths(110, 110).dims(dims[0], dims[1]));
            c.forward.args.causal = causal;
            c.give_states();
            c.check();
        }
}

TEST_CASE("linear backward: every pair of lengths, around the ends of chunks") {
    for (const int64_t length : {0, 1, 2, 11, 12, 13, 31, 33, 95, 96, 97, 193})
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
