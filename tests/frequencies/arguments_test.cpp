/// gyre_frequencies() refuses what no rule can use: by status, by name, and without writing.
#include "support/refusal.h"
#include <gyre/gyre.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

/// A request that succeeds until a test spoils it, with outputs that show whether they were written.
struct Request {
    std::vector<double> factors = std::vector<double>(16, 2.0);
    gyre_frequency_rule rule = gyre_frequency_defaults();
    int32_t rotary_dim = 32, head_dim = 64;
    int64_t length = 0;
    std::vector<double> inv_freq = std::vector<double>(64, -7.0);
    double attention_factor = -7.0;

    explicit Request(const char *rope_type) {
        rule.rope_type = rope_type;
        rule.factor = 8.0;
        rule.original_max_position_embeddings = 4096;
        rule.max_position_embeddings = 32768;
        rule.short_factor = rule.long_factor = factors.data();
        rule.low_freq_factor = 1.0;
        rule.high_freq_factor = 4.0;
        rule.partial_rotary_factor = 0.5;
    }
    Request(const Request &) = delete;

    gyre_status run() {
        return gyre_frequencies(&rule, rotary_dim, head_dim, length, inv_freq.data(), &attention_factor);
    }
    bool unwritten() const {
        for (const double f : inv_freq)
            if (f != -7.0) return false;
        return attention_factor == -7.0;
    }
};

struct Refusal {
    const char *rope_type;
    const char *named; // what the message has to name
    gyre_status status;
    std::function<void(Request &)> spoil;
};

} // namespace

TEST_CASE("every rule accepts the request that the refusals start from") {
    for (const char *rope_type : {"default", "linear", "dynamic", "yarn", "longrope", "llama3", "proportional"}) {
        CAPTURE(gyre::test::text(rope_type));
        Request request(rope_type);
        CHECK_MESSAGE(request.run() == GYRE_OK, gyre::test::text(gyre_last_error()));
        CHECK_FALSE(request.unwritten());
    }
}

TEST_CASE("a structure of an older header keeps the defaults of the fields that it lacks") {
    Request request("default");
    request.rule.size = offsetof(gyre_frequency_rule, factor);
    request.rule.truncate = 77; // beyond the size, hence not read
    CHECK_MESSAGE(request.run() == GYRE_OK, gyre::test::text(gyre_last_error()));
}

