/// gyre.hpp: views, ownership, exceptions. What the operations compute is tested through the C API.
#include "support/doctest.h"
#include <gyre/gyre.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

gyre_status status_of(const gyre::Error &error) { return error.status(); }

template <typename Call>
gyre_status thrown_by(Call &&call) {
    try {
        call();
        return GYRE_OK;
    } catch (const gyre::Error &error) {
        CHECK(std::string(error.what()) != "");
        return status_of(error);
    }
}

} // namespace

TEST_CASE("hpp: a view takes its type, shape and strides from C++") {
    float numbers[24] = {};
    const gyre_tensor dense = gyre::view(numbers, {2, 3, 4});
    CHECK(dense.data == numbers);
    CHECK(dense.dtype == GYRE_F32);
    CHECK(dense.device == GYRE_CPU);
    REQUIRE(dense.rank == 3);
    CHECK(dense.shape[0] == 2);
    CHECK(dense.strides[0] == 12);
    CHECK(dense.strides[2] == 1);

    const gyre_tensor strided = gyre::view(&numbers[0], {2, 4}, {12, 1});
    CHECK(strided.strides[0] == 12);

    const std::vector<std::int64_t> positions(8), shape = {2, 4};
    const gyre_tensor of_vector = gyre::view(positions, shape);
    CHECK(of_vector.dtype == GYRE_I64);
    CHECK(of_vector.data == positions.data());
    CHECK(of_vector.rank == 2);

    CHECK(gyre::view(numbers, GYRE_BF16, {48}).dtype == GYRE_BF16);
    static_assert(gyre::dtype_of<const std::int32_t>() == GYRE_I32);
    static_assert(gyre::dtype_of<double>() == GYRE_F64);
    static_assert(gyre::dtype_of<bool>() == GYRE_BOOL);
}

TEST_CASE("hpp: a view that cannot be right is refused") {
    std::vector<float> numbers(24);
    CHECK(thrown_by([&] { gyre::view(numbers, {5, 5}); }) == GYRE_BAD_SHAPE);
    CHECK(thrown_by([&] { gyre::view(numbers, {-6, -4}); }) == GYRE_BAD_SHAPE);
    const std::int64_t wraps = (std::int64_t(1) << 62) + 6; // times 4: 24 modulo 2^64
    CHECK(thrown_by([&] { gyre::view(numbers, {wraps, 4}); }) == GYRE_BAD_SHAPE);
    CHECK(thrown_by([&] { gyre::view(numbers.data(), {1, 1, 2, 3, 4}); }) == GYRE_BAD_SHAPE);
    CHECK(thrown_by([&] { gyre::view(numbers.data(), {}); }) == GYRE_BAD_SHAPE);
    CHECK(thrown_by([&] { gyre::view(numbers.data(), {6, 4}, {4}); }) == GYRE_BAD_SHAPE);
}

TEST_CASE("hpp: a context is owned by one and moves") {
    static_assert(!std::is_copy_constructible_v<gyre::Context>);
    static_assert(std::is_nothrow_move_constructible_v<gyre::Context>);
    gyre::ContextOptions options;
    options.threads = 1;
    gyre::Context first(options);
    CHECK(first.threads() == 1);
    CHECK(first.selected_kernel() == "");
    gyre_context *const raw = first;
    const gyre::Context second = std::move(first);
    CHECK(static_cast<gyre_context *>(second) == raw);
    CHECK(second.target() == gyre_context_target(raw));

    options.target = "abacus";
    CHECK(thrown_by([&] { gyre::Context context(options); }) == GYRE_BAD_ARGUMENT);
}

