/// Any bytes are one call of one operation with hostile arguments: it returns a status, and an output that was refused is
/// untouched. Sanitizers see the rest.
#include "hostile_tensors.h"

#include <gyre/kernels.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <new>
#include <tuple>
#include <utility>

using namespace gyre::fuzz;

namespace {

/// How many calls were accepted: a fuzzer whose calls are all refused finds little.
struct Tally {
    long accepted = 0, all = 0;
    ~Tally() { std::fprintf(stderr, "%ld of %ld calls were accepted\n", accepted, all); }
} tally;

/// Contexts are made once: with each number of threads and each target that this machine runs.
gyre_context *choose_context(ByteReader &r) {
    static gyre_context *contexts[16] = {};
    static uint32_t count = 0;
    if (!count) {
        gyre_target_info target;
        for (int32_t i = 0; gyre_target_at(i, &target) && count < 14; i++)
            for (const int32_t threads : {1, 2}) {
                gyre_context_options options = gyre_context_defaults();
                options.target = target.name;
                options.threads = threads;
                if (target.device == GYRE_CPU && gyre_context_create(&options, &contexts[count]) == GYRE_OK) count++;
            }
        if (!count) std::abort();
    }
    return contexts[r.below(count)];
}

/// One call's arguments.
class Case {
public:
    Case(ByteReader &reader, Memory &memory) : r(reader), memory(memory), t(reader, memory) {
        batch = 1 + r.below(3);
        q_len = r.below(20);
        k_len = r.rarely(4) ? q_len : r.below(40);
        kv_heads = 1 + r.below(2);
        heads = kv_heads * (1 + r.below(2));
        dim = r.rarely(3) ? 1 + r.below(70) : 16;
        dtype = (gyre_dtype)r.below(3);
    }

    gyre_status run() {
        gyre_context *context = choose_context(r);
        switch (r.below(8)) {
        case 0:
            return rotary(context);
        case 1:
            return rotary_qk(context);
        case 2:
        case 3:
            return attention(context);
        case 4:
            return backward(context);
        case 5:
            return merge(context);
        case 6:
            return append(context);
        default:
            return linear(context);
        }
    }

private:
    ByteReader &r;
    Memory &memory;
    HostileTensors t;
    int64_t batch, q_len, k_len, heads, kv_heads, dim;
    gyre_dtype dtype;
    gyre_layout layout = GYRE_BSHD;
    gyre_rope ropes[3];
    double inv_freq[Memory::bytes];
    uint8_t workspace[1 << 18];

