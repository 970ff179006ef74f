/// Softcap, bias, boolean mask, sinks and ALiBi; scores of every size.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/random.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::vector<gyre_dtype> float_types = {GYRE_F32, GYRE_F16, GYRE_BF16};

/// Shapes that broadcast to [2, 4, 33, 70].
const std::vector<std::vector<int64_t>> broadcastable = {
    {2, 4, 33, 70}, {1, 4, 33, 70}, {2, 1, 33, 70}, {2, 4, 1, 70}, {2, 4, 33, 1}, {1, 1, 33, 70}, {4, 33, 70},
    {1, 33, 70},    {33, 70},       {33, 1},        {70},          {1},           {1, 1, 1, 1},   {2, 1, 1, 70},
};

AttentionShape broadcast_target(int64_t head_dim) {
    return AttentionShape().batches(2).lengths(33, 70).head_counts(4, 2).dims(head_dim);
}

void fill_mask(Tensor &mask, uint64_t seed, double share_of_true) {
    Random random(seed);
    std::vector<double> values;
    for (int64_t i = 0; i < mask.count(); i++) values.push_back(random.chance(share_of_true));
    mask.set_values(values);
}

} // namespace

TEST_CASE("a bias of every type broadcasts in every dimension") {
    for (const std::vector<int64_t> &shape : broadcastable)
        for (const gyre_dtype type : float_types)
            for (const int64_t head_dim : {64, 24}) {
                AttentionCase c(broadcast_target(head_dim));
                Tensor bias(type, shape, Placement::with_gaps(3));
                bias.fill_normal(5);
                c.args.bias = c.hold(std::move(bias));
                c.check();
            }
}

TEST_CASE("a boolean mask broadcasts in every dimension, and whole rows may be masked") {
    for (const std::vector<int64_t> &shape : broadcastable)
        for (const double share : {0.9, 0.5, 0.02}) {
            AttentionCase c(broadcast_target(64));
            Tensor mask(GYRE_BOOL, shape, Placement::with_gaps(1));
            fill_mask(mask, 6, share);
            c.args.mask = c.hold(std::move(mask));
            c.check();
        }
}

TEST_CASE("biases and masks in any strides: repeating, transposed, backwards") {
    for (const std::vector<int64_t> &strides :
         {std::vector<int64_t>{70, 0, 0, 1}, {9240, 2310, 1, 33}, {9240, 2310, -70, 1}, {9240, 2310, 70, -1}})
        for (const int64_t head_dim : {64, 24})
            for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16, GYRE_BOOL}) {
                AttentionCase c(broadcast_target(head_dim));
                Tensor tensor(type, {2, 4, 33, 70}, Placement::with_strides(strides));
                if (type == GYRE_BOOL)
                    fill_mask(tensor, 7, 0.6);
                else
                    tensor.fill_normal(7);
                (type == GYRE_BOOL ? c.args.mask : c.args.bias) = c.hold(std::move(tensor));
                c.check();
            }
}

TEST_CASE("a bias of minus infinity masks, whole rows too") {
    for (const gyre_dtype type : float_types)
        for (const int64_t head_dim : {64, 24}) {
            AttentionCase c(broadcast_target(head_dim));
            Tensor bias(type, {33, 70});
            bias.fill_normal(8);
            Random random(9);
            for (int64_t i = 0; i < 33; i++)
                for (int64_t j = 0; j < 70; j++)
                    if (i % 5 == 0 || random.chance(0.4)) bias.set({i, j}, -infinity);
            c.args.bias = c.hold(std::move(bias));
            c.check();
            Tensor everything(type, {1});
            everything.fill(-infinity);
            c.args.bias = c.hold(std::move(everything));
            c.check();
        }
}

TEST_CASE("a large finite bias that does not mask, -65504 as f16 models write it") {
    AttentionCase c(AttentionShape().lengths(20, 40).dims(64));
    Tensor bias(GYRE_F16, {20, 40});
    bias.fill(-65504); // a whole row of it is a uniform shift, not a mask
    for (int64_t i = 10; i < 20; i++) bias.set({i, i}, 0);
    c.args.bias = c.hold(std::move(bias));
    c.check();
}

TEST_CASE("the mask counts every nonzero byte as true") {
    AttentionCase c(AttentionShape().lengths(3, 4).dims(64));
    Tensor mask(GYRE_BOOL, {4});
    mask.set_values({1, 0, 1, 1});
    auto *bytes = (unsigned char *)mask.view().data;
    bytes[2] = 2;
    bytes[3] = 255;
    c.args.mask = c.hold(std::move(mask));
    c.check();
}

TEST_CASE("softcap comes before bias and mask") {
    for (const float softcap : {0.5f, 2.0f, 50.0f})
        for (const int64_t head_dim : {64, 24}) {
            AttentionCase c(broadcast_target(head_dim));
            c.args.softcap = softcap;
            c.check();
            Tensor bias(GYRE_F32, {33, 70});
            bias.fill_normal(10, 5.0);
            for (int64_t j = 0; j < 70; j += 3) bias.set({4, j}, -infinity);
            c.args.bias = c.hold(std::move(bias));
            c.check();
            Tensor narrow(GYRE_BF16, {33, 70});
            narrow.fill_normal(11, 5.0);
            for (int64_t j = 0; j < 70; j += 3) narrow.set({4, j}, -infinity);
            c.args.bias = c.hold(std::move(narrow));
            c.check();
        }
}

