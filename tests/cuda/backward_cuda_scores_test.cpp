/// gyre_attention_backward() on CUDA devices with what changes scores and probabilities: caps, ALiBi, biases, dropout.
#include "device_attention.h"
#include "made_gradients.h"
#include "support/backward_case.h"
#include "support/each_kernel.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

AttentionShape shape_of(const Made &of, int64_t lq, int64_t lk) {
    return of.shape(lq, lk).batches(2).head_counts(4, 2);
}

gyre_tensor normal_bias(BackwardCase &c, gyre_dtype type, const std::vector<int64_t> &shape) {
    Tensor bias(type, shape);
    bias.fill_normal(3);
    return *c.forward.hold(std::move(bias));
}

void set_dropout(gyre_attention_args &args, float probability) {
    args.dropout = probability;
    args.dropout_seed = 0x123456789abcdefu;
    args.dropout_offset = 5;
}

} // namespace

TEST_CASE("backward on devices: caps, near to what they do not change and far from it") {
    for (const Made &of : made)
        for (const float cap : {0.5f, 3.0f, 50.0f})
            for (const float scale : {0.0f, 1.0f}) {
                BackwardCase c(shape_of(of, 50, 70));
                c.forward.args.causal = 1;
                c.forward.args.softcap = cap;
                c.forward.args.scale = scale;
                c.check_on_devices();
            }
}

TEST_CASE("backward on devices: ALiBi, with both alignments, in batches and in packed sequences") {
    const std::vector<double> slopes{0.5, -0.25, 1, 0.125};
    for (const Made &of : made) {
        for (const gyre_alignment alignment : {GYRE_BOTTOM_RIGHT, GYRE_TOP_LEFT}) {
            BackwardCase c(shape_of(of, 70, 90));
            c.forward.args.alignment = alignment;
            c.forward.args.alibi = c.forward.hold(GYRE_F32, slopes);
            c.forward.args.window_left = 40;
            c.check_on_devices();
        }
        BackwardCase packed(AttentionShape().lengths(90, 120).head_counts(4, 2).dims(of.dim).of(of.type).in(GYRE_THD));
        gyre_attention_args &args = packed.forward.args;
        args.cu_seqlens_q = packed.forward.hold(GYRE_I32, {0, 0, 20, 90});
        args.cu_seqlens_k = packed.forward.hold(GYRE_I32, {0, 30, 60, 120});
        args.causal = 1;
        args.alibi = packed.forward.hold(GYRE_F32, slopes);
        packed.check_on_devices();
    }
}

TEST_CASE("backward on devices: biases of every type, repeated along any dimension") {
    const std::vector<int64_t> shapes[] = {{2, 4, 40, 70}, {1, 4, 40, 70}, {2, 1, 1, 70}, {40, 1}};
    for (const Made &of : made)
        for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16})
            for (const auto &shape : shapes) {
                BackwardCase c(shape_of(of, 40, 70));
                const gyre_tensor bias = normal_bias(c, type, shape);
                c.forward.args.bias = &bias;
                c.forward.args.causal = shape.size() == 4;
                c.check_on_devices();
            }
}

TEST_CASE("backward on devices: keys that a bias masks get nothing, whatever they hold, nor do rows of them") {
    constexpr int64_t rows = 40, keys = 70, unseen = 9, blind = 7;
    for (const Made &of : made) {
        BackwardCase c(shape_of(of, rows, keys));
        Tensor bias(GYRE_F32, {rows, keys});
        bias.fill_normal(3);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < keys; j++)
                if (i == blind || j == unseen || (i * 5 + j) % 7 == 0) bias.set({i, j}, -infinity);
        c.forward.args.bias = c.forward.hold(std::move(bias));
        c.check_on_devices();
        each_device([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const auto q = c.q_grad.values(), k = c.k_grad.values(), v = c.v_grad.values();
            for (int64_t d = 0; d < of.dim; d++) {
                CHECK(c.q_grad.get({1, blind, 3, d}) == 0);
                CHECK(c.k_grad.get({1, unseen, 1, d}) == 0);
                CHECK(c.v_grad.get({1, unseen, 1, d}) == 0);
            }
            for (const double garbage : {std::nan(""), infinity, 1e38}) {
                for (int64_t d = 0; d < of.dim; d++) {
                    c.forward.k.set({0, unseen, 0, d}, garbage);
                    c.forward.v.set({0, unseen, 0, d}, -garbage);
                }
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CHECK(c.q_grad.values() == q);
                CHECK(c.k_grad.values() == k);
                CHECK(c.v_grad.values() == v);
            }
        });
    }
}

TEST_CASE("backward on devices: dropout drops what the forward call dropped") {
    for (const Made &of : made)
        for (const float probability : {0.3f, 0.9f}) {
            BackwardCase c(shape_of(of, 70, 100));
            set_dropout(c.forward.args, probability);
            c.check_on_devices();
            c.forward.args.causal = 1;
            c.forward.args.dropout_offset++;
            c.check_on_devices();
        }
}

TEST_CASE("backward on devices: all of it at once, rotated, with rows that are not aligned") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const Made &of : made)
        for (const int64_t gap : {0, 5}) {
            BackwardCase c(shape_of(of, 60, 90).in(gap ? GYRE_BHSD : GYRE_BSHD, Placement::with_gaps(gap)));
            gyre_attention_args &args = c.forward.args;
            const gyre_tensor bias = normal_bias(c, GYRE_F32, {4, 60, 90});
            args.bias = &bias;
            args.alibi = c.forward.hold(GYRE_F32, {0.5, -0.25, 1, 0.125});
            args.softcap = 3;
            args.rope = args.value_rope = &rope;
            args.causal = 1;
            set_dropout(args, 0.2f);
            c.check_on_devices();
        }
}

TEST_CASE("backward on devices: the gradient of a bias is refused by name, before anything is launched") {
    BackwardCase c(shape_of(made[0], 20, 30));
    Tensor bias(GYRE_F32, {20, 30});
    bias.fill_normal(3);
    c.add_bias(std::move(bias));
    OnDevice device;
    for (Tensor *t : {&c.out_grad, &c.q_grad, &c.k_grad, &c.v_grad, &*c.bias_grad}) device.add(*t);
    const gyre_attention_args forward = c.forward.views(device);
    gyre_attention_backward_args args = c.args;
    args.forward = &forward;
    for (gyre_tensor *t : {&args.out_grad, &args.q_grad, &args.k_grad, &args.v_grad}) *t = device.view(*t);
    const gyre_tensor bias_grad = device.view(*args.bias_grad);
    each_device([&](gyre_context *context) {
        args.bias_grad = &bias_grad;
        check_refused_before_launch([&] { return gyre_attention_backward(context, &args); }, GYRE_UNSUPPORTED,
                                    "bias_grad");
        args.bias_grad = nullptr;
        CHECK_MESSAGE(gyre_attention_backward(context, &args) == GYRE_OK, text(gyre_last_error()));
    });
}
