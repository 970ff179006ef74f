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
    const gyre_rope *with_tables(int output = 0) {
        rope.cos = view(read[5], GYRE_F32, {tokens, dim / 2});
        rope.sin = view(written[output], GYRE_F32, {tokens, dim / 2});
        return &rope;
    }
};

/// An argument, and how it comes into an output's memory.
template <typename Args>
struct Misplaced {
    const char *name;
    std::function<void(Call &, Args &)> place;
};

/// The call is refused by the argument's name, whichever of these is misplaced.
template <typename Args>
void check_all(const std::vector<Misplaced<Args>> &all, const std::function<Args(Call &)> &args_of,
               const std::function<gyre_status(Call &, const Args &)> &run) {
    for (const Misplaced<Args> &one : all) {
        Call call;
        Args args = args_of(call);
        one.place(call, args);
        const gyre_status status = run(call, args);
        check_refused(one.name, status, GYRE_BAD_ARGUMENT, one.name);
        CHECK(std::string(gyre_last_error()).find("overlaps") != std::string::npos);
    }
}

using Attention = gyre_attention_args;
using Append = gyre_cache_append_args;
using Rotary = gyre_rotary_args;
using Both = gyre_rotary_qk_args;
using Linear = gyre_linear_attention_args;

Attention attention_of(Call &c, bool packed = false) {
    Attention a = gyre_attention_defaults();
    a.layout = packed ? GYRE_THD : GYRE_BSHD;
    a.rope = &c.rope;
    a.q = c.dense(c.read[0], packed);
    a.k = c.dense(c.read[1], packed);
    a.v = c.dense(c.read[2], packed);
    a.out = c.dense(c.written[0], packed);
    return a;
}

/// Bounds in an output's memory, and the same ones elsewhere.
void place_bounds(Call &c, const gyre_tensor **in_output, const gyre_tensor **elsewhere) {
    *in_output = c.list({0, tokens}, {2});
    std::memcpy(c.read[5], c.written[0], 2 * sizeof(int32_t));
    *elsewhere = c.view(c.read[5], GYRE_I32, {2});
}

Append append_of(Call &c, bool packed = false) {
    Append a = gyre_cache_append_defaults();
    a.layout = packed ? GYRE_THD : GYRE_BSHD;
    a.rope = &c.rope;
    a.k = c.dense(c.read[0], packed);
    a.v = c.dense(c.read[1], packed);
    a.k_cache = c.dense(c.written[0]);
    a.v_cache = c.dense(c.written[1]);
    return a;
}

Linear linear_of(Call &c) {
    Linear a = gyre_linear_attention_defaults();
    a.rope = &c.rope;
    a.q = c.dense(c.read[0]);
    a.k = c.dense(c.read[1]);
    a.v = c.dense(c.read[2]);
    a.out = c.dense(c.written[0]);
    return a;
}

} // namespace

TEST_CASE("reads apart: attention refuses lists, masks and tables in its outputs") {
    const std::function<gyre_status(Call &, const Attention &)> run = [](Call &, const Attention &a) {
        return gyre_attention(nullptr, &a);
    };
    check_all<Attention>(
        {{"bias", [](Call &c, Attention &a) { a.bias = c.view(c.written[0], GYRE_F32, {tokens, tokens}); }},
         {"mask", [](Call &c, Attention &a) { a.mask = c.view(c.written[0], GYRE_BOOL, {tokens, tokens}); }},
         {"sinks", [](Call &c, Attention &a) { a.sinks = c.view(c.written[0], GYRE_F32, {heads}); }},
         {"alibi", [](Call &c, Attention &a) { a.alibi = c.view(c.written[0], GYRE_F32, {heads}); }},
         {"seqused_k", [](Call &c, Attention &a) { a.seqused_k = c.list({3}, {1}); }},
         {"page_table", [](Call &c, Attention &a) { a.page_table = c.list({0}, {1, 1}); }},
         {"q_positions", [](Call &c, Attention &a) { a.q_positions = c.positions(); }},
         {"k_positions", [](Call &c, Attention &a) { a.k_positions = c.positions(); }},
         {"sin", [](Call &c, Attention &a) { a.value_rope = c.with_tables(); }},
         {"alibi overlaps lse",
          [](Call &c, Attention &a) {
              a.lse = c.view(c.lse, GYRE_F32, {1, heads, tokens});
              a.alibi = c.view(c.lse, GYRE_F32, {heads});
          }}},
        [](Call &c) { return attention_of(c); }, run);
    check_all<Attention>(
        {{"cu_seqlens_q", [](Call &c, Attention &a) { place_bounds(c, &a.cu_seqlens_q, &a.cu_seqlens_k); }},
         {"cu_seqlens_k", [](Call &c, Attention &a) { place_bounds(c, &a.cu_seqlens_k, &a.cu_seqlens_q); }}},
        [](Call &c) { return attention_of(c, true); }, run);
}