TEST_CASE("sinks join the denominator and lse only") {
    for (const double sink : {-30.0, 0.0, 4.0, 60.0, -infinity})
        for (const int64_t head_dim : {64, 24})
            for (const int causal : {0, 1}) {
                AttentionCase c(broadcast_target(head_dim));
                c.args.causal = causal;
                c.args.sinks = c.hold(GYRE_F32, {sink, -1, 0.5, sink});
                c.check();
            }
}

TEST_CASE("a NaN shows in the rows that see it, however large the sink") {
    AttentionCase c(broadcast_target(64));
    c.args.sinks = c.hold(GYRE_F32, {60, 95, 500, 700});
    for (int64_t h = 0; h < c.shape.kv_heads; h++) c.v.set({0, 5, h, 7}, std::nan(""));
    c.check();
    c.k.set({1, 3, 0, 9}, std::nan(""));
    c.check();
}

TEST_CASE("ALiBi in both alignments, with causal and without, with key lengths") {
    for (const gyre_alignment alignment : {GYRE_BOTTOM_RIGHT, GYRE_TOP_LEFT})
        for (const int causal : {0, 1})
            for (const int64_t head_dim : {64, 24}) {
                AttentionCase c(broadcast_target(head_dim));
                c.args.alignment = alignment;
                c.args.causal = causal;
                c.args.alibi = c.hold(GYRE_F32, {0.5, 0.25, 0.0625, 0});
                c.check();
                c.args.seqused_k = c.hold(GYRE_I32, {70, 41});
                c.check();
                Tensor bias(GYRE_F32, {33, 70}); // distances shift a row's scores alike, which lse alone tells
                bias.fill_normal(5);
                c.args.bias = c.hold(std::move(bias));
                c.check();
            }
}

TEST_CASE("ALiBi in rows of several tasks, whose denominators it moves") {
    for (const int causal : {0, 1}) {
        AttentionCase c(AttentionShape().lengths(600, 650).head_counts(2, 1).dims(64));
        c.args.causal = causal;
        c.args.alibi = c.hold(GYRE_F32, {0.5, -0.01});
        c.check();
    }
}

TEST_CASE("ALiBi and sinks of the largest finite numbers, which times log2(e) are beyond f32") {
    constexpr double huge = 3e38;
    for (const int64_t queries : {20, 1}) {
        AttentionCase c(AttentionShape().lengths(queries, 20).dims(64));
        c.args.causal = 1;
        c.args.alibi = c.hold(GYRE_F32, {huge}); // the nearest key alone counts
        std::vector<double> nearest = c.v.values();
        nearest.erase(nearest.begin(), nearest.end() - queries * 64);
        Dense expected = c.output();
        expected.data = nearest;
        c.check_output(expected, 0);
        c.args.alibi = nullptr;
        c.args.sinks = c.hold(GYRE_F32, {huge});
        expected.data.assign(nearest.size(), 0);
        c.check_output(expected, 1e-36); // a share of 2^-126, which NaN in values would show in
    }
}

TEST_CASE("scores of any size: scaled by 60, one huge late key, all equal, all zero") {
    for (const int64_t head_dim : {64, 24})
        for (const int general : {0, 1}) {
            AttentionCase c(AttentionShape().lengths(40, 300).dims(head_dim));
            if (general) c.args.sinks = c.hold(GYRE_F32, {0.25});
            c.args.scale = 60;
            c.check();
            c.args.scale = 0;
            for (int64_t d = 0; d < head_dim; d++) c.k.set({0, 290, 0, d}, 100 * c.q.get({0, 7, 0, d}));
            c.check();
            c.k.fill(0.75);
            c.check();
            c.q.fill(0);
            c.check();
        }
}

TEST_CASE("scores that overflow f32's exponential stay finite") {
    AttentionCase c(AttentionShape().lengths(5, 100).dims(64));
    for (Tensor *tensor : {&c.q, &c.k}) {
        std::vector<double> values = tensor->values();
        for (double &value : values) value *= 1000;
        tensor->set_values(values);
    }
    each_target([&](gyre_context *context) {
        REQUIRE(c.run(context) == GYRE_OK);
        int64_t invalid = 0;
        for (const double x : c.out.values()) invalid += !std::isfinite(x);
        for (const double x : c.lse.values()) invalid += !std::isfinite(x);
        CHECK(invalid == 0);
    });
}

TEST_CASE(
    "general calls of 16 bits, and those with dropout, multiply as plain ones do: matrix tiles, or in bf16 pairs") {
    for (const std::string &target : runnable_targets()) {
        if (target != "x86_64_amx" && target != "x86_64_avx512_bf16") continue;
        CAPTURE(target);
        for (const gyre_dtype type : {GYRE_BF16, GYRE_F16})
            for (const int64_t head_dim : {64, 72}) {
                AttentionCase c(AttentionShape().lengths(40, 40).dims(head_dim).of(type));
                const Context context(target.c_str());
                const auto target_of_call = [&] {
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    const std::string kernel = gyre_selected_kernel(context);
                    return kernel.substr(kernel.find("__") + 2);
                };
                const std::string plain = target_of_call();
                if (type == GYRE_BF16) CHECK(plain == target);
                c.args.softcap = 20;
                CHECK(target_of_call() == plain);
                c.args.dropout = 0.5f;
                CHECK(target_of_call() == plain);
            }
    }
}
