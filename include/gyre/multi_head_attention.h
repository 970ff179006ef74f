/// @file
/// gyre::MultiHeadAttention: projections, attention with RoPE and RoPER, and the output's projection, with gradients.
///
///     gyre::MultiHeadAttentionOptions options;
///     options.heads = 8;
///     options.d_model = 512;                                           // half of each head is rotated, as in labml-nn
///     gyre::MultiHeadAttention attention(options);                     // weights are 0: set those of parameters()
///     gyre::Context context;
///     const gyre_tensor x = gyre::view(tokens, {128, 4, 512});         // [seq, batch, d_model], f32
///     attention.forward(context, x, x, x, gyre::view(out, {128, 4, 512}));
///     attention.backward(context, out_grad, x_grad);                   // adds to the gradients of parameters()
///
/// With the same weights, which have the same names, it gives the results of labml-nn's RotaryValuePEMultiHeadAttention.
/// In CMake: gyre::modules, which is there if a BLAS was found when the library was built.
#ifndef GYRE_MULTI_HEAD_ATTENTION_H
#define GYRE_MULTI_HEAD_ATTENTION_H

#include "gyre.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gyre {
inline namespace v0 {

/// Weights that a module owns, and the gradients that its backward pass adds to.
struct Parameter {
    std::string name;                ///< "query.linear.weight"
    std::vector<std::int64_t> shape; ///< weight: [out_features, in_features]; bias: [out_features]
    float *values = nullptr;         ///< [size()], in C order
    float *gradients = nullptr;      ///< [size()], in C order

    /// The number of values.
    std::size_t size() const {
        std::size_t product = 1;
        for (std::int64_t extent : shape) product *= static_cast<std::size_t>(extent);
        return product;
    }
};

/// What a layer is made from.
struct MultiHeadAttentionOptions {
    std::int32_t heads = 0;       ///< at least 1
    std::int32_t d_model = 0;     ///< features of a token, a multiple of heads
    double rope_percentage = 0.5; ///< share of each head's features that is rotated in queries and keys, 0 to 1
    double rope_value_percentage =
        0.5; ///< share that is rotated in values, and back in attention's result (RoPER), 0 to 1
    gyre_pairing pairing = GYRE_HALF; ///< which of the rotated features form pairs
    double theta = 10000;             ///< base of the frequencies, at least 1
    bool query_key_bias = true;       ///< whether the projections of queries and keys have biases
    bool value_bias = true;           ///< whether the projection of values has a bias
    bool output_bias = true;          ///< whether the output's projection has a bias
    bool causal = false;              ///< query i sees keys 0..i
    bool batch_first = false;         ///< tensors are [batch, seq, d_model]
    std::vector<float> alibi_slopes;  ///< [heads], or empty: slope * (j - i) is added to the score of query i and key j
    /// Buckets of T5's learnt relative position bias, "relative_attention_bias.weight", [relative_buckets, heads]; 0: none. Where
    /// attention is not causal they are an even number, half of them for keys ahead.
    std::int32_t relative_buckets = 0;
    std::int32_t relative_max_distance = 128; ///< the largest distance in tokens that buckets tell apart
    double dropout = 0;             ///< probability that a probability is dropped, in training alone: 0 <= p < 1
    std::uint64_t dropout_seed = 0; ///< a layer should have its own; forward passes count gyre's dropout_offset up
    bool save_attention = false;    ///< for attention(): one more pass, and memory for seq_q * seq_kv numbers a head
};

/// Multi-head attention as a layer. Not for several threads at once; those of the context are used.
///     q = query Wq^T + bq, likewise k, v;   out = gyre_attention(q, k, v) Wo^T + bo;   scores scaled by 1 / sqrt(head size)
/// Sources: Vaswani et al., arXiv:1706.03762; Su et al., RoFormer, arXiv:2104.09864; Harik and Jayasiri, RoPER.
class MultiHeadAttention {
public:
    /// Throws Error: GYRE_BAD_ARGUMENT for sizes below 1, a percentage outside 0..1 or that comes to an odd number of
    /// features (rounded down, as in labml-nn), too few or an odd number of buckets, a largest distance that they reach singly,
    /// a dropout that is no probability below 1; GYRE_BAD_SHAPE for a d_model that heads does not divide, or as many slopes.
    explicit MultiHeadAttention(const MultiHeadAttentionOptions &options);
    ~MultiHeadAttention();
    /// Takes another layer's weights and state.
    MultiHeadAttention(MultiHeadAttention &&) noexcept;
    /// Takes another layer's weights and state.
    MultiHeadAttention &operator=(MultiHeadAttention &&) noexcept;

    /// What the layer was made from.
    const MultiHeadAttentionOptions &options() const;

    /// Weights and biases of query, key, value and output, by the names of labml-nn, and the relative bias. They are 0 at
    /// first, and stay where they are for the module's life.
    const std::vector<Parameter> &parameters();

    /// Attention of queries over keys and values.
    ///   query, out     [seq_q, batch, d_model]    f32 on the CPU, in C order; out apart from all others
    ///   key, value     [seq_kv, batch, d_model]   the same tensor as query (self-attention) is projected in one product
    ///   mask           [seq_q or 1, seq_kv, batch or 1], bool, any strides, or NULL: true where the query sees the key
    /// Tokens stand at 0, 1, 2 … in queries and keys. A query that sees no key gets the output's bias.
    /// backward() reads query, key and value again. Throws Error: GYRE_BAD_SHAPE, GYRE_BAD_TYPE, and as gyre_attention().
    void forward(gyre_context *context, const gyre_tensor &query, const gyre_tensor &key, const gyre_tensor &value,
                 const gyre_tensor &out, const gyre_tensor *mask = nullptr);

    /// Begins training, as at first, or ends it. Probabilities are dropped in training alone.
    void train(bool on);

    /// How many forward passes have dropped.
    std::uint32_t dropout_offset() const;
    /// Sets how many forward passes have dropped, where training goes on.
    void set_dropout_offset(std::uint32_t passes);

    /// Gradients of the last forward(): those of the weights are added to parameters(), those of the inputs are written.
    ///   out_grad                          [seq_q, batch, d_model]
    ///   query_grad, key_grad, value_grad  of the inputs' shapes; where inputs were the same tensor, the first of them gets
    ///                                     the sum, and the others must be NULL
    /// Throws Error: GYRE_BAD_ARGUMENT without a forward pass; GYRE_UNSUPPORTED after one with a mask, unless that is causal
    /// for every entry of the batch.
    void backward(gyre_context *context, const gyre_tensor &out_grad, const gyre_tensor &query_grad,
                  const gyre_tensor *key_grad = nullptr, const gyre_tensor *value_grad = nullptr);

    /// The probabilities of the last forward() with save_attention: [batch, heads, seq_q, seq_kv], f32.
    const std::vector<float> &attention() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace v0
} // namespace gyre
#endif
