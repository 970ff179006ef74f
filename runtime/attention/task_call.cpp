// One call of a kernel for tokens of a task: where all that it reads and writes is.
#include "attention/bias.h"
#include "attention/score_arguments.h"
#include "attention/task_extent.h"
#include "attention/task_views.h"
#include "attention/tile_rows.h"
#include "common/slope_reach.h"
#include "core/argument_tables.h"
#include "core/late.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace gyre {
namespace {

constexpr float log2_e = 1.44269504088896f;
constexpr int64_t unbounded = 1 << 29; // beyond every row and key, and sums with rows stay in 32 bits

int32_t clamp_index(int64_t i) { return static_cast<int32_t>(std::clamp(i, -unbounded, unbounded)); }

/// What the general family reads for one task.
struct GeneralArguments {
    BiasArguments bias;
    const bool has_mask;
    Buffer mask;
    const float softcap;
    const bool has_alibi;
    Buffer alibi;
    const int32_t alibi_origin;

    GeneralArguments(const AttentionTask &task, const Sequence &s, int64_t head, int64_t heads, int64_t first_row,
                     int64_t rows, int64_t first_key, int64_t keys)
        : bias(task.call.bias, s.batch, head, first_row, rows, first_key, keys, heads),
          has_mask(task.call.mask.data != nullptr),
          mask(broadcast_view(task.call.mask, true, halide_type(GYRE_BOOL), s.batch, head, first_row, rows, first_key,
                              keys, heads)),
          softcap(task.call.softcap), has_alibi(task.call.alibi != nullptr), alibi(task.terms.slopes(head, heads)),
          alibi_origin(clamp_index(first_key - first_row - task.call.shift(s))) {}

    void add_to(KernelArguments<AttentionArguments> *to) {
        using A = AttentionArguments;
        KernelArguments<A> &arguments = *to;
        bias.add_to(to);
        arguments[A::has_mask] = &has_mask;
        arguments[A::mask] = &mask;
        arguments[A::softcap] = &softcap;
        arguments[A::has_alibi] = &has_alibi;
        arguments[A::alibi] = &alibi;
        arguments[A::alibi_origin] = &alibi_origin;
    }
};

int64_t rows_of_tile_in_sight(const AttentionKernel &of_rows, const TaskExtent &x, const KeysInSight &in_sight) {
    if (!is_x86 || of_rows.tile_lanes == 0) return 0;
    const KeySpan first = in_sight.of(x.first_token), last = in_sight.of(x.first_token + x.tokens - 1);
    const auto keys_of = [](const KeySpan &seen) { return std::max<int64_t>(seen.end - seen.first, 0); };
    return rows_of_tile(of_rows, {x.heads, x.tokens, (keys_of(first) + keys_of(last)) / 2,
                                  (first.first != last.first) + (first.end != last.end)});
}

} // namespace

/// How much longer rotation makes a key at most: known of the library's angles, not of a caller's tables. Features that are
/// not rotated stay as long as they are.
float AttentionTask::key_gain() const {
    // What is bounded sums rounded weights. Parts have an lse, and one that needs no merge has the same bits.
    if (split || call.lse.data) return std::numeric_limits<float>::infinity();
    if (!call.rotate_keys) return 1;
    return call.rope.cos ? std::numeric_limits<float>::infinity() : std::max(1.0f, call.rope.scale);
}

void AttentionTask::write_empty_row(const TaskExtent &x, int64_t token, const Heads &out, const Lse &lse) const {
    for (int64_t h = 0; h < x.heads; h++) {
        std::memset(out.at(x.sequence.batch, x.sequence.q_first + x.first_token + token, x.head + h), 0,
                    static_cast<size_t>(out.dim) * element_size(out.dtype));
        lse.data[h * lse.head_stride + token] = -INFINITY;
    }
}

