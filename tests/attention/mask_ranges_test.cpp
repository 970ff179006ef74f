/// Boolean masks that come to a range of keys, which are not read for every score: padding on either side, causal with it.
#include "support/attention_case.h"
#include "support/batch_entry.h"
#include "support/each_kernel.h"
#include "support/guarded_memory.h"
#include "support/parts_of_call.h"
#include "support/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

using namespace gyre::test;

namespace {

/// Keys first .. end - 1 are visible, and of these to query i those up to i + beyond.
struct Range {
    int64_t first, end, beyond = 1 << 20;
    bool sees(int64_t i, int64_t j) const { return j >= first && j < end && j <= i + beyond; }
};

struct Masked {
    AttentionCase c;
    Tensor mask;
    gyre_tensor mask_view;

    /// One range a batch entry; NaN lies in the keys and values that no query sees. `rows`, `heads`: the mask's extents along the queries
    /// and heads.
    Masked(const AttentionShape &shape, const std::vector<Range> &ranges, int64_t rows, int64_t heads = 1)
        : c(shape), mask(GYRE_BOOL, {shape.batch, heads, rows, shape.seqlen_kv}) {
        for (int64_t b = 0; b < shape.batch; b++)
            for (int64_t j = 0; j < shape.seqlen_kv; j++) {
                bool seen = false;
                for (int64_t i = 0; i < rows; i++) {
                    const bool sees = ranges[(size_t)b].sees(i, j);
                    for (int64_t h = 0; h < heads; h++) mask.set({b, h, i, j}, sees);
                    seen = seen || sees;
                }
                if (!seen) hide(b, j);
            }
        mask_view = mask.view();
        c.args.mask = &mask_view;
    }

    void hide(int64_t b, int64_t j) {
        for (int64_t h = 0; h < c.shape.kv_heads; h++) {
            for (int64_t d = 0; d < c.shape.head_dim; d++) c.k.set({b, j, h, d}, std::nan(""));
            for (int64_t d = 0; d < c.shape.v_head_dim; d++) c.v.set({b, j, h, d}, std::nan(""));
        }
    }

    void check(bool as_range) {
        c.check();
        each_target([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            CAPTURE(text(gyre_selected_kernel(context)));
            const std::string kernel = gyre_selected_kernel(context);
            const auto is_of = [&](const char *family) { return kernel.find(family) != std::string::npos; };
            CHECK((is_of("general") || is_of("key_columns") || is_of("options_as_stored")) != as_range);
        });
    }
};

AttentionShape few_heads(int64_t batch, int64_t queries, int64_t keys) {
    return AttentionShape().batches(batch).lengths(queries, keys).head_counts(4, 2).dims(64);
}

} // namespace

TEST_CASE("masks that are ranges of keys in every row") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_BF16})
        for (const int64_t queries : {1, 4, 40})
            for (const std::vector<Range> &ranges : {std::vector<Range>{{0, 90}, {0, 1}, {0, 64}},
                                                     {{7, 90}, {89, 90}, {33, 90}},
                                                     {{3, 80}, {0, 0}, {16, 48}}}) {
                Masked m(few_heads(3, queries, 90).of(type), ranges, 1);
                m.check(true);
            }
}

TEST_CASE("masks of one row for all, beside the call's own diagonal and window") {
    for (const auto &[queries, keys] : {std::pair(40, 40), std::pair(20, 70)})
        for (const gyre_alignment alignment : {GYRE_BOTTOM_RIGHT, GYRE_TOP_LEFT})
            for (const int64_t left : {-1, 6}) {
                Masked m(few_heads(2, queries, keys), {{0, keys - 9}, {5, keys}}, 1);
                m.c.args.causal = 1;
                m.c.args.alignment = alignment;
                m.c.args.window_left = left;
                m.check(true);
            }
}

TEST_CASE("a mask is read neither before its first byte nor behind its last") {
    for (const GuardedMemory::Bytes where : {GuardedMemory::Bytes::at_end, GuardedMemory::Bytes::at_begin})
        for (const int64_t keys : {1, 33, 39, 64}) {
            AttentionCase c(few_heads(1, 20, keys));
            const GuardedMemory memory((size_t)(20 * keys), where);
            std::memset(memory.data(), 0, (size_t)(20 * keys));
            const int64_t shape[] = {1, 1, 20, keys};
            const gyre_tensor mask = gyre_tensor_dense(memory.data(), GYRE_BOOL, 4, shape);
            c.args.mask = &mask;
            c.check();
            memory.data()[7 * keys] = 1;
            c.check();
            memory.data()[0] = 1;
            c.check();
        }
}

TEST_CASE("a byte of a mask that is not 0 lets the query attend, whatever it is") {
    constexpr unsigned char other[] = {1, 2, 128, 255};
    for (const int64_t queries : {1, 20})
        for (const bool ranges : {true, false}) {
            AttentionCase c(few_heads(1, queries, 90));
            std::vector<unsigned char> ones((size_t)(queries * 90)), others = ones;
            for (size_t i = 0; i < ones.size(); i++) {
                ones[i] = ranges ? i % 90 > 6 : i * 7 % 5 != 2;
                others[i] = ones[i] ? other[i % 4] : 0;
            }
            const int64_t shape[] = {1, 1, queries, 90};
            gyre_tensor mask = gyre_tensor_dense(ones.data(), GYRE_BOOL, 4, shape);
            c.args.mask = &mask;
            each_target([&](gyre_context *context) {
                mask.data = ones.data();
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<uint64_t> expected = c.out.bits();
                mask.data = others.data();
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CHECK(c.out.bits() == expected);
            });
        }
}

