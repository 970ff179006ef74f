/// What may not change a bit of gyre_attention()'s result: threads, the other batch entries and heads, former calls.
#include "support/attention_allowance.h"
#include "support/attention_case.h"
#include "support/batch_entry.h"
#include "support/compare.h"
#include "support/each_kernel.h"

#include <algorithm>
#include <thread>

using namespace gyre::test;

namespace {

/// A case with every option that changes how work is cut.
struct Everything {
    gyre_rope rope = gyre_rope_defaults();
    AttentionCase c;

    explicit Everything(int64_t head_dim, bool general)
        : c(AttentionShape().batches(3).lengths(150, 200).head_counts(4, 2).dims(head_dim)) {
        c.args.causal = 1;
        c.args.rope = c.args.value_rope = &rope;
        c.args.seqused_k = c.hold(GYRE_I32, {200, 160, 150});
        if (!general) return;
        Tensor bias(GYRE_BF16, {4, 1, 200});
        bias.fill_normal(3);
        c.args.bias = c.hold(std::move(bias));
        c.args.sinks = c.hold(GYRE_F32, {1, 2, 3, 4});
    }
};

} // namespace

TEST_CASE("the number of threads does not change a bit") {
    for (const int64_t head_dim : {64, 72})
        for (const bool general : {false, true}) {
            Everything e(head_dim, general);
            for (const std::string &target : runnable_targets()) {
                CAPTURE(target);
                std::vector<uint64_t> out, lse;
                for (const int32_t threads : {1, 2, 3, 8}) {
                    CAPTURE(threads);
                    const Context context(target.c_str(), threads);
                    REQUIRE_MESSAGE(e.c.run(context) == GYRE_OK, text(gyre_last_error()));
                    if (threads == 1) {
                        out = e.c.out.bits();
                        lse = e.c.lse.bits();
                    }
                    CHECK(e.c.out.bits() == out);
                    CHECK(e.c.lse.bits() == lse);
                }
            }
        }
}

TEST_CASE("which rows make up a tile does not depend on the number of threads: rows of other magnitudes beside each") {
    for (const int64_t group : {3, 5, 6})
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
            AttentionCase c(AttentionShape().lengths(90, 70).head_counts(group, 1).dims(64).of(dtype));
            for (int64_t token = 0; token < 90; token++) // every seventh row scores too much for sums in fixed point
                for (int64_t d = 0; d < 64 && token % 7 == 0; d++)
                    c.q.set({0, token, token % group, d}, 40 * c.q.get({0, token, token % group, d}));
            for (const std::string &target : runnable_targets()) {
                CAPTURE(target);
                std::vector<uint64_t> out;
                for (const int32_t threads : {1, 2, 3, 5}) {
                    CAPTURE(threads);
                    const Context context(target.c_str(), threads);
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    if (threads == 1) out = c.out.bits();
                    CHECK(c.out.bits() == out);
                }
            }
        }
}

TEST_CASE("the number of threads does not change a bit of a window, whose tasks begin at other keys") {
    for (const int64_t head_dim : {64, 72}) {
        AttentionCase c(AttentionShape().lengths(700, 700).dims(head_dim));
        c.args.window_left = 40;
        c.args.window_right = 3;
        for (const std::string &target : runnable_targets()) {
            CAPTURE(target);
            std::vector<uint64_t> out;
            for (const int32_t threads : {1, 2, 5, 16}) {
                CAPTURE(threads);
                const Context context(target.c_str(), threads);
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                if (threads == 1) out = c.out.bits();
                CHECK(c.out.bits() == out);
            }
        }
    }
}

TEST_CASE("the number of threads does not change a bit of rows that see no key, which are +0") {
    gyre_rope rope = gyre_rope_defaults();
    for (const int64_t keys : {40, 300}) {
        AttentionCase c(AttentionShape().lengths(700, keys).head_counts(4, 2).dims(64));
        c.args.causal = 1; // the first queries stand before the first key
        c.args.value_rope = &rope;
        for (const std::string &target : runnable_targets())
            for (const int32_t threads : {1, 2, 5, 16}) {
                CAPTURE(target);
                CAPTURE(threads);
                const Context context(target.c_str(), threads);
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<uint64_t> bits = c.out.bits();
                const auto empty = bits.begin() + (700 - keys) * 4 * 64;
                CHECK(std::all_of(bits.begin(), empty, [](uint64_t b) { return b == 0; }));
            }
    }
}

