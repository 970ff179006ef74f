/// gyre_attention() and gyre_cache_append() with values in blocks: the bits of the same cache with rows.
#include "support/append_case.h"
#include "support/attention_allowance.h"
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/oracle_attention.h"
#include "support/random.h"
#include "support/refusal.h"
#include "support/value_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace gyre::test;

namespace {

constexpr int64_t most_few_queries = 16; // as runtime/attention has it

/// True if kernels of this target take values in blocks.
bool takes_blocks(gyre_context *context) { return has_kernel_with(gyre_context_target(context), "cache=value_blocks"); }

/// A case whose keys and values are rows, and the same cache with values in blocks: contiguous, or in pages in random order.
/// Slots without a key are poison.
struct BlocksCase : Keeper {
    AttentionCase rows;
    Tensor k, v;
    gyre_attention_args blocks;

    /// `capacity` of the cache a multiple of the block's tokens, and of the page's; page_size 0: no pages.
    BlocksCase(AttentionShape shape, std::vector<double> lengths, int64_t page_size = 0)
        : rows(shape.of(GYRE_BF16).in(GYRE_BHSD)), k(cache(page_size, shape.head_dim)),
          v(cache(page_size, shape.v_head_dim)) {
        rows.args.seqused_k = rows.hold(GYRE_I32, lengths);
        const int64_t slots = page_size ? page_size : shape.seqlen_kv, pages = shape.seqlen_kv / slots;
        std::vector<double> table((size_t)(shape.batch * pages));
        std::iota(table.begin(), table.end(), 0);
        Random random(7);
        for (size_t i = table.size(); page_size && i > 1; i--)
            std::swap(table[i - 1], table[(size_t)random.integer(0, (int64_t)i - 1)]);
        const auto moved = [&](const Tensor &from, int64_t dim) {
            std::vector<double> to((size_t)(shape.batch * pages * shape.kv_heads * slots * dim), NAN);
            for (int64_t b = 0; b < shape.batch; b++)
                for (int64_t j = 0; j < (int64_t)lengths[(size_t)b]; j++)
                    for (int64_t h = 0; h < shape.kv_heads; h++)
                        for (int64_t d = 0; d < dim; d++) {
                            const auto page = (int64_t)table[(size_t)(b * pages + j / slots)];
                            to[(size_t)(((page * shape.kv_heads + h) * slots + j % slots) * dim + d)] =
                                from.get({b, h, j, d});
                        }
            return to;
        };
        k.set_values(moved(rows.k, shape.head_dim));
        v.set_values(to_blocks(moved(rows.v, shape.v_head_dim), slots, shape.v_head_dim));
        if (page_size) table_ = hold(GYRE_I32, table, {shape.batch, pages});
    }

    gyre_attention_args in_blocks() const {
        gyre_attention_args args = rows.args;
        args.k = k.view();
        args.v = v.view();
        args.page_table = table_;
        args.value_order = GYRE_VALUES_IN_BLOCKS;
        return args;
    }

