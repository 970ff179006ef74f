/// Gradients of attention with a bias, and of the bias itself.
#include "support/backward_case.h"
#include "support/central_differences.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/random.h"
#include "support/refusal.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

Tensor normal(gyre_dtype dtype, std::vector<int64_t> shape, const Placement &placement = {}) {
    Tensor t(dtype, std::move(shape), placement);
    t.fill_normal(5);
    return t;
}

/// Shapes that broadcast to [2, 4, 103, 130].
const std::vector<std::vector<int64_t>> broadcastable = {
    {2, 4, 103, 130},
    {1, 4, 103, 130},
    {2, 1, 103, 130},
    {2, 4, 1, 130},
    {2, 4, 103, 1},
    {4, 103, 130},
    {1, 103, 130},
    {103, 130},
    {103, 1},
    {130},
    {1},
    {2, 1, 1, 130},
};

AttentionShape broadcast_target() { return AttentionShape().batches(2).lengths(103, 130).head_counts(4, 2).dims(32); }

} // namespace

TEST_CASE("backward: a bias of every type and shape, and its gradient") {
    for (const std::vector<int64_t> &shape : broadcastable)
        for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16}) {
            BackwardCase c(broadcast_target().of(type == GYRE_F32 ? GYRE_F32 : GYRE_BF16));
            c.add_bias(normal(type, shape, Placement::with_gaps(3)), Placement::with_gaps(5));
            c.forward.args.causal = type == GYRE_F16;
            c.check();
        }
}

TEST_CASE("backward: a bias beside every other option") {
    const gyre_rope rope = gyre_rope_defaults();
    for (int option = 0; option < 8; option++)
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
            BackwardCase c(broadcast_target().of(dtype));
            c.add_bias(normal(GYRE_F32, {4, 103, 130}));
            gyre_attention_args &args = c.forward.args;
            if (option == 1) {
                args.causal = 1;
                args.rope = args.value_rope = &rope;
            }
            if (option == 2) args.softcap = 1.5f;
            if (option == 3) {
                args.window_left = 20;
                args.window_right = 5;
                args.alignment = GYRE_TOP_LEFT;
            }
            if (option == 4) {
                args.alibi = c.forward.hold(GYRE_F32, {0.5, -0.25, 1, 2});
                args.scale = 1;
            }
            if (option == 5) args.seqused_k = c.forward.hold(GYRE_I32, {0, 97});
            if (option == 6) {
                args.dropout = 0.3f;
                args.dropout_seed = 8;
                args.causal = 1;
            }
            if (option == 7) c.args.bias_grad = nullptr;
            c.check();
        }
}

TEST_CASE("backward: keys that a bias masks get nothing, nor do rows of them") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
        BackwardCase c(broadcast_target().of(dtype));
        Tensor bias = normal(GYRE_F32, {103, 130});
        Random random(4);
        for (int64_t i = 0; i < 103; i++)
            for (int64_t j = 0; j < 130; j++)
                if (i == 7 || j == 9 || random.chance(0.3))
                    bias.set({i, j}, i % 2 ? -1e39 : -std::numeric_limits<double>::infinity());
        c.add_bias(std::move(bias));
        c.check();
        each_target([&](gyre_context *context) {
            REQUIRE(c.run(context) == GYRE_OK);
            for (int64_t d = 0; d < 32; d++) {
                CHECK(c.k_grad.get({0, 9, 0, d}) == 0);
                CHECK(c.q_grad.get({1, 7, 3, d}) == 0);
            }
            for (int64_t j = 0; j < 130; j++) CHECK(c.bias_grad->get({7, j}) == 0);
        });
    }
}

TEST_CASE("backward: the gradient of a bias in transposed and repeating memory, and of nothing") {
    BackwardCase transposed(broadcast_target());
    transposed.add_bias(normal(GYRE_F32, {1, 4, 103, 130}, Placement::ordered({3, 2, 1, 0})),
                        Placement::ordered({2, 1, 0, 3}));
    transposed.check();
    BackwardCase repeated(broadcast_target());
    repeated.add_bias(normal(GYRE_F32, {4, 103, 130}, Placement::with_strides({0, 0, 1})));
    repeated.check();
    BackwardCase none(AttentionShape().batches(2).lengths(0, 130).head_counts(2, 2).dims(32));
    none.add_bias(normal(GYRE_F32, {2, 1, 130})); // of which no query asks anything: zeros
    none.check();
    BackwardCase no_entries(AttentionShape().batches(0).lengths(3, 5).head_counts(2, 2).dims(32));
    no_entries.add_bias(normal(GYRE_F32, {2, 3, 5}));
    no_entries.check();
}

