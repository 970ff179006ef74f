/// Few queries on few keys, or on keys whose heads lie side by side: a task takes the rows of several key heads, each with keys of its own.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/parts_of_call.h"
#include "support/score_options.h"

#include <limits>

using namespace gyre::test;

namespace {

struct Heads {
    int64_t all, of_keys;
};

/// Heads [first, first + count) of a bshd tensor.
gyre_tensor heads_of(gyre_tensor view, int64_t first, int64_t count) {
    view.data = static_cast<char *>(view.data) + first * view.strides[2] * (view.dtype == GYRE_F32 ? 4 : 2);
    view.shape[2] = count;
    return view;
}

/// A mask that hides the first keys of each head, of some heads whole blocks of them, and some of the others.
Tensor mask_of_heads(int64_t heads, int64_t keys) {
    Tensor mask(GYRE_BOOL, {1, heads, 1, keys});
    for (int64_t h = 0; h < heads; h++)
        for (int64_t j = 0; j < keys; j++) mask.set({0, h, 0, j}, j >= 13 * h && (j + h) % 3 != 0);
    return mask;
}

/// How many tasks the host was asked for; the caller does them all.
int32_t asked_for = 0;

} // namespace

TEST_CASE("rows of several key heads, few or so many that they are several tasks, are those of the oracle") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16, GYRE_F16})
        for (const int64_t dim : {64, 72, 33})
            for (const Heads &heads : {Heads{5, 5}, Heads{40, 40}, Heads{12, 4}})
                for (const int64_t queries : {1, 3})
                    for (const int64_t keys : {1, 8, 23, 128}) {
                        if (keys < queries) continue;
                        AttentionCase c(AttentionShape()
                                            .lengths(queries, keys)
                                            .head_counts(heads.all, heads.of_keys)
                                            .dims(dim)
                                            .of(dtype));
                        c.args.causal = 1;
                        c.check();
                    }
}

TEST_CASE("rows of several key heads, with each option of scores, in each layout and with gaps") {
    for (const std::string option : score_options)
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD})
            for (const int64_t queries : {1, 4}) {
                AttentionCase c(AttentionShape()
                                    .batches(2)
                                    .lengths(queries, 21)
                                    .head_counts(6, 3)
                                    .dims(64)
                                    .in(layout, Placement::with_gaps(3)));
                CAPTURE(option);
                add_option(&c, option);
                c.check();
                c.check_in_place();
            }
}

TEST_CASE("a head has the bits that it has alone, whatever other heads are in its task, with any number of threads") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16, GYRE_F16})
        for (const int64_t dim : {64, 80, 128})
            for (const std::string option : {"none", "softcap", "mask"})
                for (const int64_t keys : {9, 70, 129, 400, 1300}) {
                    AttentionCase c(
                        AttentionShape().lengths(dim == 64 ? 2 : 1, keys).head_counts(20, 10).dims(dim).of(dtype));
                    INFO(static_cast<int>(dtype), " of ", dim, ", ", option, ", ", keys, " keys");
                    add_option(&c, option);
                    c.args.lse = nullptr;
                    c.check_threads({1, 2, 3, 8});
                    check_parts_of_call(c, 10, [&](int64_t h) {
                        gyre_attention_args one = c.args;
                        for (gyre_tensor *t : {&one.q, &one.out}) *t = heads_of(*t, 2 * h, 2);
                        for (gyre_tensor *t : {&one.k, &one.v}) *t = heads_of(*t, h, 1);
                        return one;
                    });
                }
}

TEST_CASE("a head with a mask of its own has the bits that it has alone") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16, GYRE_F16})
        for (const int64_t keys : {70, 400}) {
            AttentionCase c(AttentionShape().lengths(1, keys).head_counts(20, 10).dims(64).of(dtype));
            c.args.lse = nullptr;
            c.args.mask = c.hold(mask_of_heads(20, keys));
            gyre_tensor of_head;
            check_parts_of_call(c, 10, [&](int64_t h) {
                gyre_attention_args one = c.args;
                for (gyre_tensor *t : {&one.q, &one.out}) *t = heads_of(*t, 2 * h, 2);
                for (gyre_tensor *t : {&one.k, &one.v}) *t = heads_of(*t, h, 1);
                of_head = *c.args.mask;
                of_head.data = static_cast<char *>(of_head.data) + 2 * h * of_head.strides[1];
                of_head.shape[1] = 2;
                one.mask = &of_head;
                return one;
            });
        }
}

