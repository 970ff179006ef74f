/// Score functions that are shipped: every one, against its definition from a model's parameters.
#include "support/each_kernel.h"
#include "support/score_models.h"

#include <set>
#include <string>
#include <utility>

using namespace gyre::test;

namespace {

struct Lengths {
    int64_t of_q, of_kv;
};
const std::vector<Lengths> ragged = {{1, 1}, {1, 200}, {33, 1}, {17, 70}, {130, 130}, {70, 190}, {190, 70}, {300, 257}};

} // namespace

TEST_CASE("score: every shipped function, ragged lengths, causal or not, in both alignments") {
    for (const ScoreModel &model : score_models())
        for (const Lengths &lengths : ragged)
            for (const gyre_alignment alignment : {GYRE_BOTTOM_RIGHT, GYRE_TOP_LEFT})
                for (const int causal : {0, 1}) {
                    ScoreCase c(AttentionShape().lengths(lengths.of_q, lengths.of_kv).head_counts(2, 2), model.score);
                    c.args.alignment = alignment;
                    c.args.causal = causal;
                    model.prepare(c, 11);
                    c.check();
                }
}

TEST_CASE("score: every shipped function, empty extents") {
    for (const ScoreModel &model : score_models())
        for (const Lengths &lengths : {Lengths{0, 5}, Lengths{5, 0}, Lengths{0, 0}}) {
            ScoreCase c(AttentionShape().lengths(lengths.of_q, lengths.of_kv), model.score);
            model.prepare(c, 12);
            c.check();
        }
}

TEST_CASE("score: every shipped function with a batch, grouped heads, a window and key lengths") {
    for (const ScoreModel &model : score_models())
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD}) {
            ScoreCase c(AttentionShape().batches(3).lengths(75, 140).head_counts(4, 2).in(layout), model.score);
            c.args.window_left = 60;
            c.args.window_right = 20;
            model.prepare(c, 13);
            c.check();
            c.args.seqused_k = c.hold(GYRE_I32, {140, 0, 77});
            c.check();
        }
}

TEST_CASE("score: every shipped function with packed sequences, empty ones among them") {
    for (const ScoreModel &model : score_models()) {
        ScoreCase c(AttentionShape().lengths(150, 260).head_counts(4, 2).in(GYRE_THD), model.score);
        c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 0, 7, 71, 71, 136, 150});
        c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 65, 72, 72, 100, 259, 260});
        model.prepare(c, 14);
        c.check();
    }
}

TEST_CASE("score: every shipped function with softcap, bias, mask, sinks and ALiBi beside it") {
    for (const ScoreModel &model : score_models()) {
        ScoreCase c(AttentionShape().batches(2).lengths(50, 70).head_counts(2, 2), model.score);
        c.give_options();
        model.prepare(c, 15);
        c.check();
    }
}

TEST_CASE("score: every shipped function with RoPE and RoPER, whose positions are not the score's") {
    for (const ScoreModel &model : score_models()) {
        ScoreCase c(AttentionShape().lengths(60, 90).head_counts(2, 1), model.score);
        const gyre_rope rope = gyre_rope_defaults();
        c.args.rope = c.args.value_rope = &rope;
        Tensor positions(GYRE_I32, {90});
        positions.fill_uniform_integers(5, 0, 500);
        c.args.k_positions = c.hold(std::move(positions));
        c.args.causal = 1;
        model.prepare(c, 16);
        c.check();
    }
}

TEST_CASE("score: the number of threads does not change a bit") {
    for (const ScoreModel &model : score_models()) {
        ScoreCase c(AttentionShape().lengths(700, 700).head_counts(2, 2), model.score);
        c.args.window_left = 300;
        model.prepare(c, 17);
        for (const std::string &target : runnable_targets()) {
            std::vector<uint64_t> out, lse;
            for (const int32_t threads : {1, 2, 5}) {
                INFO(target, ", ", threads, " threads, ", model.score);
                const Context context(target.c_str(), threads);
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                if (threads == 1) {
                    out = c.out.bits();
                    lse = c.lse.bits();
                }
                CHECK(c.out.bits() == out);
                CHECK(c.lse.bits() == lse);
            }
        }
    }
}

TEST_CASE(
    "score: the kernel that ran is the function's own, every such kernel is reached, and calls without one take none") {
    std::set<std::string> reached, expected;
    gyre_kernel_info kernel;
    for (int32_t i = 0; gyre_kernel_at(i, &kernel); i++) {
        const std::string attributes = kernel.attributes;
        if (attributes.find(" score=") == std::string::npos || !kernel.runnable) continue;
        if (attributes.find(" score=probe ") == std::string::npos)
            expected.insert(kernel.name); // score_inputs_test.cpp
    }
    each_target([&](gyre_context *context) {
        for (const ScoreModel &model : score_models())
            for (const auto &[dtype, type] : {std::pair{GYRE_F32, "f32"}, {GYRE_F16, "f16"}, {GYRE_BF16, "bf16"}}) {
                const std::string start = std::string("attention_score_") + model.score + "_" + type + "_d64__";
                if (dtype != GYRE_F32 && !expected.count(start + text(gyre_context_target(context)))) continue;
                ScoreCase c(AttentionShape().lengths(3, 5).of(dtype), model.score);
                model.prepare(c, 18);
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CHECK(text(gyre_selected_kernel(context)).rfind(start, 0) == 0);
                reached.insert(gyre_selected_kernel(context));
            }
        AttentionCase plain(AttentionShape().lengths(3, 5));
        plain.args.softcap = 2;
        REQUIRE(plain.run(context) == GYRE_OK);
        CHECK(text(gyre_selected_kernel(context)).rfind("attention_decode_", 0) == 0);
    });
    CHECK(!expected.empty());
    CHECK(reached == expected);
}

// What transformers 4 computes in f32, compared number by number: distances at which a bucket begins.
TEST_CASE("score: T5's buckets begin where the model's own code has them") {
    const int64_t bidirectional[] = {8, 12, 16, 23, 32, 46, 64, 91};
    const int64_t causal[] = {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
    for (int64_t i = 0; i < 8; i++) {
        CHECK(t5_bucket(-bidirectional[i], true, 32, 128) == 8 + i);
        CHECK(t5_bucket(bidirectional[i] - 1, true, 32, 128) == 16 + 7 + i);
    }
    for (int64_t i = 0; i < 16; i++) {
        CHECK(t5_bucket(-causal[i], false, 32, 128) == 16 + i);
        CHECK(t5_bucket(1 - causal[i], false, 32, 128) == 15 + i);
    }
}
