// One call of a kernel for tokens of a task.
#include "attention/call/visible_keys.h"
#include "attention/task/extent.h"
#include "attention/task/general_arguments.h"
#include "attention/task/rows.h"
#include "attention/task/score_arguments.h"
#include "attention/task/tile_rows.h"
#include "common/slope_reach.h"
#include "core/late.h"

#include <algorithm>
#include <limits>

namespace gyre {
namespace {

int64_t rows_of_tile_in_sight(const AttentionKernel &of_rows, const TaskExtent &x, const KeysInSight &in_sight) {
    if (!is_x86 || of_rows.tile_lanes == 0) return 0;
    const KeySpan first = in_sight.of(x.first_token), last = in_sight.of(x.first_token + x.tokens - 1);
    const auto keys_of = [](const KeySpan &seen) { return std::max<int64_t>(seen.end - seen.first, 0); };
    return rows_of_tile(of_rows, {x.heads, x.tokens, (keys_of(first) + keys_of(last)) / 2,
                                  (first.first != last.first) + (first.end != last.end)});
}

/// Finds the keys of a call: those that some token sees, in whole blocks.
void find_keys(const AttentionKernel &of_rows, const KeysInSight &in_sight, const KeySpan &seen, TaskExtent *x) {
    // From the start of a block: where blocks begin, and so the result's bits, does not depend on how tokens are cut into tasks.
    const int64_t first_seen = x->sequence.first_seen;
    x->first_key = first_seen + (seen.first - first_seen) / of_rows.key_block * of_rows.key_block;
    // To the end of a block, because what may be concluded from a block's keys is to depend on the block alone.
    const int64_t block_end = x->first_key + to_block_end(of_rows, seen.end - x->first_key);
    x->keys = seen.empty() ? 0 : std::min(block_end, in_sight.part.end) - x->first_key;
}

} // namespace

/// How much longer rotation makes a key at most: known of the library's angles, not of a caller's tables. Features that are
/// not rotated stay as long as they are.
float AttentionTask::key_gain() const {
    // What is bounded sums rounded weights. Parts have an lse, and one that needs no merge has the same bits.
    if (split || call.lse.data) return std::numeric_limits<float>::infinity();
    if (!call.rotate_keys) return 1;
    return call.rope.cos ? std::numeric_limits<float>::infinity() : std::max(1.0f, call.rope.scale);
}

bool AttentionTask::run_tokens(const AttentionKernel &of_rows, TaskExtent x, const KeysInSight &in_sight,
                               const KeySpan &seen, char *scratch) const {
    const bool to_whole = is_whole(x.sequence);
    const Results of_call{call.out, call.lse};
    return run_tokens_into(to_whole ? whole : of_call, split && !to_whole, of_rows, x, in_sight, seen, scratch);
}

bool AttentionTask::run_tokens_into(const Results &to, bool are_merged, const AttentionKernel &of_rows, TaskExtent x,
                                    const KeysInSight &in_sight, const KeySpan &seen, char *scratch) const {
    const AttentionCall &c = call;
    const Sequence &s = x.sequence;
    find_keys(of_rows, in_sight, seen, &x);
    const Results results = results_of(to, x, reinterpret_cast<float *>(scratch + of_rows.workspace));
    if (x.keys == 0) {
        write_empty_rows(x, in_sight, results);
        return true;
    }

    char *const wide = scratch + rows_scratch_bytes();
    if (widened.on() && !widened.form(c, s, x.index, x.head / sharing(), x.first_key, x.keys, wide)) return false;
    TaskRows rows(*this, x, results);
    if (widened.has_queries() && !widened.form_queries(c, s, x.first_token, x.tokens, x.head, x.heads, wide, &rows.q))
        return false;
    TaskKeys keys(*this, of_rows, x, wide);

    const float scale = c.scale * log2_e, gain = key_gain();
    const VisibleKeys visible(x.first_key - x.first_token - c.shift(s), in_sight.left, in_sight.right);
    const auto tile_rows = static_cast<int32_t>(rows_of_tile_in_sight(of_rows, x, in_sight));
    // Sinks join parts where these are merged.
    Buffer sinks = is_x86 && are_merged ? HeadTerms().sinks(x.head, x.heads) : terms.sinks(x.head, x.heads);
    using A = AttentionArguments;
    KernelArguments<A> arguments(of_rows.places);
    rows.add_to(&arguments);
    keys.add_to(&arguments);
    arguments[A::scale] = &scale;
    arguments[A::first_visible] = &visible.first;
    arguments[A::last_visible] = &visible.last;
    arguments[A::sinks] = &sinks;
    arguments[A::tile_rows] = &tile_rows;
    arguments[A::key_gain] = &gain;
    Late<GeneralArguments> general;
    if (of_rows.is(trait::general)) general.make(*this, x, visible.origin).add_to(&arguments);
    const bool is_sloped = is_x86 && of_rows.is(trait::sloped);
    const float slope = is_sloped ? terms.slope_of(x.head) : 0;
    const int32_t reach = is_sloped ? slope_reach(slope) : 0;
    if (is_sloped) {
        arguments[A::slope] = &slope;
        arguments[A::slope_reach] = &reach;
        arguments[A::slope_origin] = &visible.origin;
    }
    if (is_x86) arguments[A::score_cap] = &c.softcap;
    Late<DropoutArguments> dropout;
    if (of_rows.is(trait::dropout))
        dropout.make(c.dropout, x.index * c.q.heads + x.head, x.first_token, x.first_key).add_to(&arguments);
    Late<ScoreArguments> score;
    if (c.score)
        score.make(of_rows.score_inputs, score_views, c, s, x.index, x.head, x.first_token, x.first_key)
            .add_to(&arguments);
    Slab slab(scratch, of_rows.workspace);
    if (!arguments.call(*of_rows.kernel, slab)) return false;
    write_empty_rows(x, in_sight, results);
    return true;
}

} // namespace gyre
