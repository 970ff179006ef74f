/// gyre_frequencies() against golden numbers from Hugging Face transformers.
#include "support/compare.h"
#include "support/doctest.h"

#include <gyre/gyre.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

struct Golden {
    const char *name, *rope_type;
    void (*set)(gyre_frequency_rule &rule);
    std::vector<double> short_factor, long_factor;
    int32_t rotary_dim, head_dim;
    int64_t length;
    double attention_factor;
    std::vector<double> inv_freq;
};

const std::vector<Golden> &golden() {
    static const std::vector<Golden> cases = {
#include "data/frequencies.inc"
    };
    return cases;
}

} // namespace

TEST_CASE("frequencies equal those of transformers for every rule") {
    for (const Golden &expected : golden()) {
        CAPTURE(gyre::test::text(expected.name));
        gyre_frequency_rule rule = gyre_frequency_defaults();
        rule.rope_type = expected.rope_type;
        expected.set(rule);
        if (!expected.short_factor.empty()) rule.short_factor = expected.short_factor.data();
        if (!expected.long_factor.empty()) rule.long_factor = expected.long_factor.data();

        std::vector<double> inv_freq((size_t)expected.rotary_dim / 2 + 1, -7.0);
        double attention_factor = 0;
        REQUIRE_MESSAGE(gyre_frequencies(&rule, expected.rotary_dim, expected.head_dim, expected.length,
                                         inv_freq.data(), &attention_factor) == GYRE_OK,
                        gyre::test::text(gyre_last_error()));
        CHECK_MESSAGE(inv_freq.back() == -7.0, "written beyond rotary_dim / 2");
        inv_freq.pop_back();
        std::vector<double> ratios, ones;
        for (size_t i = 0; i < inv_freq.size(); i++) {
            const bool both_zero = inv_freq[i] == 0 && expected.inv_freq[i] == 0;
            ratios.push_back(both_zero ? 1.0 : inv_freq[i] / expected.inv_freq[i]);
            ones.push_back(1.0);
        }
        gyre::test::check_close("inv_freq / golden", ratios, ones, 1e-13);
        CHECK(std::fabs(attention_factor / expected.attention_factor - 1) < 1e-14);
    }
}

/// Checks yarn without an attention factor: pairs from `first` to `last` go over from frequencies that are kept to slowed ones.
static void check_ramp(const gyre_frequency_rule &rule, double first, double last) {
    double inv_freq[32], attention_factor = 0;
    REQUIRE_MESSAGE(gyre_frequencies(&rule, 64, 64, 0, inv_freq, &attention_factor) == GYRE_OK,
                    gyre::test::text(gyre_last_error()));
    for (int i = 0; i < 32; i++) {
        const double slowed = std::min(std::max((i - first) / (last - first), 0.0), 1.0);
        const double expected = std::pow(rule.rope_theta, -i / 32.0) * (slowed / rule.factor + 1 - slowed);
        CAPTURE(i);
        CHECK(std::fabs(inv_freq[i] / expected - 1) < 1e-13);
    }
}

TEST_CASE("yarn's ramp: as far as rotary_dim - 1, beyond the last pair, and of no width between two pairs") {
    gyre_frequency_rule rule = gyre_frequency_defaults();
    rule.rope_type = "yarn";
    rule.rope_theta = 10000;
    rule.factor = 4;
    const double two_pi = 2 * std::acos(-1.0);
    const auto length_of = [&](double pair) { return two_pi * std::pow(rule.rope_theta, pair / 32); };
    const auto pair_of = [&](double turns) {
        return 32 * std::log((double)rule.original_max_position_embeddings / (turns * two_pi)) /
               std::log(rule.rope_theta);
    };
    rule.truncate = 0;
    rule.beta_fast = 32;
    rule.beta_slow = 1;
    rule.original_max_position_embeddings = (int64_t)length_of(45);
    check_ramp(rule, pair_of(32), pair_of(1));
    rule.original_max_position_embeddings = (int64_t)length_of(70);
    check_ramp(rule, pair_of(32), 63);
    rule.beta_fast = rule.beta_slow = 1;
    rule.original_max_position_embeddings = (int64_t)length_of(9.95);
    check_ramp(rule, pair_of(1), pair_of(1) + 0.001);
}

TEST_CASE("a rope_theta of 0 is not given and means 10000") {
    gyre_frequency_rule rule = gyre_frequency_defaults();
    double given[8], absent[8], attention_factor = 0;
    REQUIRE(gyre_frequencies(&rule, 16, 16, 0, given, &attention_factor) == GYRE_OK);
    rule.rope_theta = 0;
    REQUIRE(gyre_frequencies(&rule, 16, 16, 0, absent, &attention_factor) == GYRE_OK);
    for (int i = 0; i < 8; i++) CHECK(given[i] == absent[i]);
}

TEST_CASE("proportional keeps the head's denominator for a rotary_dim below the head") {
    gyre_frequency_rule rule = gyre_frequency_defaults();
    rule.rope_type = "proportional";
    double inv_freq[16], attention_factor = 0;
    REQUIRE(gyre_frequencies(&rule, 32, 64, 0, inv_freq, &attention_factor) == GYRE_OK);
    for (int i = 0; i < 16; i++) CHECK(inv_freq[i] == doctest::Approx(std::pow(10000.0, -2.0 * i / 64)).epsilon(1e-14));
}
