// The order in which gyre_attention()'s arguments are checked. Tensors: check_tensors.cpp. Options: check_options.cpp. Lists of lengths and
// rotations: check_sequences.cpp. Pages: check_pages.cpp.
#include "attention/check/check.h"

#include "attention/call/tensors.h"
#include "core/error.h"
#include "core/overlap.h"

#include <algorithm>

namespace gyre {
namespace {

constexpr int64_t most_rows = INT64_C(1) << 56; // of scores, in all heads of all sequences; parts of them still count

/// That what there is of sequences, heads and tokens can be counted, and their tables' bytes.
gyre_status check_amounts(const AttentionCall &c) {
    const int64_t longest = std::max<int64_t>({c.q.seqlen, c.k.seqlen, 1});
    const int64_t keys = c.packed_keys ? c.k.seqlen : saturated_product(c.sequences, c.k.seqlen);
    const int64_t rows = saturated_product(saturated_product(c.sequences, std::max<int64_t>(c.q.heads, 1)), longest);
    if (keys <= most_elements && rows <= most_rows) return GYRE_OK;
    return refuse(
        GYRE_UNSUPPORTED, "q", "got %lld sequences, expected fewer with %lld heads and up to %lld tokens each",
        static_cast<long long>(c.sequences), static_cast<long long>(c.q.heads), static_cast<long long>(longest));
}

} // namespace

gyre_status check_attention(const gyre_attention_args &a, bool need_data, AttentionCall *c, bool with_out,
                            bool read_lists) {
    GYRE_TRY(check_layout(a.layout));
    c->layout = a.layout;
    GYRE_TRY(check_inputs(a, need_data, c));
    if (with_out) GYRE_TRY(check_output(a, need_data, c));
    GYRE_TRY(check_blocks(a, c));
    GYRE_TRY(check_lse(a, need_data, c));
    need_data = need_data && read_lists;
    GYRE_TRY(check_sequences(a, need_data, c));
    GYRE_TRY(check_page_table(a, need_data, c));
    GYRE_TRY(check_amounts(*c));
    GYRE_TRY(check_options(a, need_data, c));
    GYRE_TRY(check_used_keys(a, need_data, c));
    GYRE_TRY(check_mask_is_prepared(a, need_data, c));
    GYRE_TRY(check_pages(need_data, *c));
    GYRE_TRY(check_rotations(a, need_data, c));
    if (!need_data || !with_out) return GYRE_OK;
    const Heads lse = c->lse.as_heads(c->q);
    return check_reads_apart(a, {{&c->out, "out"}, {&lse, "lse"}}, a.lse);
}

} // namespace gyre