TEST_CASE("causal masks with padding on either side, aligned anywhere") {
    for (const auto &[queries, keys] : {std::pair(40, 40), std::pair(33, 70), std::pair(9, 1100)}) {
        const int64_t beyond = keys - queries;
        for (const std::vector<Range> &ranges :
             {std::vector<Range>{{0, keys, beyond}, {0, keys - 11, beyond}, {0, 5, beyond}},
              {{1, keys, beyond}, {keys / 2, keys, beyond}, {keys - 1, keys, beyond}},
              {{0, keys, beyond + 1}, {2, keys - 3, beyond + 2}, {0, keys}}}) {
            Masked m(few_heads(3, queries, keys), ranges, queries);
            m.check(true);
            for (const Range &range : ranges) Masked(few_heads(1, queries, keys), {range}, queries).check(true);
        }
    }
}

TEST_CASE("with the call's own window, lengths, biases and sinks") {
    const std::vector<Range> ranges{{3, 70, 31}, {0, 55, 31}};
    Masked windowed(few_heads(2, 40, 70), ranges, 40);
    windowed.c.args.window_left = 9;
    windowed.c.args.causal = 1;
    windowed.check(true);

    Masked shorter(few_heads(2, 40, 70), {{3, 60, 31}, {0, 50, 31}}, 40);
    shorter.c.args.seqused_k = shorter.c.hold(GYRE_I32, {60, 50});
    shorter.c.args.alignment = GYRE_TOP_LEFT;
    shorter.check(true);

    Masked general(few_heads(2, 40, 70), ranges, 40);
    Tensor bias(GYRE_F32, {40, 70});
    bias.fill_normal(3);
    general.c.args.bias = general.c.hold(std::move(bias));
    general.c.args.alibi = general.c.hold(GYRE_F32, {0.1, 0.2, 0.3, 0.4});
    general.c.args.sinks = general.c.hold(GYRE_F32, {1, -1, 0, 2});
    general.check(false);
}

TEST_CASE("a mask that is another one in a single place is not taken for a range") {
    const Range range{4, 30, 12};
    const auto flipped = [&](int64_t i, int64_t j) {
        CAPTURE(i);
        CAPTURE(j);
        Masked m(few_heads(1, 20, 32), {range}, 20);
        m.c.k.fill_normal(5);
        m.c.v.fill_normal(6);
        m.mask.set({0, 0, i, j}, !range.sees(i, j));
        m.check(false);
    };
    for (const int64_t i : {0, 7, 18})
        for (const int64_t j : {0, 3, 4, 5, 11, 29, 31}) flipped(i, j);
    flipped(7, 20);
    flipped(12, 25); // next to the diagonal
    flipped(19, 15);
    flipped(19, 31);
}

TEST_CASE("rows that lengths leave only a part of do not lie one behind the other") {
    AttentionCase c(few_heads(1, 40, 70));
    c.args.seqused_k = c.hold(GYRE_I32, {35});
    Tensor mask(GYRE_BOOL, {1, 1, 40, 70});
    for (int64_t i = 0; i < 40; i++)
        for (int64_t j = 0; j < 70; j++) mask.set({0, 0, i, j}, i < 20 || j % 2 == 0);
    c.args.mask = c.hold(std::move(mask));
    c.check();
}

TEST_CASE("masks of all heads that are the same ranges") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_BF16})
        for (const int64_t queries : {1, 40}) {
            const int64_t beyond = 90 - queries;
            for (const std::vector<Range> &ranges : {std::vector<Range>{{0, 90}, {0, 90}, {0, 90}},
                                                     {{0, 90, beyond}, {0, 70, beyond}, {9, 90, beyond}},
                                                     {{7, 90}, {0, 0}, {33, 70}}}) {
                Masked(few_heads(3, queries, 90).of(type), ranges, queries, 4).check(true);
                Masked(few_heads(3, queries, 90).of(type), {ranges[2], ranges[2], ranges[2]}, 1, 4).check(true);
            }
        }
}

TEST_CASE("a mask of a head that is another one in a single place is not taken for the others' range") {
    for (const int64_t rows : {1, 20})
        for (const int64_t head : {0, 1, 3})
            for (const int64_t i : {0, 11, 19})
                for (const int64_t j : {0, 7, 31}) {
                    if (i >= rows) continue;
                    CAPTURE(rows);
                    CAPTURE(head);
                    CAPTURE(i);
                    CAPTURE(j);
                    Masked m(few_heads(2, 20, 32), {{0, 32}, {0, 32}}, rows, 4);
                    m.mask.set({1, head, i, j}, 0);
                    m.c.check();
                }
}

TEST_CASE("which sequences have such masks does not change a bit of the others") {
    Masked all(few_heads(4, 40, 40), {{0, 33}, {0, 40, 0}, {5, 40, 0}, {0, 40}}, 40);
    Random random(3);
    for (int64_t i = 0; i < 40; i++)
        for (int64_t j = 0; j < 40; j++) all.mask.set({3, 0, i, j}, random.chance(0.7));
    all.c.args.lse = nullptr;
    gyre_tensor mask;
    check_parts_of_call(all.c, 4, [&](int64_t b) {
        gyre_attention_args one = all.c.args;
        for (gyre_tensor *t : {&one.q, &one.k, &one.v, &one.out}) *t = entry_of(*t, b);
        mask = entry_of(*all.c.args.mask, b);
        one.mask = &mask;
        return one;
    });
}
