/// The number of threads, and whose they are, does not change a bit of gyre_attention()'s result.
#include "support/attention_case.h"
#include "support/each_kernel.h"
#include "support/everything_case.h"

#include <algorithm>
#include <array>
#include <thread>

using namespace gyre::test;

TEST_CASE("the number of threads does not change a bit") {
    for (const int64_t head_dim : {64, 72})
        for (const bool general : {false, true}) Everything(head_dim, general).c.check_threads({1, 2, 3, 8});
}

TEST_CASE("which rows make up a tile does not depend on the number of threads: rows of other magnitudes beside each") {
    for (const int64_t group : {3, 5, 6})
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
            AttentionCase c(AttentionShape().lengths(90, 70).head_counts(group, 1).dims(64).of(dtype));
            for (int64_t token = 0; token < 90; token++) // every seventh row scores too much for sums in fixed point
                for (int64_t d = 0; d < 64 && token % 7 == 0; d++)
                    c.q.set({0, token, token % group, d}, 40 * c.q.get({0, token, token % group, d}));
            c.check_threads({1, 2, 3, 5});
        }
}

TEST_CASE("the number of threads does not change a bit of a window, whose tasks begin at other keys") {
    for (const int64_t head_dim : {64, 72}) {
        AttentionCase c(AttentionShape().lengths(700, 700).dims(head_dim));
        c.args.window_left = 40;
        c.args.window_right = 3;
        c.check_threads({1, 2, 5, 16});
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

TEST_CASE(
    "the number of threads does not change a bit of rows that a mask and the diagonal leave no key, which are +0") {
    gyre_rope rope = gyre_rope_defaults();
    for (const auto &[tokens, keys, hidden] : {std::array{13, 9, 2}, {13, 9, 5}, {700, 600, 90}})
        for (const int64_t head_dim : {64, 80}) {
            AttentionCase c(AttentionShape().lengths(tokens, keys).head_counts(8, 1).dims(head_dim));
            Tensor mask(GYRE_BOOL, {1, 1, 1, keys});
            for (int64_t key = 0; key < keys; key++) mask.set({0, 0, 0, key}, key >= hidden && key != keys - 2);
            c.args.mask = c.hold(mask);
            c.args.causal = 1;
            c.args.value_rope = &rope;
            for (const std::string &target : runnable_targets())
                for (const int32_t threads : {1, 2, 4, 16}) {
                    CAPTURE(target);
                    CAPTURE(threads);
                    const Context context(target.c_str(), threads);
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    const std::vector<uint64_t> bits = c.out.bits();
                    const auto empty = bits.begin() + (tokens - keys + hidden) * 8 * head_dim;
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