TEST_CASE("backward: the oracle's gradient of a bias is the forward oracle's central differences") {
    for (const std::vector<int64_t> &shape : {std::vector<int64_t>{2, 4, 5, 7}, {4, 5, 7}}) {
        AttentionCase c(AttentionShape().batches(2).lengths(5, 7).head_counts(4, 2).dims(6, 8).of(GYRE_F64), 7);
        Tensor bias = normal(GYRE_F64, shape), out_grad(c.out);
        out_grad.fill_normal(99);
        const gyre_tensor view = bias.view();
        c.args.bias = &view;
        c.args.causal = 1;
        c.args.softcap = 1.5f;
        const OracleBackward expected = oracle_backward(c.args, out_grad.view());
        std::vector<double> sums((size_t)bias.count());
        for (size_t n = 0; n < expected.scores.exact.data.size(); n++)
            sums[n % sums.size()] += expected.scores.exact.data[n];
        const Dense weights(out_grad.view(), c.args.layout);
        check_close("bias", sums,
                    central_differences(bias, 1e-4,
                                        [&] {
                                            const OracleAttention result = oracle_attention(c.args);
                                            double sum = 0;
                                            for (size_t n = 0; n < weights.data.size(); n++)
                                                sum += result.out.data[n] * weights.data[n];
                                            return sum;
                                        }),
                    2e-7);
    }
}

TEST_CASE("backward: the gradient of a bias is the same bits with any number of threads") {
    for (const std::vector<int64_t> &shape : broadcastable) {
        BackwardCase c(broadcast_target());
        c.add_bias(normal(GYRE_F32, shape));
        c.forward.args.dropout = 0.1f;
        for (const std::string &target : runnable_targets()) {
            std::vector<uint64_t> first;
            for (const int32_t threads : {1, 2, 5}) {
                const Context context(target.c_str(), threads);
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                if (first.empty()) first = c.bias_grad->bits();
                CHECK(c.bias_grad->bits() == first);
            }
        }
    }
}

TEST_CASE("backward: heads that share a bias add to its gradient in their order, when each takes long, too") {
    BackwardCase c(AttentionShape().lengths(300, 400).head_counts(8, 8).dims(64));
    c.add_bias(normal(GYRE_F32, {300, 400}));
    for (const std::string &target : runnable_targets()) {
        std::vector<uint64_t> first;
        for (const int32_t threads : {1, 4, 4, 4}) {
            const Context context(target.c_str(), threads);
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            if (first.empty()) first = c.bias_grad->bits();
            CHECK(c.bias_grad->bits() == first);
        }
    }
}

TEST_CASE("backward: refuses gradients of a bias that cannot be") {
    const std::vector<Refusal<BackwardCase>> refusals = {
        {"no bias", GYRE_BAD_ARGUMENT, "bias_grad", [](BackwardCase &c) { c.forward.args.bias = nullptr; }},
        {"type", GYRE_BAD_TYPE, "bias_grad",
         [](BackwardCase &c) { c.args.bias_grad = c.forward.hold(normal(GYRE_BF16, {4, 103, 130})); }},
        {"shape", GYRE_BAD_SHAPE, "bias_grad",
         [](BackwardCase &c) { c.args.bias_grad = c.forward.hold(normal(GYRE_F32, {1, 103, 130})); }},
        {"rank", GYRE_BAD_SHAPE, "bias_grad",
         [](BackwardCase &c) { c.args.bias_grad = c.forward.hold(normal(GYRE_F32, {1, 4, 103, 130})); }},
        {"fewer dimensions", GYRE_BAD_SHAPE, "bias_grad",
         [](BackwardCase &c) { c.args.bias_grad = c.forward.hold(normal(GYRE_F32, {4, 103})); }},
        {"gaps", GYRE_BAD_SHAPE, "bias_grad",
         [](BackwardCase &c) {
             c.args.bias_grad = c.forward.hold(normal(GYRE_F32, {4, 103, 130}, Placement::ordered({2, 1, 0})));
         }},
        {"repeats", GYRE_BAD_SHAPE, "bias_grad",
         [](BackwardCase &c) {
             c.args.bias_grad = c.forward.hold(normal(GYRE_F32, {4, 103, 130}, Placement::with_strides({0, 130, 1})));
         }},
        {"is the bias", GYRE_BAD_ARGUMENT, "bias", [](BackwardCase &c) { c.args.bias_grad = c.forward.args.bias; }},
        {"q_grad in the bias", GYRE_BAD_ARGUMENT, "bias",
         [](BackwardCase &c) { c.args.q_grad.data = c.forward.args.bias->data; }},
        {"in q_grad", GYRE_BAD_ARGUMENT, "q_grad bias_grad",
         [](BackwardCase &c) {
             gyre_tensor view = *c.args.bias_grad;
             view.data = c.args.q_grad.data;
             c.args.bias_grad = c.forward.hold(view);
         }},
        {"on CUDA", GYRE_UNSUPPORTED, "bias_grad",
         [](BackwardCase &c) {
             gyre_tensor view = *c.args.bias_grad;
             view.device = GYRE_CUDA;
             c.args.bias_grad = c.forward.hold(view);
         }},
    };
    for (const Refusal<BackwardCase> &refusal : refusals) {
        BackwardCase c(broadcast_target());
        c.add_bias(normal(GYRE_F32, {4, 103, 130}));
        REQUIRE(c.run(nullptr) == GYRE_OK);
        for (Tensor *t : {&c.q_grad, &c.k_grad, &c.v_grad}) t->poison();
        refusal.spoil(c);
        check_refused(refusal.what, gyre_attention_backward(nullptr, &c.args), refusal.status, refusal.named);
        for (const Tensor *t : {&c.q_grad, &c.k_grad, &c.v_grad}) CHECK(t->untouched());
    }
}
