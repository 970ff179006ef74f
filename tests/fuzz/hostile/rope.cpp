// Rotations.
#include "call.h"

namespace gyre::fuzz {

const gyre_rope *HostileCall::rope(int which, int64_t tokens) {
    if (r.rarely(2)) return nullptr;
    gyre_rope &rope = ropes[which];
    rope = gyre_rope_defaults();
    rope.pairing = choice<gyre_pairing>(2);
    if (r.rarely(3)) rope.rotary_dim = r.rarely() ? r.number<int32_t>() : 2 * (int32_t)r.below(40);
    if (r.rarely(6)) rope.rotary_offset = r.rarely() ? r.number<int32_t>() : (int32_t)r.below(20);
    if (r.rarely(8)) rope.theta = r.number<double>();
    rope.frequency_base = choice<gyre_frequency_base>(2);
    if (r.rarely(4)) {
        if (r.rarely(4)) {
            const uint32_t which = r.below(16);
            memory.spoil_frequency(which, r.number<double>());
        }
        rope.inv_freq = memory.frequencies();
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

} // namespace gyre::fuzz
