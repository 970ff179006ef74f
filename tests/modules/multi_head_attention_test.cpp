/// gyre::MultiHeadAttention beside labml-nn's RotaryValuePEMultiHeadAttention with the same weights: results, probabilities and
/// gradients.
#include "support/doctest.h"

#include "support/difference.h"
#include <gyre/multi_head_attention.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t heads = 2, d_model = 16, batch = 2;
constexpr double tolerance = 1e-5;

struct Golden {
    const char *name;
    double rope_percentage, rope_value_percentage;
    std::int64_t queries, keys;
    bool is_self;
    std::string mask;
    std::vector<double> out, attention;
    std::vector<std::vector<double>> input_grads, parameter_grads;
};

const Golden golden[] = {
#include "data/multi_head_attention.inc"
};

/// The number that number() in make_multi_head_attention.py makes.
float number(std::uint32_t seed, std::uint32_t i) {
    std::uint32_t x = i * 2654435761u + seed * 40503u + 12345u;
    x ^= x >> 15;
    x *= 2246822519u;
    return static_cast<float>(x >> 16) / 65536 - 0.5f;
}

std::vector<float> numbers(std::uint32_t seed, std::int64_t count, float factor = 1) {
    std::vector<float> result(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < result.size(); i++) result[i] = factor * number(seed, static_cast<std::uint32_t>(i));
    return result;
}

/// [queries, keys, batch]; vector<bool> has no addresses
std::vector<unsigned char> make_mask(const Golden &g) {
    std::vector<unsigned char> mask(static_cast<std::size_t>(g.queries * g.keys * batch));
    for (std::int64_t i = 0, at = 0; i < g.queries; i++)
        for (std::int64_t j = 0; j < g.keys; j++)
            for (std::int64_t b = 0; b < batch; b++, at++)
                mask[static_cast<std::size_t>(at)] =
                    g.mask == "causal" ? j <= i : j == 0 || number(9, static_cast<std::uint32_t>(at)) > 0;
    return mask;
}

double difference_from(const std::vector<float> &got, const std::vector<double> &expected) {
    REQUIRE(got.size() == expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); i++) worst = std::max(worst, gyre::test::difference(got[i], expected[i]));
    return worst;
}

/// A golden case: its module, tensors and calls.
struct Case {
    const Golden &g;
    gyre::Context context;
    gyre::MultiHeadAttention module;
    std::vector<float> query, key, value, out, out_grad;
    std::vector<unsigned char> mask_bytes;
    gyre_tensor mask_view;
    std::vector<std::vector<float>> grads;

    static gyre::MultiHeadAttentionOptions options(const Golden &g) {
        gyre::MultiHeadAttentionOptions o;
        o.heads = heads;
        o.d_model = d_model;
        o.rope_percentage = g.rope_percentage;
        o.rope_value_percentage = g.rope_value_percentage;
        o.save_attention = true;
        return o;
    }
    explicit Case(const Golden &g)
        : g(g), module(options(g)), query(numbers(1, g.queries * batch * d_model, 4)),
          key(numbers(2, g.keys * batch * d_model, 4)), value(numbers(3, g.keys * batch * d_model, 4)),
          out(query.size(), std::numeric_limits<float>::quiet_NaN()), out_grad(numbers(4, g.queries * batch * d_model)),
          mask_bytes(make_mask(g)), mask_view(gyre::view(mask_bytes.data(), GYRE_BOOL, {g.queries, g.keys, batch})),
          grads(g.is_self ? 1 : 3) {
        std::uint32_t seed = 20;
        for (const gyre::Parameter &p : module.parameters()) {
            const std::vector<float> weights = numbers(seed++, static_cast<std::int64_t>(p.size()));
            std::copy(weights.begin(), weights.end(), p.values);
        }
        for (std::size_t i = 0; i < grads.size(); i++)
            grads[i].assign(i ? key.size() : query.size(), std::numeric_limits<float>::quiet_NaN());
    }

    gyre_tensor rows(std::vector<float> &x) const {
        return gyre::view(x, {static_cast<std::int64_t>(x.size()) / (batch * d_model), batch, d_model});
    }
    void forward() {
        const gyre_tensor q = rows(query), *mask = g.mask == "none" ? nullptr : &mask_view;
        module.forward(context, q, g.is_self ? q : rows(key), g.is_self ? q : rows(value), rows(out), mask);
    }
    void backward() {
        if (g.is_self) return module.backward(context, rows(out_grad), rows(grads[0]));
        const gyre_tensor key_grad = rows(grads[1]), value_grad = rows(grads[2]);
        module.backward(context, rows(out_grad), rows(grads[0]), &key_grad, &value_grad);
    }
};

