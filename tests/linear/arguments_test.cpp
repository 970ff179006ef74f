/// gyre_linear_attention() and its backward pass refuse what they cannot do: by status, by the argument's name, and without
/// writing.
#include "support/linear_backward_case.h"
#include "support/refusal.h"

#include <deque>

using namespace gyre::test;

namespace {

/// A good causal call of two sequences of 6 tokens, 4 heads on 2, with all states, and the parts that refusals spoil.
struct Call {
    LinearBackwardCase b{AttentionShape().batches(2).lengths(6, 6).head_counts(4, 2).dims(16, 12)};
    gyre_rope rope = gyre_rope_defaults();
    gyre_linear_attention_args &a = b.forward.args;
    std::deque<gyre_tensor> views;

    Call() {
        b.give_states();
        b.forward.want_states();
        a.causal = 1;
        a.rope = &rope;
        for (Tensor *t : {&b.q_grad, &b.k_grad, &b.v_grad, &b.kv_state_grad, &b.k_state_grad, &b.forward.out,
                          &b.forward.kv_state_out, &b.forward.k_state_out})
            t->poison();
    }
    /// A copy of a view that may be spoilt.
    template <typename Args>
    gyre_tensor &spoil(Args &args, const gyre_tensor *Args::*which) {
        views.push_back(*(args.*which));
        args.*which = &views.back();
        return views.back();
    }
    gyre_tensor &spoil(const gyre_tensor *gyre_linear_attention_args::*which) { return spoil(a, which); }
    gyre_tensor &spoil(const gyre_tensor *gyre_linear_attention_backward_args::*which) { return spoil(b.args, which); }
    const gyre_tensor *list(const std::vector<double> &values, gyre_dtype type = GYRE_I32) {
        return b.forward.hold(type, values);
    }
};

using Forward = gyre_linear_attention_args;
using Backward = gyre_linear_attention_backward_args;

/// Refusals of what both calls look at.
const std::vector<Refusal<Call>> &shared_refusals() {
    static const std::vector<Refusal<Call>> refusals = {
        {"causal", GYRE_BAD_ARGUMENT, "causal", [](Call &c) { c.a.causal = 7; }},
        {"layout", GYRE_BAD_ARGUMENT, "layout", [](Call &c) { c.a.layout = (gyre_layout)7; }},
        {"q NULL", GYRE_BAD_ARGUMENT, "q", [](Call &c) { c.a.q.data = nullptr; }},
        {"q type", GYRE_BAD_TYPE, "q", [](Call &c) { c.a.q.dtype = GYRE_I32; }},
        {"k type", GYRE_BAD_TYPE, "k", [](Call &c) { c.a.k.dtype = GYRE_F16; }},
        {"k head size", GYRE_BAD_SHAPE, "k", [](Call &c) { c.a.k.shape[3] = 8; }},
        {"heads", GYRE_BAD_SHAPE, "k", [](Call &c) { c.a.k.shape[2] = c.a.v.shape[2] = 3; }},
        {"head size 513", GYRE_UNSUPPORTED, "v", [](Call &c) { c.a.v.shape[3] = 513; }},
        {"fewer keys when causal", GYRE_BAD_SHAPE, "k", [](Call &c) { c.a.k.shape[1] = c.a.v.shape[1] = 5; }},
        {"v rows", GYRE_BAD_SHAPE, "v", [](Call &c) { c.a.v.shape[1] = 5; }},
        {"device", GYRE_UNSUPPORTED, "v", [](Call &c) { c.a.v.device = GYRE_CUDA; }},
        {"seqused too large", GYRE_BAD_ARGUMENT, "seqused_k", [](Call &c) { c.a.seqused_k = c.list({2, 7}); }},
        {"seqused extent", GYRE_BAD_SHAPE, "seqused_k", [](Call &c) { c.a.seqused_k = c.list({2}); }},
        {"cu_seqlens", GYRE_BAD_ARGUMENT, "cu_seqlens_q", [](Call &c) { c.a.cu_seqlens_q = c.list({0, 6}); }},
        {"rotary_dim", GYRE_BAD_SHAPE, "rope.rotary_dim", [](Call &c) { c.rope.rotary_dim = 18; }},
        {"rotary_offset", GYRE_UNSUPPORTED, "rope.rotary_offset", [](Call &c) { c.rope.rotary_offset = 2; }},
        {"positions without rope", GYRE_BAD_ARGUMENT, "q_positions",
         [](Call &c) {
             c.a.rope = nullptr;
             c.a.q_positions = c.a.k_positions = c.list({0, 1, 2, 3, 4, 5});
         }},
        {"positions of queries alone", GYRE_BAD_ARGUMENT, "k_positions",
         [](Call &c) { c.a.q_positions = c.list({0, 1, 2, 3, 4, 5}); }},
        {"negative position", GYRE_BAD_ARGUMENT, "q_positions",
         [](Call &c) { c.a.q_positions = c.a.k_positions = c.list({0, 1, -2, 3, 4, 5}); }},
        {"half a state", GYRE_BAD_ARGUMENT, "k_state", [](Call &c) { c.a.k_state = nullptr; }},
        {"state's shape", GYRE_BAD_SHAPE, "kv_state", [](Call &c) { c.spoil(&Forward::kv_state).shape[2] = 15; }},
        {"state's heads", GYRE_BAD_SHAPE, "k_state", [](Call &c) { c.spoil(&Forward::k_state).shape[1] = 4; }},
        {"state's type", GYRE_BAD_TYPE, "kv_state", [](Call &c) { c.spoil(&Forward::kv_state).dtype = GYRE_BF16; }},
        {"state's rank", GYRE_BAD_SHAPE, "k_state", [](Call &c) { c.spoil(&Forward::k_state).rank = 2; }},
        {"state NULL", GYRE_BAD_ARGUMENT, "k_state", [](Call &c) { c.spoil(&Forward::k_state).data = nullptr; }},
        {"state's strides", GYRE_BAD_SHAPE, "kv_state", [](Call &c) { c.spoil(&Forward::kv_state).strides[3] = 2; }},
    };
    return refusals;
}

} // namespace