TEST_CASE("reads apart: gradients refuse lists and tables of the forward call in their memory") {
    static float more[2][elements];
    check_all<Attention>(
        {{"seqused_k", [](Call &c, Attention &a) { a.seqused_k = c.list({3}, {1}); }},
         {"alibi", [](Call &c, Attention &a) { a.alibi = c.view(c.written[0], GYRE_F32, {heads}); }},
         {"q_positions", [](Call &c, Attention &a) { a.q_positions = c.positions(1); }},
         {"sin", [](Call &c, Attention &a) { a.rope = c.with_tables(1); }}},
        [](Call &c) {
            Attention forward = attention_of(c);
            forward.out = c.dense(more[0]);
            forward.lse = c.view(c.lse, GYRE_F32, {1, heads, tokens});
            return forward;
        },
        [](Call &c, const Attention &forward) {
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
    const std::function<gyre_status(Call &, const Append &)> run = [](Call &, const Append &a) {
        return gyre_cache_append(nullptr, &a);
    };
    check_all<Append>(
        {{"cache_seqlens", [](Call &c, Append &a) { a.cache_seqlens = c.list({0}, {1}, 1); }},
         {"page_table", [](Call &c, Append &a) { a.page_table = c.list({0}, {1, 1}); }},
         {"positions", [](Call &c, Append &a) { a.positions = c.positions(1); }},
         {"sin", [](Call &c, Append &a) { a.rope = c.with_tables(1); }}},
        [](Call &c) { return append_of(c); }, run);
    check_all<Append>(
        {{"cu_seqlens_k", [](Call &c, Append &a) { a.cu_seqlens_k = c.list({0, tokens}, {2}); }}},
        [](Call &c) { return append_of(c, true); }, run);
}

TEST_CASE("reads apart: rotations refuse positions and tables in their outputs") {
    check_all<Rotary>(
        {{"positions", [](Call &c, Rotary &a) { a.positions = c.positions(); }},
         {"sin", [](Call &c, Rotary &a) { a.rope = *c.with_tables(); }}},
        [](Call &c) {
            Rotary a = gyre_rotary_defaults();
            a.x = c.dense(c.read[0]);
            a.out = c.dense(c.written[0]);
            return a;
        },
        [](Call &, const Rotary &a) { return gyre_rotary(nullptr, &a); });
    check_all<Both>(
        {{"positions", [](Call &c, Both &a) { a.positions = c.positions(1); }},
         {"sin", [](Call &c, Both &a) { a.rope = *c.with_tables(1); }}},
        [](Call &c) {
            Both a = gyre_rotary_qk_defaults();
            a.q = c.dense(c.read[0]);
            a.q_out = c.dense(c.written[0]);
            a.k = c.dense(c.read[1]);
            a.k_out = c.dense(c.written[1]);
            return a;
        },
        [](Call &, const Both &a) { return gyre_rotary_qk(nullptr, &a); });
}

TEST_CASE("reads apart: linear attention and its gradients refuse lists and tables in what they write") {
    const std::vector<Misplaced<Linear>> of_both = {
        {"seqused_k", [](Call &c, Linear &a) { a.seqused_k = c.list({3}, {1}); }},
        {"q_positions", [](Call &c, Linear &a) { a.q_positions = c.positions(); }},
        {"sin", [](Call &c, Linear &a) { a.rope = c.with_tables(); }}};
    const std::vector<Misplaced<Linear>> of_states = {{"seqused_k overlaps kv_state_out", [](Call &c, Linear &a) {
                                                           a.kv_state_out =
                                                               c.view(c.state, GYRE_F32, {1, heads, dim, dim});
                                                           a.k_state_out = c.view(c.sums, GYRE_F32, {1, heads, dim});
                                                           a.seqused_k = c.view(c.state, GYRE_I32, {1});
                                                       }}};
    for (const auto &all : {of_both, of_states})
        check_all<Linear>(all, linear_of, [](Call &, const Linear &a) { return gyre_linear_attention(nullptr, &a); });
    check_all<Linear>(of_both, linear_of, [](Call &c, const Linear &forward) {
        gyre_linear_attention_backward_args a = gyre_linear_attention_backward_defaults();
        a.forward = &forward;
        a.out_grad = c.dense(c.read[3]);
        a.q_grad = c.dense(c.written[0]);
        a.k_grad = c.dense(c.written[1]);
        a.v_grad = c.dense(c.read[4]);
        return gyre_linear_attention_backward(nullptr, &a);
    });
}
