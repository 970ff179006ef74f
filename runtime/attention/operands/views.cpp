#include "attention/operands/views.h"

#include <cstdlib>

namespace gyre {
namespace {

const float zero_row[2] = {0, 0};

} // namespace

AngleViews::AngleViews(const AngleTable *table, const Sequence &s, int64_t index, int64_t first, int64_t tokens)
    : AngleViews(table ? table->row(s, index, first) : zero_row, table ? table->pairs() : 0,
                 table ? table->row_stride() : 0, tokens) {}

AngleViews::AngleViews(const float *rows, int64_t pairs, int64_t stride, int64_t tokens)
    : cos(rows, halide_type(GYRE_F32), {{pairs, 1}, {tokens, stride}}),
      sin(rows + pairs, halide_type(GYRE_F32), {{pairs, 1}, {tokens, stride}}) {}

PageViews::PageViews(const PageTable &p, int64_t index, int64_t first_key, int64_t keys) {
    static const int32_t only_page = 1; // see KeyRows
    if (p.entries) {
        bits = p.bits;
        first_slot = static_cast<int32_t>(first_key & ((int64_t{1} << bits) - 1));
    }
    const int64_t count = ((first_slot + keys - 1) >> bits) + 1;
    table.describe(p.entries ? p.entries + index * p.stride + (first_key >> bits) : &only_page, halide_type(GYRE_I32),
                   {{count, 1}});
}

KeyRows::KeyRows(const AttentionCall &c, const Heads &t, halide_type_t type, int64_t pool_page_stride,
                 const Sequence &s, int64_t token, int64_t head, int64_t keys, int64_t heads)
    : slot_stride(static_cast<int32_t>(t.token_stride)) {
    const char *data;
    int64_t offsets;
    if (c.pages.entries) {
        const int64_t last_slot = (int64_t{1} << c.pages.bits) - 1;
        page_stride = static_cast<int32_t>(pool_page_stride);
        data = t.at(0, 0, head);
        offsets = (c.pages.pages - 1) * pool_page_stride + last_slot * t.token_stride + 1;
    } else {
        // One page, whose stride tells where key 0 is: last in memory, if tokens are stored backwards.
        if (t.token_stride < 0) page_stride = static_cast<int32_t>((1 - keys) * t.token_stride);
        data = t.at(s.batch, t.token_stride < 0 ? token + keys - 1 : token, head);
        offsets = (keys - 1) * std::abs(t.token_stride) + 1;
    }
    elements.describe(data, type, {{t.dim, 1}, {offsets + (heads - 1) * t.head_stride, 1}});
}

KeyRows::KeyRows(const char *data, halide_type_t type, int64_t dim, int64_t stride, int64_t slots)
    : elements(data, type, {{dim, 1}, {slots * stride, 1}}), slot_stride(static_cast<int32_t>(stride)) {}

KeysAndValues::KeysAndValues(const AttentionCall &c, const AngleTables &angles, const Sequence &s, int64_t index,
                             int64_t first_key, int64_t keys, bool in_pages)
    : pages(in_pages ? c.pages : PageTable(), index, first_key, keys),
      k_angle(angles.keys(), s, index, first_key, keys), v_angle(angles.values(), s, index, first_key, keys),
      k_pairs(c.rotate_keys, c.rope), v_pairs(c.rotate_values, c.value_rope), keys(static_cast<int32_t>(keys)) {}

} // namespace gyre
