// Writes the new keys and values, in runs of tokens.
#include "cache/append_call.h"
#include "cache/written_pages.h"
#include "core/run_call.h"
#include "core/value_blocks.h"

#include <algorithm>

namespace gyre {
namespace {

/// The place of a sequence's key in the cache, and how many slots follow before another page begins.
struct Place {
    int64_t entry, slot, room;
};

Place place_of(const AppendCall &c, int64_t sequence, int64_t key) {
    if (!c.paged) return {sequence, key, c.capacity - key};
    const int64_t page_size = int64_t{1} << c.pages.bits;
    const int64_t slot = key & (page_size - 1);
    return {c.pages.entries[sequence * c.pages.stride + (key >> c.pages.bits)], slot, page_size - slot};
}

} // namespace

gyre_status AppendCall::check_written_pages(char *memory) const {
    if (!most_pages()) return GYRE_OK;
    WrittenPages written(memory, most_pages());
    for (int64_t i = 0; i < sequences; i++) {
        const NewTokens n = of_sequence(i);
        for (int64_t key = n.slot, end = key + n.count; key < end;) {
            const Place p = place_of(*this, i, key);
            const int64_t count = std::min(p.room, end - key);
            if (!written.add(p.entry, p.slot, p.slot + count))
                return refuse(GYRE_BAD_ARGUMENT,
                              ArgumentName("page_table[%lld, %lld]", static_cast<long long>(i),
                                           static_cast<long long>(key >> pages.bits)),
                              "got page %lld, of whose slots %lld .. %lld some are written by another "
                              "entry, too",
                              static_cast<long long>(p.entry), static_cast<long long>(p.slot),
                              static_cast<long long>(p.slot + count - 1));
            key += count;
        }
    }
    return GYRE_OK;
}

gyre_status AppendCall::run(gyre_context &context, char *memory) const {
    GYRE_TRY(check_written_pages(memory));
    const bool ok = context.threads.run_all(tasks(), [&](int64_t task, int worker) {
        return append_run(task, memory + static_cast<size_t>(worker) * slab_bytes());
    });
    return finish_call(context, *k.rotate.kernel->kernel, ok);
}

bool AppendCall::append_run(int64_t task, char *memory) const {
    const int64_t end = std::min((task + 1) * run_tokens, tokens());
    bool ok = true;
    for (int64_t token = task * run_tokens; token < end;) {
        NewTokens n = from_token(token);
        n.count = std::min(n.count, end - token);
        ok = append(n, memory) && ok;
        token += n.count;
    }
    return ok;
}

/// `memory` is the thread's slab.
bool AppendCall::append(const NewTokens &n, char *memory) const {
    auto *k_rows = reinterpret_cast<float *>(memory);
    auto *v_rows = reinterpret_cast<float *>(memory + k_rows_bytes);
    char *values = memory + k_rows_bytes + v_rows_bytes;
    char *scratch = values + values_bytes;
    Positions p = positions;
    if (!p.given) p.offset = n.slot - n.first; // a key stands where its slot is
    if (k.rotation.on && !k.angles.fill(p, n.batch, n.first, n.count, k_rows, scratch)) return false;
    if (same_angles)
        v_rows = k_rows;
    else if (v.rotation.on && !v.angles.fill(p, n.batch, n.first, n.count, v_rows, scratch))
        return false;
    bool ok = true;
    for (int64_t done = 0; done < n.count;) {
        const Place place = place_of(*this, n.sequence, n.slot + done);
        const int64_t count = std::min(place.room, n.count - done);
        for (const Appended *t : {&k, &v}) {
            if (t->empty()) continue;
            const float *rows = t == &k ? k_rows : v_rows;
            rows += done * static_cast<int64_t>(Angles::row_floats(t->rotation));
            const bool in_blocks = t == &v && value_blocks;
            Heads to = t->to;
            if (in_blocks) {
                to.data = values;
                to.token_stride = to.heads * to.dim;
                to.head_stride = to.dim;
            }
            ok = t->rotate.run({t->from, n.batch, n.first + done},
                               in_blocks ? TokenRun(to, 0, 0) : TokenRun(to, place.entry, place.slot), count,
                               t->from.heads, t->from.dim, rows, scratch) &&
                 ok;
            if (in_blocks) store_value_blocks(values, t->to, place.entry, place.slot, count);
        }
        done += count;
    }
    return ok;
}

} // namespace gyre
