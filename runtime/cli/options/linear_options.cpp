#include "options/linear_options.h"

#include "console/errors.h"
#include "options/attention_options.h"
#include "options/layout.h"
#include "options/option_values.h"

#include <limits>

namespace gyre::cli {
namespace {

Given given(const char *option, const std::string &text) { return {option, !text.empty()}; }

} // namespace

void add_linear_options(const Command &command, LinearOptions &options) {
    add_layout(command, options.layout);
    add_causal(command, options.causal);
    add_text(command, "--seqused-k", options.seqused_k, "N.npy", "int, [batch]: only so many keys exist");
    add_text(command, "--cu-seqlens-q", options.cu_seqlens_q, "C.npy",
             "int, [batch + 1]: where packed sequences begin");
    add_text(command, "--cu-seqlens-k", options.cu_seqlens_k, "C.npy", "the same for keys and values");
    add_whole_number(command, "--rotary-dim", options.rotary_dim, 0, std::numeric_limits<std::int32_t>::max(),
                     "RoPE: rotated features of q and k in the numerator");
    add_rotation(command, options.rotation);
    add_text(command, "--q-positions", options.q_positions, "P.npy", "int, [batch, seqlen] or [seqlen], for rotations");
    add_text(command, "--k-positions", options.k_positions, "P.npy", "the same for keys");
    add_text(command, "--kv-state", options.kv_state, "S.npy",
             "float, [batch, num_kv_heads, head_dim, v_head_dim]: what earlier keys left");
    add_text(command, "--k-state", options.k_state, "Z.npy", "float, [batch, num_kv_heads, head_dim]: likewise");
}

void check_combinations(const LinearOptions &options) {
    const Given cu_q = given("--cu-seqlens-q", options.cu_seqlens_q);
    const Given cu_k = given("--cu-seqlens-k", options.cu_seqlens_k);
    refuse_without(cu_q, cu_k);
    refuse_without(cu_k, cu_q);
    refuse_together({cu_q, {"--layout", options.layout.has_value()}});
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
