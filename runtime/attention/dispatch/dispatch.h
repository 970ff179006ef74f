/// Which family of kernels takes which calls: the table that dispatch reads and `gyre info` shows.
#pragma once
#include "attention/dispatch/kernels.h"
#include "attention/operands/formed.h"

namespace gyre {

/// The most query tokens of a sequence that are few: tasks for all threads are then found along the keys. With more,
/// tasks along the queries do as well and need no merging.
constexpr int64_t most_few_queries = 16;

/// Fewer rows a key head fill no row tile of a kernel for many queries.
constexpr int64_t least_many_rows = 17;

struct DispatchRule {
    const char *family; // how the variants of its kernels begin
    unsigned traits;    // of its kernels

    bool is(unsigned trait) const { return traits & trait; }
    bool takes(const AttentionCall &call, bool few_queries) const {
        return !is(trait::own_keys) && is(trait::value_blocks) == call.value_blocks &&
               is(trait::dropout) == call.dropout.on && is(trait::score) == (call.score != nullptr) &&
               takes_options(call) && (!is(trait::partial) || few_queries) &&
               (!(is(trait::partial) && is(trait::general)) || is(trait::dropout) || call.general()) &&
               (!is(trait::as_stored) || !(call.rotate_keys || call.rotate_values)) &&
               (!is(trait::formed) || pays_to_form_operands(call));
    }

private:
    bool takes_options(const AttentionCall &call) const {
        if (is_x86 && is(trait::sloped))
            return call.alibi_alone() && call.right == 0; // distances of keys that are seen are not above 0
        if (is_x86 && is(trait::capped)) return call.cap_alone();
        return is(trait::general) || !call.general();
    }
};

/// The first rule that takes a call and has a kernel for its type and head sizes decides.
RowList<DispatchRule> dispatch_rules();

/// The kernel that serves a call: by the first rule, of the best target, made for the call's head sizes, else the
/// smallest padded one. nullptr: none is linked. Few queries with options whose rows a key head are many take the one for many queries, if
/// their tasks are enough without parts of keys: kernels for few rows read all keys once for each 16 of them.
const AttentionKernel *find_attention_kernel(const gyre_context &context, const AttentionCall &call, bool few_queries);

/// The kernel that serves the sequences of such a call that have few rows a key head (SequenceKernels::few_rows): one with vectors
/// of keys instead of queries. nullptr: none is linked, or the call's keys and values are not as it takes them.
const AttentionKernel *find_few_rows_kernel(const gyre_context &context, const AttentionCall &call);

/// The kernel that serves the sequences of such a call that have no more rows a key head than its row tile, which is narrower than
/// others' (SequenceKernels::narrow). nullptr likewise.
const AttentionKernel *find_narrow_kernel(const gyre_context &context, const AttentionCall &call);

/// The padded kernel that serves the sequences of such a call in whose row tiles keys and values are read in place (SequenceKernels::in_place).
/// nullptr likewise.
const AttentionKernel *find_in_place_kernel(const gyre_context &context, const AttentionCall &call);

/// Chooses between two padded kernels whose row tiles read keys and values in place, for so many rows a key head that see so many keys of `dim`
/// features. nullptr: other kernels, which read all keys for each row or copy them, take less time. `narrow` or `wide` is nullptr where there is none.
/// bench/notes has the measurements.
const AttentionKernel *choose_in_place(const AttentionKernel *narrow, const AttentionKernel *wide, int64_t dim,
                                       int64_t rows, int64_t keys);
/// False if they do so of no head size: calls of few rows or keys look for none.
bool may_be_in_place(gyre_dtype dtype, int64_t rows, int64_t keys);

/// The kernel that takes several key heads of a sequence at once, in place of the one that serves it (has_own_keys()). nullptr likewise.
const AttentionKernel *find_own_keys_kernel(const gyre_context &context, const AttentionCall &call);

/// True if so many rows a key head are few, in a sequence with so many keys of `dim` features: `few`, with vectors of keys, then takes less time
/// than `other`, whose row tiles stay empty in part. bench/notes has the measurements.
bool are_few_rows(const AttentionKernel &few, const AttentionKernel &other, int64_t dim, int64_t rows, int64_t keys);

/// The kernel for many queries that serves those sequences of a call with few queries that have many rows a key head
/// (SequenceKernels::many_rows). What it writes is merged as well: it is f32. It may take f32 where the call has f16, if all sequences are alike (WidenedKeys). nullptr:
/// none is linked, or the call's keys and values are rotated.
const AttentionKernel *find_many_rows_kernel(const gyre_context &context, const AttentionCall &call);

/// True if the rows of so many queries a key head, which see so many keys, fill vectors of such a kernel so far that it takes less time than `few`, for few rows.
/// bench/notes has the measurements.
bool are_many_rows(const AttentionCall &call, const AttentionKernel &many, const AttentionKernel &few, int64_t queries,
                   int64_t keys);
constexpr int64_t fewest_many_rows = 8; // of any such kernel: with fewer none is looked for

/// The kernel that serves those sequences of a call with many queries whose rows are so few that copies of keys and values gain nothing
/// (SequenceKernels::uncopied), with the bits of `usual`. nullptr: none is linked, or the call's keys and values are not as it takes them.
const AttentionKernel *find_uncopied_kernel(const gyre_context &context, const AttentionCall &call,
                                            const AttentionKernel &usual);

/// True if a sequence's rows are so few. bench/notes has the measurements.
bool are_rows_uncopied(const AttentionCall &call, const Sequence &sequence);

/// The kernel with large row tiles and any options that reads keys and values where they are (SequenceKernels::general_in_place): on AVX-512 of the family
/// key_columns, whose rows leave the vectors of others almost empty, on AVX2 of options_as_stored, whose rows are too few to copy keys and values for.
/// nullptr: none is linked, no sequence has such rows, or the call's keys and values are not as it takes them.
const AttentionKernel *find_general_in_place_kernel(const gyre_context &context, const AttentionCall &call,
                                                    const AttentionKernel &usual);

/// True if a sequence takes less time so. bench/notes has the measurements.
bool gains_in_place(const AttentionKernel &kernel, const AttentionCall &call, const Sequence &sequence);
/// False if sequences of so many queries gain on no number of keys.
bool may_gain_in_place(const AttentionKernel &kernel, const AttentionCall &call, int64_t queries);

/// The kernel for many queries that serves those sequences of a call of few queries with lengths that have many rows a key head, as it does if
/// they are alone. nullptr: there is none.
const AttentionKernel *find_whole_rows_kernel(const gyre_context &context, const AttentionCall &call);

/// True if a sequence takes less time with `whole`, for many queries, than with `decoding`, and has tasks enough without parts of keys.
/// bench/notes has the measurements.
bool are_whole_rows(const AttentionCall &call, const AttentionKernel &decoding, const AttentionKernel &whole,
                    const Sequence &sequence);
/// False if that is true of no sequence of the call, whatever `whole` is: calls of few rows look for none.
bool may_have_whole_rows(const AttentionCall &call);

/// The kernel that serves a call with many queries if its operands cannot be formed; nullptr: none is linked. `without_terms`: one that
/// multiplies f32 and f16 numbers as they are, if there is one.
const AttentionKernel *find_unformed_kernel(const gyre_context &context, const AttentionCall &call,
                                            bool without_terms = false);

/// The kernel that serves sequences whose rows see few keys in less time than `kernel` does: it multiplies f32 and f16 numbers in vectors and
/// not on tiles. nullptr: none is linked, or all sequences are those of `kernel`.
const AttentionKernel *find_few_keys_kernel(const gyre_context &context, const AttentionCall &call,
                                            const AttentionKernel &kernel);

/// True if the rows of a sequence of the call see so few keys, on average, that find_few_keys_kernel() serves it.
bool sees_few_keys(const AttentionCall &call, int64_t queries, int64_t keys);

} // namespace gyre
