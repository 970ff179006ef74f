/// Dropout of probabilities: which are dropped, by the documented counters, in both passes.
#include "support/backward_case.h"
#include "support/central_differences.h"
#include "support/compare.h"
#include "support/dropout.h"
#include "support/each_kernel.h"
#include "support/philox.h"
#include "support/random.h"
#include "support/refusal.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

/// Queries and keys of zeros and values that are the identity: out is what dropout multiplies by, over the number of keys.
void show_probabilities(AttentionCase &c) {
    c.q.fill(0);
    c.k.fill(0);
    c.v.fill(0);
    for (int64_t b = 0; b < c.shape.batch; b++)
        for (int64_t h = 0; h < c.shape.kv_heads; h++)
            for (int64_t j = 0; j < c.shape.seqlen_kv; j++) c.v.set({b, j, h, j}, 1);
}

} // namespace

TEST_CASE("dropout: the oracle's Philox gives the published words") {
    // Random123, kat_vectors, philox4x32 with 10 rounds.
    using Words = std::array<uint32_t, 4>;
    CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
    constexpr uint32_t ones = 0xffffffffu;
    CHECK(philox4x32({ones, ones, ones, ones}, {ones, ones}) ==
          Words{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
    CHECK(philox4x32({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}) ==
          Words{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

TEST_CASE("dropout: kernels draw the published words for the first keys of seed 0") {
    const double words[] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
    AttentionCase c(AttentionShape().lengths(1, 4).dims(64));
    show_probabilities(c);
    for (int j = 0; j < 4; j++)
        for (const int above : {0, 1}) {
            const auto probability = (float)(words[j] / 4294967296.0 + (above ? 1e-6 : -1e-6));
            set_dropout(c.args, probability, 0, 0);
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CHECK((c.output().data[(size_t)j] == 0) == (above == 1));
            });
        }
}

TEST_CASE("dropout: every key of every row is dropped or kept as documented, on every target") {
    AttentionCase c(AttentionShape().batches(2).lengths(301, 64).head_counts(4, 2).dims(64));
    show_probabilities(c);
    for (const uint64_t seed : {uint64_t{0}, uint64_t{1} << 40, ~uint64_t{0}})
        for (const uint32_t offset : {0u, 0xffffffffu}) {
            set_dropout(c.args, 0.3f, seed, offset);
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const Dense out = c.output();
                long wrong = 0;
                for (int64_t b = 0; b < 2; b++)
                    for (int64_t i = 0; i < 301; i++)
                        for (int64_t h = 0; h < 4; h++)
                            for (int64_t j = 0; j < 64; j++) {
                                const bool dropped = dropout_factor(c.args, 4, b, h, i, j) == 0;
                                wrong += dropped != (out.head(b, i, h)[j] == 0);
                            }
                CHECK(wrong == 0);
            });
        }
}

TEST_CASE("dropout: the share that is dropped is the probability's, and each call has a mask of its own") {
    AttentionCase c(AttentionShape().lengths(500, 64).head_counts(2, 1).dims(64));
    show_probabilities(c);
    const Context context(nullptr, 2);
    std::vector<std::vector<double>> masks;
    for (const float probability : {0.1f, 0.5f, 0.9f})
        for (const uint64_t seed : {1, 2})
            for (const uint32_t offset : {1, 2}) {
                set_dropout(c.args, probability, seed, offset);
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                masks.push_back(c.output().data);
                double dropped = 0;
                for (const double p : masks.back()) dropped += p == 0;
                const auto count = (double)masks.back().size();
                CHECK(std::fabs(dropped / count - probability) <
                      5 * std::sqrt(probability * (1 - probability) / count));
                for (size_t other = 0; other + 1 < masks.size(); other++) CHECK(masks[other] != masks.back());
            }
}

TEST_CASE("dropout: all shapes and options of attention match the oracle") {
    const int64_t lengths[][2] = {{1, 1}, {1, 200}, {3, 5}, {40, 129}, {130, 70}};
    for (const auto &length : lengths)
        for (const int64_t head_dim : {24, 64, 80, 300})
            for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16}) {
                AttentionCase c(AttentionShape()
                                    .batches(2)
                                    .lengths(length[0], length[1])
                                    .head_counts(2, 1)
                                    .dims(head_dim)
                                    .of(dtype));
                set_dropout(c.args, 0.25f);
                c.args.causal = head_dim != 64;
                c.check();
            }
    const gyre_rope rope = gyre_rope_defaults();
    for (int option = 0; option < 7; option++) {
        AttentionCase c(AttentionShape().batches(2).lengths(70, 150).head_counts(4, 2).dims(64).in(
            GYRE_BHSD, Placement::with_gaps(3)));
        set_dropout(c.args, 0.4f);
        if (option == 0) c.args.rope = c.args.value_rope = &rope;
        if (option == 1) {
            c.args.window_left = 20;
            c.args.window_right = 40;
        }
        if (option == 2) {
            c.args.softcap = 2;
            c.args.alibi = c.hold(GYRE_F32, {0.25, -0.125, 0, 1});
        }
        if (option == 3) {
            c.args.sinks = c.hold(GYRE_F32, {0.25, -3, 0, 1});
            c.args.seqused_k = c.hold(GYRE_I32, {0, 97});
        }
        if (option == 4) {
            Tensor bias(GYRE_BF16, {4, 1, 150});
            bias.fill_normal(5);
            c.args.bias = c.hold(std::move(bias));
        }
        if (option == 5) {
            Tensor mask(GYRE_BOOL, {70, 150});
            mask.fill_uniform_integers(5, 0, 1);
            c.args.mask = c.hold(std::move(mask));
        }
        c.check();
    }
    AttentionCase packed(AttentionShape().lengths(150, 260).head_counts(4, 2).dims(64).in(GYRE_THD));
    packed.args.cu_seqlens_q = packed.hold(GYRE_I32, {0, 0, 20, 120, 150});
    packed.args.cu_seqlens_k = packed.hold(GYRE_I32, {0, 30, 90, 230, 260});
    packed.args.causal = 1;
    set_dropout(packed.args, 0.5f);
    packed.check();
}

