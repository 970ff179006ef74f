/// Gradients of attention: what is masked or padded does not matter, whatever it holds.
#include "support/backward_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"

#include <cmath>
#include <limits>
#include <utility>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int64_t rows = 20, keys = 45, unseen = 30; // keys from here on are seen by no row

struct Gradients {
    std::vector<double> q, k, v;
};

Gradients run(BackwardCase &c, gyre_context *context) {
    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
    return {c.q_grad.values(), c.k_grad.values(), c.v_grad.values()};
}

/// Garbage in the keys and values that no row sees leaves every gradient's bits.
void check_unseen_keys(BackwardCase &c) {
    AttentionCase &f = c.forward;
    const std::vector<double> k = f.k.values(), v = f.v.values();
    each_target([&](gyre_context *context) {
        f.k.set_values(k);
        f.v.set_values(v);
        const Gradients clean = run(c, context);
        for (const double of_key : {std::nan(""), infinity, 1e38})
            for (const double of_value : {std::nan(""), -infinity, 1e38}) {
                CAPTURE(of_key);
                CAPTURE(of_value);
                for (int64_t j = unseen; j < keys; j++)
                    for (int64_t d = 0; d < f.shape.head_dim; d++) {
                        f.k.set({0, j, 0, d}, of_key);
                        f.v.set({0, j, 0, d}, of_value);
                    }
                const Gradients got = run(c, context);
                CHECK(got.q == clean.q);
                CHECK(got.k == clean.k);
                CHECK(got.v == clean.v);
            }
    });
}

} // namespace

TEST_CASE("masked gradients: keys and values that no row sees, by position, by window, by a bias") {
    for (const auto &[head_dim, dtype] :
         {std::pair<int64_t, gyre_dtype>{64, GYRE_F32}, {24, GYRE_F32}, {64, GYRE_BF16}})
        for (int way = 0; way < 4; way++) {
            CAPTURE(way);
            BackwardCase c(AttentionShape().lengths(rows, keys).head_counts(2, 1).dims(head_dim).of(dtype));
            gyre_attention_args &args = c.forward.args;
            args.alignment = GYRE_TOP_LEFT;
            if (way == 0) args.causal = 1;
            if (way == 1) {
                args.window_left = 30;
                args.window_right = unseen - rows;
            }
            if (way == 2) {
                args.causal = 1;
                args.softcap = 3;
            }
            if (way == 3) {
                Tensor bias(GYRE_F32, {rows, keys});
                bias.fill_normal(4);
                for (int64_t i = 0; i < rows; i++)
                    for (int64_t j = i % 3 == 0 ? unseen - 10 : unseen; j < keys; j++) bias.set({i, j}, -infinity);
                c.add_bias(std::move(bias));
            }
            check_unseen_keys(c);
        }
}

TEST_CASE("masked gradients: a row of NaN reaches the keys that it sees, and no others") {
    for (const auto &[in_query, dtype] :
         {std::pair{true, GYRE_F32}, {false, GYRE_F32}, {true, GYRE_BF16}, {false, GYRE_BF16}}) {
        BackwardCase c(AttentionShape().lengths(40, 40).dims(64).of(dtype));
        c.forward.args.causal = 1;
        each_target([&](gyre_context *context) {
            c.forward.q.fill_normal(3);
            c.out_grad.fill_normal(4);
            const Gradients clean = run(c, context);
            Tensor &with_nan = in_query ? c.forward.q : c.out_grad;
            for (int64_t d = 0; d < 64; d++) with_nan.set({0, 25, 0, d}, std::nan(""));
            const Gradients got = run(c, context);
            int64_t wrong = 0;
            for (size_t j = 0; j < 40; j++)
                for (size_t d = 0; d < 64; d++) {
                    const size_t n = j * 64 + d;
                    wrong += j == 25 ? !std::isnan(got.q[n]) : got.q[n] != clean.q[n];
                    wrong += j <= 25 ? !std::isnan(got.k[n]) : got.k[n] != clean.k[n];
                    wrong += j <= 25 ? !std::isnan(got.v[n]) : got.v[n] != clean.v[n];
                }
            CHECK(wrong == 0);
        });
    }
}

TEST_CASE("masked gradients: the first of two rows, which one key alone is masked to") {
    BackwardCase c(AttentionShape().lengths(2, keys).head_counts(1, 1).dims(64));
    AttentionCase &f = c.forward;
    f.args.causal = 1;
    const std::vector<double> k = f.k.values(), v = f.v.values();
    const auto first_row = [&](gyre_context *context) {
        const std::vector<double> all = run(c, context).q;
        return std::vector<double>(all.begin(), all.begin() + 64);
    };
    each_target([&](gyre_context *context) {
        f.k.set_values(k);
        f.v.set_values(v);
        const std::vector<double> clean = first_row(context);
        for (Tensor *t : {&f.v, &f.k})
            for (const double garbage : {infinity, std::nan("")}) {
                for (int64_t d = 0; d < 64; d++) t->set({0, keys - 1, 0, d}, garbage);
                CHECK(first_row(context) == clean);
            }
    });
}

TEST_CASE("masked gradients: rows past the end, to whose scores ALiBi adds more than f32 has powers for") {
    for (const float slope : {1.0f, -1.0f, 8.0f})
        for (const int64_t of_queries : {5, 97})
            for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
                BackwardCase c(AttentionShape().lengths(of_queries, 300).head_counts(1, 1).dims(64).of(dtype));
                c.forward.args.alignment = GYRE_TOP_LEFT;
                c.forward.args.alibi = c.forward.hold(GYRE_F32, {slope});
                c.check();
            }
}

TEST_CASE("masked gradients: ALiBi of the largest finite number, of which the nearest key alone is left") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
        BackwardCase c(AttentionShape().lengths(20, 20).head_counts(1, 1).dims(64).of(dtype));
        c.forward.args.causal = 1;
        c.forward.args.alibi = c.forward.hold(GYRE_F32, {3e38});
        each_target([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            check_close("v_grad", c.v_grad.values(), c.out_grad.values(), 1e-5);
        });
    }
}

// A row that sees one key has weight 1 there, whatever its score is, so long as that is formed as the forward pass formed it:
// terms of 1e4 whose sum is small are off by 1e-2 if they are added otherwise.
TEST_CASE("gradients: scores are those of the forward pass, roundings too") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
        const int64_t count = 40, dim = 64;
        BackwardCase c(AttentionShape().lengths(count, count).dims(dim).of(dtype));
        c.forward.args.window_left = c.forward.args.window_right = 0;
        for (int64_t i = 0; i < count; i++)
            for (int64_t d = 0; d < dim; d++) {
                const int64_t pair = d % (dim / 2);
                c.forward.q.set({0, i, 0, d}, 100 + std::sin((double)(i * 37 + pair)));
                const double k = 100 * std::cos((double)(i * 11 + pair * 5));
                c.forward.k.set({0, i, 0, d}, d < dim / 2 ? k : -k);
            }
        each_target([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.forward.run(context) == GYRE_OK, text(gyre_last_error()));
            const std::string forward_kernel = gyre_selected_kernel(context);
            if (forward_kernel.find("__x86_64_amx") != std::string::npos) return; // tiles add in an order of their own
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            check_close("v_grad", c.v_grad.values(), c.out_grad.values(), 1e-5);
        });
    }
}
