/// Lists, masks and tables in memory that a call writes: it would go by what it has just written, far outside of its tensors.
#include "support/refusal.h"

#include <cstring>
#include <deque>
#include <functional>
#include <vector>

using namespace gyre::test;

namespace {

constexpr int64_t tokens = 4, heads = 2, dim = 16, elements = tokens * heads * dim;

/// Operands, two outputs, and the views of a call.
struct Call {
    alignas(64) float read[6][elements] = {}, written[2][elements] = {};
    float lse[heads * tokens] = {}, state[heads * dim * dim] = {}, sums[heads * dim] = {};
    std::deque<gyre_tensor> views;
    gyre_rope rope = gyre_rope_defaults();

    static gyre_tensor dense(float *data, bool packed = false) {
        const int64_t shape[] = {1, tokens, heads, dim};
        return gyre_tensor_dense(data, GYRE_F32, packed ? 3 : 4, packed ? shape + 1 : shape);
    }
    const gyre_tensor *view(void *data, gyre_dtype dtype, const std::vector<int64_t> &shape) {
        views.push_back(gyre_tensor_dense(data, dtype, (int32_t)shape.size(), shape.data()));
        return &views.back();
    }
    /// A list in an output's memory.
    const gyre_tensor *list(const std::vector<int32_t> &values, const std::vector<int64_t> &shape, int output = 0) {
        std::memcpy(written[output], values.data(), values.size() * sizeof values[0]);
        return view(written[output], GYRE_I32, shape);
    }
    const gyre_tensor *positions(int output = 0) { return list({0, 1, 2, 3}, {tokens}, output); }
    void use_tables(int output = 0) {
        rope.cos = view(read[5], GYRE_F32, {tokens, dim / 2});
        rope.sin = view(written[output], GYRE_F32, {tokens, dim / 2});
    }
};

/// An argument, and how it comes into an output's memory.
template <typename Args>
struct Misplaced {
    const char *name;
    std::function<void(Call &, Args &)> place;
};

/// The call is refused by the argument's name, and nothing is written.
template <typename Args>
void check_all(const std::vector<Misplaced<Args>> &all,
               const std::function<gyre_status(Call &, const Misplaced<Args> &)> &run) {
    for (const Misplaced<Args> &one : all) {
        Call call;
        const gyre_status status = run(call, one);
        check_refused(one.name, status, GYRE_BAD_ARGUMENT, one.name);
        CHECK(std::string(gyre_last_error()).find("overlaps") != std::string::npos);
    }
}

gyre_attention_args attention_of(Call &c, bool packed = false) {
    gyre_attention_args a = gyre_attention_defaults();
    a.layout = packed ? GYRE_THD : GYRE_BSHD;
    a.q = c.dense(c.read[0], packed);
    a.k = c.dense(c.read[1], packed);
    a.v = c.dense(c.read[2], packed);
    a.out = c.dense(c.written[0], packed);
    return a;
}

using Attention = gyre_attention_args;

} // namespace

