/// gyre_attention() of few queries with so many rows a key head, in f32, that kernels for many queries take them, in parts of the keys.
#include "support/attention_case.h"
#include "support/batch_entry.h"
#include "support/compare.h"
#include "support/each_kernel.h"

using namespace gyre::test;

namespace {

/// Rows a key head that fill at least seven of ten rows of each row tile, of 24 and of 48.
constexpr int64_t heads = 71;

bool ran_plain(gyre_context *context) { return text(gyre_selected_kernel(context)).find("attention_plain_f32") == 0; }

AttentionCase case_of(int64_t queries, int64_t keys, int64_t head_dim, int64_t kv_heads = 1) {
    return AttentionCase(
        AttentionShape().batches(2).lengths(queries, keys).head_counts(heads * kv_heads, kv_heads).dims(head_dim));
}

} // namespace

TEST_CASE("many rows: kernels for many queries take them in f32 on AVX2 and AVX-512, and no others") {
    for (const std::string &target : runnable_targets()) {
        if (target.find("x86_64") != 0) continue;
        const Context context(target.c_str());
        AttentionCase many = case_of(1, 100, 64), few(AttentionShape().lengths(1, 100).head_counts(4, 1).dims(64));
        REQUIRE_MESSAGE(many.run(context) == GYRE_OK, text(gyre_last_error()));
        const bool has_vectors = target.find("avx2") != std::string::npos || target == "x86_64_avx512";
        if (has_vectors) CHECK_MESSAGE(ran_plain(context), text(gyre_selected_kernel(context)));
        REQUIRE_MESSAGE(few.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK_FALSE(ran_plain(context));
    }
}

TEST_CASE("many rows: one part and several, with sinks, lse and edges, several queries and any head size") {
    for (const int64_t keys : {1, 40, 1100, 2500})
        for (const int64_t head_dim : {64, 72})
            for (const int64_t queries : {1, 3}) {
                AttentionCase c = case_of(queries, keys, head_dim, 2);
                c.args.causal = 1;
                c.check();
                c.args.sinks = c.hold(GYRE_F32, std::vector<double>(2 * heads, 1.5));
                c.check();
                c.args.window_left = 900;
                c.check();
                c.args.lse = nullptr;
                c.check();
            }
}

TEST_CASE("many rows: entries of a cache of other lengths") {
    AttentionCase c = case_of(2, 2100, 64);
    c.args.seqused_k = c.hold(GYRE_I32, {2100, 70});
    c.args.causal = 1;
    c.check();
}

TEST_CASE("many rows: the number of threads does not change a bit") {
    AttentionCase c = case_of(16, 2200, 64);
    c.args.causal = 1;
    for (const std::string &target : runnable_targets()) {
        std::vector<uint64_t> out;
        for (const int32_t threads : {1, 2, 5, 16}) {
            const Context context(target.c_str(), threads);
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            if (out.empty()) out = c.out.bits();
            CHECK(c.out.bits() == out);
        }
    }
}