TEST_CASE("dropout: the same bits every time and with any number of threads, and none without it") {
    BackwardCase c(AttentionShape().batches(2).lengths(250, 250).head_counts(4, 2).dims(64));
    c.forward.args.causal = 1;
    set_dropout(c.forward.args, 0.2f);
    for (const std::string &target : runnable_targets()) {
        std::vector<std::vector<uint64_t>> first;
        for (const int32_t threads : {1, 1, 2, 5}) {
            const Context context(target.c_str(), threads);
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const std::vector<std::vector<uint64_t>> bits = {c.forward.out.bits(), c.q_grad.bits(), c.k_grad.bits(),
                                                             c.v_grad.bits()};
            if (first.empty()) first = bits;
            CHECK(bits == first);
        }
        // Seed and offset mean nothing without a probability.
        const Context context(target.c_str(), 2);
        std::vector<uint64_t> without[2];
        for (const int seeded : {0, 1}) {
            set_dropout(c.forward.args, 0, seeded ? 77 : 0, seeded ? 5 : 0);
            REQUIRE(c.forward.run(context) == GYRE_OK);
            CHECK(text(gyre_selected_kernel(context)).find("dropout") == std::string::npos);
            without[seeded] = c.forward.out.bits();
        }
        CHECK(without[0] == without[1]);
        set_dropout(c.forward.args, 0.2f);
        REQUIRE(c.forward.run(context) == GYRE_OK);
        CHECK(text(gyre_selected_kernel(context)).find("attention_dropout_f32") == 0);
    }
}

TEST_CASE("dropout: gradients match the oracle, and the oracle its central differences") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16})
        for (const int option : {0, 1, 2, 3}) {
            BackwardCase c(AttentionShape().batches(2).lengths(107, 213).head_counts(4, 2).dims(40).of(dtype));
            set_dropout(c.forward.args, 0.3f);
            c.forward.args.causal = option > 0;
            if (option == 1) c.forward.args.rope = c.forward.args.value_rope = &rope;
            if (option == 2) {
                c.forward.args.softcap = 1.5f;
                c.forward.args.window_left = 50;
            }
            if (option == 3) c.forward.args.alibi = c.forward.hold(GYRE_F32, {0.5, -0.25, 1, 2});
            c.check();
        }
    BackwardCase packed(AttentionShape().lengths(150, 260).head_counts(4, 2).dims(32).in(GYRE_THD));
    packed.forward.args.cu_seqlens_q = packed.forward.hold(GYRE_I32, {0, 0, 20, 120, 150});
    packed.forward.args.cu_seqlens_k = packed.forward.hold(GYRE_I32, {0, 30, 90, 230, 260});
    set_dropout(packed.forward.args, 0.5f);
    packed.check();

    AttentionCase small(AttentionShape().batches(2).lengths(5, 9).head_counts(2, 1).dims(6, 8).of(GYRE_F64), 7);
    set_dropout(small.args, 0.4f);
    Tensor out_grad(small.out);
    out_grad.fill_normal(99);
    const OracleBackward expected = oracle_backward(small.args, out_grad.view());
    const Dense weights(out_grad.view(), small.args.layout);
    const auto loss = [&] {
        const OracleAttention result = oracle_attention(small.args);
        double sum = 0;
        for (size_t n = 0; n < weights.data.size(); n++) sum += result.out.data[n] * weights.data[n];
        return sum;
    };
    check_close("q", expected.q.exact.data, central_differences(small.q, 1e-4, loss), 2e-7);
    check_close("k", expected.k.exact.data, central_differences(small.k, 1e-4, loss), 2e-7);
    check_close("v", expected.v.exact.data, central_differences(small.v, 1e-4, loss), 2e-7);
}

TEST_CASE("dropout: refuses what is no probability, and scores") {
    AttentionCase c(AttentionShape().lengths(5, 7).dims(64));
    for (const float bad :
         {-0.1f, 1.0f, 1.5f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        set_dropout(c.args, bad);
        check_refused("probability", c.run(nullptr), GYRE_BAD_ARGUMENT, "dropout");
        CHECK(c.out.untouched());
    }
    set_dropout(c.args, 0.5f);
    c.args.score = "t5_causal";
    check_refused("score", c.run(nullptr), GYRE_UNSUPPORTED, "dropout");
    c.args.score = nullptr;
    c.args.value_order = GYRE_VALUES_IN_BLOCKS;
    gyre_attention_args blocks = c.args;
    blocks.v.shape[1] = blocks.k.shape[1] = 32;
    CHECK(gyre_attention(nullptr, &blocks) != GYRE_OK);
}
