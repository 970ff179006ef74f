#include "options/attention_options.h"

#include "console/errors.h"

#include <cmath>

namespace gyre::cli {
namespace {

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
    refuse_together({cu_q, given("--bias", options.bias)});
    refuse_together({cu_q, given("--mask", options.mask)});
    if (options.scale && float(*options.scale) == 0)
        refuse("--scale", "0", "another number; without the option it is 1/sqrt(head_dim)");
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