TEST_CASE("a host's own thread pool gives the same bits, in any order, and is asked for no more than was allowed") {
    struct Pool {
        int calls = 0, largest_count = 0;
    } pool;
    gyre_context_options options = gyre_context_defaults();
    options.threads = 3;
    options.pool = &pool;
    options.parallel_for = [](void *self, int32_t count, void (*task)(void *, int32_t), void *state) {
        auto *pool = static_cast<Pool *>(self);
        pool->calls++;
        pool->largest_count = std::max(pool->largest_count, (int)count);
        for (int32_t i = count - 1; i >= 0; i--) task(state, i);
    };
    gyre_context *hosted = nullptr;
    REQUIRE(gyre_context_create(&options, &hosted) == GYRE_OK);
    Everything e(64, true);
    REQUIRE_MESSAGE(e.c.run(hosted) == GYRE_OK, text(gyre_last_error()));
    const std::vector<uint64_t> out = e.c.out.bits();
    CHECK(pool.calls > 0);
    CHECK(pool.largest_count <= 3);
    gyre_context_destroy(hosted);
    const Context own(nullptr, 1);
    REQUIRE(e.c.run(own) == GYRE_OK);
    CHECK(e.c.out.bits() == out);
}

TEST_CASE("a host's pool that keeps no promise but to run a task: all tasks run once, in the memory of threads that "
          "there are") {
    gyre_context_options options = gyre_context_defaults();
    options.threads = 3;
    Everything e(64, true);
    const Context own(nullptr, 1);
    REQUIRE(e.c.run(own) == GYRE_OK);
    const std::vector<uint64_t> expected = e.c.out.bits();
    const gyre_parallel_for pools[] = {
        // Twice as wide, at once; the same index for all; one task alone; none.
        [](void *, int32_t count, void (*task)(void *, int32_t), void *state) {
            std::vector<std::thread> threads;
            for (int32_t i = 0; i < 2 * count; i++) threads.emplace_back(task, state, i);
            for (std::thread &t : threads) t.join();
        },
        [](void *, int32_t count, void (*task)(void *, int32_t), void *state) {
            std::vector<std::thread> threads;
            for (int32_t i = 0; i < count; i++) threads.emplace_back(task, state, -5);
            for (std::thread &t : threads) t.join();
        },
        [](void *, int32_t count, void (*task)(void *, int32_t), void *state) { task(state, count - 1); },
        [](void *, int32_t, void (*)(void *, int32_t), void *) {}};
    for (const gyre_parallel_for pool : pools) {
        options.parallel_for = pool;
        gyre_context *hosted = nullptr;
        REQUIRE(gyre_context_create(&options, &hosted) == GYRE_OK);
        for (int round = 0; round < 5; round++) {
            REQUIRE_MESSAGE(e.c.run(hosted) == GYRE_OK, text(gyre_last_error()));
            CHECK(e.c.out.bits() == expected);
        }
        gyre_context_destroy(hosted);
    }
}

TEST_CASE("a batch entry alone gives the bits that it has in the batch") {
    for (const int64_t head_dim : {64, 72})
        for (const bool general : {false, true}) {
            Everything e(head_dim, general);
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(e.c.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<double> used = values_of(*e.c.args.seqused_k), all = e.c.out.values();
                for (int64_t b = 0; b < 3; b++) {
                    AttentionCase alone(AttentionShape(e.c.shape).batches(1));
                    const gyre_tensor out = alone.args.out;
                    const gyre_tensor *const lse = alone.args.lse;
                    alone.args = e.c.args;
                    alone.args.q = entry_of(e.c.args.q, b);
                    alone.args.k = entry_of(e.c.args.k, b);
                    alone.args.v = entry_of(e.c.args.v, b);
                    alone.args.out = out;
                    alone.args.lse = lse;
                    alone.args.seqused_k = alone.hold(GYRE_I32, {used[(size_t)b]});
                    REQUIRE_MESSAGE(alone.run(context) == GYRE_OK, text(gyre_last_error()));
                    const std::vector<double> got = alone.out.values();
                    const auto first = all.begin() + b * (int64_t)got.size();
                    CHECK(got == std::vector<double>(first, first + (int64_t)got.size()));
                }
            });
        }
}

