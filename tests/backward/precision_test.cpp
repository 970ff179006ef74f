/// Gradients of peaked rows: their weights follow from lse and from scores that the backward pass forms itself, so that what the two
/// passes round otherwise shows in all weights of a row at once.
#include "support/backward_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"

#include <string>
#include <vector>

using namespace gyre::test;

namespace {

constexpr int64_t queries = 192, keys = 1024;

/// Where both passes form scores alike they are off by 6e-7, 2e-6 and 5e-6. After a forward pass on matrix tiles rows of
/// large scores are divided by what their weights come to, which leaves 5e-7, 6e-7 and 1.1e-6 (without it 5e-7, 3e-6 and 8e-6).
const double deviations[] = {1, 8, 30}, limits[] = {9e-7, 3.5e-6, 7e-6}, normalized_limits[] = {9e-7, 9e-7, 1.6e-6};

bool is_normalized(gyre_context *context) {
    return std::string(gyre_selected_kernel(context)).find("x86_64_amx") != std::string::npos;
}

struct PeakedRows {
    BackwardCase c;
    PeakedRows(int64_t head_dim, double deviation)
        : c(AttentionShape().lengths(queries, keys).head_counts(1, 1).dims(head_dim)) {
        c.forward.q.fill_normal(11, deviation);
        c.forward.k.fill_normal(12);
        c.out_grad.fill_normal(13);
    }
};

} // namespace

TEST_CASE("backward: gradients of values where scores are small, large and very large") {
    for (const int64_t head_dim : {64, 128})
        for (int n = 0; n < 3; n++) {
            PeakedRows peaked(head_dim, deviations[n]);
            BackwardCase &c = peaked.c;
            const OracleBackward expected = oracle_backward(c.forward.args, c.args.out_grad);
            CAPTURE(head_dim);
            CAPTURE(deviations[n]);
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CAPTURE(text(gyre_selected_kernel(context)));
                const double limit = is_normalized(context) ? normalized_limits[n] : limits[n];
                CHECK(relative_rms(c.v_grad.values(), expected.v.exact.data) < limit);
            });
        }
}

// As where attention over parts of the keys was merged: what a row's weights for a part come to is less than 1, and stays so.
TEST_CASE("backward: parts of the keys, with the lse and the result of all") {
    for (int n = 0; n < 3; n++) {
        PeakedRows peaked(64, deviations[n]);
        BackwardCase &c = peaked.c;
        const OracleBackward expected = oracle_backward(c.forward.args, c.args.out_grad);
        CAPTURE(deviations[n]);
        each_target([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.forward.run(context) == GYRE_OK, text(gyre_last_error()));
            std::vector<double> q_grad(static_cast<size_t>(c.q_grad.count()));
            for (const int64_t first : {0, 300}) {
                gyre_attention_args part = c.forward.args;
                gyre_attention_backward_args args = c.args;
                for (gyre_tensor *t : {&part.k, &part.v, &args.k_grad, &args.v_grad}) {
                    t->data = static_cast<float *>(t->data) + first * t->strides[1];
                    t->shape[1] = first == 0 ? 300 : keys - 300;
                }
                args.forward = &part;
                REQUIRE_MESSAGE(gyre_attention_backward(context, &args) == GYRE_OK, text(gyre_last_error()));
                const std::vector<double> share = c.q_grad.values();
                for (size_t i = 0; i < share.size(); i++) q_grad[i] += share[i];
            }
            CHECK(relative_rms(c.v_grad.values(), expected.v.exact.data) < 1.1e-5);
            CHECK(relative_rms(c.k_grad.values(), expected.k.exact.data) < 1e-4);
            CHECK(relative_rms(q_grad, expected.q.exact.data) < 1e-4);
        });
    }
}