    /// Few queries: the bits that rows give, unless few queries a key head take kernels of another target. Else what the oracle
    /// gives, since rows may take another way. Refused by name where no kernel takes blocks.
    void check(int32_t threads = 1) {
        if (threads == 1) rows.check();
        const gyre_attention_args with_rows = rows.args;
        const bool few_queries = rows.shape.seqlen_q <= most_few_queries;
        const OracleAttention expected = oracle_attention(with_rows);
        each_target(
            [&](gyre_context *context) {
                rows.args = with_rows;
                REQUIRE_MESSAGE(rows.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<uint64_t> out = rows.out.bits(), lse = rows.lse.bits();
                const std::string kernel_of_rows = gyre_selected_kernel(context);
                rows.args = in_blocks();
                const gyre_status status = rows.run(context);
                if (!takes_blocks(context)) {
                    check_refused("no blocks", status, GYRE_UNSUPPORTED, "q blocks");
                    return;
                }
                REQUIRE_MESSAGE(status == GYRE_OK, text(gyre_last_error()));
                const std::string kernel = gyre_selected_kernel(context);
                CHECK(kernel.find("_value_blocks_bf16_") != std::string::npos);
                if (few_queries && target_of(kernel_of_rows) == target_of(kernel)) {
                    CHECK(rows.out.bits() == out);
                    CHECK(rows.lse.bits() == lse);
                } else {
                    const AttentionAllowance allowed =
                        attention_allowance(expected, with_rows, rounding_of_kernel(kernel));
                    check_within("out", rows.output().data, expected.out.data, allowed.out);
                    check_within("lse", rows.lse.values(), expected.lse, allowed.lse);
                }
            },
            threads);
        rows.args = with_rows;
    }

private:
    const gyre_tensor *table_ = nullptr;

    static std::string target_of(const std::string &kernel) { return kernel.substr(kernel.find("__")); }

    Tensor cache(int64_t page_size, int64_t dim) const {
        const AttentionShape &s = rows.shape;
        const int64_t slots = page_size ? page_size : s.seqlen_kv;
        return Tensor(GYRE_BF16, {s.batch * (s.seqlen_kv / slots), s.kv_heads, slots, dim});
    }
};

} // namespace

TEST_CASE("value blocks: every number of keys around the ends of blocks") {
    for (const int64_t head_dim : {64, 128})
        for (double keys = 1; keys <= 34; keys++) {
            BlocksCase c(AttentionShape().batches(2).lengths(3, 64).head_counts(4, 2).dims(head_dim),
                         {keys, 65 - keys});
            c.rows.args.causal = 1;
            c.check();
        }
}

TEST_CASE("value blocks: contiguous and paged, in decode and in prefill, grouped heads and windows") {
    for (const int64_t page_size : {0, 32, 64, 256})
        for (const int64_t head_dim : {64, 128})
            for (const int64_t seqlen_q : {1, 5, 16, 40}) {
                BlocksCase c(AttentionShape().batches(4).lengths(seqlen_q, 768).head_counts(4, 2).dims(head_dim),
                             {768, 515, 130, 0}, page_size);
                c.rows.args.causal = 1;
                if (seqlen_q == 5) c.rows.args.window_left = 50;
                c.check();
            }
}

TEST_CASE("value blocks: many grouped heads, not causal, whatever the number of threads") {
    BlocksCase c(AttentionShape().batches(1).lengths(2, 4096).head_counts(40, 1).dims(128), {4001}, 128);
    for (const int32_t threads : {1, 2, 5}) c.check(threads);
}

TEST_CASE("value blocks: RoPE and RoPER of a rotated cache") {
    BlocksCase c(AttentionShape().batches(2).lengths(3, 320).head_counts(8, 2).dims(64), {300, 33}, 32);
    gyre_rope rope = gyre_rope_defaults();
    c.rows.args.causal = 1;
    c.rows.args.rope = c.rows.args.value_rope = &rope;
    c.rows.args.keys_rotated = c.rows.args.values_rotated = 1;
    c.check();
}

TEST_CASE("value blocks: what append writes, and what it leaves") {
    for (const int64_t page_size : {0, 32, 128})
        for (const gyre_dtype from : {GYRE_F32, GYRE_BF16})
            for (const int64_t added : {1, 31, 75})
                for (const bool rotated : {false, true}) {
                    const AppendShape shape = AppendShape()
                                                  .adding({added})
                                                  .to({0, 31, 60})
                                                  .dims(64, 48)
                                                  .room(256)
                                                  .paged(page_size)
                                                  .of(from, GYRE_BF16)
                                                  .in(GYRE_BSHD, GYRE_BHSD);
                    AppendCase rows(shape), blocks(shape);
                    gyre_rope rope = gyre_rope_defaults();
                    if (rotated)
                        rows.args.rope = rows.args.value_rope = blocks.args.rope = blocks.args.value_rope = &rope;
                    blocks.args.value_order = GYRE_VALUES_IN_BLOCKS;
                    rows.check();
                    each_target([&](gyre_context *context) {
                        REQUIRE_MESSAGE(rows.run(context) == GYRE_OK, text(gyre_last_error()));
                        REQUIRE_MESSAGE(blocks.run(context) == GYRE_OK, text(gyre_last_error()));
                        CHECK(blocks.k_cache.bits() == rows.k_cache.bits());
                        const int64_t slots = page_size ? page_size : shape.capacity;
                        CHECK(blocks.v_cache.bits() == to_blocks(rows.v_cache.bits(), slots, shape.v_head_dim));
                    });
                }
}

TEST_CASE("value blocks: what cannot be in blocks is refused by name, and nothing is written") {
    struct Good : BlocksCase {
        gyre_attention_args args;
        gyre_rope rope = gyre_rope_defaults();
        gyre_tensor bias{};
        Good()
            : BlocksCase(AttentionShape().batches(1).lengths(2, 64).head_counts(2, 1).dims(64), {40}),
              args(in_blocks()) {}
    };
    const std::vector<Refusal<Good>> refusals = {
        {"order", GYRE_BAD_ARGUMENT, "value_order", [](Good &c) { c.args.value_order = (gyre_value_order)2; }},
        {"capacity", GYRE_BAD_SHAPE, "v", [](Good &c) { c.args.k.shape[2] = c.args.v.shape[2] = 48; }},
        {"gaps between rows", GYRE_BAD_SHAPE, "v", [](Good &c) { c.args.v.strides[2]++; }},
        {"keys to be rotated", GYRE_UNSUPPORTED, "value_order", [](Good &c) { c.args.rope = &c.rope; }},
        {"values to be rotated", GYRE_UNSUPPORTED, "value_order", [](Good &c) { c.args.value_rope = &c.rope; }},
        {"softcap", GYRE_UNSUPPORTED, "q blocks", [](Good &c) { c.args.softcap = 5; }},
        {"head size", GYRE_UNSUPPORTED, "q blocks",
         [](Good &c) {
             c.args.q.shape[3] = c.args.k.shape[3] = 63;
             c.args.k.strides[2] = 63;
         }},
        {"type", GYRE_BAD_TYPE, "v",
         [](Good &c) {
             for (gyre_tensor *t : {&c.args.q, &c.args.k, &c.args.v, &c.args.out}) t->dtype = GYRE_F16;
         }},
        {"packed sequences", GYRE_UNSUPPORTED, "value_order",
         [](Good &c) {
             c.args.layout = GYRE_THD;
             for (gyre_tensor *t : {&c.args.q, &c.args.k, &c.args.v, &c.args.out}) {
                 const gyre_tensor bhsd = *t;
                 t->rank = 3;
                 for (int i = 0; i < 3; i++) {
                     t->shape[i] = bhsd.shape[i == 2 ? 3 : 2 - i];
                     t->strides[i] = bhsd.strides[i == 2 ? 3 : 2 - i];
                 }
             }
         }},
    };
    for (const auto &refusal : refusals) {
        Good c;
        c.rows.out.poison();
        refusal.spoil(c);
        check_refused(refusal.what, gyre_attention(nullptr, &c.args), refusal.status, refusal.named);
        CHECK(c.rows.out.untouched());
    }
}

TEST_CASE("value blocks: values of masked keys do not matter, whatever they hold") {
    const int64_t slots = 320, keys = 300, dim = 64, heads = 2;
    for (const int64_t rows : {1, 5, 60}) {
        BlocksCase c(AttentionShape().lengths(rows, slots).head_counts(4, heads).dims(dim), {(double)keys});
        c.rows.args.causal = 1;
        c.rows.args.window_left = 40;
        c.rows.args = c.in_blocks();
        const std::vector<double> clean_values = c.v.values();
        each_target([&](gyre_context *context) {
            if (!takes_blocks(context)) return;
            c.v.set_values(clean_values);
            REQUIRE_MESSAGE(c.rows.run(context) == GYRE_OK, text(gyre_last_error()));
            const Dense clean = c.rows.output();
            for (const double garbage : {std::nan(""), std::numeric_limits<double>::infinity(), 1e38}) {
                std::vector<double> values = clean_values;
                for (int64_t h = 0; h < heads; h++)
                    for (const int64_t j : {int64_t{0}, keys - rows - 41, keys - 1})
                        for (int64_t d = 0; d < dim; d++)
                            values[(size_t)((h * slots + j / 32 * 32) * dim + d * 32 + j % 32)] = garbage;
                c.v.set_values(values);
                REQUIRE_MESSAGE(c.rows.run(context) == GYRE_OK, text(gyre_last_error()));
                const Dense got = c.rows.output();
                int64_t changed = 0, hidden = 0;
                for (int64_t i = 0; i < rows; i++)
                    for (int64_t h = 0; h < 4; h++)
                        for (int64_t d = 0; d < dim; d++) {
                            const double x = got.head(0, i, h)[d];
                            if (i + 1 < rows) changed += x != clean.head(0, i, h)[d];
                            if (i + 1 == rows && !(std::fabs(garbage) < 1e39)) hidden += std::isfinite(x);
                        }
                CHECK(changed == 0);
                CHECK(hidden == 0);
            }
        });
    }
}
