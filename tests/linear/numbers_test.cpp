/// gyre_linear_attention(): large, small and invalid arguments of features, and the precision of long sums.
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
                    CHECK(std::isnan(c.out.get({0, i, 0, e})) == seen);
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
