/// gyre_attention() on CUDA devices with score functions, whose kernels a library made by gyre_add_kernels() has, against the oracle.
#include "device_attention.h"
#include "support/each_kernel.h"
#include "support/key_pages.h"
#include "support/score_models.h"
#include "support/score_probe.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

AttentionShape shape_of(int64_t lq, int64_t lk) {
    return AttentionShape().batches(2).lengths(lq, lk).head_counts(4, 2).of(GYRE_BF16);
}

const ProbeInputs own_of_two = {{2, 4}, {2, 4}, {2, 4}, {2, 4}, {2, 4}};

} // namespace

TEST_CASE("score on devices: inputs broadcast over batch and heads, and in any strides") {
    const std::vector<ProbeInputs> ways = {own_of_two,
                                           {{1, 4}, {2, 1}, {1, 4}, {2, 1}, {1, 1}},
                                           {{4}, {4}, {4}, {4}, {4}},
                                           {{}, {1}, {}, {1}, {1}},
                                           {{2, 4}, {2, 4}, {2, 4}, {2, 4}, {2, 4}, 3, true}};
    for (const ProbeInputs &given : ways) {
        ScoreCase c(shape_of(33, 70), "probe");
        give_probe(c, given);
        c.check_on_devices();
    }
}

TEST_CASE("score on devices: inputs of every length, causal, windows and key lengths, in both alignments") {
    for (const int64_t lq : {1, 49, 140})
        for (const int64_t lk : {1, 15, 129})
            for (const gyre_alignment alignment : {GYRE_BOTTOM_RIGHT, GYRE_TOP_LEFT}) {
                ScoreCase c(shape_of(lq, lk), "probe");
                c.args.alignment = alignment;
                c.args.causal = lq % 2 == 0;
                if (lk > 128) c.args.window_left = 70;
                give_probe(c, own_of_two);
                c.check_on_devices();
                c.args.seqused_k = c.hold(GYRE_I32, {(double)lk, std::ceil((double)lk / 2)});
                c.oracle_score = oracle_probe(c);
                c.check_on_devices();
            }
}

TEST_CASE("score on devices: inputs of packed sequences") {
    ScoreCase c(AttentionShape().lengths(150, 260).head_counts(4, 2).in(GYRE_THD).of(GYRE_BF16), "probe");
    c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 0, 7, 71, 71, 136, 150});
    c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 65, 72, 72, 100, 259, 260});
    for (const int64_t entries : {1, 6}) {
        give_probe(c, {{entries, 4}, {entries, 4}, {entries, 1}, {1, 4}, {entries, 4}});
        c.check_on_devices();
    }
    c.args.causal = 1;
    c.args.seqused_k = c.hold(GYRE_I32, {65, 7, 0, 13, 159, 1});
    c.oracle_score = oracle_probe(c);
    c.check_on_devices();
}

TEST_CASE("score on devices: tables that hold minus infinity mask, whole rows too, whatever is added then") {
    for (const int added : {0, 1}) {
        ScoreCase c(shape_of(33, 70), "probe");
        give_probe(c, own_of_two);
        Tensor pairs(GYRE_F32, {33, 70});
        pairs.fill_normal(5);
        Random random(9);
        for (int64_t i = 0; i < 33; i++)
            for (int64_t j = 0; j < 70; j++)
                if (i % 5 == 0 || random.chance(0.4)) pairs.set({i, j}, random.chance(0.5) ? -infinity : -3.0e38);
        c.give("pairs", std::move(pairs));
        c.oracle_score = oracle_probe(c);
        if (added) {
            Tensor bias(GYRE_F32, {33, 70});
            bias.fill_normal(6);
            c.args.bias = c.hold(std::move(bias));
            c.args.alibi = c.hold(GYRE_F32, {0.5, 0.25, 0.125, 1});
            c.args.softcap = 3;
            c.args.sinks = c.hold(GYRE_F32, {0.5, 3, -1, 0});
        }
        c.check_on_devices();
    }
}

