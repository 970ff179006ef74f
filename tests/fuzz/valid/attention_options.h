/// Random options of attention: what changes scores, and what hides keys.
#pragma once
#include "attention_plan.h"

#include <functional>

namespace gyre::fuzz {

struct OptionRules {
    bool may_have_mask = true, may_have_sinks = true;
    bool may_have_dropout = true;
};

/// Sets scale, softcap, causal, windows, bias, mask, sinks, ALiBi and dropout. Of masks and biases, what no visible key reads is
/// garbage. `a` describes q and keys without pages.
void draw_options(ByteReader &r, Store &store, const AttentionPlan &plan, const OptionRules &rules,
                  gyre_attention_args *a);

/// Elements of keys, or of values, that no query sees, by C order.
std::vector<bool> hidden_elements(const gyre_attention_args &a, const Extents &of);

} // namespace gyre::fuzz
