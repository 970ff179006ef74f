#include "attention/task/heads.h"

#include "attention/masks/part.h"
#include "attention/task/tile_rows.h"
#include "core/kernel_call.h"

#include <algorithm>
#include <cstdlib>

namespace gyre {
namespace {

/// True if a kernel's index reaches so many rows of so many neighbouring heads.
bool fits_rows(const Heads &t, int64_t heads, int64_t rows) {
    return fits_kernel_index({{t.dim, 1}, {heads, t.head_stride}, {rows, t.token_stride}});
}

/// True if it reaches so many rows of a bias or a mask, or there is none.
bool fits_scores(const Broadcast &t, int64_t heads, int64_t rows, int64_t keys) {
    return !t.data || fits_kernel_index({{keys, t.strides[3]}, {rows, t.strides[2]}, {heads, t.strides[1]}});
}

/// True if a kernel's index reaches the keys, or values, of so many neighbouring heads of a sequence, or in all pages.
bool fits_heads(const PageTable &pages, const Heads &t, int64_t page_stride, int64_t heads) {
    if (t.head_stride < 0) return false;
    if (pages.pages > 0)
        return fits_kernel_index({{t.dim, 1},
                                  {heads, t.head_stride},
                                  {pages.pages, page_stride},
                                  {int64_t{1} << pages.bits, t.token_stride}});
    return fits_kernel_index({{t.dim, 1}, {heads, t.head_stride}, {t.seqlen, std::abs(t.token_stride)}});
}

/// Rows of a task, at most. Where a window moves along the tokens its row tiles may have fewer vectors, and there is room for so many of them.
int64_t most_task_rows(const AttentionKernel &kernel, const AttentionCall &c, int64_t heads) {
    if (!is_x86 || kernel.tile_lanes == 0 || c.left < 0 || c.right < 0) return kernel.task_rows;
    const int64_t least_windowed = ceil_div(kernel.row_tile, heads); // tokens: a whole row tile
    return kernel.task_rows / kernel.row_tile * rows_of_tile(kernel, {heads, least_windowed, c.left + c.right + 1, 2});
}

/// True if keys and values of neighbouring heads lie side by side, as in [batch, seqlen, heads, head_dim], and few rows share them. One head's are some
/// lines in each of many pages, and those of all heads follow each other. Many rows of a head gain less: keys that lie 4 KiB apart push each other out
/// of L1 before the last of them.
bool has_heads_in_tokens(const AttentionTask &task, int64_t queries) {
    constexpr int64_t most_bytes = 1024; // of a key, counted for each row that reads it
    const AttentionCall &c = task.call;
    const bool heads_have_one_mask = !c.mask.data || c.mask.strides[1] == 0;
    return heads_have_one_mask && c.k.head_stride < c.k.token_stride && c.v.head_stride < c.v.token_stride &&
           task.rows(queries) * c.most_features() * static_cast<int64_t>(element_size(c.q.dtype)) <= most_bytes;
}

/// True if so few queries see so few keys that calling a kernel for each key head takes longer than what rows of a head gain by one after the other
/// reading its keys: bench/notes has the measurements.
bool are_few(const AttentionTask &task, int64_t queries, int64_t keys) {
    // Numbers of keys, counted for each row that reads them. From memory those of 16 bits gain less.
    constexpr int64_t most_of_f32 = 16 * 1024, most_of_16_bits = 10 * 1024, most_keys_of_16_bits = 96;
    const bool is_f32 = task.call.q.dtype == GYRE_F32;
    if (task.rows(queries) * keys * task.call.most_features() > (is_f32 ? most_of_f32 : most_of_16_bits)) return false;
    const int64_t most_keys = is_f32 ? most_own_keys : most_keys_of_16_bits;
    // Which blocks of keys a mask leaves must not depend on the other heads of a task.
    return keys <= (task.call.mask.data ? std::min(most_keys, task.for_own_keys->key_block) : most_keys);
}

/// True if a call of all key heads takes less time than one of each.
bool gain_together(const AttentionTask &task, int64_t queries, int64_t keys) {
    return has_heads_in_tokens(task, queries) || are_few(task, queries, keys);
}

/// True if for_own_keys is the same kernel for several key heads.
bool gives_same_bits(const AttentionTask &task, const AttentionKernel &of_sequence) {
    const AttentionKernel *own = task.for_own_keys;
    return own && of_sequence.traits == (own->traits & ~unsigned{trait::own_keys}) &&
           of_sequence.kernel->row == own->kernel->row && of_sequence.head_dim == own->head_dim &&
           of_sequence.padded == own->padded && of_sequence.dtype == own->dtype;
}

} // namespace

int64_t choose_task_heads(const AttentionKernel &kernel, const AttentionCall &c, int64_t longest) {
    const bool drops_for_one = kernel.is(trait::dropout) && !kernel.is(trait::partial);
    if (drops_for_one || kernel.is(trait::score | trait::sloped) || c.empty() || c.k.heads == 0) return 1;
    // Ranges of keys are looked for where all rows of a task have one mask.
    if (has_masks_part() && has_spans(c) && c.mask.strides[1] != 0 && !kernel.is(trait::partial)) return 1;
    const int64_t group = c.sharing();
    const auto fits = [&](int64_t heads) {
        const int64_t tokens = std::min(longest, kernel.token_unit(heads)), rows = kernel.task_rows;
        return tokens * heads <= kernel.task_rows && fits_rows(c.q, heads, rows) && fits_rows(c.out, heads, rows) &&
               fits_scores(c.bias, heads, rows, c.k.seqlen) && fits_scores(c.mask, heads, rows, c.k.seqlen);
    };
    int64_t tasks = 1;
    while (tasks < group && !fits(ceil_div(group, tasks))) tasks++;
    const int64_t most = ceil_div(group, tasks);
    for (int64_t heads = most; 2 * heads > most; heads--)
        if (group % heads == 0 && fits(heads)) return heads;
    return most;
}

int64_t choose_task_tokens(const AttentionKernel &kernel, const AttentionCall &c, int64_t longest, int64_t heads,
                           int threads) {
    const int64_t others = std::max<int64_t>(c.sequences * ceil_div(c.q.heads, heads), 1);
    const int64_t wanted = threads > 1 ? ceil_div(int64_t{4} * threads, others) : 1;
    const int64_t unit = kernel.token_unit(heads), units = std::max<int64_t>(ceil_div(longest, unit), 1);
    const int64_t most = std::max<int64_t>(most_task_rows(kernel, c, heads) / (unit * heads), 1);
    const int64_t tasks = std::min(std::max(wanted, ceil_div(units, most)), units);
    return ceil_div(units, tasks) * unit;
}

bool has_own_keys(const AttentionTask &task, const AttentionKernel &of_sequence, const Sequence &s) {
    return is_x86 && gives_same_bits(task, of_sequence) && gain_together(task, s.q_len, s.keys_seen());
}

int64_t choose_task_key_heads(const AttentionTask &task, int64_t longest, int threads) {
    const AttentionCall &c = task.call;
    if (!is_x86 || c.k.heads < 2 || task.head_runs() > 1 || task.tokens < longest || task.widened.on()) return 1;
    const bool some_have = gives_same_bits(task, *task.kernels.usual) ||
                           (task.kernels.few_rows && gives_same_bits(task, *task.kernels.few_rows));
    if (!some_have) return 1;
    // A list of lengths may tell of few keys. One thread takes the key heads of other sequences one after the other as well.
    const bool may_see_few = c.has_lengths() && threads == 1;
    if (!gain_together(task, longest, c.most_keys_seen(longest)) && !may_see_few) return 1;
    const int64_t rows = task.for_own_keys->task_rows;
    const int64_t most = rows / std::max<int64_t>(longest * task.heads, 1);
    const int64_t enough = ceil_div(c.k.heads * c.sequences, int64_t{threads});
    int64_t heads = std::max<int64_t>(std::min({c.k.heads, most, enough}), 1);
    const auto fits = [&](int64_t n) {
        const int64_t of_rows = n * task.heads;
        return fits_heads(c.pages, c.k, c.pages.k_page_stride, n) &&
               fits_heads(c.pages, c.v, c.pages.v_page_stride, n) && fits_rows(c.q, of_rows, longest) &&
               fits_rows(c.out, of_rows, longest) && fits_rows(task.whole.out, of_rows, longest) &&
               fits_scores(c.bias, of_rows, longest, c.k.seqlen) && fits_scores(c.mask, of_rows, longest, c.k.seqlen);
    };
    while (heads > 1 && !fits(heads)) heads = ceil_div(heads, int64_t{2});
    return ceil_div(c.k.heads, ceil_div(c.k.heads, heads)); // evenly
}

} // namespace gyre