bool AttentionTask::run_tokens(const AttentionKernel &of_rows, TaskExtent x, const KeysInSight &in_sight,
                               const KeySpan &seen, char *scratch) const {
    const AttentionCall &c = call;
    const Sequence &s = x.sequence;
    const int64_t index = x.index, head = x.head, part = x.part;
    // From the start of a block: where blocks begin, and so the result's bits, does not depend on how tokens are cut into tasks.
    x.first_key = s.first_seen + (seen.first - s.first_seen) / of_rows.key_block * of_rows.key_block;
    // To the end of a block, because what may be concluded from a block's keys is to depend on the block alone.
    const int64_t block_end = x.first_key + to_block_end(of_rows, seen.end - x.first_key);
    x.keys = seen.empty() ? 0 : std::min(block_end, in_sight.part.end) - x.first_key;

    const bool to_whole = is_whole(s);
    const Heads &to = to_whole ? whole.out : c.out;
    const Lse &to_lse = to_whole ? whole.lse : c.lse;
    Heads out_heads = to;
    out_heads.data += part * out_part_stride * static_cast<int64_t>(element_size(to.dtype));
    Lse lse = to_lse;
    lse.data = to_lse.data ? to_lse.at(s.batch, s.q_first + x.first_token, head) + part * lse_part_stride
                           : reinterpret_cast<float *>(scratch + of_rows.workspace);
    if (!to_lse.data) lse.head_stride = x.tokens;
    // Rows without a key: the kernel's zeros, rotated back, may be negative, and whether it is asked for such a row depends on which
    // rows share its task.
    const auto write_empty_rows = [&] {
        for (int64_t i = 0; i < x.tokens; i++)
            if (x.keys == 0 || in_sight.of(x.first_token + i).empty()) write_empty_row(x, i, out_heads, lse);
    };
    if (x.keys == 0) {
        write_empty_rows();
        return true;
    }

    const int64_t kv_head = head / sharing(), of_keys = std::max<int64_t>(x.heads / sharing(), 1),
                  q_token = s.q_first + x.first_token, k_token = s.k_first + x.first_key;
    const auto queries = [&](const Heads &t) {
        return Buffer(t.at(s.batch, q_token, head), halide_type(t.dtype),
                      {{t.dim, 1}, {x.heads, t.head_stride}, {x.tokens, t.token_stride}});
    };
    Buffer q = queries(c.q), out = queries(out_heads);
    const int64_t keys_held = c.value_blocks ? ceil_div(x.keys, int64_t{GYRE_VALUE_BLOCK}) * GYRE_VALUE_BLOCK : x.keys;
    const halide_type_t type = c.value_blocks ? halide_type_t(halide_type_uint, 16) : halide_type(c.k.dtype);
    const auto stored = [&](const Heads &t, int64_t page_stride) {
        return KeyRows(c, t, type, page_stride, s, k_token, kv_head, keys_held, of_keys);
    };
    const bool formed = operands.on() && of_rows.is(trait::formed);
    const int64_t slot = formed ? operands.at(c, index, kv_head, x.first_key) : 0;
    char *const wide = scratch + rows_scratch_bytes();
    if (widened.on() && !widened.form(c, s, index, kv_head, x.first_key, x.keys, wide)) return false;
    if (widened.has_queries() && !widened.form_queries(c, s, x.first_token, x.tokens, head, x.heads, wide, &q))
        return false;
    KeyRows k = formed         ? operands.keys(slot, x.keys)
                : widened.on() ? widened.keys(x.keys, wide)
                               : stored(c.k, c.pages.k_page_stride);
    KeyRows v = formed         ? operands.values(slot, x.keys)
                : widened.on() ? widened.values(x.keys, wide)
                               : stored(c.v, c.pages.v_page_stride);
    KeysAndValues keys_and_values(c, angles, s, index, x.first_key, x.keys, !widened.on());
    Buffer lse_view(lse.data, halide_type(GYRE_F32), {{x.tokens, 1}, {x.heads, lse.head_stride}});

    AngleViews q_angle(angles.queries(), s, index, x.first_token, x.tokens);
    AngleViews o_angle(angles.results(), s, index, x.first_token, x.tokens);
    const RotatedPairs qp(c.rope.on, c.rope);
    const RotatedPairs op(c.value_rope.on, c.value_rope);

    const float scale = c.scale * log2_e;
    const int64_t position = x.first_token + c.shift(s);
    const int32_t first_visible =
        in_sight.left < 0 ? clamp_index(-unbounded) : clamp_index(position - in_sight.left - x.first_key);
    const int32_t last_visible =
        in_sight.right < 0 ? clamp_index(unbounded) : clamp_index(position + in_sight.right - x.first_key);
    using A = AttentionArguments;
    KernelArguments<A> arguments(of_rows.places);
    keys_and_values.add_to(&arguments, &k, &v);
    arguments[A::q_cos] = &q_angle.cos;
    arguments[A::q_sin] = &q_angle.sin;
    arguments[A::o_cos] = &o_angle.cos;
    arguments[A::o_sin] = &o_angle.sin;
    arguments[A::q_half] = &qp.half;
    arguments[A::q_interleaved] = &qp.interleaved;
    arguments[A::o_half] = &op.half;
    arguments[A::o_interleaved] = &op.interleaved;
    arguments[A::scale] = &scale;
    arguments[A::first_visible] = &first_visible;
    arguments[A::last_visible] = &last_visible;
    arguments[A::q] = &q;
    arguments[A::out] = &out;
    arguments[A::lse] = &lse_view;
    const auto key_heads = static_cast<int32_t>(of_keys), k_head_stride = static_cast<int32_t>(c.k.head_stride),
               v_head_stride = static_cast<int32_t>(c.v.head_stride);
    if (is_x86) {
        arguments[A::key_heads] = &key_heads;
        arguments[A::k_head_stride] = &k_head_stride;
        arguments[A::v_head_stride] = &v_head_stride;
    }
    Buffer key_squares;
    if (formed) {
        operands.describe_squares(slot, x.keys, &key_squares);
        arguments[A::key_squares] = &key_squares;
    }
    // Sinks join parts where these are merged.
    Buffer sinks = is_x86 && split ? HeadTerms().sinks(head, x.heads) : terms.sinks(head, x.heads);
    arguments[A::sinks] = &sinks;
    const int32_t tile_rows = static_cast<int32_t>(rows_of_tile_in_sight(of_rows, x, in_sight));
    arguments[A::tile_rows] = &tile_rows;
    const float gain = key_gain();
    arguments[A::key_gain] = &gain;
    Late<GeneralArguments> general;
    if (of_rows.is(trait::general))
        general.make(*this, s, head, x.heads, x.first_token, x.tokens, x.first_key, x.keys).add_to(&arguments);
    const bool is_sloped = is_x86 && of_rows.is(trait::sloped);
    const float slope = is_sloped ? terms.slope_of(head) : 0;
    const int32_t reach = is_sloped ? slope_reach(slope) : 0;
    const int32_t slope_origin = is_sloped ? clamp_index(x.first_key - x.first_token - c.shift(s)) : 0;
    if (is_sloped) {
        arguments[A::slope] = &slope;
        arguments[A::slope_reach] = &reach;
        arguments[A::slope_origin] = &slope_origin;
    }
    if (is_x86) arguments[A::score_cap] = &c.softcap;
    Late<DropoutArguments> dropout;
    if (of_rows.is(trait::dropout))
        dropout.make(c.dropout, index * c.q.heads + head, x.first_token, x.first_key).add_to(&arguments);
    Late<ScoreArguments> score;
    if (c.score)
        score.make(of_rows.score_inputs, score_views, c, s, index, head, x.first_token, x.first_key).add_to(&arguments);
    Slab slab(scratch, of_rows.workspace);
    if (!arguments.call(*of_rows.kernel, slab)) return false;
    if (in_sight.left >= 0 || in_sight.right >= 0) write_empty_rows();
    return true;
}

} // namespace gyre