TEST_CASE("hpp: rotary rotates, attention averages, both into the caller's workspace as well") {
    const gyre::Context context;
    std::array<float, 8> x = {1, 0, 0, 0, 0, 0, 0, 0}, out = {};
    gyre::RotaryArgs rotary;
    rotary.x = gyre::view(x, {1, 1, 1, 8});
    rotary.out = gyre::view(out, {1, 1, 1, 8});
    rotary.position_offset = 3;
    std::vector<std::uint64_t> workspace(gyre::workspace_size(context, rotary) / sizeof(std::uint64_t) + 1);
    rotary.workspace = workspace.data();
    rotary.workspace_size = workspace.size() * sizeof(std::uint64_t);
    gyre::rotary(context, rotary);
    CHECK(out[0] == doctest::Approx(std::cos(3.0)));
    CHECK(out[4] == doctest::Approx(std::sin(3.0)));
    CHECK(context.selected_kernel().find("rotary_f32_half__") == 0);

    const std::vector<float> zeros(4 * 8);
    std::vector<float> v(4 * 8, 2.0f), mean(4 * 8);
    gyre::AttentionArgs attention;
    attention.q = attention.k = gyre::view(zeros, {1, 4, 1, 8});
    attention.v = gyre::view(v, {1, 4, 1, 8});
    attention.out = gyre::view(mean, {1, 4, 1, 8});
    gyre::attention(context, attention);
    CHECK(mean[31] == doctest::Approx(2.0));
    CHECK(gyre::workspace_size(context, attention) > 0);

    // Weights are 1/4, so a value's gradient is the mean of those of the results, and no score has any influence.
    std::vector<float> lse(4), ones(4 * 8, 1.0f), q_grad(4 * 8), k_grad(4 * 8), v_grad(4 * 8);
    const gyre_tensor lse_view = gyre::view(lse, {1, 1, 4});
    attention.lse = &lse_view;
    gyre::attention(context, attention);
    gyre::AttentionBackwardArgs backward(attention);
    backward.out_grad = gyre::view(ones, {1, 4, 1, 8});
    backward.q_grad = gyre::view(q_grad, {1, 4, 1, 8});
    backward.k_grad = gyre::view(k_grad, {1, 4, 1, 8});
    backward.v_grad = gyre::view(v_grad, {1, 4, 1, 8});
    gyre::backward(context, backward);
    CHECK(v_grad[31] == doctest::Approx(1.0));
    CHECK(q_grad[31] == doctest::Approx(0.0));
    CHECK(gyre::workspace_size(context, backward) > 0);
    attention.lse = nullptr;

    gyre::LinearAttentionArgs linear;
    linear.q = linear.k = gyre::view(zeros, {1, 4, 1, 8});
    linear.v = gyre::view(v, {1, 4, 1, 8});
    linear.out = gyre::view(mean, {1, 4, 1, 8});
    mean[31] = 0;
    gyre::attention(context, linear);
    CHECK(mean[31] == doctest::Approx(2.0));
    CHECK(gyre::workspace_size(context, linear) > 0);
    gyre::LinearAttentionBackwardArgs linear_backward(linear);
    linear_backward.out_grad = backward.out_grad;
    linear_backward.q_grad = backward.q_grad;
    linear_backward.k_grad = backward.k_grad;
    linear_backward.v_grad = backward.v_grad;
    v_grad[31] = 0;
    gyre::backward(context, linear_backward);
    CHECK(v_grad[31] == doctest::Approx(1.0));
    CHECK(gyre::workspace_size(context, linear_backward) > 0);

    attention.v = gyre::view(v, {1, 2, 2, 8});
    CHECK(thrown_by([&] { gyre::attention(context, attention); }) == GYRE_BAD_SHAPE);
    CHECK(thrown_by([&] { gyre::rotary(nullptr, gyre::RotaryArgs()); }) != GYRE_OK);
}

TEST_CASE("hpp: append writes where the cache ends") {
    const gyre::Context context;
    const std::vector<float> k(8, 1.0f), v(8, 2.0f);
    std::vector<float> k_cache(4 * 8), v_cache(4 * 8);
    const std::vector<std::int32_t> held = {3};
    const gyre_tensor lengths = gyre::view(held, {1});
    gyre::Rope rope;
    gyre::CacheAppendArgs args;
    args.k = gyre::view(k, {1, 1, 1, 8});
    args.v = gyre::view(v, {1, 1, 1, 8});
    args.k_cache = gyre::view(k_cache, {1, 4, 1, 8});
    args.v_cache = gyre::view(v_cache, {1, 4, 1, 8});
    args.cache_seqlens = &lengths;
    args.rope = &rope;
    gyre::append(context, args);
    CHECK(k_cache[24] == doctest::Approx(std::cos(3.0) - std::sin(3.0)));
    CHECK(v_cache[24] == 2.0f);
    CHECK(std::count(v_cache.begin(), v_cache.end(), 0.0f) == 24);
    CHECK(gyre::workspace_size(context, args) > 0);
    args.k_cache = gyre::view(k_cache, {1, 2, 2, 8});
    CHECK(thrown_by([&] { gyre::append(context, args); }) == GYRE_BAD_SHAPE);
}

TEST_CASE("hpp: a score function with its inputs by name") {
    const gyre::Context context;
    const std::vector<float> q(64, 0.0f), k(2 * 64, 0.0f), slopes = {std::log(3.0f)};
    std::vector<float> v(2 * 64, 0.0f), out(64);
    std::fill(v.begin(), v.begin() + 64, 1.0f); // the first key, one token before the query
    gyre::AttentionArgs args;
    args.q = gyre::view(q, {1, 1, 1, 64});
    args.k = gyre::view(k, {1, 2, 1, 64});
    args.v = gyre::view(v, {1, 2, 1, 64});
    args.out = gyre::view(out, {1, 1, 1, 64});
    std::vector<gyre_score_input> inputs = {{"slopes", gyre::view(slopes, {1})}};
    args.use_score("alibi", inputs);
    gyre::attention(context, args);
    CHECK(out[0] == doctest::Approx(0.25)); // weights 1/3 and 1
    inputs[0].name = "slope";
    CHECK(thrown_by([&] { gyre::attention(context, args); }) == GYRE_BAD_ARGUMENT);
}

TEST_CASE("hpp: frequencies come as a vector") {
    gyre::FrequencyRule rule;
    const gyre::Frequencies frequencies = gyre::frequencies(rule, 64, 128);
    REQUIRE(frequencies.inv_freq.size() == 32);
    CHECK(frequencies.inv_freq[0] == 1.0);
    CHECK(frequencies.attention_factor == 1.0);
    CHECK(thrown_by([&] { gyre::frequencies(rule, -2, 128); }) == GYRE_BAD_SHAPE);
}

TEST_CASE("hpp: what is linked comes as vectors") {
    CHECK(gyre::targets().size() == static_cast<std::size_t>(gyre_target_count()));
    REQUIRE(!gyre::kernels().empty());
    CHECK(gyre::kernels().back().name != nullptr);
}