TEST_CASE("linear: the calls that refusals start from are accepted") {
    Call call;
    CHECK_MESSAGE(gyre_linear_attention(nullptr, &call.a) == GYRE_OK, text(gyre_last_error()));
    CHECK_MESSAGE(gyre_linear_attention_backward(nullptr, &call.b.args) == GYRE_OK, text(gyre_last_error()));
    CHECK_FALSE(call.b.q_grad.elements_poisoned());
}

TEST_CASE("linear: refuses bad structures, tensors, shapes, states and overlaps") {
    std::vector<Refusal<Call>> refusals = shared_refusals();
    const std::vector<Refusal<Call>> own = {
        {"size 0", GYRE_BAD_ARGUMENT, "size", [](Call &c) { c.a.size = 0; }},
        {"size beyond", GYRE_BAD_ARGUMENT, "size", [](Call &c) { c.a.size = sizeof c.a + 8; }},
        {"out NULL", GYRE_BAD_ARGUMENT, "out", [](Call &c) { c.a.out.data = nullptr; }},
        {"out's shape", GYRE_BAD_SHAPE, "out", [](Call &c) { c.a.out.shape[3] = 16; }},
        {"out repeats", GYRE_BAD_SHAPE, "out", [](Call &c) { c.a.out.strides[1] = 0; }},
        {"out is k", GYRE_BAD_ARGUMENT, "out", [](Call &c) { c.a.out.data = c.a.k.data; }},
        {"out is a state", GYRE_BAD_ARGUMENT, "out", [](Call &c) { c.a.out.data = c.a.kv_state->data; }},
        {"out is sums of keys", GYRE_BAD_ARGUMENT, "out",
         [](Call &c) { c.spoil(&Forward::k_state).data = c.a.out.data; }},
        {"half a state after", GYRE_BAD_ARGUMENT, "kv_state_out", [](Call &c) { c.a.kv_state_out = nullptr; }},
        {"state after: shape", GYRE_BAD_SHAPE, "kv_state_out",
         [](Call &c) { c.spoil(&Forward::kv_state_out).shape[0] = 1; }},
        {"state after: repeats", GYRE_BAD_SHAPE, "kv_state_out",
         [](Call &c) { c.spoil(&Forward::kv_state_out).strides[1] = 0; }},
        {"state after is q", GYRE_BAD_ARGUMENT, "kv_state_out",
         [](Call &c) { c.spoil(&Forward::kv_state_out).data = c.a.q.data; }},
        {"state after is out", GYRE_BAD_ARGUMENT, "k_state_out",
         [](Call &c) { c.spoil(&Forward::k_state_out).data = c.a.out.data; }},
        {"state after overlaps before", GYRE_BAD_ARGUMENT, "kv_state_out",
         [](Call &c) { c.spoil(&Forward::kv_state_out).data = (float *)c.a.kv_state->data + 4; }},
        {"states share memory", GYRE_BAD_ARGUMENT, "kv_state_out",
         [](Call &c) { c.spoil(&Forward::kv_state_out).data = c.a.k_state_out->data; }},
        {"workspace", GYRE_BAD_ARGUMENT, "workspace", [](Call &c) { c.a.workspace_size = 1 << 20; }},
    };
    refusals.insert(refusals.end(), own.begin(), own.end());
    for (const Refusal<Call> &refusal : refusals) {
        Call call;
        refusal.spoil(call);
        check_refused(refusal.what, gyre_linear_attention(nullptr, &call.a), refusal.status, refusal.named);
        for (const Tensor *t : {&call.b.forward.out, &call.b.forward.kv_state_out, &call.b.forward.k_state_out})
            CHECK(t->untouched());
    }
    CHECK(gyre_linear_attention(nullptr, nullptr) == GYRE_BAD_ARGUMENT);
    Call call;
    CHECK(gyre_linear_attention_workspace_size(nullptr, &call.a, nullptr) == GYRE_BAD_ARGUMENT);
}