template <typename Call>
gyre_status thrown_by(Call &&call) {
    try {
        call();
        return GYRE_OK;
    } catch (const gyre::Error &error) {
        CHECK(std::string(error.what()) != "");
        return error.status();
    }
}

gyre::MultiHeadAttentionOptions sizes(std::int32_t heads, std::int32_t d_model) {
    gyre::MultiHeadAttentionOptions o;
    o.heads = heads;
    o.d_model = d_model;
    return o;
}

} // namespace

TEST_CASE("multi-head attention: results and probabilities are labml-nn's") {
    for (const Golden &g : golden) {
        CAPTURE(g.name);
        Case c(g);
        c.forward();
        CHECK(difference_from(c.out, g.out) <= tolerance);
        std::vector<double> expected(g.attention.size()); // from [queries, keys, batch, heads]
        std::size_t at = 0;
        for (std::int64_t i = 0; i < g.queries; i++)
            for (std::int64_t j = 0; j < g.keys; j++)
                for (std::int64_t b = 0; b < batch; b++)
                    for (std::int64_t h = 0; h < heads; h++)
                        expected[static_cast<std::size_t>(((b * heads + h) * g.queries + i) * g.keys + j)] =
                            g.attention[at++];
        CHECK(difference_from(c.module.attention(), expected) <= tolerance);
    }
}

TEST_CASE("multi-head attention: gradients are labml-nn's, and add up") {
    for (const Golden &g : golden) {
        if (g.mask == "scattered") continue; // refused, which a case below asks for
        CAPTURE(g.name);
        Case c(g);
        for (int times : {1, 2}) {
            c.forward();
            c.backward();
            for (std::size_t i = 0; i < c.grads.size(); i++)
                CHECK(difference_from(c.grads[i], g.input_grads[i]) <= tolerance);
            REQUIRE(c.module.parameters().size() == g.parameter_grads.size());
            for (std::size_t i = 0; i < g.parameter_grads.size(); i++) {
                const gyre::Parameter &p = c.module.parameters()[i];
                CAPTURE(p.name);
                std::vector<double> expected = g.parameter_grads[i];
                for (double &x : expected) x *= times;
                CHECK(difference_from({p.gradients, p.gradients + p.size()}, expected) <= 2 * times * tolerance);
            }
        }
    }
}

TEST_CASE("multi-head attention: keys that are also values get the sum of both gradients") {
    Case c(golden[3]);
    c.value = c.key; // other memory at first
    c.forward();
    c.backward();
    const std::vector<float> out = c.out, query_grad = c.grads[0];
    std::vector<double> sum(c.key.size());
    for (std::size_t i = 0; i < sum.size(); i++) sum[i] = static_cast<double>(c.grads[1][i]) + c.grads[2][i];
    const gyre_tensor q = c.rows(c.query), k = c.rows(c.key), key_grad = c.rows(c.grads[1]);
    c.module.forward(c.context, q, k, k, c.rows(c.out));
    c.module.backward(c.context, c.rows(c.out_grad), c.rows(c.grads[0]), &key_grad);
    CHECK(c.out == out);
    CHECK(c.grads[0] == query_grad);
    CHECK(difference_from(c.grads[1], sum) <= tolerance);
}

TEST_CASE("multi-head attention: batch first is the same, transposed") {
    const Golden &g = golden[0];
    Case c(g);
    gyre::MultiHeadAttentionOptions o = Case::options(g);
    o.batch_first = true;
    gyre::MultiHeadAttention module(o);
    for (std::size_t i = 0; i < module.parameters().size(); i++) {
        const gyre::Parameter &from = c.module.parameters()[i], &to = module.parameters()[i];
        std::copy(from.values, from.values + from.size(), to.values);
    }
    const auto transposed = [&](const std::vector<float> &x, std::int64_t outer, std::int64_t inner) {
        std::vector<float> result(x.size());
        for (std::int64_t a = 0; a < outer; a++)
            for (std::int64_t b = 0; b < inner; b++)
                std::copy_n(&x[static_cast<std::size_t>((a * inner + b) * d_model)], d_model,
                            &result[static_cast<std::size_t>((b * outer + a) * d_model)]);
        return result;
    };
    std::vector<float> x = transposed(c.query, g.queries, batch), out(x.size());
    std::vector<float> out_grad = transposed(c.out_grad, g.queries, batch), x_grad(x.size());
    const auto rows = [&](std::vector<float> &t) { return gyre::view(t, {batch, g.queries, d_model}); };
    module.forward(c.context, rows(x), rows(x), rows(x), rows(out));
    module.backward(c.context, rows(out_grad), rows(x_grad));
    CHECK(difference_from(transposed(out, batch, g.queries), g.out) <= tolerance);
    CHECK(difference_from(transposed(x_grad, batch, g.queries), g.input_grads[0]) <= tolerance);
}

