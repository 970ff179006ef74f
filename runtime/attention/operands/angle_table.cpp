#include "attention/operands/angle_table.h"

#include "core/error.h"

#include <algorithm>

namespace gyre {

gyre_status AngleTable::prepare(const gyre_context &context, const AttentionCall &c, const Rotation &r, Side which,
                                gyre_context::Frequencies &cache) {
    call = &c;
    rotation = &r;
    side = which;
    GYRE_TRY(angles.prepare(context, r, cache));
    const Positions &given = side == queries ? c.q_positions : c.k_positions;
    const int64_t seqlen = side == queries ? c.q.seqlen : c.k.seqlen;
    const bool packed = is_packed();
    // Keys stand at 0, 1, 2 … and queries end where the keys do, unless told otherwise: the same for every sequence of
    // one length.
    const bool lengths_differ = side == queries && c.has_used_keys && c.lengths_move_queries;
    shared = !packed && !given.batch_stride && (given.given || !lengths_differ);
    sections = shared ? std::min<int64_t>(c.sequences, 1) : c.sequences;
    runs = (seqlen + run - 1) / run;
    rows = packed || shared ? seqlen : c.sequences * seqlen;
    row_floats = static_cast<int64_t>(Angles::row_floats(r));
    return GYRE_OK;
}

void AngleTable::place(char *memory) {
    table = reinterpret_cast<float *>(memory);
    longest = 0;
    for (int64_t i = 0; i < call->lengths(); i++) longest = std::max(longest, call->existing_keys(i));
}

bool AngleTable::is_packed() const { return side == queries ? call->layout == GYRE_THD : call->packed_keys; }

int64_t AngleTable::first_row(const Sequence &s, int64_t index) const {
    if (shared) return 0;
    const bool packed = is_packed();
    if (side == queries) return packed ? s.q_first : index * call->q.seqlen;
    return packed ? s.k_first : index * call->k.seqlen;
}

const float *AngleTable::row(const Sequence &s, int64_t index, int64_t token) const {
    return table + (first_row(s, index) + token) * row_floats;
}

bool AngleTable::fill(int64_t task, char *scratch) const {
    const int64_t section = task / runs, first = task % runs * run;
    const Sequence s = call->sequence(section);
    Positions p = side == queries ? call->q_positions : call->k_positions;
    if (!p.given) p.offset = side == queries ? s.k_len - s.q_len : 0;
    int64_t token = first;
    if (p.given && is_packed()) token += side == queries ? s.q_first : s.k_first;
    // A shared section serves longer sequences too, but no key that does not exist: a caller's tables end with the last.
    const int64_t length = side == queries ? s.q_len : shared ? longest : call->existing_keys(section);
    const int64_t tokens = std::min(run, length - first);
    if (tokens <= 0) return true;
    const int64_t batch = side == queries ? s.batch : s.k_batch;
    return angles.fill(p, batch, token, tokens, table + (first_row(s, section) + first) * row_floats, scratch);
}

} // namespace gyre
