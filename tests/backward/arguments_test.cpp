/// gyre_attention_backward() refuses what it cannot do: by status, by the argument's name, and without writing.
#include "support/backward_case.h"
#include "support/refusal.h"

#include <limits>

using namespace gyre::test;

namespace {

/// A good call, whose forward pass has run, and the parts that refusals spoil.
struct Call {
    BackwardCase c{AttentionShape().batches(2).lengths(5, 7).head_counts(4, 2).dims(16, 12)};
    gyre_rope rope = gyre_rope_defaults();

    Call() {
        REQUIRE_MESSAGE(c.forward.run(nullptr) == GYRE_OK, text(gyre_last_error()));
        for (Tensor *t : {&c.q_grad, &c.k_grad, &c.v_grad}) t->poison();
    }
    gyre_attention_args &forward() { return c.forward.args; }
    const gyre_tensor *tensor(gyre_dtype dtype, const std::vector<int64_t> &shape) {
        Tensor t(dtype, shape);
        t.fill(1);
        return c.forward.hold(std::move(t));
    }
};

} // namespace

TEST_CASE("backward: the call that refusals start from is accepted") {
    Call call;
    CHECK_MESSAGE(gyre_attention_backward(nullptr, &call.c.args) == GYRE_OK, text(gyre_last_error()));
    CHECK_FALSE(call.c.q_grad.elements_poisoned());
}

TEST_CASE("backward: refuses bad structures, tensors, shapes, overlaps, and options without gradients") {
    constexpr int64_t huge = std::numeric_limits<int64_t>::max();
    const std::vector<Refusal<Call>> refusals = {
        {"size 0", GYRE_BAD_ARGUMENT, "size", [](Call &k) { k.c.args.size = 0; }},
        {"size beyond", GYRE_BAD_ARGUMENT, "size", [](Call &k) { k.c.args.size = sizeof k.c.args + 8; }},
        {"no forward", GYRE_BAD_ARGUMENT, "forward", [](Call &k) { k.c.args.forward = nullptr; }},
        {"forward's size", GYRE_BAD_ARGUMENT, "forward", [](Call &k) { k.forward().size = 3; }},
        {"forward's q", GYRE_BAD_ARGUMENT, "q", [](Call &k) { k.forward().q.data = nullptr; }},
        {"no lse", GYRE_BAD_ARGUMENT, "lse", [](Call &k) { k.forward().lse = nullptr; }},
        {"out is q", GYRE_BAD_ARGUMENT, "out",
         [](Call &k) {
             k.forward().v = k.forward().k;
             k.c.args.v_grad = k.c.args.k_grad;
             k.c.v_grad.poison();
             k.forward().out = k.forward().q;
             k.c.args.out_grad = *k.tensor(GYRE_F32, {2, 5, 4, 16});
             k.c.args.v_grad = *k.tensor(GYRE_F32, {2, 7, 2, 16});
         }},
        {"mask", GYRE_UNSUPPORTED, "mask", [](Call &k) { k.forward().mask = k.tensor(GYRE_BOOL, {5, 7}); }},
        {"sinks", GYRE_UNSUPPORTED, "sinks", [](Call &k) { k.forward().sinks = k.tensor(GYRE_F32, {4}); }},
        {"score", GYRE_UNSUPPORTED, "score", [](Call &k) { k.forward().score = "t5_causal"; }},
        {"pages", GYRE_UNSUPPORTED, "page_table", [](Call &k) { k.forward().page_table = k.tensor(GYRE_I32, {2, 1}); }},
        {"rope", GYRE_BAD_SHAPE, "rope",
         [](Call &k) {
             k.rope.rotary_dim = 5;
             k.forward().rope = &k.rope;
         }},
        {"out_grad NULL", GYRE_BAD_ARGUMENT, "out_grad", [](Call &k) { k.c.args.out_grad.data = nullptr; }},
        {"q_grad NULL", GYRE_BAD_ARGUMENT, "q_grad", [](Call &k) { k.c.args.q_grad.data = nullptr; }},
        {"k_grad NULL", GYRE_BAD_ARGUMENT, "k_grad", [](Call &k) { k.c.args.k_grad.data = nullptr; }},
        {"v_grad NULL", GYRE_BAD_ARGUMENT, "v_grad", [](Call &k) { k.c.args.v_grad.data = nullptr; }},
        {"out_grad type", GYRE_BAD_TYPE, "out_grad", [](Call &k) { k.c.args.out_grad.dtype = GYRE_BF16; }},
        {"k_grad type", GYRE_BAD_TYPE, "k_grad", [](Call &k) { k.c.args.k_grad.dtype = GYRE_F64; }},
        {"q_grad rank", GYRE_BAD_SHAPE, "q_grad", [](Call &k) { k.c.args.q_grad.rank = 3; }},
        {"v_grad gaps", GYRE_BAD_SHAPE, "v_grad", [](Call &k) { k.c.args.v_grad.strides[3] = 2; }},
        {"out_grad shape", GYRE_BAD_SHAPE, "out_grad", [](Call &k) { k.c.args.out_grad.shape[3] = 11; }},
        {"q_grad shape", GYRE_BAD_SHAPE, "q_grad", [](Call &k) { k.c.args.q_grad.shape[1] = 4; }},
        {"k_grad shape", GYRE_BAD_SHAPE, "k_grad", [](Call &k) { k.c.args.k_grad.shape[2] = 1; }},
        {"k_grad repeats", GYRE_BAD_SHAPE, "k_grad", [](Call &k) { k.c.args.k_grad.strides[2] = 0; }},
        {"v_grad strides overflow", GYRE_BAD_SHAPE, "v_grad", [](Call &k) { k.c.args.v_grad.strides[1] = huge / 3; }},
        {"q_grad on CUDA", GYRE_UNSUPPORTED, "q_grad", [](Call &k) { k.c.args.q_grad.device = GYRE_CUDA; }},
        {"q_grad is q", GYRE_BAD_ARGUMENT, "q_grad", [](Call &k) { k.c.args.q_grad = k.forward().q; }},
        {"k_grad is k", GYRE_BAD_ARGUMENT, "k_grad", [](Call &k) { k.c.args.k_grad = k.forward().k; }},
        {"k_grad in lse", GYRE_BAD_ARGUMENT, "k_grad", [](Call &k) { k.c.args.k_grad.data = k.forward().lse->data; }},
        {"q_grad in k_grad", GYRE_BAD_ARGUMENT, "q_grad", [](Call &k) { k.c.args.q_grad.data = k.c.args.k_grad.data; }},
        {"v_grad in out_grad", GYRE_BAD_ARGUMENT, "v_grad",
         [](Call &k) { k.c.args.v_grad.data = k.c.args.out_grad.data; }},
        {"workspace", GYRE_BAD_ARGUMENT, "workspace", [](Call &k) { k.c.args.workspace_size = 64; }},
    };
    for (const Refusal<Call> &refusal : refusals) {
        Call call;
        refusal.spoil(call);
        check_refused(refusal.what, gyre_attention_backward(nullptr, &call.c.args), refusal.status, refusal.named);
        for (const Tensor *t : {&call.c.q_grad, &call.c.k_grad, &call.c.v_grad}) CHECK(t->untouched());
    }
    check_refused("NULL", gyre_attention_backward(nullptr, nullptr), GYRE_BAD_ARGUMENT, "args");
    Call call;
    check_refused("no size", gyre_attention_backward_workspace_size(nullptr, &call.c.args, nullptr), GYRE_BAD_ARGUMENT,
                  "bytes");
}
