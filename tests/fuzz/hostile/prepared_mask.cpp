// Calls of gyre_mask_prepare(), and of gyre_attention() with what it wrote, which may be of other arguments, moved or spoilt.
#include "call.h"

namespace gyre::fuzz {

/// A call of attention that nearly always has a mask: hostile in everything, or in its tensors alone, which are accepted more often.
gyre_attention_args HostileCall::masked_args() {
    gyre_attention_args a = gyre_attention_defaults();
    if (r.rarely(3)) {
        a = attention_args();
    } else {
        a.q = shaped(q_len, heads, dim);
        a.k = shaped(k_len, kv_heads, dim);
        a.v = shaped(k_len, kv_heads, dim);
        a.out = shaped(q_len, heads, dim, true);
        a.causal = (int32_t)r.below(2);
        if (r.rarely(4)) a.window_left = r.below(40);
        if (r.rarely(4)) a.seqused_k = list(batch);
    }
    const int64_t of_batch = r.rarely(2) ? 1 : batch, of_heads = r.rarely(2) ? heads : 1,
                  of_tokens = r.rarely(4) ? 1 : q_len;
    if (!r.rarely()) a.mask = t.pointer({of_batch, of_heads, of_tokens, k_len}, GYRE_BOOL);
    return a;
}

/// Makes it another call than the one that the mask was prepared for, or not.
void HostileCall::change_prepared(gyre_attention_args *a, uint8_t *prepared, size_t bytes) {
    switch (r.below(16)) {
    case 0:
        a->causal = flag();
        break;
    case 1:
        a->window_left = r.edge();
        break;
    case 2:
        a->seqused_k = list(batch);
        break;
    case 3:
        a->mask = t.pointer({q_len, k_len}, GYRE_BOOL);
        break;
    case 4:
        a->q = shaped(q_len, heads, dim);
        break;
    case 5:
        a->prepared_mask_size = r.rarely(2) ? (size_t)r.edge() : r.below(200);
        break;
    case 6:
        a->prepared_mask = prepared - r.below(32);
        break;
    case 7: // memory that is not the caller's alone
        a->workspace = prepared;
        a->workspace_size = bytes;
        break;
    case 8: // what it wrote is no longer what is there
        for (uint32_t i = 1 + r.below(16); i > 0; i--) prepared[r.number<uint16_t>() % bytes] = r.byte();
        break;
    default:
        break;
    }
}

gyre_status HostileCall::mask_prepare(gyre_context *context) {
    gyre_attention_args a = masked_args();
    size_t bytes = 0;
    const gyre_status asked = gyre_mask_prepare_size(r.rarely(64) ? nullptr : &a, r.rarely(64) ? nullptr : &bytes);
    const size_t there = bytes > 0 ? bytes : 64;
    const size_t said = bytes > 0 && r.rarely() ? (size_t)r.edge() : there;
    if (there > Memory::most_prepared) return asked;
    // Outputs must be as they were if it is refused.
    const bool to_outputs = there <= Memory::bytes && r.rarely(3);
    uint8_t *const to = (to_outputs ? memory.outputs() + Memory::bytes : memory.prepared_end()) - there;
    uint8_t *const odd = to - (r.rarely() ? r.below(16) : 0);
    const gyre_status status =
        gyre_mask_prepare(context, r.rarely(64) ? nullptr : &a, r.rarely(64) ? nullptr : odd, said);
    if (status != GYRE_OK || to_outputs) return status;
    a.prepared_mask = odd;
    a.prepared_mask_size = there;
    change_prepared(&a, odd, there);
    return call(context, a, gyre_attention, gyre_attention_workspace_size);
}

} // namespace gyre::fuzz
