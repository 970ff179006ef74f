/// What a kernel with a score function is called with beyond the general family's arguments.
#pragma once
#include "attention/call/score_inputs.h"
#include "core/argument_tables.h"
#include "core/kernel_arguments.h"

namespace gyre {

/// What a score function reads in one task: where the task stands, then each input as its head sees it. It must outlive the call.
class ScoreArguments {
public:
    ScoreArguments(const ScoreInputs &asked, const ScoreViews &given, const AttentionCall &call,
                   const Sequence &sequence, int64_t index, int64_t head, int64_t first_row, int64_t first_key);

    void add_to(KernelArguments<AttentionArguments> *arguments);

private:
    const ScoreInputs &asked;
    int32_t batch, head, first_row, first_key, first_position, queries, keys;
    Buffer tables[most_score_inputs];
    int32_t values[most_score_inputs]; // of inputs of rank 0: their bits
};

} // namespace gyre