TEST_CASE("a batch entry of a cache gives the bits of a call whose tensors end with its keys, few or many") {
    for (const int64_t heads : {1, 4, 8}) {
        const std::vector<double> used = {127, 300, 128};
        AttentionCase c(AttentionShape().batches(3).lengths(1, 400).head_counts(heads, 1).of(GYRE_BF16));
        c.args.seqused_k = c.hold(GYRE_I32, used);
        each_target([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const std::vector<double> all = c.out.values();
            for (int64_t b = 0; b < 3; b++) {
                AttentionCase alone(AttentionShape(c.shape).batches(1));
                alone.args.q = entry_of(c.args.q, b);
                alone.args.k = entry_of(c.args.k, b);
                alone.args.v = entry_of(c.args.v, b);
                alone.args.k.shape[1] = alone.args.v.shape[1] = (int64_t)used[(size_t)b];
                REQUIRE_MESSAGE(alone.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<double> got = alone.out.values();
                const auto first = all.begin() + b * (int64_t)got.size();
                CHECK(got == std::vector<double>(first, first + (int64_t)got.size()));
            }
        });
    }
}

TEST_CASE("a call does not depend on the calls before it") {
    Everything small(64, false), large(128, true);
    each_target(
        [&](gyre_context *context) {
            REQUIRE(small.c.run(context) == GYRE_OK);
            const std::vector<uint64_t> first = small.c.out.bits();
            REQUIRE(large.c.run(context) == GYRE_OK);
            REQUIRE(small.c.run(context) == GYRE_OK);
            CHECK(small.c.out.bits() == first);
        },
        2);
}

TEST_CASE("frequencies of a former call are not taken for this one's") {
    AttentionCase c(AttentionShape().lengths(20, 30).dims(64));
    gyre_rope rope = gyre_rope_defaults(), value_rope = gyre_rope_defaults();
    c.args.rope = &rope;
    c.args.value_rope = &value_rope;
    const auto outputs = [&](gyre_context *context, double theta, double value_theta, int32_t rotary_dim) {
        rope.theta = theta;
        value_rope.theta = value_theta;
        rope.rotary_dim = value_rope.rotary_dim = rotary_dim;
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        return c.output().data;
    };
    each_target([&](gyre_context *context) {
        for (const int32_t rotary_dim : {32, 64, 16})
            for (const double theta : {100.0, 5000.0})
                for (const double value_theta : {5000.0, 70.0}) {
                    const std::vector<double> got = outputs(context, theta, value_theta, rotary_dim);
                    const OracleAttention expected = oracle_attention(c.args);
                    check_within("out", got, expected.out.data, attention_allowance(expected, c.args, {}).out);
                }
    });
}

TEST_CASE("equal heads give equal bits") {
    AttentionCase c(AttentionShape().lengths(70, 130).head_counts(6, 2).dims(64));
    for (Tensor *tensor : {&c.q, &c.k, &c.v}) {
        const int64_t tokens = tensor->shape()[1], heads = tensor->shape()[2];
        for (int64_t t = 0; t < tokens; t++)
            for (int64_t h = 1; h < heads; h++)
                for (int64_t d = 0; d < 64; d++) tensor->set({0, t, h, d}, tensor->get({0, t, 0, d}));
    }
    each_target([&](gyre_context *context) {
        REQUIRE(c.run(context) == GYRE_OK);
        int64_t different = 0;
        for (int64_t t = 0; t < 70; t++)
            for (int64_t h = 1; h < 6; h++)
                for (int64_t d = 0; d < 64; d++) different += c.out.get({0, t, h, d}) != c.out.get({0, t, 0, d});
        CHECK(different == 0);
    });
}