TEST_CASE("linear: causal packed sequences have the same queries and keys") {
    LinearCase c(AttentionShape().lengths(6, 6).dims(16).in(GYRE_THD), 1, 2);
    c.args.causal = 1;
    c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 2, 6});
    for (const double second : {1.0, 3.0}) {
        c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, second, 6});
        check_refused("lists differ", c.run(nullptr), GYRE_BAD_ARGUMENT, "cu_seqlens_k");
    }
    c.args.causal = 0;
    CHECK(c.run(nullptr) == GYRE_OK);
}

TEST_CASE("linear backward: refuses bad structures, gradients and overlaps") {
    std::vector<Refusal<Call>> refusals = shared_refusals();
    const std::vector<Refusal<Call>> own = {
        {"size 0", GYRE_BAD_ARGUMENT, "size", [](Call &c) { c.b.args.size = 0; }},
        {"no forward", GYRE_BAD_ARGUMENT, "forward", [](Call &c) { c.b.args.forward = nullptr; }},
        {"forward's size", GYRE_BAD_ARGUMENT, "forward", [](Call &c) { c.a.size = 3; }},
        {"out_grad NULL", GYRE_BAD_ARGUMENT, "out_grad", [](Call &c) { c.b.args.out_grad.data = nullptr; }},
        {"out_grad's shape", GYRE_BAD_SHAPE, "out_grad", [](Call &c) { c.b.args.out_grad.shape[3] = 11; }},
        {"out_grad's type", GYRE_BAD_TYPE, "out_grad", [](Call &c) { c.b.args.out_grad.dtype = GYRE_BF16; }},
        {"q_grad's shape", GYRE_BAD_SHAPE, "q_grad", [](Call &c) { c.b.args.q_grad.shape[2] = 2; }},
        {"k_grad NULL", GYRE_BAD_ARGUMENT, "k_grad", [](Call &c) { c.b.args.k_grad.data = nullptr; }},
        {"v_grad's rank", GYRE_BAD_SHAPE, "v_grad", [](Call &c) { c.b.args.v_grad.rank = 3; }},
        {"q_grad repeats", GYRE_BAD_SHAPE, "q_grad", [](Call &c) { c.b.args.q_grad.strides[0] = 0; }},
        {"q_grad is q", GYRE_BAD_ARGUMENT, "q_grad", [](Call &c) { c.b.args.q_grad.data = c.a.q.data; }},
        {"k_grad is q_grad", GYRE_BAD_ARGUMENT, "k_grad", [](Call &c) { c.b.args.k_grad.data = c.b.args.q_grad.data; }},
        {"v_grad is a state", GYRE_BAD_ARGUMENT, "v_grad", [](Call &c) { c.b.args.v_grad.data = c.a.kv_state->data; }},
        {"half a gradient of states", GYRE_BAD_ARGUMENT, "k_state_out_grad",
         [](Call &c) { c.b.args.k_state_out_grad = nullptr; }},
        {"gradient of a state: shape", GYRE_BAD_SHAPE, "kv_state_grad",
         [](Call &c) { c.spoil(&Backward::kv_state_grad).shape[3] = 16; }},
        {"gradient of a state is that after", GYRE_BAD_ARGUMENT, "kv_state_grad",
         [](Call &c) { c.spoil(&Backward::kv_state_grad).data = c.b.args.kv_state_out_grad->data; }},
    };
    refusals.insert(refusals.end(), own.begin(), own.end());
    for (const Refusal<Call> &refusal : refusals) {
        Call call;
        refusal.spoil(call);
        check_refused(refusal.what, gyre_linear_attention_backward(nullptr, &call.b.args), refusal.status,
                      refusal.named);
        for (const Tensor *t :
             {&call.b.q_grad, &call.b.k_grad, &call.b.v_grad, &call.b.kv_state_grad, &call.b.k_state_grad})
            CHECK(t->untouched());
    }
}
