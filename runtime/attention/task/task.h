/// One task of attention: some query tokens of a few heads with the same keys of one sequence, by one call of a kernel.
#pragma once
#include "attention/call/head_terms.h"
#include "attention/call/results.h"
#include "attention/dispatch/kernels.h"
#include "attention/dispatch/sequence_kernels.h"
#include "attention/masks/spans.h"
#include "attention/operands/angle_tables.h"
#include "attention/operands/formed.h"
#include "attention/operands/widened_keys.h"
#include "attention/task/last_rows.h"

#include <algorithm>

namespace gyre {

struct TaskExtent;

/// What all tasks of a call share. Read only while they run.
struct AttentionTask {
    AttentionCall call;
    SequenceKernels kernels;
    const AttentionKernel *for_own_keys = nullptr;    // instead, of several key heads at once
    const AttentionKernel *unformed = nullptr;        // instead, where not all values that were formed are finite
    const AttentionKernel *unmasked = nullptr;        // instead, of row tiles whose mask comes to a range of keys
    ScoreViews score_views;                           // what the kernel's score function reads
    int64_t tokens = 0, heads = 1;                    // of a task, at most: its rows are their product,
    int64_t key_heads = 1;                            //   times key heads, whose heads are then all in it
    bool split = false;                               // keys are cut into parts, each with results of its own,
    int64_t out_part_stride = 0, lse_part_stride = 0; //   elements from part to part
    Results whole;                                    // where sequences of one part write, if has_whole
    bool has_whole = false;                           // false: their results are merged, too
    AngleTables angles;
    HeadTerms terms;
    FormedOperands operands; // off: tasks take keys and values as they are stored
    LastRows last_rows;      // on: sequences end with rows that another kernel takes
    WidenedKeys widened;     // on: of a narrower type than queries

    /// Scratch memory that run() needs.
    size_t scratch_bytes() const;

    /// Rows a key head; there is one.
    int64_t rows(int64_t queries) const { return call.rows(queries); }
    const AttentionKernel &kernel_of(const Sequence &s) const { return kernels.of(call, s); }

    /// Makes tasks take keys and values as they are stored.
    void leave_formed_operands();

    /// Parts that a sequence's keys are cut into. They depend on their number and on that of key heads alone, so that the result's bits do, too.
    int64_t parts(const Sequence &s) const;
    /// The most parts of a sequence of at most so many keys.
    int64_t most_parts_of(int64_t keys) const;
    /// True if the sequence's tasks write the call's results, and there is nothing to merge.
    bool is_whole(const Sequence &s) const {
        return has_whole && parts(s) == 1 && !(call.sinks && merges_sinks(kernel_of(s)));
    }
    /// True if sinks, where there are some, join a sequence's sums in a merge: kernels of parts know nothing of them.
    bool merges_sinks(const AttentionKernel &of_sequence) const { return of_sequence.is(trait::partial); }

    /// Keys of a task, at most; of one that runs this kernel.
    int64_t most_keys() const;
    int64_t most_keys(const AttentionKernel &of) const { return std::min(part_keys(of, call.k.seqlen), call.k.seqlen); }

    /// How long the longest task of a sequence takes, to compare it with those of others.
    int64_t work(const Sequence &s) const;

    /// Query heads that share a key head; there is one.
    int64_t sharing() const { return call.sharing(); }
    /// Tasks that the query heads of one key head are cut into; the last may have fewer heads than the others.
    int64_t head_runs() const { return ceil_div(sharing(), heads); }
    /// Tasks that the key heads are cut into; the last may have fewer.
    int64_t key_head_runs() const { return ceil_div(call.k.heads, key_heads); }

    /// Query tokens [first_token, first_token + tokens), cut at its end, of a sequence, in the heads
    /// [first_head, first_head + heads), of one key head or all of several, and one part of the keys. False: the kernel failed.
    struct Piece {
        int64_t sequence, first_head, heads, first_token, part;
    };
    bool run(const Piece &piece, char *scratch) const;

    /// Runs a kernel for a task's tokens. `seen`: the keys that some token sees. False: the kernel failed.
    bool run_tokens(const AttentionKernel &of_rows, TaskExtent x, const KeysInSight &in_sight, const KeySpan &seen,
                    char *scratch) const;

private:
    /// Does so where results are to be, as the call's or as parts that are merged.
    bool run_tokens_into(const Results &to, bool are_merged, const AttentionKernel &of_rows, TaskExtent x,
                         const KeysInSight &in_sight, const KeySpan &seen, char *scratch) const;
    /// Runs a sequence's last rows. False: the kernel failed.
    bool run_last_rows(const TaskExtent &x, const KeysInSight &in_sight, char *scratch) const;
    /// Runs more rows than the kernel takes, by several calls of it. That is needed where no other kernel is linked. False: the kernel failed.
    bool run_in_pieces(const AttentionKernel &of_rows, const TaskExtent &whole, const KeysInSight &in_sight,
                       char *scratch) const;
    size_t rows_scratch_bytes() const; // before that of `widened`
    bool run_heads(const AttentionKernel &of_sequence, const TaskExtent &x, char *scratch) const;
    bool halves_one_part() const { return is_x86 && call.k.heads == 1; }
    int64_t part_keys(const Sequence &s) const;
    int64_t part_keys(const AttentionKernel &of_sequence, int64_t keys_seen) const;
    float key_gain() const;
    /// Where a task writes, of all results. `unwanted_lse`: where lse goes that the call does not ask for.
    Results results_of(Results to, const TaskExtent &x, float *unwanted_lse) const;
    /// Writes the results of rows that see no key.
    void write_empty_rows(const TaskExtent &x, const KeysInSight &in_sight, const Results &to) const;
};

} // namespace gyre