    int32_t flag() { return r.rarely(24) ? r.number<int32_t>() : (int32_t)r.below(2); }
    template <typename Enum>
    Enum choice(uint32_t count) {
        return (Enum)(r.rarely(24) ? r.number<int32_t>() : (int32_t)r.below(count));
    }
    template <typename Args>
    void common(Args *a) {
        if (r.rarely(48)) a->size = r.number<uint32_t>() % 1024;
        if (a->size > sizeof *a) a->size += 4096; // what it says must be there
        if (r.rarely(6)) {
            a->workspace = workspace + r.below(64);
            a->workspace_size = r.rarely(4) ? r.below(200) : sizeof workspace - 64;
        } else if (r.rarely(48)) {
            a->workspace_size = r.number<size_t>();
        }
    }
    gyre_tensor shaped(int64_t tokens, int64_t of_heads, int64_t features, bool output = false) {
        switch ((int)layout) {
        case GYRE_BHSD:
            return t.tensor({batch, of_heads, tokens, features}, dtype, output);
        case GYRE_THD:
            return t.tensor({tokens, of_heads, features}, dtype, output);
        default:
            return t.tensor({batch, tokens, of_heads, features}, dtype, output);
        }
    }
    const gyre_rope *rope(int which, int64_t tokens) {
        if (r.rarely(2)) return nullptr;
        gyre_rope &rope = ropes[which];
        rope = gyre_rope_defaults();
        rope.pairing = choice<gyre_pairing>(2);
        if (r.rarely(3)) rope.rotary_dim = r.rarely() ? r.number<int32_t>() : 2 * (int32_t)r.below(40);
        if (r.rarely(6)) rope.rotary_offset = r.rarely() ? r.number<int32_t>() : (int32_t)r.below(20);
        if (r.rarely(8)) rope.theta = r.number<double>();
        rope.frequency_base = choice<gyre_frequency_base>(2);
        if (r.rarely(4)) {
            for (double &one : inv_freq) one = 1e-3;
            if (r.rarely(4)) inv_freq[r.below(16)] = r.number<double>();
            rope.inv_freq = inv_freq;
        }
        if (r.rarely(8)) rope.attention_factor = r.number<double>();
        if (r.rarely(3)) {
            const int64_t pairs = rope.rotary_dim > 0 && rope.rotary_dim < 200 ? rope.rotary_dim / 2 : dim / 2;
            const bool per_token = r.rarely(3);
            for (const gyre_tensor **table : {&rope.cos, &rope.sin})
                *table = per_token ? t.pointer({batch, tokens, pairs}, GYRE_F32)
                                   : t.pointer({1 + (int64_t)r.below(64), pairs}, GYRE_F32);
        }
        if (r.rarely(4)) {
            rope.axes = r.rarely() ? r.number<int32_t>() : (int32_t)r.below(6);
            for (int32_t &section : rope.sections) section = r.rarely() ? r.number<int32_t>() : (int32_t)r.below(9);
            rope.section_order = choice<gyre_section_order>(2);
        }
        if (r.rarely(48)) rope.size = r.number<uint32_t>() % sizeof rope;
        return &rope;
    }
    const gyre_tensor *positions(int64_t tokens) {
        if (r.rarely(2)) return nullptr;
        const gyre_dtype type = r.rarely(2) ? GYRE_I64 : GYRE_I32;
        const int64_t axes = 2 + r.below(3);
        switch (r.below(4)) {
        case 0:
            return t.pointer({tokens}, type);
        case 1:
            return t.pointer({axes, batch, tokens}, type);
        case 2:
            return t.pointer({axes, tokens}, type);
        default:
            return t.pointer({batch, tokens}, type);
        }
    }
    const gyre_tensor *list(int64_t count) { return r.rarely(2) ? t.pointer({count}, GYRE_I32) : nullptr; }

    template <typename Args>
    gyre_status call(gyre_context *context, const Args &a, gyre_status (*run)(gyre_context *, const Args *),
                     gyre_status (*size)(gyre_context *, const Args *, size_t *)) {
        size_t bytes = 0;
        if (r.rarely(8)) size(context, &a, &bytes);
        return run(context, r.rarely(200) ? nullptr : &a);
    }