TEST_CASE("reads apart: attention refuses lists, masks and tables in its outputs") {
    const std::vector<Misplaced<Attention>> of_rows = {
        {"bias", [](Call &c, Attention &a) { a.bias = c.view(c.written[0], GYRE_F32, {tokens, tokens}); }},
        {"mask", [](Call &c, Attention &a) { a.mask = c.view(c.written[0], GYRE_BOOL, {tokens, tokens}); }},
        {"sinks", [](Call &c, Attention &a) { a.sinks = c.view(c.written[0], GYRE_F32, {heads}); }},
        {"alibi", [](Call &c, Attention &a) { a.alibi = c.view(c.written[0], GYRE_F32, {heads}); }},
        {"seqused_k", [](Call &c, Attention &a) { a.seqused_k = c.list({3}, {1}); }},
        {"page_table", [](Call &c, Attention &a) { a.page_table = c.list({0}, {1, 1}); }},
        {"q_positions", [](Call &c, Attention &a) { a.rope = &c.rope, a.q_positions = c.positions(); }},
        {"k_positions", [](Call &c, Attention &a) { a.rope = &c.rope, a.k_positions = c.positions(); }},
        {"sin", [](Call &c, Attention &a) { c.use_tables(), a.value_rope = &c.rope; }},
        {"alibi overlaps lse", [](Call &c, Attention &a) {
             a.lse = c.view(c.lse, GYRE_F32, {1, heads, tokens});
             a.alibi = c.view(c.lse, GYRE_F32, {heads});
         }}};
    check_all<Attention>(of_rows, [](Call &c, const Misplaced<Attention> &one) {
        Attention a = attention_of(c);
        one.place(c, a);
        return gyre_attention(nullptr, &a);
    });
    const std::vector<Misplaced<Attention>> of_packed = {{"cu_seqlens_q",
                                                          [](Call &c, Attention &a) {
                                                              a.cu_seqlens_q = c.list({0, tokens}, {2});
                                                              std::memcpy(c.read[5], c.written[0], 8);
                                                              a.cu_seqlens_k = c.view(c.read[5], GYRE_I32, {2});
                                                          }},
                                                         {"cu_seqlens_k", [](Call &c, Attention &a) {
                                                              a.cu_seqlens_k = c.list({0, tokens}, {2});
                                                              std::memcpy(c.read[5], c.written[0], 8);
                                                              a.cu_seqlens_q = c.view(c.read[5], GYRE_I32, {2});
                                                          }}};
    check_all<Attention>(of_packed, [](Call &c, const Misplaced<Attention> &one) {
        Attention a = attention_of(c, true);
        one.place(c, a);
        return gyre_attention(nullptr, &a);
    });
}

TEST_CASE("reads apart: gradients refuse lists and tables of the forward call in their memory") {
    const std::vector<Misplaced<Attention>> all = {
        {"seqused_k", [](Call &c, Attention &a) { a.seqused_k = c.list({3}, {1}); }},
        {"alibi", [](Call &c, Attention &a) { a.alibi = c.view(c.written[0], GYRE_F32, {heads}); }},
        {"q_positions", [](Call &c, Attention &a) { a.rope = &c.rope, a.q_positions = c.positions(1); }},
        {"sin", [](Call &c, Attention &a) { c.use_tables(1), a.rope = &c.rope; }}};
    check_all<Attention>(all, [](Call &c, const Misplaced<Attention> &one) {
        Attention forward = attention_of(c);
        static float more[2][elements];
        forward.out = c.dense(more[0]);
        forward.lse = c.view(c.lse, GYRE_F32, {1, heads, tokens});
        one.place(c, forward);
        gyre_attention_backward_args a = gyre_attention_backward_defaults();
        a.forward = &forward;
        a.out_grad = c.dense(c.read[3]);
        a.q_grad = c.dense(c.written[0]);
        a.k_grad = c.dense(c.written[1]);
        a.v_grad = c.dense(more[1]);
        return gyre_attention_backward(nullptr, &a);
    });
}

TEST_CASE("reads apart: appending refuses lists and tables in the caches") {
    using Append = gyre_cache_append_args;
    const std::vector<Misplaced<Append>> all = {
        {"cache_seqlens", [](Call &c, Append &a) { a.cache_seqlens = c.list({0}, {1}, 1); }},
        {"page_table", [](Call &c, Append &a) { a.page_table = c.list({0}, {1, 1}); }},
        {"cu_seqlens_k",
         [](Call &c, Append &a) {
             a.layout = GYRE_THD;
             a.k = c.dense(c.read[0], true);
             a.v = c.dense(c.read[1], true);
             a.cu_seqlens_k = c.list({0, tokens}, {2});
         }},
        {"positions", [](Call &c, Append &a) { a.rope = &c.rope, a.positions = c.positions(1); }},
        {"sin", [](Call &c, Append &a) { c.use_tables(1), a.rope = &c.rope; }}};
    check_all<Append>(all, [](Call &c, const Misplaced<Append> &one) {
        Append a = gyre_cache_append_defaults();
        a.k = c.dense(c.read[0]);
        a.v = c.dense(c.read[1]);
        a.k_cache = c.dense(c.written[0]);
        a.v_cache = c.dense(c.written[1]);
        one.place(c, a);
        return gyre_cache_append(nullptr, &a);
    });
}

