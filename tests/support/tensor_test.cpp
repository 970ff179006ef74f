/// The tests' own tools: what tensors of tests notice, and the rounding of 16-bit types.
#include "support/doctest.h"
#include "support/element.h"
#include "support/half.h"
#include "support/random.h"
#include "support/tensor.h"

#include <cmath>

using namespace gyre::test;

namespace {

constexpr gyre_dtype types[] = {GYRE_F32, GYRE_F16, GYRE_BF16, GYRE_F64, GYRE_I32, GYRE_I64, GYRE_BOOL};

/// Packed, with gaps, transposed, and backwards with gaps.
std::vector<Tensor> tensors(gyre_dtype dtype) {
    return {Tensor(dtype, {2, 3, 5}), Tensor(dtype, {2, 3, 5}, Placement::with_gaps(3)),
            Tensor(dtype, {2, 3, 5}, Placement::ordered({2, 0, 1}, 2)),
            Tensor(dtype, {2, 3, 5}, Placement::with_strides({40, -12, 2}))};
}

/// How many of the bytes change the answer of `intact` when they change.
template <typename Intact>
size_t bytes_noticed(Tensor &t, Intact intact) {
    size_t noticed = 0;
    for (unsigned char &byte : t.memory()) {
        byte ^= 0x10;
        noticed += !intact(t);
        byte ^= 0x10;
    }
    return noticed;
}

void check_neighbours(uint16_t code, HalfFormat format) {
    const double low = decode_half(code, format), high = decode_half((uint16_t)(code + 1), format);
    const double middle = (low + high) / 2;
    const auto even = (uint16_t)(code + (code & 1));
    const auto above = (uint16_t)(code + 1), minus = (uint16_t)0x8000;
    const bool right = encode_half(low, format) == code && encode_half(-low, format) == (code | minus) &&
                       encode_half(middle, format) == even && encode_half(-middle, format) == (even | minus) &&
                       encode_half(std::nextafter(middle, low), format) == code &&
                       encode_half(std::nextafter(middle, high), format) == above;
    CHECK_MESSAGE(right, "around ", code);
}

} // namespace

TEST_CASE("tools: tensors notice a change of any byte that they own") {
    for (const gyre_dtype dtype : types)
        for (Tensor &t : tensors(dtype)) {
            const size_t all = t.memory().size(), elements = (size_t)(t.count() * element_size(dtype));
            CHECK(t.untouched());
            CHECK(bytes_noticed(t, [](const Tensor &x) { return x.elements_poisoned(); }) == elements);
            CHECK(bytes_noticed(t, [](const Tensor &x) { return x.surroundings_intact(); }) == all - elements);
            CHECK(bytes_noticed(t, [](const Tensor &x) { return x.untouched(); }) == all);
        }
}

TEST_CASE("tools: tensors give back what they were given, in C order whatever the strides") {
    for (const gyre_dtype dtype : types)
        for (Tensor &t : tensors(dtype)) {
            std::vector<double> values;
            for (int64_t i = 0; i < t.count(); i++) values.push_back(dtype == GYRE_BOOL ? (double)(i % 2) : (double)i);
            t.set_values(values);
            CHECK(t.values() == values);
            CHECK(values_of(t.view()) == values);
            CHECK(t.get({1, 2, 3}) == values[28]);
            CHECK(t.surroundings_intact());
            CHECK(!t.elements_poisoned());
            const std::vector<uint64_t> bits = t.bits();
            t.set({1, 2, 3}, 1);
            for (size_t i = 0; i < bits.size(); i++) CHECK((t.bits()[i] == bits[i]) == (i != 28 || values[28] == 1));
            t.poison();
            CHECK(t.untouched());
        }
}

TEST_CASE("tools: 16-bit types round to the nearest, ties to even, at every one of their numbers") {
    for (const HalfFormat format : {f16_format, bf16_format}) {
        const auto infinite = (uint16_t)(format.largest_exponent() << format.mantissa_bits);
        for (uint16_t code = 0; code + 1 < infinite; code++) check_neighbours(code, format);
        const double greatest = decode_half((uint16_t)(infinite - 1), format);
        CHECK(encode_half(std::nextafter(greatest, INFINITY), format) == infinite - 1);
        for (const double x : {greatest * 1.01, 1e300, (double)INFINITY}) CHECK(encode_half(x, format) == infinite);
        for (const double x : {1e-300, 5e-324}) CHECK(encode_half(x, format) == 0);
        CHECK(std::isnan(decode_half(encode_half(NAN, format), format)));
        CHECK(std::isinf(decode_half(infinite, format)));
    }
}

TEST_CASE("tools: normal numbers of a seed are the same however they are asked for") {
    Random random(5);
    std::vector<double> expected;
    for (int i = 0; i < 100; i++) expected.push_back(random.normal());
    const std::vector<double> first(expected.begin(), expected.begin() + 10);
    CHECK(normal_numbers(5, 10) == first);
    CHECK(normal_numbers(5, 100) == expected);
    CHECK(normal_numbers(5, 10) == first);
    CHECK(normal_numbers(5, 10, 0.5)[3] == 0.5 * expected[3]);
    CHECK(normal_numbers(6, 10) != first);
}
