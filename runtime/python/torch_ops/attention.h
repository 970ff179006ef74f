/// Attention's options as operators of PyTorch take them, and the structure that the library takes.
#pragma once
#include "tensors.h"

namespace gyre_torch {

/// The parameters that attention and its gradients share, in the order of the operators' schemas.
#define GYRE_ATTENTION_SCHEMA                                                                                          \
    "Tensor? bias=None, Tensor? mask=None, Tensor? sinks=None, Tensor? alibi=None, Tensor? seqused_k=None, "           \
    "Tensor? cu_seqlens_q=None, Tensor? cu_seqlens_k=None, Tensor? block_table=None, Tensor? q_positions=None, "       \
    "Tensor? k_positions=None, Tensor? inv_freq=None, Tensor? value_inv_freq=None, Tensor? prepared_mask=None, "       \
    "float scale=0., float softcap=0., bool causal=False, bool top_left=False, int window_left=-1, "                   \
    "int window_right=-1, bool interleaved=False, float rope_factor=1., bool keys_rotated=False, "                     \
    "bool values_rotated=False, float dropout=0., int dropout_seed=0, int dropout_offset=0, int layout=1"
#define GYRE_ATTENTION_PARAMETERS                                                                                      \
    const OptionalTensor &bias, const OptionalTensor &mask, const OptionalTensor &sinks, const OptionalTensor &alibi,  \
        const OptionalTensor &seqused_k, const OptionalTensor &cu_seqlens_q, const OptionalTensor &cu_seqlens_k,       \
        const OptionalTensor &block_table, const OptionalTensor &q_positions, const OptionalTensor &k_positions,       \
        const OptionalTensor &inv_freq, const OptionalTensor &value_inv_freq, const OptionalTensor &prepared_mask,     \
        double scale, double softcap, bool causal, bool top_left, int64_t window_left, int64_t window_right,           \
        bool interleaved, double rope_factor, bool keys_rotated, bool values_rotated, double dropout,                  \
        int64_t dropout_seed, int64_t dropout_offset, int64_t layout
#define GYRE_ATTENTION_ARGUMENTS                                                                                       \
    bias, mask, sinks, alibi, seqused_k, cu_seqlens_q, cu_seqlens_k, block_table, q_positions, k_positions, inv_freq,  \
        value_inv_freq, prepared_mask, scale, softcap, causal, top_left, window_left, window_right, interleaved,       \
        rope_factor, keys_rotated, values_rotated, dropout, dropout_seed, dropout_offset, layout

/// A call's arguments; what they point to is in here, too.
struct AttentionArguments {
    gyre_attention_args args = gyre_attention_defaults();
    gyre_rope rope = gyre_rope_defaults(), value_rope = gyre_rope_defaults();
    Views views;

    /// Everything but out and lse. Errors: throws.
    void fill(const Tensor &q, const Tensor &k, const Tensor &v, GYRE_ATTENTION_PARAMETERS);
};

/// A result of attention, not filled. It lies in memory as bshd or thd: what follows attention in models joins the heads of a token.
/// Errors: throws, if q's rank is not the layout's.
Tensor new_out(const gyre_tensor &q, const gyre_tensor &v, int64_t layout);

/// A new lse, not filled, [batch, heads, seqlen] or [heads, tokens], of a q that new_out() has taken. Errors: throws.
Tensor new_lse(const gyre_tensor &q, int64_t layout);

/// Computes a call that is filled. lse: nullptr, if it is not wanted. Errors: throws.
void run(AttentionArguments *call, const Tensor &out, const Tensor *lse);

/// A rotation by frequencies, f64 [rotary_dim / 2]. Errors: throws.
void set_frequencies(const Tensor &inv_freq, const char *name, gyre_rope *rope);

/// `to` points to the rotation if there are frequencies, and stays as it is without them. Errors: throws.
void set_rope(const OptionalTensor &inv_freq, const char *name, bool interleaved, gyre_rope *rope,
              const gyre_rope **to);

} // namespace gyre_torch
