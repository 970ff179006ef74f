#include "attention/masks/spans.h"

#include "attention/masks/row.h"
#include "core/workspace.h"

#include <limits>
#include <new>

namespace gyre {
namespace {

constexpr int64_t bytes_of_task = 1 << 16; // of a mask

RowSpan whole(const KeySpan &keys) {
    if (keys.empty()) return {0, 0, true};
    return {static_cast<int32_t>(keys.first), static_cast<int32_t>(keys.end), true};
}

RowSpan span_of(const MaskRow &row) {
    const int64_t first = row.first_true();
    if (first == row.end()) return {0, 0, true};
    const int64_t end = row.past_last_true();
    return {static_cast<int32_t>(first), static_cast<int32_t>(end), row.all(first, end)};
}

/// Finds the spans of neighbouring rows of one head.
class RowsOfHead {
public:
    RowsOfHead(const AttentionCall &c, int64_t index, int64_t head, bool for_all)
        : s(c.sequence(index)), in_sight{c.shift(s), c.left, c.right, {0, s.k_len}}, token_stride(c.mask.strides[2]),
          data(c.mask.data + s.batch * c.mask.strides[0] + head * c.mask.strides[1]), for_all(for_all) {}

    void find(int64_t first_token, int64_t tokens, RowSpan *rows) const {
        const bool all_true = all(first_token, tokens);
        for (int64_t token = first_token; token < first_token + tokens; token++) {
            const KeySpan window = window_of(token);
            new (rows++) RowSpan(all_true ? whole(window) : span_of({row(token), window.first, window.end}));
        }
    }

private:
    const Sequence s;
    const KeysInSight in_sight;
    const int64_t token_stride;
    const char *const data;
    const bool for_all;

    const char *row(int64_t token) const { return data + token * token_stride; }
    /// A row that is for all queries counts as far as any of them sees.
    KeySpan window_of(int64_t token) const { return for_all ? in_sight.of(0, s.q_len) : in_sight.of(token); }
    /// True if rows that lie one behind the other hide nothing, by one look at all of them, which ends where something is hidden.
    bool all(int64_t first_token, int64_t tokens) const {
        const bool together = tokens == 1 || token_stride == s.k_len;
        const int64_t keys = tokens * s.k_len;
        return together && in_sight.left < 0 && in_sight.right < 0 && MaskRow(row(first_token), 0, keys).all(0, keys);
    }
};

} // namespace

MaskSpans describe_spans(const AttentionCall &c) {
    MaskSpans spans;
    const auto extent = [](bool repeated, int64_t all) { return repeated ? std::min<int64_t>(all, 1) : all; };
    spans.tokens = extent(c.mask.strides[2] == 0, c.q.seqlen);
    spans.heads = extent(c.mask.strides[1] == 0, c.q.heads);
    spans.sequences = extent(c.mask.strides[0] == 0 && !c.has_used_keys, c.sequences);
    return spans;
}

void form_spans(const AttentionCall &c, const MaskSpans &spans, RowSpan *rows, Threads &threads) {
    const int64_t rows_of_task = std::max<int64_t>(bytes_of_task / std::max<int64_t>(c.k.seqlen, 1), 1);
    const bool for_all = spans.tokens < c.q.seqlen;
    threads.run(ceil_div(spans.count(), rows_of_task), [&](int64_t task, int) {
        const int64_t end = std::min((task + 1) * rows_of_task, spans.count());
        for (int64_t i = task * rows_of_task; i < end;) {
            const int64_t head = i / spans.tokens, first = i % spans.tokens,
                          tokens = std::min(spans.tokens - first, end - i);
            RowsOfHead(c, head / spans.heads, head % spans.heads, for_all).find(first, tokens, rows + i);
            i += tokens;
        }
    });
}

KeySpan HeadInSight::hull(int64_t first_token, int64_t tokens) const {
    KeySpan hull{std::numeric_limits<int64_t>::max(), 0};
    for (int64_t token = first_token; token < first_token + tokens; token++) {
        const KeySpan seen = of(token);
        if (seen.empty()) continue;
        hull.first = std::min(hull.first, seen.first);
        hull.end = std::max(hull.end, seen.end);
    }
    return hull.empty() ? KeySpan{} : hull;
}

KeyRange HeadInSight::range(int64_t first_token, int64_t tokens) const {
    const KeySpan all = hull(first_token, tokens);
    KeyRange range{all.first, all.end, -1, -1, true};
    if (all.empty()) return range;
    // Only the last row before a diagonal, and the first one behind it, tells where it is, and these may see nothing.
    int64_t first = first_token, last = first_token + tokens - 1;
    while (of(first).empty()) first++;
    while (of(last).empty()) last--;
    if (first > first_token || of(first).end < all.end) range.right = of(first).end - 1 - in_sight.position(first);
    if (last < first_token + tokens - 1 || of(last).first > all.first)
        range.left = in_sight.position(last) - of(last).first;
    const KeysInSight expected{in_sight.shift, range.left, range.right, all};
    for (int64_t token = first_token; token < first_token + tokens; token++) {
        const KeySpan seen = of(token), wanted = expected.of(token);
        if (!row(token).whole || (seen.empty() ? !wanted.empty() : !(seen == wanted))) return {};
    }
    return range;
}

} // namespace gyre
