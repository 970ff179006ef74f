#include "attention/plan/sequence_order.h"

#include <algorithm>
#include <new>

namespace gyre {

void SequenceOrder::prepare(const AttentionCall &c, int threads) {
    const bool of_different_lengths = c.has_used_keys || c.has_cu_seqlens_q || c.by_key_range;
    sorted = threads > 1 && of_different_lengths && c.sequences > 1 ? c.sequences : 0;
}

size_t SequenceOrder::bytes() const { return round_up(static_cast<size_t>(sorted) * sizeof(Entry)); }

void SequenceOrder::form(const AttentionTask &task, char *memory) {
    if (!sorted) return;
    auto *const all = reinterpret_cast<Entry *>(memory);
    for (int64_t i = 0; i < sorted; i++) new (all + i) Entry{task.work(task.call.sequence(i)), i};
    const auto before = [](const Entry &a, const Entry &b) {
        return a.work != b.work ? a.work > b.work : a.sequence < b.sequence;
    };
    std::make_heap(all, all + sorted, before); // a heap's code is a third of std::sort()'s, which small programs link
    std::sort_heap(all, all + sorted, before);
    entries = all;
}

} // namespace gyre
