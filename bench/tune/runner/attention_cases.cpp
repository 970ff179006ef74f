#include "attention_cases.h"

#include "support/random.h"

#include <algorithm>

namespace gyre::tune {
namespace {

using test::Tensor;

Tensor uniform(gyre_dtype dtype, std::vector<std::int64_t> shape, std::uint64_t seed) {
    Tensor tensor(dtype, std::move(shape));
    dtype == GYRE_BOOL ? tensor.fill_uniform_integers(seed, 0, 1) : tensor.fill_normal(seed);
    return tensor;
}

} // namespace

std::vector<AttentionCase> plain_cases(const Tiles &t) {
    const std::int64_t rows = std::min<std::int64_t>(t.row_tile, 512), keys = t.key_block, d = t.head_dim;
    const std::int64_t task = std::min<std::int64_t>(t.task_rows, 2048); // the oracle takes its time
    const std::int64_t odd = t.padded ? std::max<std::int64_t>(d - 3, 1) : d, half = d / 4 * 2;
    const auto nothing = [](CheckedAttention &) {};
    const auto causal = [](CheckedAttention &c) { c.args.causal = 1; };
    return {
        {"one query, one key", {1, 1, 1, 1, 1, odd}, GYRE_BSHD, nothing},
        {"full, grouped heads", {1, rows + 1, keys + 1, 2, 1, d}, GYRE_BSHD, nothing},
        {"causal, two batches", {2, rows - 1, keys + rows / 2, 1, 1, odd}, GYRE_BHSD, causal},
        {"causal, more queries than keys", {1, rows + 5, rows / 2 + 1, 1, 1, d}, GYRE_BSHD, causal},
        {"causal from the top left",
         {1, rows + 2, 2 * keys + 3, 1, 1, d},
         GYRE_BSHD,
         [](CheckedAttention &c) {
             c.args.causal = 1;
             c.args.alignment = GYRE_TOP_LEFT;
         }},
        {"window",
         {1, rows + 3, 2 * keys + 7, 1, 1, d},
         GYRE_BHSD,
         [keys](CheckedAttention &c) {
             c.args.window_left = keys / 2 + 1;
             c.args.window_right = 3;
         }},
        {"several tasks", {1, task + rows / 2 + 1, 19, 1, 1, odd}, GYRE_BSHD, nothing},
        {"packed sequences",
         {1, rows + 9, keys + 9, 2, 2, d},
         GYRE_THD,
         [rows, keys](CheckedAttention &c) {
             c.args.causal = 1;
             c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 4, 4, double(rows + 9)});
             c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 7, 9, double(keys + 9)});
         }},
        {"fewer keys than there is room for",
         {2, 9, keys + 4, 1, 1, odd},
         GYRE_BSHD,
         [keys](CheckedAttention &c) { c.args.seqused_k = c.hold(GYRE_I32, {0, double(keys - 1)}); }},
        {"rotated, half pairs",
         {1, rows + 1, keys + 5, 2, 1, d},
         GYRE_BSHD,
         [](CheckedAttention &c) { c.rotate(GYRE_HALF, 0, true); }},
        {"rotated, interleaved pairs of a part",
         {1, 11, keys + 5, 1, 1, d},
         GYRE_BHSD,
         [half](CheckedAttention &c) {
             c.args.causal = 1;
             c.rotate(GYRE_INTERLEAVED, std::int32_t(half), true);
         }},
    };
}

