#include "transformer.h"

#include "elementwise.h"
#include "linear.h"
#include "random.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gyre::experiment {
namespace {

MultiHeadAttentionOptions attention_options(const TransformerSizes &sizes, const std::string &encoding,
                                            bool save_attention) {
    MultiHeadAttentionOptions o;
    o.save_attention = save_attention;
    o.heads = sizes.heads;
    o.d_model = sizes.d_model;
    o.rope_percentage = encoding == "rope" || encoding == "roper" ? 1 : 0;
    o.rope_value_percentage = encoding == "values" || encoding == "roper" ? 1 : 0;
    o.query_key_bias = o.value_bias = o.output_bias = false;
    o.causal = o.batch_first = true;
    if (encoding == "alibi") // Press et al., arXiv:2108.12409
        for (std::int32_t h = 1; h <= sizes.heads; h++) o.alibi_slopes.push_back(std::exp2(-8.0f * h / sizes.heads));
    if (encoding == "t5") o.relative_buckets = 32;
    return o;
}

/// 0.5 [sin | cos], added to the embedding of every token.
void add_sinusoids(std::int64_t sequences, std::int64_t length, std::int64_t width, float *x) {
    const std::int64_t pairs = width / 2;
    std::vector<float> rows(static_cast<std::size_t>(length * width));
    for (std::int64_t t = 0; t < length; t++)
        for (std::int64_t i = 0; i < pairs; i++) {
            const double angle = static_cast<double>(t) * std::pow(10000.0, -static_cast<double>(i) / pairs);
            rows[static_cast<std::size_t>(t * width + i)] = static_cast<float>(0.5 * std::sin(angle));
            rows[static_cast<std::size_t>(t * width + pairs + i)] = static_cast<float>(0.5 * std::cos(angle));
        }
    for (std::int64_t s = 0; s < sequences; s++) add(length * width, rows.data(), x + s * length * width);
}

std::size_t count(std::int64_t rows, std::int64_t width) { return static_cast<std::size_t>(rows * width); }

bool ends_with(const std::string &text, const std::string &end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

const std::vector<std::string> &encodings() {
    static const std::vector<std::string> all = {"rope", "roper", "values", "alibi", "t5", "sin", "learned", "none"};
    return all;
}

Transformer::Transformer(const TransformerSizes &sizes, const std::string &encoding, std::uint32_t seed,
                         bool save_attention)
    : sizes_(sizes), sinusoidal_(encoding == "sin") {
    const std::int64_t d = sizes.d_model, ff = sizes.d_ff;
    parameters_.reserve(5 + 13 * static_cast<std::size_t>(sizes.layers)); // they are pointed to
    const auto norm = [&](const std::string &name) {
        return Norm{&own(name + ".weight", {d}), &own(name + ".bias", {d}), {}, {}, {}};
    };
    embedding_ = &own("embedding.weight", {sizes.vocabulary, d});
    if (encoding == "learned") positions_ = &own("positions.weight", {sizes.positions, d});
    for (std::int32_t l = 0; l < sizes.layers; l++) {
        const std::string name = "layers." + std::to_string(l) + ".";
        MultiHeadAttention attention(attention_options(sizes, encoding, save_attention));
        for (Parameter p : attention.parameters()) {
            p.name = name + "attention." + p.name;
            parameters_.push_back(p);
        }
        Norm attention_norm = norm(name + "attention_norm"), mlp_norm = norm(name + "mlp_norm");
        Parameter *w1 = &own(name + "mlp.1.weight", {ff, d}), *b1 = &own(name + "mlp.1.bias", {ff});
        Parameter *w2 = &own(name + "mlp.2.weight", {d, ff}), *b2 = &own(name + "mlp.2.bias", {d});
        layers_.push_back(
            {std::move(attention), std::move(attention_norm), std::move(mlp_norm), w1, b1, w2, b2, {}, {}, {}, {}});
    }
    last_norm_ = norm("norm");
    head_ = &own("head.weight", {sizes.outputs, d});
    initialize(seed);
}

Parameter &Transformer::own(const std::string &name, std::vector<std::int64_t> shape) {
    Parameter p{name, std::move(shape), nullptr, nullptr};
    memory_.emplace_back(2 * p.size());
    p.values = memory_.back().data(); // which stays when memory_ grows: only the vectors are moved
    p.gradients = p.values + p.size();
    parameters_.push_back(p);
    return parameters_.back();
}

void Transformer::initialize(std::uint32_t seed) {
    std::uint32_t index = 0;
    for (Parameter &p : parameters_) {
        if (&p == positions_ || ends_with(p.name, "relative_attention_bias.weight"))
            continue; // others are drawn as without
        Random random({seed, index++, 1});
        if (p.shape.size() == 1) {
            std::fill_n(p.values, p.size(), ends_with(p.name, "norm.weight") ? 1.0f : 0.0f);
            continue;
        }
        double deviation = 1 / std::sqrt(static_cast<double>(p.shape[1]));
        if (&p == embedding_) deviation = 0.5;
        if (&p == head_) deviation = 0.02;
        if (ends_with(p.name, "output.weight") || ends_with(p.name, "mlp.2.weight"))
            deviation /= std::sqrt(2.0 * sizes_.layers);
        for (std::size_t i = 0; i < p.size(); i++) p.values[i] = static_cast<float>(deviation * random.normal());
    }
}

std::vector<float> Transformer::attention() const {
    std::vector<float> all;
    for (const Layer &layer : layers_) {
        const std::vector<float> &maps = layer.attention.attention(); // [sequences, heads, length, length]
        all.insert(all.end(), maps.begin(), maps.begin() + static_cast<std::ptrdiff_t>(maps.size()) / sequences_);
    }
    return all;
}

std::size_t Transformer::parameter_count() const {
    std::size_t sum = 0;
    for (const Parameter &p : parameters_) sum += p.size();
    return sum;
}

void Transformer::Norm::forward(std::int64_t rows, std::int64_t width, const std::vector<float> &x) {
    out.resize(x.size());
    mean.resize(static_cast<std::size_t>(rows));
    inverse.resize(static_cast<std::size_t>(rows));
    layer_norm(rows, width, x.data(), gain->values, bias->values, out.data(), mean.data(), inverse.data());
}

void Transformer::Norm::backward(std::int64_t rows, std::int64_t width, const std::vector<float> &x,
                                 const float *out_grad, float *x_grad) {
    layer_norm_gradient(rows, width, x.data(), gain->values, mean.data(), inverse.data(), out_grad, x_grad,
                        gain->gradients, bias->gradients);
}

std::vector<float> &Transformer::forward(gyre_context *context, const std::vector<std::int32_t> &tokens,
                                         std::int64_t sequences, std::int64_t length) {
    tokens_ = tokens;
    sequences_ = sequences;
    length_ = length;
    const std::int64_t rows = sequences * length, d = sizes_.d_model, ff = sizes_.d_ff;
    const Extents shape{sequences, length, d};
    last_.resize(count(rows, d)); // the residual stream
    for (std::int64_t r = 0; r < rows; r++)
        std::copy_n(embedding_->values + tokens[static_cast<std::size_t>(r)] * d, d, &last_[count(r, d)]);
    if (sinusoidal_) add_sinusoids(sequences, length, d, last_.data());
    if (positions_) {
        if (length > sizes_.positions) throw Error(GYRE_BAD_ARGUMENT, "length: beyond the positions that are learnt");
        for (std::int64_t s = 0; s < sequences; s++) add(length * d, positions_->values, &last_[count(s * length, d)]);
    }

    for (Layer &layer : layers_) {
        layer.in = last_;
        layer.attention_norm.forward(rows, d, layer.in);
        layer.attended.resize(count(rows, d));
        const gyre_tensor normal = view(layer.attention_norm.out, shape);
        layer.attention.forward(context, normal, normal, normal, view(layer.attended, shape));
        add(rows * d, layer.in.data(), layer.attended.data());

        layer.mlp_norm.forward(rows, d, layer.attended);
        layer.hidden.resize(count(rows, ff));
        layer.slope.resize(count(rows, ff));
        modules::linear({rows, d, ff}, {layer.mlp_norm.out.data(), d}, layer.w1->values, nullptr,
                        {layer.hidden.data(), ff});
        gelu(rows, ff, layer.hidden.data(), layer.b1->values, layer.hidden.data(), layer.slope.data());
        modules::linear({rows, ff, d}, {layer.hidden.data(), ff}, layer.w2->values, nullptr, {last_.data(), d});
        add(rows, d, layer.attended.data(), layer.b2->values, last_.data());
    }

    last_norm_.forward(rows, d, last_);
    logits_.resize(count(rows, sizes_.outputs));
    modules::linear({rows, d, sizes_.outputs}, {last_norm_.out.data(), d}, head_->values, nullptr,
                    {logits_.data(), sizes_.outputs});
    return logits_;
}

void Transformer::backward(gyre_context *context, const std::vector<float> &logits_grad) {
    const std::int64_t rows = sequences_ * length_, d = sizes_.d_model, ff = sizes_.d_ff, out = sizes_.outputs;
    const Extents shape{sequences_, length_, d};
    grad_.assign(count(rows, d), 0); // of the residual stream
    part_grad_.resize(count(rows, d));
    hidden_grad_.resize(count(rows, ff));

    modules::linear_weight_gradient({rows, d, out}, {last_norm_.out.data(), d}, {logits_grad.data(), out},
                                    head_->gradients, nullptr);
    modules::linear_input_gradient({rows, d, out}, {logits_grad.data(), out}, head_->values, {part_grad_.data(), d},
                                   false);
    last_norm_.backward(rows, d, last_, part_grad_.data(), grad_.data());

    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
        modules::linear_weight_gradient({rows, ff, d}, {layer->hidden.data(), ff}, {grad_.data(), d},
                                        layer->w2->gradients, layer->b2->gradients);
        modules::linear_input_gradient({rows, ff, d}, {grad_.data(), d}, layer->w2->values, {hidden_grad_.data(), ff},
                                       false);
        multiply(rows * ff, layer->slope.data(), hidden_grad_.data());
        modules::linear_weight_gradient({rows, d, ff}, {layer->mlp_norm.out.data(), d}, {hidden_grad_.data(), ff},
                                        layer->w1->gradients, layer->b1->gradients);
        modules::linear_input_gradient({rows, d, ff}, {hidden_grad_.data(), ff}, layer->w1->values,
                                       {part_grad_.data(), d}, false);
        layer->mlp_norm.backward(rows, d, layer->attended, part_grad_.data(), grad_.data());

        layer->attention.backward(context, view(grad_, shape), view(part_grad_, shape));
        layer->attention_norm.backward(rows, d, layer->in, part_grad_.data(), grad_.data());
    }
    for (std::int64_t s = 0; positions_ && s < sequences_; s++)
        add(length_ * d, &grad_[count(s * length_, d)], positions_->gradients);
    for (std::int64_t r = 0; r < rows; r++)
        add(d, &grad_[count(r, d)], embedding_->gradients + tokens_[static_cast<std::size_t>(r)] * d);
}

} // namespace gyre::experiment
