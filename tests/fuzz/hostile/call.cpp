#include "call.h"

namespace gyre::fuzz {

HostileCall::HostileCall(ByteReader &reader, Memory &memory) : r(reader), memory(memory), t(reader, memory) {
    batch = 1 + r.below(3);
    q_len = r.below(20);
    k_len = r.rarely(4) ? q_len : r.below(40);
    kv_heads = 1 + r.below(2);
    heads = kv_heads * (1 + r.below(2));
    dim = r.rarely(3) ? 1 + r.below(70) : 16;
    dtype = (gyre_dtype)r.below(3);
}

gyre_status HostileCall::run(gyre_context *context) {
    switch (r.below(9)) {
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
    case 7:
        return mask_prepare(context);
    default:
        return linear(context);
    }
}

gyre_tensor HostileCall::shaped(int64_t tokens, int64_t of_heads, int64_t features, bool output) {
    switch ((int)layout) {
    case GYRE_BHSD:
        return t.tensor({batch, of_heads, tokens, features}, dtype, output);
    case GYRE_THD:
        return t.tensor({tokens, of_heads, features}, dtype, output);
    default:
        return t.tensor({batch, tokens, of_heads, features}, dtype, output);
    }
}

const gyre_tensor *HostileCall::positions(int64_t tokens) {
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

const gyre_tensor *HostileCall::list(int64_t count) { return r.rarely(2) ? t.pointer({count}, GYRE_I32) : nullptr; }

} // namespace gyre::fuzz