TEST_CASE("reads apart: rotations refuse positions and tables in their outputs") {
    using Rotary = gyre_rotary_args;
    const std::vector<Misplaced<Rotary>> one_tensor = {
        {"positions", [](Call &c, Rotary &a) { a.positions = c.positions(); }},
        {"sin", [](Call &c, Rotary &a) { c.use_tables(), a.rope = c.rope; }}};
    check_all<Rotary>(one_tensor, [](Call &c, const Misplaced<Rotary> &one) {
        Rotary a = gyre_rotary_defaults();
        a.x = c.dense(c.read[0]);
        a.out = c.dense(c.written[0]);
        one.place(c, a);
        return gyre_rotary(nullptr, &a);
    });
    using Both = gyre_rotary_qk_args;
    const std::vector<Misplaced<Both>> two_tensors = {
        {"positions", [](Call &c, Both &a) { a.positions = c.positions(1); }},
        {"sin", [](Call &c, Both &a) { c.use_tables(1), a.rope = c.rope; }}};
    check_all<Both>(two_tensors, [](Call &c, const Misplaced<Both> &one) {
        Both a = gyre_rotary_qk_defaults();
        a.q = c.dense(c.read[0]);
        a.q_out = c.dense(c.written[0]);
        a.k = c.dense(c.read[1]);
        a.k_out = c.dense(c.written[1]);
        one.place(c, a);
        return gyre_rotary_qk(nullptr, &a);
    });
}

TEST_CASE("reads apart: linear attention and its gradients refuse lists and tables in what they write") {
    using Linear = gyre_linear_attention_args;
    const std::vector<Misplaced<Linear>> all = {
        {"seqused_k", [](Call &c, Linear &a) { a.seqused_k = c.list({3}, {1}); }},
        {"q_positions", [](Call &c, Linear &a) { a.rope = &c.rope, a.q_positions = c.positions(); }},
        {"sin", [](Call &c, Linear &a) { c.use_tables(), a.rope = &c.rope; }},
        {"seqused_k overlaps kv_state_out", [](Call &c, Linear &a) {
             a.kv_state_out = c.view(c.state, GYRE_F32, {1, heads, dim, dim});
             a.k_state_out = c.view(c.sums, GYRE_F32, {1, heads, dim});
             a.seqused_k = c.view(c.state, GYRE_I32, {1});
         }}};
    const auto linear_of = [](Call &c) {
        Linear a = gyre_linear_attention_defaults();
        a.q = c.dense(c.read[0]);
        a.k = c.dense(c.read[1]);
        a.v = c.dense(c.read[2]);
        a.out = c.dense(c.written[0]);
        return a;
    };
    check_all<Linear>(all, [&](Call &c, const Misplaced<Linear> &one) {
        Linear a = linear_of(c);
        one.place(c, a);
        return gyre_linear_attention(nullptr, &a);
    });
    const std::vector<Misplaced<Linear>> of_gradients(all.begin(), all.end() - 1);
    check_all<Linear>(of_gradients, [&](Call &c, const Misplaced<Linear> &one) {
        Linear forward = linear_of(c);
        one.place(c, forward);
        gyre_linear_attention_backward_args a = gyre_linear_attention_backward_defaults();
        a.forward = &forward;
        a.out_grad = c.dense(c.read[3]);
        a.q_grad = c.dense(c.written[0]);
        a.k_grad = c.dense(c.written[1]);
        a.v_grad = c.dense(c.read[4]);
        return gyre_linear_attention_backward(nullptr, &a);
    });
}
