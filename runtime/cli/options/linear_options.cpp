#include "options/linear_options.h"

#include "console/errors.h"

namespace gyre::cli {
namespace {

Given given(const char *option, const std::string &text) { return {option, !text.empty()}; }

} // namespace

void add_linear_causal(const Command &command, std::optional<gyre_alignment> &causal) {
    add_choice<gyre_alignment>(
        command, "--causal", causal, {{"bottom_right", GYRE_BOTTOM_RIGHT}, {"top_left", GYRE_TOP_LEFT}},
        "query i sees keys 0 .. i, as many as queries (default: top_left); without --seqused-k both words mean that")
        .make_value_optional("top_left");
}

void check_combinations(const LinearOptions &options) {
    const Given cu_q = given("--cu-seqlens-q", options.cu_seqlens_q);
    const Given cu_k = given("--cu-seqlens-k", options.cu_seqlens_k);
    refuse_without(cu_q, cu_k);
    refuse_without(cu_k, cu_q);
    refuse_together({cu_q, {"--layout", options.layout.has_value()}});
    if (options.causal == GYRE_BOTTOM_RIGHT && !options.seqused_k.empty())
        refuse("--causal", "bottom_right beside --seqused-k", "top_left: query i sees keys 0 .. i");
    const Given kv_state = given("--kv-state", options.kv_state);
    const Given k_state = given("--k-state", options.k_state);
    refuse_without(kv_state, k_state);
    refuse_without(k_state, kv_state);
    if (options.rotary_dim) return; // a size of 0 says that this is meant
    for (const Given &each :
         {Given{"--theta", options.rotation.theta.has_value()}, given("--rope", options.rotation.rope),
          Given{"--interleaved", options.rotation.interleaved}, given("--q-positions", options.q_positions),
          given("--k-positions", options.k_positions)})
        if (each.given) refuse(each.option, "given, but nothing is rotated", "--rotary-dim beside it");
}

gyre_layout layout_of(const LinearOptions &options) {
    return options.cu_seqlens_q.empty() ? options.layout.value_or(GYRE_BHSD) : GYRE_THD;
}

} // namespace gyre::cli