    gyre_status rotary(gyre_context *context) {
        gyre_rotary_args a = gyre_rotary_defaults();
        layout = a.layout = choice<gyre_layout>(3);
        common(&a);
        a.x = shaped(q_len, heads, dim);
        a.out = shaped(q_len, heads, dim, true);
        if (const gyre_rope *given = rope(0, q_len)) a.rope = *given;
        a.reverse = flag();
        a.positions = positions(q_len);
        if (r.rarely(6)) a.position_offset = r.edge();
        return call(context, a, gyre_rotary, gyre_rotary_workspace_size);
    }
    gyre_status rotary_qk(gyre_context *context) {
        gyre_rotary_qk_args a = gyre_rotary_qk_defaults();
        layout = a.layout = choice<gyre_layout>(3);
        common(&a);
        a.q = shaped(q_len, heads, dim);
        a.k = shaped(q_len, kv_heads, dim);
        a.q_out = shaped(q_len, heads, dim, true);
        a.k_out = shaped(q_len, kv_heads, dim, true);
        if (const gyre_rope *given = rope(0, q_len)) a.rope = *given;
        a.reverse = flag();
        a.positions = positions(q_len);
        return call(context, a, gyre_rotary_qk, gyre_rotary_qk_workspace_size);
    }
    gyre_attention_args attention_args() {
        gyre_attention_args a = gyre_attention_defaults();
        layout = a.layout = choice<gyre_layout>(3);
        common(&a);
        a.q = shaped(q_len, heads, dim);
        const bool paged = r.rarely(5);
        const int64_t page_size = INT64_C(1) << r.below(4);
        if (paged) {
            a.k = t.tensor({4, page_size, kv_heads, dim}, dtype);
            a.v = t.tensor({4, page_size, kv_heads, dim}, dtype);
            a.page_table = t.pointer({batch, (int64_t)r.below(5)}, GYRE_I32);
        } else {
            a.k = shaped(k_len, kv_heads, dim);
            a.v = shaped(k_len, kv_heads, dim);
        }
        a.out = shaped(q_len, heads, dim, true);
        if (r.rarely(2))
            a.lse = layout == GYRE_THD ? t.pointer({heads, q_len}, GYRE_F32, true)
                                       : t.pointer({batch, heads, q_len}, GYRE_F32, true);
        if (r.rarely(4)) a.scale = r.number<float>();
        if (r.rarely(4)) a.softcap = r.number<float>();
        a.causal = flag();
        a.alignment = choice<gyre_alignment>(2);
        if (r.rarely(4)) a.window_left = r.edge();
        if (r.rarely(4)) a.window_right = r.edge();
        const gyre_dtype bias_type = (gyre_dtype)r.below(3);
        if (r.rarely(4)) a.bias = r.rarely(2) ? t.pointer({q_len, k_len}, bias_type) : t.pointer({k_len}, bias_type);
        if (r.rarely(4)) a.mask = t.pointer({batch, 1, q_len, k_len}, GYRE_BOOL);
        if (r.rarely(4)) a.sinks = t.pointer({heads}, GYRE_F32);
        if (r.rarely(4)) a.alibi = t.pointer({heads}, GYRE_F32);
        if (r.rarely(3)) a.seqused_k = list(batch);
        if (layout == GYRE_THD ? !r.rarely() : r.rarely()) {
            a.cu_seqlens_q = t.pointer({1 + (int64_t)r.below(4)}, GYRE_I32);
            a.cu_seqlens_k = a.cu_seqlens_q && r.rarely(3) ? t.pointer({2}, GYRE_I32) : a.cu_seqlens_q;
        }
        a.rope = rope(0, q_len);
        a.value_rope = rope(1, q_len);
        a.keys_rotated = a.rope ? flag() : 0;
        a.values_rotated = a.value_rope ? flag() : 0;
        a.q_positions = positions(q_len);
        a.k_positions = positions(k_len);
        if (r.rarely(12)) a.score = r.rarely(2) ? "alibi" : "nobody's";
        if (r.rarely(12)) a.score_input_count = -(int32_t)r.below(3);
        a.value_order = r.rarely(6) ? choice<gyre_value_order>(2) : GYRE_VALUES_IN_ROWS;
        if (r.rarely(4)) a.dropout = r.rarely(4) ? r.number<float>() : 0.25f;
        return a;
    }
    gyre_status attention(gyre_context *context) {
        const gyre_attention_args a = attention_args();
        return call(context, a, gyre_attention, gyre_attention_workspace_size);
    }
    gyre_status backward(gyre_context *context) {
        const gyre_attention_args forward = attention_args();
        gyre_attention_backward_args a = gyre_attention_backward_defaults();
        common(&a);
        a.forward = r.rarely(48) ? nullptr : &forward;
        a.out_grad = shaped(q_len, heads, dim);
        a.q_grad = shaped(q_len, heads, dim, true);
        a.k_grad = shaped(k_len, kv_heads, dim, true);
        a.v_grad = shaped(k_len, kv_heads, dim, true);
        if (forward.bias && r.rarely(2)) a.bias_grad = t.pointer({q_len, k_len}, GYRE_F32, true);
        return call(context, a, gyre_attention_backward, gyre_attention_backward_workspace_size);
    }
    gyre_status merge(gyre_context *context) {
        gyre_attention_merge_args a = gyre_attention_merge_defaults();
        layout = a.layout = choice<gyre_layout>(3);
        common(&a);
        a.parts = r.rarely(4) ? r.number<int32_t>() : (int32_t)r.below(4);
        a.part_out = shaped(q_len, heads, dim);
        a.part_lse =
            layout == GYRE_THD ? t.tensor({heads, q_len}, GYRE_F32) : t.tensor({batch, heads, q_len}, GYRE_F32);
        a.part_out_stride = r.rarely(3) ? r.edge() : r.below(16);
        a.part_lse_stride = r.rarely(3) ? r.edge() : r.below(16);
        a.out = shaped(q_len, heads, dim, true);
        if (r.rarely(2)) a.lse = t.pointer({batch, heads, q_len}, GYRE_F32, true);
        for (const auto &[part, stride] :
             {std::pair(&a.part_out, a.part_out_stride), std::pair(&a.part_lse, a.part_lse_stride)})
            if (!parts_are_checkable(*part, a.parts, stride, memory)) part->data = nullptr;
        return call(context, a, gyre_attention_merge, gyre_attention_merge_workspace_size);
    }
    gyre_status append(gyre_context *context) {
        gyre_cache_append_args a = gyre_cache_append_defaults();
        layout = a.layout = choice<gyre_layout>(3);
        common(&a);
        a.k = shaped(q_len, kv_heads, dim);
        a.v = shaped(q_len, kv_heads, dim);
        if (layout == GYRE_THD) a.cu_seqlens_k = t.pointer({1 + (int64_t)r.below(4)}, GYRE_I32);
        a.cache_seqlens = list(batch);
        if (r.rarely(3)) a.page_table = t.pointer({batch, (int64_t)r.below(6)}, GYRE_I32);
        a.rope = rope(0, q_len);
        a.value_rope = rope(1, q_len);
        a.positions = positions(q_len);
        if (dtype == GYRE_F32 && r.rarely(3)) dtype = GYRE_BF16;
        layout = a.cache_layout = choice<gyre_layout>(2);
        const int64_t capacity = r.rarely(2) ? 32 : k_len;
        a.k_cache = shaped(capacity, kv_heads, dim, true);
        a.v_cache = shaped(capacity, kv_heads, dim, true);
        a.value_order = r.rarely(6) ? choice<gyre_value_order>(2) : GYRE_VALUES_IN_ROWS;
        return call(context, a, gyre_cache_append, gyre_cache_append_workspace_size);
    }
    gyre_linear_attention_args linear_args() {
        gyre_linear_attention_args a = gyre_linear_attention_defaults();
        layout = a.layout = choice<gyre_layout>(3);
        common(&a);
        a.causal = flag();
        if (a.causal == 1) k_len = q_len;
        a.q = shaped(q_len, heads, dim);
        a.k = shaped(k_len, kv_heads, dim);
        a.v = shaped(k_len, kv_heads, dim);
        a.out = shaped(q_len, heads, dim, true);
        a.seqused_k = list(batch);
        if (layout == GYRE_THD) a.cu_seqlens_q = a.cu_seqlens_k = t.pointer({1 + (int64_t)r.below(4)}, GYRE_I32);
        a.rope = rope(0, q_len);
        a.q_positions = positions(q_len);
        a.k_positions = r.rarely(2) ? a.q_positions : positions(k_len);
        for (const auto &[kv, k, output] :
             {std::tuple(&a.kv_state, &a.k_state, false), std::tuple(&a.kv_state_out, &a.k_state_out, true)})
            if (r.rarely(3)) {
                *kv = t.pointer({batch, kv_heads, dim, dim}, GYRE_F32, output);
                *k = t.pointer({batch, kv_heads, dim}, GYRE_F32, output);
            }
        return a;
    }
    gyre_status linear(gyre_context *context) {
        const gyre_linear_attention_args forward = linear_args();
        if (!r.rarely(2)) return call(context, forward, gyre_linear_attention, gyre_linear_attention_workspace_size);
        gyre_linear_attention_backward_args a = gyre_linear_attention_backward_defaults();
        common(&a);
        a.forward = r.rarely(48) ? nullptr : &forward;
        a.out_grad = shaped(q_len, heads, dim);
        a.q_grad = shaped(q_len, heads, dim, true);
        a.k_grad = shaped(k_len, kv_heads, dim, true);
        a.v_grad = shaped(k_len, kv_heads, dim, true);
        return call(context, a, gyre_linear_attention_backward, gyre_linear_attention_backward_workspace_size);
    }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static Memory memory;
    static auto *place = static_cast<char *>(std::aligned_alloc(64, (sizeof(Case) + 63) / 64 * 64));
    ByteReader reader(bytes, count);
    memory.fill(reader);
    auto *one = new (place) Case(reader, memory);
    const gyre_status status = one->run();
    tally.all++;
    tally.accepted += status == GYRE_OK;
    if (status < GYRE_OK || status >= GYRE_INTERNAL || !memory.as_it_should_be(status)) {
        std::fprintf(stderr, "status %d, \"%s\"; memory is %s\n", (int)status, gyre_last_error(),
                     memory.as_it_should_be(status) ? "as it should be" : "not as it should be");
        std::abort();
    }
    return 0;
}
