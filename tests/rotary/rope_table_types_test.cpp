/// A caller's tables of every floating-point type and in any strides rotate as the same numbers in f32 do, bit for bit.
#include "support/each_kernel.h"
#include "support/refusal.h"
#include "support/tensor.h"

#include <algorithm>
#include <cmath>

using namespace gyre::test;

namespace {

constexpr int64_t batch = 2, tokens = 5, pairs = 8;

/// Numbers that every type holds, an f16 that is not normal, and what is no number, among them.
std::vector<double> table_numbers(int64_t count, uint64_t seed) {
    Tensor tensor(GYRE_F32, {count});
    tensor.fill_uniform_integers(seed, -64, 64);
    std::vector<double> values = tensor.values();
    for (double &value : values) value /= 64;
    values[1] = std::ldexp(3.0, -24);
    values[3] = -std::ldexp(1.0, -14);
    values[5] = INFINITY;
    values[7] = NAN;
    return values;
}

Tensor table_of(gyre_dtype dtype, std::vector<int64_t> shape, const std::vector<double> &values,
                Placement placement = {}) {
    Tensor tensor(dtype, std::move(shape), std::move(placement));
    tensor.set_values(values);
    return tensor;
}

std::vector<uint64_t> rotated(const Tensor &x, const gyre_tensor &cos, const gyre_tensor &sin) {
    Tensor out(GYRE_F32, x.shape());
    gyre_rotary_args args = gyre_rotary_defaults();
    args.x = x.view();
    args.out = out.view();
    args.rope.cos = &cos;
    args.rope.sin = &sin;
    REQUIRE_MESSAGE(gyre_rotary(nullptr, &args) == GYRE_OK, text(gyre_last_error()));
    return out.bits();
}

} // namespace

TEST_CASE("tables of every floating-point type and strides rotate as contiguous tables of f32") {
    Tensor x(GYRE_F32, {batch, tokens, 3, 2 * pairs});
    x.fill_normal(1);
    struct Form {
        std::vector<int64_t> shape;
        std::vector<Placement> placements;
    };
    const std::vector<Form> forms = {
        {{tokens, pairs}, {{}, Placement::with_gaps(3), Placement::ordered({1, 0}), Placement::with_strides({-20, 2})}},
        {{batch, tokens, pairs}, {{}, Placement::ordered({2, 0, 1}, 1), Placement::with_strides({100, 16, -2})}},
    };
    for (const Form &form : forms) {
        const int64_t count = (form.shape.size() == 3 ? batch : 1) * tokens * pairs;
        const std::vector<double> cosines = table_numbers(count, 2), sines = table_numbers(count, 3);
        const Tensor cos = table_of(GYRE_F32, form.shape, cosines), sin = table_of(GYRE_F32, form.shape, sines);
        const auto expected = rotated(x, cos.view(), sin.view());
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16, GYRE_F64})
            for (const Placement &placement : form.placements) {
                const Tensor other = table_of(dtype, form.shape, cosines, placement);
                CHECK(rotated(x, other.view(), sin.view()) == expected);
                const Tensor both = table_of(dtype, form.shape, sines, placement);
                CHECK(rotated(x, other.view(), both.view()) == expected);
            }
    }
}

TEST_CASE("a table of f16 may hold every number of its type") {
    const int64_t many = 64, rows = (1 << 16) / (batch * many);
    std::vector<double> every;
    for (int bits = 0; bits < 1 << 16; bits++) {
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        const double number = std::ldexp(exponent ? fraction + 1024 : fraction, std::max(exponent, 1) - 25);
        const double magnitude = exponent < 31 ? number : fraction ? NAN : INFINITY;
        every.push_back(bits >> 15 ? -magnitude : magnitude);
    }
    const std::vector<int64_t> shape{batch, rows, many};
    const Tensor narrow = table_of(GYRE_F16, shape, every), wide = table_of(GYRE_F32, shape, every);
    Tensor x(GYRE_F32, {batch, rows, 1, 2 * many}); // {1, 0}: the result is the cosine and the sine
    std::vector<double> ones(static_cast<size_t>(x.count()));
    for (size_t i = 0; i < ones.size(); i++) ones[i] = i % (2 * many) < many ? 1 : 0;
    x.set_values(ones);
    CHECK(rotated(x, narrow.view(), narrow.view()) == rotated(x, wide.view(), wide.view()));
}

TEST_CASE("a table of one batch entry serves all, whatever its stride says") {
    Tensor x(GYRE_F32, {batch, tokens, 3, 2 * pairs});
    x.fill_normal(1);
    const std::vector<double> numbers = table_numbers(tokens * pairs, 2);
    const Tensor by_position = table_of(GYRE_F32, {tokens, pairs}, numbers);
    const Tensor one = table_of(GYRE_BF16, {1, tokens, pairs}, numbers);
    gyre_tensor view = one.view();
    const auto expected = rotated(x, by_position.view(), by_position.view());
    for (const int64_t stride : {int64_t{0}, int64_t{1} << 40, int64_t{-7}}) {
        view.strides[0] = stride;
        CHECK(rotated(x, view, view) == expected);
    }
}