TEST_CASE("key heads side by side: each option of scores, types, rows a key head, and lengths") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16, GYRE_F16})
        for (const std::string option : score_options)
            for (const int64_t group : {1, 2}) {
                AttentionCase c(AttentionShape()
                                    .batches(2)
                                    .lengths(1, 300)
                                    .head_counts(6 * group, 6)
                                    .dims(group == 1 ? 64 : 40)
                                    .of(dtype));
                CAPTURE(option);
                add_option(&c, option);
                c.check();
                c.args.seqused_k = c.hold(GYRE_I32, {7, 299});
                c.check();
            }
}

TEST_CASE("lists of lengths: sequences of few keys, whose key heads share a task, of more, and of none") {
    AttentionCase c(AttentionShape().batches(5).lengths(1, 300).head_counts(24, 12).dims(64));
    c.args.seqused_k = c.hold(GYRE_I32, {9, 300, 0, 128, 129});
    c.check();
    c.check_threads({1, 2, 5});
}

TEST_CASE("what a mask hides of one head, not finite, changes no bit of any") {
    constexpr int64_t heads = 7, keys = 19;
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
        AttentionCase c(AttentionShape().lengths(2, keys).head_counts(heads, heads).dims(64).of(dtype));
        Tensor mask(GYRE_BOOL, {1, heads, 1, keys});
        for (int64_t h = 0; h < heads; h++)
            for (int64_t j = 0; j < keys; j++) mask.set({0, h, 0, j}, (j + h) % 5 != 0);
        c.args.mask = c.hold(std::move(mask));
        c.args.lse = nullptr;
        each_target([&](gyre_context *context) {
            REQUIRE(c.run(context) == GYRE_OK);
            const std::vector<uint64_t> finite = c.out.bits();
            for (const int64_t head : {0, 3, 6}) {
                Tensor &v = c.v;
                const int64_t key = (10 - head) % 5 + 5; // hidden
                const double before = v.get({0, key, head, 5});
                v.set({0, key, head, 5}, std::numeric_limits<double>::quiet_NaN());
                REQUIRE(c.run(context) == GYRE_OK);
                CHECK(c.out.bits() == finite);
                v.set({0, key, head, 5}, before);
            }
        });
    }
}

TEST_CASE(
    "key heads of few keys, or side by side, are cut into tasks for all threads, those of more keys are a task each") {
    struct Row {
        int64_t heads, keys;
        int32_t tasks; // with AVX2, of 4 at most; 0: the host is not asked
        gyre_layout layout = GYRE_BHSD;
        gyre_tensor gyre_attention_args::*heads_first =
            nullptr; // the one tensor that is stored so, in whichever layout
    };
    for (const std::string &target : runnable_targets()) {
        gyre_context_options with_pool = gyre_context_defaults();
        with_pool.target = target.c_str();
        with_pool.threads = 4;
        with_pool.parallel_for = [](void *, int32_t count, void (*)(void *, int32_t), void *) { asked_for = count; };
        gyre_context *context = nullptr;
        REQUIRE(gyre_context_create(&with_pool, &context) == GYRE_OK);
        const bool has_own_keys = target.find("avx") != std::string::npos || target == "x86_64_amx";
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16, GYRE_F16}) {
            const int64_t most_keys = dtype == GYRE_F32 ? 128 : 96;
            for (const Row &row :
                 {Row{6, 8, 3}, Row{6, most_keys, 3}, Row{6, most_keys + 1, 4}, Row{1, 8, 0},
                  Row{6, most_keys + 1, 3, GYRE_BSHD}, Row{6, most_keys + 1, 4, GYRE_BSHD, &gyre_attention_args::k},
                  Row{6, most_keys + 1, 4, GYRE_BSHD, &gyre_attention_args::v}}) {
                const AttentionShape shape = AttentionShape().lengths(1, row.keys).head_counts(row.heads, row.heads);
                AttentionCase c(AttentionShape(shape).dims(64).of(dtype).in(row.layout));
                if (row.heads_first) {
                    int64_t *strides = (c.args.*row.heads_first).strides;
                    strides[1] = 64;
                    strides[2] = 64 * row.keys;
                }
                CAPTURE(target);
                CAPTURE(dtype);
                CAPTURE(row.heads);
                CAPTURE(row.keys);
                asked_for = 0;
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CHECK(asked_for == (row.tasks == 3 && !has_own_keys ? 4 : row.tasks));
            }
        }
        gyre_context_destroy(context);
    }
}