TEST_CASE("multi-head attention: a query that sees no key gets the bias, and no tokens are fine") {
    Case c(golden[4]);
    std::fill(c.mask_bytes.begin(), c.mask_bytes.begin() + static_cast<std::ptrdiff_t>(golden[4].keys * batch), 0);
    c.forward();
    const gyre::Parameter &bias = c.module.parameters().back();
    for (std::int64_t i = 0; i < batch * d_model; i++)
        CHECK(c.out[static_cast<std::size_t>(i)] == bias.values[i % d_model]);
    for (float p : std::vector<float>(c.module.attention().begin(), c.module.attention().begin() + golden[4].keys))
        CHECK(p == 0);

    float nothing = 0;
    const gyre_tensor empty = gyre::view(&nothing, {0, batch, d_model});
    c.module.forward(c.context, empty, empty, empty, empty);
    CHECK(c.module.attention().empty());
    c.module.backward(c.context, empty, empty);
}

TEST_CASE("multi-head attention: what it refuses") {
    CHECK(thrown_by([] { gyre::MultiHeadAttention m(sizes(0, 16)); }) == GYRE_BAD_ARGUMENT);
    CHECK(thrown_by([] { gyre::MultiHeadAttention m(sizes(3, 16)); }) == GYRE_BAD_SHAPE);
    for (double percentage : {-0.1, 1.1, 0.4, std::nan("")}) { // 0.4 of 8 features is 3
        gyre::MultiHeadAttentionOptions o = sizes(2, 16);
        o.rope_percentage = percentage;
        CHECK(thrown_by([&] { gyre::MultiHeadAttention m(o); }) == GYRE_BAD_ARGUMENT);
        std::swap(o.rope_percentage, o.rope_value_percentage);
        CHECK(thrown_by([&] { gyre::MultiHeadAttention m(o); }) == GYRE_BAD_ARGUMENT);
    }
    gyre::MultiHeadAttentionOptions slopes = sizes(2, 16);
    slopes.alibi_slopes = {1};
    CHECK(thrown_by([&] { gyre::MultiHeadAttention m(slopes); }) == GYRE_BAD_SHAPE);

    Case c(golden[4]);
    CHECK(thrown_by([&] { c.backward(); }) == GYRE_BAD_ARGUMENT); // before any forward pass
    c.forward();
    CHECK(thrown_by([&] { c.backward(); }) == GYRE_UNSUPPORTED); // this mask has no gradients
    for (const gyre::Parameter &p : c.module.parameters())
        for (std::size_t i = 0; i < p.size(); i++) REQUIRE(p.gradients[i] == 0);

    const gyre_tensor q = c.rows(c.query), k = c.rows(c.key), v = c.rows(c.value), out = c.rows(c.out);
    gyre_tensor bad = k;
    bad.shape[2] = 8;
    CHECK(thrown_by([&] { c.module.forward(c.context, q, bad, v, out); }) == GYRE_BAD_SHAPE);
    bad = k;
    bad.strides[0] += 1;
    CHECK(thrown_by([&] { c.module.forward(c.context, q, bad, v, out); }) == GYRE_BAD_SHAPE);
    bad = k;
    bad.dtype = GYRE_BF16;
    CHECK(thrown_by([&] { c.module.forward(c.context, q, bad, v, out); }) == GYRE_BAD_TYPE);
    bad = k;
    bad.data = nullptr;
    CHECK(thrown_by([&] { c.module.forward(c.context, q, bad, v, out); }) == GYRE_BAD_ARGUMENT);
    bad = q;
    bad.rank = 2;
    CHECK(thrown_by([&] { c.module.forward(c.context, bad, k, v, out); }) == GYRE_BAD_SHAPE);
    bad = c.mask_view;
    bad.shape[0] = 2;
    CHECK(thrown_by([&] { c.module.forward(c.context, q, k, v, out, &bad); }) == GYRE_BAD_SHAPE);
    bad = c.mask_view;
    bad.dtype = GYRE_F32;
    CHECK(thrown_by([&] { c.module.forward(c.context, q, k, v, out, &bad); }) == GYRE_BAD_TYPE);

    c.module.forward(c.context, q, k, v, out);
    const gyre_tensor q_grad = c.rows(c.grads[0]), k_grad = c.rows(c.grads[1]);
    CHECK(thrown_by([&] { c.module.backward(c.context, c.rows(c.out_grad), q_grad, &k_grad); }) == GYRE_BAD_ARGUMENT);
}
