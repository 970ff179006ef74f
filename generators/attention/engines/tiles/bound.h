/// Row tiles whose scores are provably small: WHAT is computed, and how.
///
/// |S_ij| <= scale |q_i| |k_j|. Where that is below score_limit for all keys that a row tile sees, powers of two and their
/// sums fit the numbers that they are kept in as they are: no maximum is sought or subtracted, and nothing is rescaled.
/// NaN and infinite norms are below no limit. All other row tiles take the recurrence of recurrence/blocks.h.
///
/// Norms of keys are taken before keys are rotated, which lengthens them by a known factor at most, and bounded from above:
/// of every 16th feature a block's largest sum of squares, then the sum of these 16. Blocks are whole, also where a task sees
/// a part, so that results do not depend on how queries are cut into tasks.
#pragma once
#include "attention/attention_algorithm.h"

namespace gyre::attention {

/// In units of log2(e): powers and their sums stay between 2^-60 and 2^60 times the number of keys.
constexpr float score_limit = 60.0f;

/// s.is_bounded and s.any_exact, from s.q_scaled.
void define_bound(Stages &s, const Inputs &in);

/// Their schedule, with `w` lanes.
void schedule_bound(Stages &s, int w);

} // namespace gyre::attention
