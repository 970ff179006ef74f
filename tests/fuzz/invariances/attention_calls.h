/// Calls that relations of attention are made of.
#pragma once
#include "../valid/contexts.h"
#include "bounds.h"

namespace gyre::fuzz {

/// run(), counted.
AttentionResult call(gyre_context *context, const Problem &p, const Presentation &as = {});

/// "out: element 3 …" where two problems' results are further apart than both may be off; empty: nowhere.
std::string compare_results(const Problem &p, const AttentionResult &base, const Problem &other_p,
                            const AttentionResult &other, double roundings_of_score = 8);

/// Keys in parts, merged by gyre_attention_merge(); sinks come last.
std::string split_keys(const TargetContexts &on, const Problem &p, const AttentionResult &base, uint16_t seed);

} // namespace gyre::fuzz