TEST_CASE("impossible requests are refused by name and write nothing") {
    const std::vector<Refusal> refusals = {
        {"default", "rope_type", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.rope_type = nullptr; }},
        {"default", "rope_type", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.rope_type = "ntk"; }},
        {"default", "rope_type", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.rope_type = ""; }},
        {"default", "size", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.size = 0; }},
        {"default", "size", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.size = 4; }},
        {"default", "size", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.size = sizeof r.rule + 8; }},
        {"default", "rotary_dim", GYRE_BAD_SHAPE, [](Request &r) { r.rotary_dim = 31; }},
        {"default", "rotary_dim", GYRE_BAD_SHAPE, [](Request &r) { r.rotary_dim = 0; }},
        {"default", "rotary_dim", GYRE_BAD_SHAPE, [](Request &r) { r.rotary_dim = -2; }},
        {"default", "rotary_dim", GYRE_BAD_SHAPE, [](Request &r) { r.rotary_dim = 66; }},
        {"default", "head_dim", GYRE_BAD_SHAPE, [](Request &r) { r.head_dim = 0; }},
        {"default", "length", GYRE_BAD_ARGUMENT, [](Request &r) { r.length = -1; }},
        {"default", "rope_theta", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.rope_theta = not_a_number; }},
        {"default", "rope_theta", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.rope_theta = infinity; }},
        {"default", "rope_theta", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.rope_theta = -10000; }},
        {"default", "rope_theta", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.rope_theta = 0.5; }},
        {"default", "factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.factor = not_a_number; }},
        {"linear", "factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.factor = 0; }},
        {"linear", "factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.factor = 0.99; }},
        {"linear", "factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.factor = -2; }},
        {"dynamic", "factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.factor = 0; }},
        {"dynamic", "max_position_embeddings", GYRE_BAD_ARGUMENT,
         [](Request &r) { r.rule.max_position_embeddings = 0; }},
        {"dynamic", "max_position_embeddings", GYRE_BAD_ARGUMENT,
         [](Request &r) { r.rule.max_position_embeddings = -1; }},
        {"dynamic", "rotary_dim", GYRE_BAD_SHAPE, [](Request &r) { r.rotary_dim = 2; }},
        {"dynamic", "factor", GYRE_BAD_ARGUMENT,
         [](Request &r) {
             r.rule.factor = 1e308;
             r.length = 1 << 30;
         }},
        {"yarn", "factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.factor = r.rule.max_position_embeddings = 0; }},
        {"yarn", "max_position_embeddings", GYRE_BAD_ARGUMENT,
         [](Request &r) {
             r.rule.factor = 0;
             r.rule.max_position_embeddings = 100;
         }},
        {"yarn", "original_max_position_embeddings", GYRE_BAD_ARGUMENT,
         [](Request &r) { r.rule.original_max_position_embeddings = r.rule.max_position_embeddings = 0; }},
        {"yarn", "original_max_position_embeddings", GYRE_BAD_ARGUMENT,
         [](Request &r) { r.rule.original_max_position_embeddings = -4096; }},
        {"yarn", "beta_fast", GYRE_BAD_ARGUMENT,
         [](Request &r) {
             r.rule.beta_fast = 1;
             r.rule.beta_slow = 2;
         }},
        {"yarn", "beta_slow", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.beta_slow = not_a_number; }},
        {"yarn", "mscale", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.mscale = -1; }},
        {"yarn", "mscale_all_dim", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.mscale_all_dim = infinity; }},
        {"yarn", "attention_factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.attention_factor = -1; }},
        {"yarn", "truncate", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.truncate = 2; }},
        {"yarn", "rope_theta", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.rope_theta = 1; }},
        {"longrope", "short_factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.short_factor = nullptr; }},
        {"longrope", "long_factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.long_factor = nullptr; }},
        {"longrope", "short_factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.factors[15] = 0; }},
        {"longrope", "short_factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.factors[3] = not_a_number; }},
        {"longrope", "inv_freq", GYRE_BAD_ARGUMENT, [](Request &r) { r.factors[0] = 1e-310; }},
        {"longrope", "original_max_position_embeddings", GYRE_BAD_ARGUMENT,
         [](Request &r) { r.rule.original_max_position_embeddings = 1; }},
        {"llama3", "factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.factor = 0; }},
        {"llama3", "low_freq_factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.low_freq_factor = 0; }},
        {"llama3", "high_freq_factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.high_freq_factor = 1; }},
        {"llama3", "high_freq_factor", GYRE_BAD_ARGUMENT, [](Request &r) { r.rule.high_freq_factor = 0; }},
        {"proportional", "partial_rotary_factor", GYRE_BAD_ARGUMENT,
         [](Request &r) { r.rule.partial_rotary_factor = 1.5; }},
    };
    for (const Refusal &refusal : refusals) {
        Request request(refusal.rope_type);
        refusal.spoil(request);
        const gyre_status status = request.run();
        gyre::test::check_refused(refusal.rope_type, status, refusal.status, refusal.named);
        CHECK(request.unwritten());
    }
}

TEST_CASE("null pointers are refused by name") {
    Request request("default");
    CHECK(gyre_frequencies(nullptr, 32, 64, 0, request.inv_freq.data(), &request.attention_factor) ==
          GYRE_BAD_ARGUMENT);
    CHECK(gyre::test::text(gyre_last_error_argument()) == "rule");
    CHECK(gyre_frequencies(&request.rule, 32, 64, 0, nullptr, &request.attention_factor) == GYRE_BAD_ARGUMENT);
    CHECK(gyre::test::text(gyre_last_error_argument()) == "inv_freq");
    CHECK(gyre_frequencies(&request.rule, 32, 64, 0, request.inv_freq.data(), nullptr) == GYRE_BAD_ARGUMENT);
    CHECK(gyre::test::text(gyre_last_error_argument()) == "attention_factor");
    CHECK(request.unwritten());
}
