#include "attention/mask_spans.h"

#include "attention/mask_row.h"
#include "core/workspace.h"

#include <limits>
#include <new>

namespace gyre {
namespace {

constexpr int64_t bytes_of_task = 1 << 16; // of a mask

/// The part of a mask's row that counts. A row that is for all queries counts as far as any of them sees.
MaskRow row_of(const AttentionCall &c, const Sequence &s, int64_t head, int64_t token, bool for_all) {
    const KeysInSight in_sight{c.shift(s), c.left, c.right, {0, s.k_len}};
    const KeySpan window = for_all ? in_sight.of(0, s.q_len) : in_sight.of(token);
    return {c.mask.data + s.batch * c.mask.strides[0] + head * c.mask.strides[1] + token * c.mask.strides[2],
            window.first, window.end};
}

RowSpan span_of(const MaskRow &row) {
    const int64_t first = row.first_true();
    if (first == row.end()) return {0, 0, true};
    const int64_t end = row.past_last_true();
    return {static_cast<int32_t>(first), static_cast<int32_t>(end), row.all(first, end)};
}

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
        for (int64_t i = task * rows_of_task; i < end; i++) {
            const Sequence s = c.sequence(i / (spans.tokens * spans.heads));
            const int64_t head = i / spans.tokens % spans.heads;
            new (rows + i) RowSpan(span_of(row_of(c, s, head, i % spans.tokens, for_all)));
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
