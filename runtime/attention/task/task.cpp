#include "attention/task/task.h"
#include "attention/call/key_parts.h"

#include "attention/masks/part.h"
#include "attention/task/extent.h"
#include "attention/task/heads.h"

#include <algorithm>

namespace gyre {

size_t AttentionTask::scratch_bytes() const {
    return rows_scratch_bytes() + std::max(widened.bytes(), last_rows.scratch_bytes());
}

size_t AttentionTask::rows_scratch_bytes() const {
    size_t of_kernel = 0;
    const auto count = [&](const AttentionKernel *kernel) {
        if (kernel) of_kernel = std::max(of_kernel, kernel->workspace);
    };
    for (const AttentionKernel *kernel : kernels.all()) count(kernel);
    count(unformed);
    count(unmasked);
    if (key_heads > 1) count(for_own_keys);
    if (last_rows.on()) count(&last_rows.kernel());
    return of_kernel + round_up(static_cast<size_t>(tokens * heads * key_heads) * sizeof(float));
}

void AttentionTask::leave_formed_operands() {
    kernels = {unformed};
    operands.turn_off();
}

/// Whole blocks, since where these begin decides the result's bits.
int64_t AttentionTask::part_keys(const AttentionKernel &of_sequence, int64_t keys_seen) const {
    if (!split) return keys_seen;
    const bool is_halved = halves_one_part() && keys_seen >= key_parts::least_halved && keys_seen <= key_parts::least;
    const int64_t least = is_halved ? ceil_div(keys_seen, int64_t{2}) : key_parts::least;
    return to_block_end(of_sequence, std::max(least, ceil_div(keys_seen, key_parts::most)));
}

int64_t AttentionTask::most_parts_of(int64_t keys) const {
    const int64_t usual = std::clamp<int64_t>(ceil_div(keys, key_parts::least), 1, key_parts::most);
    return halves_one_part() && keys >= key_parts::least_halved ? std::max<int64_t>(usual, 2) : usual;
}

int64_t AttentionTask::part_keys(const Sequence &s) const { return part_keys(kernel_of(s), s.keys_seen()); }

int64_t AttentionTask::most_keys() const {
    int64_t most = 0;
    for (const AttentionKernel *kernel : kernels.all())
        if (kernel) most = std::max(most, most_keys(*kernel));
    return most;
}

int64_t AttentionTask::work(const Sequence &s) const { return part_keys(s) * std::min(s.q_len, tokens); }

int64_t AttentionTask::parts(const Sequence &s) const {
    return s.keys_seen() == 0 ? 1 : ceil_div(s.keys_seen(), part_keys(s));
}

bool AttentionTask::run(const Piece &piece, char *scratch) const {
    const AttentionCall &c = call;
    if (!c.has(piece.sequence)) return true;
    const Sequence s = c.sequence(piece.sequence);
    TaskExtent x{s, piece.sequence, piece.part, piece.first_head, piece.heads, piece.first_token, 0, 0, 0};
    x.tokens = std::min(tokens, s.q_len - x.first_token);
    if (x.tokens <= 0 || x.part >= parts(s)) return true;

    const AttentionKernel &of_sequence = kernel_of(s);
    if (x.heads <= sharing()) return run_heads(of_sequence, x, scratch);
    if (has_own_keys(*this, of_sequence, s)) return run_heads(*for_own_keys, x, scratch);
    for (const int64_t past = x.head + x.heads; x.head < past; x.head += x.heads) {
        x.heads = sharing();
        if (!run_heads(of_sequence, x, scratch)) return false;
    }
    return true;
}

bool AttentionTask::run_heads(const AttentionKernel &of_sequence, const TaskExtent &x, char *scratch) const {
    const Sequence &s = x.sequence;
    const int64_t keys = part_keys(of_sequence, s.keys_seen()), part_first = s.first_seen + x.part * keys;
    const KeysInSight in_sight{call.shift(s), s.left, s.right, {part_first, std::min(part_first + keys, s.past_seen)}};
    if (call.mask.data && has_masks_part())
        return gyre_attention_masks.run_task(*this, of_sequence, x, in_sight, scratch);
    if (last_rows.on() && x.first_token + x.tokens == s.q_len) {
        if (const int64_t last = last_rows.tokens(of_sequence, s)) {
            TaskExtent rest = x, of_last = x;
            rest.tokens -= last;
            of_last.first_token += rest.tokens;
            of_last.tokens = last;
            return (rest.tokens <= 0 ||
                    run_tokens(of_sequence, rest, in_sight, in_sight.of(rest.first_token, rest.tokens), scratch)) &&
                   run_last_rows(of_last, in_sight, scratch);
        }
    }
    if (is_x86 && x.tokens * x.heads > of_sequence.task_rows) return run_in_pieces(of_sequence, x, in_sight, scratch);
    return run_tokens(of_sequence, x, in_sight, in_sight.of(x.first_token, x.tokens), scratch);
}

bool AttentionTask::run_last_rows(const TaskExtent &x, const KeysInSight &in_sight, char *scratch) const {
    const Sequence &s = x.sequence;
    char *const results = scratch + rows_scratch_bytes();
    const MergeTask::Rows rows{s.batch, s.q_first + x.first_token, x.tokens, x.head, x.heads};
    return run_tokens_into(last_rows.results(call, rows, results), false, last_rows.kernel(), x, in_sight,
                           in_sight.of(x.first_token, x.tokens), scratch) &&
           last_rows.finish(call, rows, terms, results);
}

bool AttentionTask::run_in_pieces(const AttentionKernel &of_rows, const TaskExtent &whole, const KeysInSight &in_sight,
                                  char *scratch) const {
    const int64_t most_heads = std::min(whole.heads, of_rows.task_rows), most_tokens = of_rows.task_rows / most_heads;
    const int64_t past_head = whole.head + whole.heads, past_token = whole.first_token + whole.tokens;
    TaskExtent x = whole;
    for (x.head = whole.head; x.head < past_head; x.head += x.heads) {
        x.heads = std::min(most_heads, past_head - x.head);
        for (x.first_token = whole.first_token; x.first_token < past_token; x.first_token += x.tokens) {
            x.tokens = std::min(most_tokens, past_token - x.first_token);
            if (!run_tokens(of_rows, x, in_sight, in_sight.of(x.first_token, x.tokens), scratch)) return false;
        }
    }
    return true;
}

} // namespace gyre
