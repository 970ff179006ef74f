#include "options/attention_options.h"

#include "console/errors.h"
#include "options/layout.h"
#include "options/option_values.h"

#include <cmath>
#include <limits>

namespace gyre::cli {
namespace {

const std::int64_t any_size = std::numeric_limits<std::int32_t>::max();

Given given(const char *option, const std::string &text) { return {option, !text.empty()}; }

/// Rotations are off unless their size is given; so an option that only describes one would silently do nothing.
void refuse_idle_rotation_options(const AttentionOptions &options) {
    if (options.rotary_dim || options.rotary_v_dim) return; // a size of 0 says that this is meant
    for (const Given &each :
         {Given{"--theta", options.rotation.theta.has_value()}, given("--rope", options.rotation.rope),
          Given{"--interleaved", options.rotation.interleaved}, given("--q-positions", options.q_positions),
          given("--k-positions", options.k_positions)}) {
        if (each.given)
            refuse(each.option, "given, but nothing is rotated", "--rotary-dim or --rotary-v-dim beside it");
    }
}

} // namespace

void add_causal(const Command &command, std::optional<gyre_alignment> &causal) {
    add_choice<gyre_alignment>(
        command, "--causal", causal, {{"bottom_right", GYRE_BOTTOM_RIGHT}, {"top_left", GYRE_TOP_LEFT}},
        "hide later keys; the last query sees the last key (default), or the first query the first")
        .make_value_optional("bottom_right");
}

void add_attention_options(const Command &command, AttentionOptions &options) {
    add_layout(command, options.layout);
    add_real_number(command, "--scale", options.scale, -std::numeric_limits<double>::infinity(), false,
                    "of the scores, default 1/sqrt(head_dim)");
    add_real_number(command, "--softcap", options.softcap, 0, false, "softcap * tanh(score / softcap); 0: off");
    add_causal(command, options.causal);
    add_whole_number(command, "--window-left", options.window_left, -1, any_size, "earlier keys seen, -1: all");
    add_whole_number(command, "--window-right", options.window_right, -1, any_size, "later keys seen, -1: all");
    add_text(command, "--bias", options.bias, "B.npy", "float, added to scores; broadcast to [b, heads, lq, lk]");
    add_text(command, "--mask", options.mask, "M.npy", "bool, true = attend; broadcast likewise");
    add_text(command, "--sinks", options.sinks, "S.npy", "float, [num_heads]: joins the denominator only");
    add_text(command, "--alibi", options.alibi, "A.npy", "float, [num_heads]: slope * (pos_k - pos_q) is added");
    add_text(command, "--seqused-k", options.seqused_k, "N.npy", "int, [batch]: only so many keys exist");
    add_text(command, "--cu-seqlens-q", options.cu_seqlens_q, "C.npy",
             "int, [batch + 1]: where packed sequences begin");
    add_text(command, "--cu-seqlens-k", options.cu_seqlens_k, "C.npy", "the same for keys and values");
    add_text(command, "--page-table", options.page_table, "T.npy",
             "int, [batch, pages]: --k and --v are pools of pages, --seqused-k says how many keys exist");
    add_choice<gyre_value_order>(command, "--value-order", options.value_order,
                                 {{"rows", GYRE_VALUES_IN_ROWS}, {"blocks", GYRE_VALUES_IN_BLOCKS}},
                                 "how --v keeps values; in blocks: [v_head_dim][32] of every 32 tokens, bf16");
    add_real_number(command, "--dropout", options.dropout, 0, false, "probability that a weight becomes 0, below 1");
    add_whole_number(command, "--dropout-seed", options.dropout_seed, 0, std::numeric_limits<std::int64_t>::max(),
                     "key of the random numbers, default 0");
    add_whole_number(command, "--dropout-offset", options.dropout_offset, 0, std::numeric_limits<std::uint32_t>::max(),
                     "of this call among those with the seed, default 0");
    add_whole_number(command, "--rotary-dim", options.rotary_dim, 0, any_size, "RoPE: rotated features of q and k");
    add_whole_number(command, "--rotary-v-dim", options.rotary_v_dim, 0, any_size, "RoPER: rotated features of v");
    command.add_flag("--keys-rotated", options.keys_rotated, "--k is a cache of rotated keys");
    command.add_flag("--values-rotated", options.values_rotated, "--v is a cache of rotated values");
    add_rotation(command, options.rotation);
    add_text(command, "--q-positions", options.q_positions, "P.npy", "int, [batch, seqlen] or [seqlen], for rotations");
    add_text(command, "--k-positions", options.k_positions, "P.npy", "the same for keys and values");
}

void check_combinations(const AttentionOptions &options) {
    const Given cu_q = given("--cu-seqlens-q", options.cu_seqlens_q);
    const Given cu_k = given("--cu-seqlens-k", options.cu_seqlens_k);
    const Given layout = {"--layout", options.layout.has_value()};
    const Given pages = given("--page-table", options.page_table);
    refuse_without(pages, given("--seqused-k", options.seqused_k));
    refuse_together({cu_k, pages});
    if (options.page_table.empty()) refuse_without(cu_q, cu_k);
    refuse_without(cu_k, cu_q);
    const Given dropout = {"--dropout", options.dropout.has_value()};
    refuse_without({"--dropout-seed", options.dropout_seed.has_value()}, dropout);
    refuse_without({"--dropout-offset", options.dropout_offset.has_value()}, dropout);
    refuse_together({cu_q, layout});
    refuse_together({cu_q, given("--bias", options.bias), given("--mask", options.mask)});
    if (options.scale && float(*options.scale) == 0) refuse("--scale", "0", "another number");
    for (const auto &[option, value] : {std::pair("--scale", options.scale), std::pair("--softcap", options.softcap)}) {
        if (value && std::isinf(float(*value))) refuse(option, std::to_string(*value), "a number that fits f32");
    }
    refuse_idle_rotation_options(options);
}

gyre_layout layout_of(const AttentionOptions &options) {
    return options.cu_seqlens_q.empty() ? options.layout.value_or(GYRE_BHSD) : GYRE_THD;
}

gyre_layout keys_layout_of(const AttentionOptions &options) {
    const gyre_layout layout = layout_of(options);
    return layout == GYRE_THD && !options.page_table.empty() ? GYRE_BSHD : layout;
}

} // namespace gyre::cli