TEST_CASE("score on devices: values of keys that the function masks reach no result") {
    ScoreCase c(shape_of(33, 70), "probe");
    give_probe(c, own_of_two);
    Tensor pairs(GYRE_F32, {33, 70});
    pairs.fill_normal(5);
    for (int64_t i = 0; i < 33; i++)
        for (int64_t j = 8; j < 12; j++) pairs.set({i, j == 11 ? 10 : j}, -infinity);
    c.give("pairs", std::move(pairs));
    // The probe reads the pair of the next row and key.
    c.oracle_score = oracle_probe(c);
    each_device([&](gyre_context *context) {
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        const std::vector<uint64_t> expected = c.out.bits();
        for (int64_t b = 0; b < 2; b++)
            for (int64_t h = 0; h < 2; h++)
                for (int64_t j = 7; j < 10; j++) c.v.set({b, j, h, 5}, j == 7 ? infinity : std::nan(""));
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK(c.out.bits() == expected);
    });
}

TEST_CASE(
    "score on devices: parts of a function by query, by key and along keys, beside a bias and a mask, and in pages") {
    for (const int causal : {0, 1}) {
        ScoreCase c(shape_of(50, 140), "transformer_xl");
        c.args.causal = causal;
        score_model("transformer_xl").prepare(c, 15);
        c.check_on_devices();
        Tensor bias(GYRE_F16, {50, 140}), mask(GYRE_BOOL, {2, 1, 1, 140});
        bias.fill_normal(3);
        mask.fill_uniform_integers(4, 0, 1);
        c.args.bias = c.hold(std::move(bias));
        c.args.mask = c.hold(std::move(mask));
        c.check_on_devices();
        const KeyPages pages(c, 4, {140, 140});
        const gyre_attention_args in_pages = pages.args();
        c.check_on_devices(&in_pages);
    }
}

TEST_CASE("score on devices: what is refused, by name and before anything is launched") {
    ScoreCase given(shape_of(33, 70), "probe");
    give_probe(given, own_of_two);
    DeviceAttention a(shape_of(33, 70));
    std::vector<gyre_score_input> inputs = given.inputs;
    for (gyre_score_input &input : inputs) input.tensor = a.device.view(input.tensor);
    const std::vector<gyre_score_input> right = inputs;
    a.args.score = "probe";
    a.args.score_inputs = inputs.data();
    a.args.score_input_count = (int32_t)inputs.size();
    each_device([&](gyre_context *context) {
        REQUIRE_MESSAGE(gyre_attention(context, &a.args) == GYRE_OK, text(gyre_last_error()));
        a.args.score = "unheard_of";
        a.check_refusal(GYRE_UNSUPPORTED, "score", context);
        CHECK(text(gyre_last_error()).find("probe") != std::string::npos);
        a.args.score = "probe";
        inputs[0].tensor = given.inputs[0].tensor;
        a.check_refusal(GYRE_UNSUPPORTED, "score_inputs[0]", context);
        inputs = right;
        inputs[1].name = inputs[0].name;
        a.check_refusal(GYRE_BAD_ARGUMENT, "score_inputs[1].name", context);
        inputs = right;
        a.args.score_input_count--;
        a.check_refusal(GYRE_BAD_ARGUMENT, "score_inputs.offset", context);
        a.args.score_input_count++;
        inputs[0].tensor.shape[2]--;
        a.check_refusal(GYRE_BAD_SHAPE, "score_inputs.pairs", context);
        inputs = right;
        a.args.dropout = 0.5f;
        a.check_refusal(GYRE_UNSUPPORTED, "dropout", context);
        a.args.dropout = 0;
        // The shape alone is enough for the workspace.
        for (gyre_score_input &input : inputs) input.tensor.data = nullptr;
        size_t bytes = 0;
        CHECK(gyre_attention_workspace_size(context, &a.args, &bytes) == GYRE_OK);
        inputs = right;
    });
}
