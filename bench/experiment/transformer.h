/// The model: a decoder with attention by gyre::MultiHeadAttention, and its gradients.
///
///     embedding -> layers x { x += attention(norm(x)); x += W2 gelu(W1 norm(x) + b1) + b2 } -> norm -> head
///
/// LayerNorm before each part (gain and bias), projections of attention and the head without bias, no dropout.
#pragma once

#include <gyre/multi_head_attention.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gyre::experiment {

struct TransformerSizes {
    std::int32_t vocabulary = 0, outputs = 0;
    std::int32_t d_model = 64, heads = 4, layers = 1, d_ff = 256;
    std::int32_t positions = 128; // that the learnt encoding has embeddings of: as long as sequences ever get
};

/// How the model learns of positions.
///     rope    queries and keys are rotated          values  values are rotated, and back what attention makes of them
///     roper   both                                  alibi   a slope a head, 2^(-8 (h + 1) / heads), on the distance
///     t5      a learnt bias a head and bucket of distances, at first 0      none    nothing but the causal mask
///     sin     0.5 [sin | cos] added to embeddings   learned an embedding of each position added likewise, at first 0
const std::vector<std::string> &encodings();

class Transformer {
public:
    /// Weights by the seed, the same for every encoding: embedding N(0, 0.5), matrices N(0, 1 / sqrt(inputs)), those that add
    /// to the residual also / sqrt(2 layers), head N(0, 0.02).   encoding: one of encodings()
    /// save_attention: for attention()
    Transformer(const TransformerSizes &sizes, const std::string &encoding, std::uint32_t seed,
                bool save_attention = false);

    const std::vector<Parameter> &parameters() const { return parameters_; }
    std::size_t parameter_count() const;

    /// Logits [sequences * length, outputs] of the next call's gradients, in C order. tokens: [sequences, length]
    std::vector<float> &forward(gyre_context *context, const std::vector<std::int32_t> &tokens, std::int64_t sequences,
                                std::int64_t length);
    /// Adds to the parameters' gradients. logits_grad: what forward() gave, overwritten by the loss's gradient.
    void backward(gyre_context *context, const std::vector<float> &logits_grad);

    /// The last forward pass's probabilities of its first sequence: [layers, heads, length, length].
    std::vector<float> attention() const;

private:
    struct Norm {
        Parameter *gain, *bias;
        std::vector<float> out, mean, inverse;
        void forward(std::int64_t rows, std::int64_t width, const std::vector<float> &x);
        void backward(std::int64_t rows, std::int64_t width, const std::vector<float> &x, const float *out_grad,
                      float *x_grad);
    };
    struct Layer {
        MultiHeadAttention attention;
        Norm attention_norm, mlp_norm;
        Parameter *w1, *b1, *w2, *b2;
        std::vector<float> in, attended, hidden, slope; // slope: of gelu
    };

    Parameter &own(const std::string &name, std::vector<std::int64_t> shape);
    void initialize(std::uint32_t seed);

    TransformerSizes sizes_;
    bool sinusoidal_;
    std::vector<std::vector<float>> memory_; // of the parameters that no module owns, and their gradients
    std::vector<Parameter> parameters_;
    Parameter *embedding_, *head_, *positions_ = nullptr;
    std::vector<Layer> layers_;
    Norm last_norm_;

    // What the last forward pass left.
    std::vector<std::int32_t> tokens_;
    std::int64_t sequences_ = 0, length_ = 0;
    std::vector<float> last_, logits_;
    std::vector<float> grad_, part_grad_, hidden_grad_;
};

} // namespace gyre::experiment
