/// One call of any operation with hostile arguments, put together from parts that may each be spoilt.
#pragma once
#include "tensors.h"

#include <gyre/gyre.h>

namespace gyre::fuzz {

class HostileCall {
public:
    HostileCall(ByteReader &reader, Memory &memory);

    /// Calls the operation that the bytes choose.
    gyre_status run(gyre_context *context);

private:
    ByteReader &r;
    Memory &memory;
    HostileTensors t;
    int64_t batch, q_len, k_len, heads, kv_heads, dim;
    gyre_dtype dtype;
    gyre_layout layout = GYRE_BSHD;
    gyre_rope ropes[3];

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
            a->workspace_size = r.rarely(4) ? r.below(200) : Memory::most_workspace - r.below(64);
            a->workspace = memory.workspace(a->workspace_size);
        } else if (r.rarely(48)) {
            a->workspace_size = r.number<size_t>();
        }
    }
    gyre_tensor shaped(int64_t tokens, int64_t of_heads, int64_t features, bool output = false);
    const gyre_rope *rope(int which, int64_t tokens);
    const gyre_tensor *positions(int64_t tokens);
    const gyre_tensor *list(int64_t count);

    /// Now and then in a workspace of exactly the bytes that the query says.
    template <typename Args>
    gyre_status call(gyre_context *context, Args a, gyre_status (*run)(gyre_context *, const Args *),
                     gyre_status (*size)(gyre_context *, const Args *, size_t *)) {
        size_t bytes = 0;
        if (r.rarely(8) && size(context, &a, &bytes) == GYRE_OK && bytes <= Memory::most_workspace) {
            a.workspace_size = bytes;
            a.workspace = memory.workspace(bytes);
        }
        return run(context, r.rarely(200) ? nullptr : &a);
    }

    gyre_status rotary(gyre_context *context);
    gyre_status rotary_qk(gyre_context *context);
    gyre_attention_args attention_args();
    gyre_status attention(gyre_context *context);
    gyre_status backward(gyre_context *context);
    gyre_status merge(gyre_context *context);
    gyre_status append(gyre_context *context);
    gyre_attention_args masked_args();
    void change_prepared(gyre_attention_args *a, uint8_t *prepared, size_t bytes);
    gyre_status mask_prepare(gyre_context *context);
    gyre_linear_attention_args linear_args();
    gyre_status linear(gyre_context *context);
};

} // namespace gyre::fuzz
