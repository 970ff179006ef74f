/// gyre_attention() on CUDA devices: biases and masks, against the oracle.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/key_pages.h"
#include "support/random.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

AttentionCase broadcast_target(gyre_dtype type = GYRE_BF16) {
    return AttentionCase(AttentionShape().batches(2).lengths(19, 70).head_counts(2, 1).dims(64).of(type));
}

void fill(Tensor &t, uint64_t seed) {
    if (t.dtype() != GYRE_BOOL) return t.fill_normal(seed);
    Random random(seed);
    std::vector<double> values;
    for (int64_t i = 0; i < t.count(); i++) values.push_back(random.chance(0.5));
    t.set_values(values);
}

const gyre_tensor *&slot(AttentionCase &c, gyre_dtype type) { return type == GYRE_BOOL ? c.args.mask : c.args.bias; }

} // namespace

TEST_CASE("attention on devices: biases of every type and masks broadcast in every dimension, in any strides") {
    const std::vector<int64_t> whole = {2, 2, 19, 70};
    const std::vector<int64_t> shapes[] = {whole, {1, 2, 1, 70}, {2, 1, 19, 1}, {19, 70}, {1}};
    for (const std::vector<int64_t> &shape : shapes)
        for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16, GYRE_BOOL}) {
            if (shape != whole && (type == GYRE_F16 || type == GYRE_BF16)) continue; // read by the same indices
            AttentionCase c = broadcast_target(type == GYRE_F16 ? GYRE_F16 : GYRE_BF16);
            Tensor tensor(type, shape, Placement::with_gaps(3));
            fill(tensor, 5);
            slot(c, type) = c.hold(std::move(tensor));
            c.check_on_devices();
        }
    for (const std::vector<int64_t> &strides :
         {std::vector<int64_t>{70, 0, 0, 1}, {2660, 1330, 1, 19}, {2660, 1330, -70, 1}, {2660, 1330, 70, -1}})
        for (const gyre_dtype type : {GYRE_BF16, GYRE_BOOL}) {
            AttentionCase c = broadcast_target();
            Tensor tensor(type, {2, 2, 19, 70}, Placement::with_strides(strides));
            fill(tensor, 7);
            slot(c, type) = c.hold(std::move(tensor));
            c.check_on_devices();
        }
}

TEST_CASE("attention on devices: a bias of minus infinity masks, and so do masks, whole rows too") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16, GYRE_BOOL}) {
        AttentionCase c = broadcast_target();
        Tensor tensor(type, {19, 70}), everything(type, {1});
        tensor.fill(type == GYRE_BOOL);
        everything.fill(type == GYRE_BOOL ? 0 : -infinity);
        Random random(9);
        for (int64_t i = 0; i < 19; i++)
            for (int64_t j = 0; j < 70; j++)
                if (i % 5 == 0 || random.chance(0.4)) tensor.set({i, j}, type == GYRE_BOOL ? 0 : -infinity);
        slot(c, type) = c.hold(std::move(tensor));
        c.check_on_devices();
        slot(c, type) = c.hold(std::move(everything));
        c.check_on_devices();
    }
}

TEST_CASE("attention on devices: a key is seen where a byte of the mask is anything but 0") {
    constexpr unsigned char other[] = {1, 2, 128, 255};
    const int64_t shape[] = {19, 70};
    std::vector<unsigned char> ones(19 * 70), any(ones.size());
    Random random(13);
    for (size_t i = 0; i < ones.size(); i++) {
        ones[i] = random.chance(0.5);
        any[i] = ones[i] ? other[i % 4] : 0;
    }
    AttentionCase c = broadcast_target();
    const gyre_tensor of_ones = gyre_tensor_dense(ones.data(), GYRE_BOOL, 2, shape);
    const gyre_tensor of_any = gyre_tensor_dense(any.data(), GYRE_BOOL, 2, shape);
    each_device([&](gyre_context *context) {
        c.args.mask = &of_ones;
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        const std::vector<uint64_t> expected = c.out.bits();
        c.args.mask = &of_any;
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK(c.out.bits() == expected);
    });
}

TEST_CASE(
    "attention on devices: biases and masks are not read of keys that are not used, nor felt where causal masks") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_BF16}) {
        AttentionCase c = broadcast_target();
        const std::vector<double> used = {70, 41};
        c.args.seqused_k = c.hold(GYRE_I32, used);
        c.args.causal = 1;
        Tensor bias(type, {2, 1, 19, 70});
        fill(bias, 11);
        for (int64_t b = 0; b < 2; b++)
            for (int64_t i = 0; i < 19; i++)
                for (int64_t j = i + (int64_t)used[(size_t)b] - 19 + 1; j < 70; j++)
                    bias.set({b, 0, i, j}, std::nan(""));
        c.args.bias = c.hold(std::move(bias));
        c.check_on_devices();
    }
}

TEST_CASE("attention on devices: bias and mask with every head size, in both types") {
    for (const gyre_dtype type : {GYRE_BF16, GYRE_F16})
        for (const int64_t dim : {64, 96, 128, 256}) {
            AttentionCase c(AttentionShape().lengths(20, 130).head_counts(2, 1).dims(dim).of(type));
            Tensor bias(type, {2, 20, 130}), mask(GYRE_BOOL, {20, 130});
            fill(bias, 3);
            fill(mask, 4);
            c.args.bias = c.hold(std::move(bias));
            c.args.mask = c.hold(std::move(mask));
            c.args.causal = dim == 96;
            c.check_on_devices();
        }
}

TEST_CASE("attention on devices: bias and mask with everything else, over several blocks and tiles, and in pages") {
    const gyre_rope rope = gyre_rope_defaults();
    AttentionCase c(AttentionShape().batches(2).lengths(140, 136).head_counts(2, 1).dims(64).of(GYRE_BF16));
    Tensor bias(GYRE_F32, {2, 1, 140, 136}), mask(GYRE_BOOL, {2, 1, 136});
    fill(bias, 3);
    fill(mask, 4);
    const std::vector<double> used = {136, 77};
    c.args.bias = c.hold(std::move(bias));
    c.args.mask = c.hold(std::move(mask));
    c.args.seqused_k = c.hold(GYRE_I32, used);
    c.args.causal = 1;
    c.args.softcap = 20;
    c.args.alibi = c.hold(GYRE_F32, {0.1, 0.02});
    c.args.sinks = c.hold(GYRE_F32, {0.5, 3});
    c.args.rope = c.args.value_rope = &rope;
    c.args.keys_rotated = c.args.values_rotated = 1;
    c.check_on_devices();
    const KeyPages pages(c, 8, used); // of which the first sequence fills all, as biases are for all keys of the table
    const gyre_attention_args in_pages = pages.args();
    c.check_on_devices(&in_pages);
}