std::vector<AttentionCase> decode_cases(const Tiles &t) {
    const std::int64_t part = 1024, keys = t.key_block, d = t.head_dim; // as the runtime cuts them
    const std::int64_t odd = t.padded ? std::max<std::int64_t>(d - 3, 1) : d;
    const auto causal = [](CheckedAttention &c) { c.args.causal = 1; };
    return {
        {"one query, one key", {1, 1, 1, 1, 1, odd}, GYRE_BSHD, [](CheckedAttention &) {}},
        {"grouped heads, two parts", {1, 1, part + keys + 1, 8, 2, d}, GYRE_BHSD, [](CheckedAttention &) {}},
        {"causal, two batches, as many queries as may be", {2, 16, 2 * part + 5, 3, 1, odd}, GYRE_BSHD, causal},
        {"window",
         {1, 9, 2 * part + keys, 2, 1, d},
         GYRE_BHSD,
         [](CheckedAttention &c) {
             c.args.causal = 1;
             c.args.window_left = 1100;
         }},
        {"fewer keys than there is room for",
         {2, 2, part + 9, 2, 2, odd},
         GYRE_BSHD,
         [](CheckedAttention &c) { c.args.seqused_k = c.hold(GYRE_I32, {0, double(part + 1)}); }},
        {"packed sequences",
         {1, 12, keys + part, 2, 1, d},
         GYRE_THD,
         [keys](CheckedAttention &c) {
             c.args.causal = 1;
             c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 1, 1, 12});
             c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 7, 9, double(keys + part)});
         }},
        {"rotated, half pairs",
         {1, 3, part + 5, 4, 1, d},
         GYRE_BSHD,
         [as_stored = t.as_stored](CheckedAttention &c) {
             c.rotate(GYRE_HALF, 0, true);
             c.args.keys_rotated = c.args.values_rotated = as_stored;
         }},
    };
}

std::vector<AttentionCase> general_cases(const Tiles &t) {
    const std::int64_t rows = std::min<std::int64_t>(t.row_tile, 512), keys = t.key_block, d = t.head_dim;
    const std::int64_t lq = rows + 3, lk = keys + 9;
    return {
        {"softcap and bias",
         {1, lq, lk, 2, 1, d},
         GYRE_BSHD,
         [lq, lk](CheckedAttention &c) {
             c.args.softcap = 2.5f;
             c.args.bias = c.hold(uniform(GYRE_F32, {1, 2, lq, lk}, 11));
         }},
        {"bias in bf16, causal",
         {2, lq, lk, 1, 1, d},
         GYRE_BHSD,
         [lk](CheckedAttention &c) {
             c.args.causal = 1;
             c.args.bias = c.hold(uniform(GYRE_BF16, {2, 1, 1, lk}, 12));
         }},
        {"mask and sinks",
         {1, lq, lk, 2, 2, d},
         GYRE_BSHD,
         [lq, lk](CheckedAttention &c) {
             c.args.mask = c.hold(uniform(GYRE_BOOL, {lq, lk}, 13));
             c.args.sinks = c.hold(GYRE_F32, {0.5, -3});
         }},
        {"ALiBi",
         {1, lq, 2 * keys + 1, 2, 1, d},
         GYRE_BSHD,
         [](CheckedAttention &c) {
             c.args.causal = 1;
             c.args.alibi = c.hold(GYRE_F32, {-0.25, -0.0625});
         }},
    };
}

std::vector<AttentionCase> timed_cases(const Shape &shape) {
    const Extents extents{1, shape["lq"], shape["lk"], 1, 1, shape["d"]};
    const bool causal = shape["causal"] != 0;
    return {{"as it is timed", extents, GYRE_BHSD, [causal](CheckedAttention &c) { c.args.causal = causal; }}};
}

AttentionCase random_case(const Tiles &t, std::uint64_t seed) {
    test::Random random(seed);
    const std::int64_t kv_heads = random.integer(1, 2), heads = kv_heads * random.integer(1, 2);
    const std::int64_t d = t.padded ? random.integer(t.least_head_dim, t.head_dim) : t.head_dim;
    const bool causal = random.chance(0.5), window = random.chance(0.3);
    const std::int64_t left = random.integer(0, 2 * t.key_block);
    return {"at random",
            {random.integer(1, 2), random.integer(1, t.partial ? 16 : std::min<std::int64_t>(2 * t.row_tile, 400)),
             random.integer(1, t.partial ? 3000 : 3 * std::min<std::int64_t>(t.key_block, 256)), heads, kv_heads, d},
            random.chance(0.5) ? GYRE_BSHD : GYRE_BHSD,
            [=](CheckedAttention &c) {
                c.args.causal = causal;
                if (window) c.args.window_left = left;
            }};
}

} // namespace gyre::tune
