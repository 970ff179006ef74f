#include "attention/masked/task.h"

#include "attention/masks/runs.h"

#include <numeric>

namespace gyre {

bool run_masked_task(const AttentionTask &task, const AttentionKernel &of_sequence, const TaskExtent &x,
                     const KeysInSight &in_sight, char *scratch) {
    const Sequence &s = x.sequence;
    // Where keys are read as they are stored, all rows take them together.
    int64_t unit = of_sequence.is(trait::partial) ? x.tokens : of_sequence.token_unit(x.heads);
    if (task.unmasked) unit = std::lcm(unit, task.unmasked->token_unit(x.heads)); // tiles of both begin with a run
    MaskRuns runs({task.call.spans, in_sight, x.index, x.head},
                  {x.heads, x.first_token, x.tokens, unit, s.first_seen, of_sequence.key_block, s.past_seen,
                   task.unmasked != nullptr});
    for (MaskRun run; runs.next(&run);) {
        TaskExtent of_run = x;
        of_run.first_token = run.first_token;
        of_run.tokens = run.tokens;
        KeysInSight sight = in_sight;
        if (run.range.exists) {
            of_run.sequence.narrow(run.range);
            sight = {in_sight.shift, run.range.left, run.range.right, {run.range.first, run.range.end}};
        }
        if (!task.run_tokens(run.range.exists ? *task.unmasked : of_sequence, of_run, sight, run.keys, scratch))
            return false;
    }
    return true;
}

} // namespace gyre
