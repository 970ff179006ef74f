#include "operations.h"

#include "../support/said_arguments.h"

#include <gyre/kernels.h>

#include <cmath>
#include <deque>

namespace gyre::test {
namespace {

constexpr int64_t batch = 2, tokens = 40, keys = 70, heads = 2, dim = 64;

/// Memory of the calls, which lives as long as the program.
struct Memory {
    gyre_dtype dtype = GYRE_F32;
    std::deque<std::vector<float>> numbers;
    std::deque<gyre_tensor> tensors;
    std::deque<gyre_rope> ropes;
    std::deque<std::vector<int32_t>> lists;
    std::deque<gyre_attention_args> attention;
    std::deque<gyre_linear_attention_args> linear;

    gyre_tensor dense(const std::vector<int64_t> &shape) { return dense_of(dtype, shape); }
    gyre_tensor dense_of(gyre_dtype type, const std::vector<int64_t> &shape) {
        int64_t count = 1;
        for (const int64_t extent : shape) count *= extent;
        auto &values = numbers.emplace_back((size_t)count);
        for (size_t i = 0; i < values.size(); i++) values[i] = (float)std::sin((double)(i * numbers.size()));
        return gyre_tensor_dense(values.data(), type, (int32_t)shape.size(), shape.data());
    }
    std::vector<float> *last() { return &numbers.back(); }
    const gyre_tensor *hold(const gyre_tensor &t) { return &tensors.emplace_back(t); }
    const gyre_tensor *list(std::vector<int32_t> values) {
        auto &kept = lists.emplace_back(std::move(values));
        const auto count = (int64_t)kept.size();
        return hold(gyre_tensor_dense(kept.data(), GYRE_I32, 1, &count));
    }
    const gyre_rope *rope() { return &ropes.emplace_back(gyre_rope_defaults()); }
};

Memory &memory() {
    static auto &all = *new Memory;
    return all;
}

/// A context for one call.
template <typename Call>
gyre_status in_context(const Kind &kind, const Call &call) {
    gyre_context_options options = gyre_context_defaults();
    options.threads = kind.threads;
    options.parallel_for = kind.pool;
    options.target = kind.target;
    gyre_context *context = nullptr;
    gyre_status status = gyre_context_create(&options, &context);
    if (status == GYRE_OK) status = call(context);
    gyre_context_destroy(context);
    return status;
}

template <typename Args>
Operation operation(std::string name, const Kind &kind, const Args &args,
                    gyre_status (*call)(gyre_context *, const Args *),
                    gyre_status (*size)(gyre_context *, const Args *, size_t *), std::vector<float> *written) {
    return {std::move(name),
            [=] {
                return in_context(kind, [&](gyre_context *context) {
                    size_t bytes;
                    const gyre_status status = size(context, &args, &bytes);
                    return status == GYRE_OK ? call(context, &args) : status;
                });
            },
            written};
}

gyre_attention_args attention_args(int64_t queries, int64_t of_keys) {
    Memory &m = memory();
    gyre_attention_args a = gyre_attention_defaults();
    a.q = m.dense({batch, queries, heads, dim});
    a.k = m.dense({batch, of_keys, heads, dim});
    a.v = m.dense({batch, of_keys, heads, dim});
    a.out = m.dense({batch, queries, heads, dim});
    return a;
}

int stand_in(void **) { return 0; }

/// What tells about the library, and a library that comes and goes.
gyre_status look_around() {
    static const gyre_kernel kernel = {
        "rotary_stand_in", "rotary", "stand_in", "x86_64_generic", "dtype=float32 pairing=half workspace=0",
        "default",         stand_in, nullptr,    rotary_metadata};
    static const gyre_kernel_library library = {sizeof library, GYRE_KERNEL_INTERFACE, "stand_in", &kernel, 1};
    if (gyre_kernel_count() == 0 || !*gyre_cpu_features()) return GYRE_OUT_OF_MEMORY;
    gyre_kernel_info info;
    gyre_target_info target;
    if (!gyre_kernel_at(0, &info) || !gyre_target_at(0, &target)) return GYRE_OUT_OF_MEMORY;
    const gyre_status status = gyre_register_kernels(&library);
    if (status != GYRE_OK) return status;
    const gyre_status gone = gyre_unregister_kernels(&library);
    // It is gone at once, also where there was no memory for a list without it.
    if (gone == GYRE_OK && gyre_unregister_kernels(&library) == GYRE_OK) return GYRE_BAD_ARGUMENT;
    return gone;
}

/// Refusals whose texts are put together.
gyre_status be_refused(const gyre_attention_args &a) {
    const gyre_status status = gyre_attention(nullptr, &a);
    if (status != GYRE_BAD_TYPE) return status;
    gyre_context_options options = gyre_context_defaults();
    options.target = "abacus";
    gyre_context *context = nullptr;
    const gyre_status made = gyre_context_create(&options, &context);
    return made == GYRE_BAD_ARGUMENT ? GYRE_OK : made;
}

} // namespace

std::vector<Operation> operations(const Kind &kind) {
    Memory &m = memory();
    m.dtype = kind.dtype;
    std::vector<Operation> all;

    gyre_rotary_args rotary = gyre_rotary_defaults();
    rotary.x = m.dense({batch, tokens, heads, dim});
    rotary.out = m.dense({batch, tokens, heads, dim});
    all.push_back(operation("rotary", kind, rotary, gyre_rotary, gyre_rotary_workspace_size, m.last()));

    gyre_attention_args plain = attention_args(tokens, keys);
    std::vector<float> *const out = m.last();
    plain.rope = plain.value_rope = m.rope();
    all.push_back(operation("attention", kind, plain, gyre_attention, gyre_attention_workspace_size, out));

    gyre_attention_args general = attention_args(tokens, keys);
    std::vector<float> *const general_out = m.last();
    general.bias = m.hold(m.dense({tokens, keys}));
    general.seqused_k = m.list({70, 33});
    all.push_back(operation("biased", kind, general, gyre_attention, gyre_attention_workspace_size, general_out));

    gyre_attention_args decoding = attention_args(1, 3000);
    all.push_back(operation("decoding", kind, decoding, gyre_attention, gyre_attention_workspace_size, m.last()));

    gyre_attention_args *const forward = &m.attention.emplace_back(attention_args(tokens, keys));
    forward->lse = m.hold(m.dense_of(GYRE_F32, {batch, heads, tokens}));
    gyre_attention_backward_args backward = gyre_attention_backward_defaults();
    backward.forward = forward;
    backward.out_grad = m.dense({batch, tokens, heads, dim});
    backward.k_grad = m.dense({batch, keys, heads, dim});
    backward.v_grad = m.dense({batch, keys, heads, dim});
    backward.q_grad = m.dense({batch, tokens, heads, dim});
    all.push_back(operation("backward", kind, backward, gyre_attention_backward, gyre_attention_backward_workspace_size,
                            m.last()));

    gyre_attention_merge_args merge = gyre_attention_merge_defaults();
    merge.parts = 3;
    merge.part_out = m.dense({3 * batch, tokens, heads, dim});
    merge.part_lse = m.dense_of(GYRE_F32, {3 * batch, heads, tokens});
    merge.part_out.shape[0] = merge.part_lse.shape[0] = batch;
    merge.part_out_stride = batch * tokens * heads * dim;
    merge.part_lse_stride = batch * heads * tokens;
    merge.out = m.dense({batch, tokens, heads, dim});
    all.push_back(operation("merge", kind, merge, gyre_attention_merge, gyre_attention_merge_workspace_size, m.last()));

    gyre_cache_append_args append = gyre_cache_append_defaults();
    append.k = m.dense({batch, tokens, heads, dim});
    append.v = m.dense({batch, tokens, heads, dim});
    append.rope = m.rope();
    append.v_cache = m.dense({batch, keys, heads, dim});
    append.k_cache = m.dense({batch, keys, heads, dim});
    all.push_back(operation("append", kind, append, gyre_cache_append, gyre_cache_append_workspace_size, m.last()));

    gyre_linear_attention_args linear = gyre_linear_attention_defaults();
    linear.q = m.dense({batch, tokens, heads, dim});
    linear.k = m.dense({batch, tokens, heads, dim});
    linear.v = m.dense({batch, tokens, heads, dim});
    linear.causal = 1;
    linear.rope = m.rope();
    linear.out = m.dense({batch, tokens, heads, dim});
    all.push_back(
        operation("linear", kind, linear, gyre_linear_attention, gyre_linear_attention_workspace_size, m.last()));

    gyre_linear_attention_backward_args linear_backward = gyre_linear_attention_backward_defaults();
    linear_backward.forward = &m.linear.emplace_back(linear);
    linear_backward.out_grad = m.dense({batch, tokens, heads, dim});
    linear_backward.k_grad = m.dense({batch, tokens, heads, dim});
    linear_backward.v_grad = m.dense({batch, tokens, heads, dim});
    linear_backward.q_grad = m.dense({batch, tokens, heads, dim});
    all.push_back(operation("linear_backward", kind, linear_backward, gyre_linear_attention_backward,
                            gyre_linear_attention_backward_workspace_size, m.last()));

    std::vector<float> *const frequencies = &m.numbers.emplace_back(2 * 32 + 2);
    all.push_back({"frequencies",
                   [=] {
                       gyre_frequency_rule rule = gyre_frequency_defaults();
                       auto *numbers = (double *)frequencies->data(); // operator new aligns them
                       return gyre_frequencies(&rule, dim, dim, 0, numbers, numbers + 32);
                   },
                   frequencies});
    all.push_back({"looking around", look_around, nullptr});
    gyre_attention_args refused = attention_args(2, 2);
    refused.k.dtype = GYRE_I64;
    all.push_back({"refusals", [=] { return be_refused(refused); }, nullptr});
    return all;
}

} // namespace gyre::test
