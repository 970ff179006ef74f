/// Bias, mask, cap, ALiBi and dropout at numbers of keys around the ends of blocks, which are of 256 keys at most.
#include "support/attention_case.h"
#include "support/guarded_memory.h"
#include "support/masked_garbage.h"
#include "support/random.h"

#include <limits>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int64_t queries = 40;
const gyre_dtype types[] = {GYRE_BF16, GYRE_F16, GYRE_F32};
const int64_t lengths[] = {31, 33, 127, 128, 129, 255, 256, 257, 290, 511, 512, 513};

AttentionShape shape_of(int64_t keys, int64_t head_dim, gyre_dtype type) {
    return AttentionShape().lengths(queries, keys).head_counts(2, 1).dims(head_dim).of(type);
}

/// Hides about a quarter of the keys from a row; the second row sees the last key alone.
Tensor mask_of(int64_t keys) {
    Random random(7);
    std::vector<double> values;
    for (int64_t n = 0; n < queries * keys; n++)
        values.push_back(n / keys == 1 ? n % keys == keys - 1 : random.chance(0.75));
    Tensor mask(GYRE_BOOL, {queries, keys});
    mask.set_values(values);
    return mask;
}

} // namespace

TEST_CASE("general lengths: a bias, which hides keys, a mask, a cap and ALiBi") {
    for (const gyre_dtype type : types)
        for (const int64_t head_dim : {64, 72})
            for (const int64_t keys : lengths) {
                AttentionCase biased(shape_of(keys, head_dim, type));
                Tensor bias(type, {2, queries, keys});
                bias.fill_normal(5);
                for (int64_t j = 0; j + 1 < keys; j++) bias.set({1, 3, j}, -infinity); // row 3 sees the last key alone
                biased.args.bias = biased.hold(std::move(bias));
                biased.check();
                AttentionCase masked(shape_of(keys, head_dim, type));
                masked.args.mask = masked.hold(mask_of(keys));
                masked.args.softcap = 5;
                masked.check();
                AttentionCase distant(shape_of(keys, head_dim, type));
                distant.args.alibi = distant.hold(GYRE_F32, {0.25, 0.01});
                distant.args.causal = 1;
                distant.args.window_left = 260;
                distant.check();
            }
}

TEST_CASE("general lengths: of entries of a batch, beside a bias and rotations") {
    gyre_rope rope = gyre_rope_defaults();
    for (const gyre_dtype type : types) {
        AttentionCase c(shape_of(520, 64, type).batches(4));
        Tensor bias(type, {2, queries, 520});
        bias.fill_normal(9);
        c.args.bias = c.hold(std::move(bias));
        c.args.seqused_k = c.hold(GYRE_I32, {520, 0, 256, 257});
        c.args.causal = 1;
        c.args.rope = c.args.value_rope = &rope;
        c.check();
    }
}

TEST_CASE("general lengths: keys of a second block that a bias or a mask hides from half of the rows hold anything") {
    const int64_t keys = 400;
    const RowSees sees = [](int64_t i, int64_t j) { return i >= queries / 2 || (j != 70 && j != 300); };
    for (const gyre_dtype type : types) {
        Tensor mask(GYRE_BOOL, {queries, keys}), bias(type, {queries, keys});
        bias.fill(0.5);
        for (int64_t i = 0; i < queries; i++)
            for (int64_t j = 0; j < keys; j++) {
                mask.set({i, j}, sees(i, j));
                if (!sees(i, j)) bias.set({i, j}, -infinity);
            }
        AttentionCase masked(shape_of(keys, 64, type)), biased(shape_of(keys, 64, type));
        masked.args.mask = masked.hold(std::move(mask));
        check_garbage(masked, sees, {70, 300});
        biased.args.bias = biased.hold(std::move(bias));
        check_garbage(biased, sees, {70, 300});
    }
}

TEST_CASE(
    "general lengths: a bias is read where its strides say, and neither before its first number nor behind its last") {
    struct Strides {
        int64_t row, key; // row: of so many keys
    };
    for (const GuardedMemory::Bytes where : {GuardedMemory::Bytes::at_end, GuardedMemory::Bytes::at_begin})
        for (const auto &[row, key] : {Strides{1, 1}, {0, 1}, {1, 0}, {1, 2}, {1, 3}})
            for (const int64_t keys : {1, 2, 33, 130, 255, 257}) {
                AttentionCase c(shape_of(keys, 64, GYRE_BF16));
                const int64_t row_stride = row * keys * std::max<int64_t>(key, 1);
                const int64_t count = (queries - 1) * row_stride + (keys - 1) * key + 1;
                const GuardedMemory memory((size_t)count * sizeof(uint16_t), where);
                auto *numbers = (uint16_t *)memory.data();
                for (int64_t n = 0; n < count; n++) // of both signs, 0.25 to 4, and some -inf
                    numbers[n] = n % 17 == 5 ? 0xff80 : (uint16_t)((n % 3 == 0 ? 0xbe80 : 0x3e80) + n * 5 % 0x200);
                const int64_t shape[] = {1, 1, queries, keys};
                gyre_tensor bias = gyre_tensor_dense(numbers, GYRE_BF16, 4, shape);
                bias.strides[2] = row_stride;
                bias.strides[3] = key;
                c.args.bias = &bias;
                c.check();
            }
}

TEST_CASE("general lengths: a mask hides few keys, of some blocks and rows, by bytes of any number") {
    Random random(13);
    for (const gyre_dtype type : types)
        for (const int64_t head_dim : {64, 72})
            for (const int64_t keys : {256, 390, 512})
                for (const int64_t stride : {1, 2}) {
                    AttentionCase c(shape_of(keys, head_dim, type));
                    const int64_t row = keys * stride;
                    std::vector<unsigned char> bytes((size_t)(2 * queries * row), 0);
                    for (size_t n = 0; n < bytes.size(); n += (size_t)stride) bytes[n] = n % 3 == 0 ? 128 : 1;
                    for (int64_t block = 0; block < keys; block += 128) // at its begin, at its end, within, or none
                        for (const int64_t key : {block, block + 127, block + random.integer(0, 127)})
                            if (key < keys && random.chance(0.3))
                                bytes[(size_t)(random.integer(0, 2 * queries - 1) * row + key * stride)] = 0;
                    const int64_t shape[] = {1, 2, queries, keys};
                    gyre_tensor mask = gyre_tensor_dense(bytes.data(), GYRE_BOOL, 4, shape);
                    mask.strides[1] = queries * row;
                    mask.strides[2] = row;
                    mask.strides[3] = stride;
                    c.args.mask = &mask;
                    c.check();
                    c.args.softcap = 5;
                    c.check();
                }
}

TEST_CASE("general lengths: dropout") {
    for (const gyre_dtype type : types)
        for (const int64_t keys : {255, 257, 513}) {
            AttentionCase c(shape_of(keys, 64, type));
            c.args.dropout = 0.25f;
            c.args.dropout_seed = 11;
            c.check();
        }
}
