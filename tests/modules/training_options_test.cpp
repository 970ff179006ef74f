/// gyre::MultiHeadAttention with what only training needs: T5's learnt relative bias and its gradient, and dropout.
#include "support/doctest.h"

#include "relative_bias.h"
#include "support/difference.h"

#include <gyre/multi_head_attention.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t batch = 2, d_model = 16, rows = 13, keys = 21;

gyre::MultiHeadAttentionOptions options(std::int32_t buckets, bool causal, double dropout = 0) {
    gyre::MultiHeadAttentionOptions o;
    o.heads = 2;
    o.d_model = d_model;
    o.relative_buckets = buckets;
    o.relative_max_distance = 20;
    o.causal = causal;
    o.dropout = dropout;
    o.dropout_seed = 5;
    o.rope_percentage = o.rope_value_percentage = 0;
    return o;
}

std::vector<float> numbers(std::uint32_t seed, std::int64_t count) {
    std::vector<float> result;
    for (std::int64_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        result.push_back(static_cast<float>(seed >> 8) / (1 << 24) - 0.5f);
    }
    return result;
}

/// Attention of queries over other keys.
struct Layer {
    gyre::Context context;
    gyre::MultiHeadAttention module;
    std::vector<float> query = numbers(1, rows * batch * d_model), key = numbers(2, keys * batch * d_model);
    std::vector<float> out = query, out_grad = numbers(3, rows * batch * d_model);
    std::vector<float> query_grad = query, key_grad = key;

    explicit Layer(const gyre::MultiHeadAttentionOptions &o) : module(o) {
        std::uint32_t seed = 20;
        for (const gyre::Parameter &p : module.parameters()) {
            const std::vector<float> weights = numbers(seed++, static_cast<std::int64_t>(p.size()));
            for (std::size_t i = 0; i < p.size(); i++) p.values[i] = 2 * weights[i];
        }
    }
    void forward() {
        const gyre_tensor k = gyre::view(key, {keys, batch, d_model});
        module.forward(context, gyre::view(query, {rows, batch, d_model}), k, k,
                       gyre::view(out, {rows, batch, d_model}));
    }
    void backward() {
        const gyre_tensor k_grad = gyre::view(key_grad, {keys, batch, d_model});
        module.backward(context, gyre::view(out_grad, {rows, batch, d_model}),
                        gyre::view(query_grad, {rows, batch, d_model}), &k_grad);
    }
    double loss() {
        forward();
        double sum = 0;
        for (std::size_t i = 0; i < out.size(); i++) sum += static_cast<double>(out[i]) * out_grad[i];
        return sum;
    }
};

const gyre::Parameter &table_of(gyre::MultiHeadAttention &module) { return module.parameters().back(); }

} // namespace

TEST_CASE("relative bias: buckets are those of T5's formula") {
    const gyre::modules::RelativeBias causal{32, 1, 128, true}, both{32, 1, 128, false};
    const auto formula = [](std::int64_t n, int count) { // mesh_tensorflow, transformer_layers.py
        const int exact = count / 2;
        if (n < exact) return static_cast<int>(n);
        const double share = std::log(static_cast<double>(n) / exact) / std::log(128.0 / exact);
        return std::min(count - 1, exact + static_cast<int>(share * (count - exact) + 1e-9));
    };
    for (std::int64_t n = 0; n < 400; n++) {
        CAPTURE(n);
        CHECK(causal.bucket(-n) == formula(n, 32));
        CHECK(causal.bucket(n) == 0);
        CHECK(both.bucket(-n) == formula(n, 16));
        CHECK(both.bucket(n) == formula(n, 16) + (n > 0 ? 16 : 0));
    }
}

TEST_CASE("relative bias: the table's gradient is that of central differences") {
    for (const bool causal : {false, true}) {
        Layer layer(options(8, causal));
        const gyre::Parameter &table = table_of(layer.module);
        REQUIRE(table.name == "relative_attention_bias.weight");
        REQUIRE(table.shape == std::vector<std::int64_t>{8, 2});
        layer.forward();
        layer.backward();
        double largest = 0;
        for (std::size_t n = 0; n < table.size(); n++) {
            const float at = table.values[n], step = 0.05f;
            double side[2];
            for (const int sign : {0, 1}) {
                table.values[n] = sign ? at + step : at - step;
                side[sign] = layer.loss();
            }
            table.values[n] = at;
            const double slope = (side[1] - side[0]) / (2 * static_cast<double>(step));
            largest = std::max(largest, std::fabs(slope));
            CHECK(gyre::test::difference(table.gradients[n], slope) < 2e-3 * (1 + std::fabs(slope)));
        }
        CHECK(largest > 0.01);
    }
}

TEST_CASE("dropout of the module: in training alone, counted, and with its own gradients") {
    Layer layer(options(0, true, 0.3)), plain(options(0, true));
    plain.forward();
    layer.module.train(false);
    layer.forward();
    CHECK(layer.out == plain.out);
    CHECK(layer.module.dropout_offset() == 0);

    layer.module.train(true);
    layer.forward();
    const std::vector<float> first = layer.out;
    CHECK(first != plain.out);
    CHECK(layer.module.dropout_offset() == 1);
    layer.forward();
    CHECK(layer.out != first);
    layer.module.set_dropout_offset(0);
    layer.forward();
    CHECK(layer.out == first);

    layer.backward();
    const std::vector<float> query_grad = layer.query_grad;
    double norm = 0;
    for (const float g : query_grad) norm += static_cast<double>(g) * g;
    norm = std::sqrt(norm);
    const std::vector<float> at = layer.query;
    double side[2];
    for (const int sign : {0, 1}) { // along the gradient, where the slope is its norm
        for (std::size_t i = 0; i < at.size(); i++)
            layer.query[i] = at[i] + static_cast<float>((sign ? 0.02 : -0.02) * query_grad[i] / norm);
        layer.module.set_dropout_offset(0);
        side[sign] = layer.loss();
    }
    CHECK(gyre::test::difference((side[1] - side[0]) / 0.04, norm) < 1e-2 * norm);
}

TEST_CASE("training options: what is refused") {
    const auto refused = [](const gyre::MultiHeadAttentionOptions &o, const char *name) {
        try {
            gyre::MultiHeadAttention module(o);
            FAIL("accepted");
        } catch (const gyre::Error &error) {
            CHECK(error.status() == GYRE_BAD_ARGUMENT);
            CHECK(std::string(error.what()).find(name) != std::string::npos);
        }
    };
    for (const std::int32_t buckets : {-1, 1, 2, 7, 100}) refused(options(buckets, false), "relative_buckets");
    for (const std::int32_t buckets : {-1, 1, 40}) refused(options(buckets, true), "relative_buckets");
    for (const double bad : {-0.1, 1.0, 2.0, std::nan("")}) refused(options(0, true, bad), "dropout");
}
