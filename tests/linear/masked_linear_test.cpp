/// Causal linear attention and its gradients: what a query does not see does not matter, whatever it holds.
#include "support/each_kernel.h"
#include "support/linear_backward_case.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

const double garbage[] = {std::nan(""), std::numeric_limits<double>::infinity(), 6e4};

/// Elements of tokens [first, past) that differ, or that are not NaN if they are to be.
int64_t count_if(const Tensor &tensor, const std::vector<double> &before, int64_t first, int64_t past, bool numbers) {
    const std::vector<double> now = tensor.values();
    const int64_t of_token = tensor.shape()[2] * tensor.shape()[3];
    int64_t count = 0;
    for (int64_t n = first * of_token; n < past * of_token; n++)
        count += numbers ? !std::isnan(now[(size_t)n]) : now[(size_t)n] != before[(size_t)n];
    return count;
}

void fill_token(Tensor &tensor, int64_t token, double value) {
    for (int64_t h = 0; h < tensor.shape()[2]; h++)
        for (int64_t d = 0; d < tensor.shape()[3]; d++) tensor.set({0, token, h, d}, value);
}

} // namespace

TEST_CASE("masked linear: a key and its value reach no query before it, and all from it on") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16})
        for (const bool rotated : {false, true})
            for (const int64_t token : {1, 5, 11, 100, 149})
                for (const double bad : garbage)
                    for (const bool in_key : {true, false}) {
                        LinearCase c(AttentionShape().lengths(150, 150).head_counts(2, 1).dims(40, 24).of(type));
                        const gyre_rope rope = gyre_rope_defaults();
                        c.args.causal = 1;
                        c.args.rope = rotated ? &rope : nullptr;
                        const std::vector<double> k = c.k.values(), v = c.v.values();
                        each_target([&](gyre_context *context) {
                            c.k.set_values(k);
                            c.v.set_values(v);
                            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                            const std::vector<double> clean = c.out.values();
                            fill_token(in_key ? c.k : c.v, token, bad);
                            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                            CHECK(count_if(c.out, clean, 0, token, false) == 0);
                            if (std::isnan(bad)) CHECK(count_if(c.out, clean, token, 150, true) == 0);
                        });
                    }
}

TEST_CASE("masked linear: keys past a sequence's length reach nothing") {
    for (const int causal : {0, 1})
        for (const double bad : garbage) {
            LinearCase c(AttentionShape().lengths(150, 150).head_counts(2, 1).dims(40));
            c.args.causal = causal;
            c.args.seqused_k = c.hold(GYRE_I32, {77});
            c.want_states();
            each_target([&](gyre_context *context) {
                for (int64_t j = 77; j < 150; j++) {
                    fill_token(c.k, j, 1);
                    fill_token(c.v, j, 1);
                }
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<double> clean = c.out.values(), state = c.kv_state_out.values();
                for (int64_t j = 77; j < 150; j++) {
                    fill_token(c.k, j, bad);
                    fill_token(c.v, j, bad);
                }
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CHECK(count_if(c.out, clean, 0, 150, false) == 0);
                CHECK(c.kv_state_out.values() == state);
            });
        }
}

TEST_CASE("masked linear: gradients of queries, keys and values take nothing that they do not see") {
    for (const int64_t token : {1, 5, 11, 100, 148})
        for (int where = 0; where < 4; where++) {
            CAPTURE(token);
            CAPTURE(where);
            LinearBackwardCase c(AttentionShape().lengths(150, 150).head_counts(2, 1).dims(40, 24));
            c.forward.args.causal = 1;
            Tensor *const filled[] = {&c.forward.q, &c.forward.k, &c.forward.v, &c.out_grad};
            const std::vector<double> before = filled[where]->values();
            each_target([&](gyre_context *context) {
                filled[where]->set_values(before);
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<double> q = c.q_grad.values(), k = c.k_grad.values(), v = c.v_grad.values();
                fill_token(*filled[where], token, std::nan(""));
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const bool in_row = where == 0 || where == 3;
                if (in_row) { // seen by the keys up to its own
                    CHECK(count_if(c.q_grad, q, 0, token, false) == 0);
                    CHECK(count_if(c.q_grad, q, token + 1, 150, false) == 0);
                    CHECK(count_if(c.k_grad, k, token + 1, 150, false) == 0);
                    CHECK(count_if(c.v_grad, v, token + 1, 150, false) == 0);
                } else { // rows before it do not see it
                    CHECK(count_if(c.q_grad, q, 0, token, false) == 0);
                }
            });
        }
}
