/// Few queries of head sizes without kernels of their own, in f32: how many rows a key head take kernels for many queries, in parts of the keys.
#include "support/attention_case.h"
#include "support/batch_entry.h"
#include "support/compare.h"
#include "support/each_kernel.h"

#include <algorithm>

using namespace gyre::test;

namespace {

bool is_runnable(const std::string &target) {
    const std::vector<std::string> targets = runnable_targets();
    return std::find(targets.begin(), targets.end(), target) != targets.end();
}

/// Copies of keys and values are made on AVX2 alone.
bool ran_plain(gyre_context *context, const std::string &target) {
    const char *begin = target == "x86_64_avx512" ? "attention_many_rows_as_stored_f32" : "attention_plain_f32";
    return text(gyre_selected_kernel(context)).rfind(begin, 0) == 0;
}

} // namespace

TEST_CASE("plain rows: how many kernels for many queries take, with few keys and many") {
    struct Row {
        const char *target;
        int64_t head_dim, keys, rows;
        bool are_plain;
    };
    const char *avx512 = "x86_64_avx512", *avx2 = "x86_64_avx2";
    for (const Row &row :
         {Row{avx512, 32, 600, 9, false}, Row{avx512, 32, 600, 10, true}, Row{avx512, 56, 600, 11, false},
          Row{avx512, 56, 600, 12, true}, Row{avx512, 120, 512, 13, false}, Row{avx512, 120, 512, 14, true},
          Row{avx512, 120, 513, 16, false}, Row{avx512, 120, 513, 23, true}, Row{avx512, 136, 100, 14, false},
          Row{avx512, 136, 255, 15, true}, Row{avx512, 136, 256, 16, false}, Row{avx2, 32, 100, 8, false},
          Row{avx2, 40, 100, 8, true}, Row{avx2, 136, 100, 8, false}, Row{avx2, 96, 100, 9, false},
          Row{avx2, 96, 100, 13, false}, Row{avx2, 96, 100, 14, true}, Row{avx2, 104, 100, 15, false},
          Row{avx2, 104, 100, 16, true}}) {
        if (!is_runnable(row.target)) continue;
        const Context context(row.target);
        AttentionCase c(AttentionShape().lengths(1, row.keys).head_counts(2 * row.rows, 2).dims(row.head_dim));
        CAPTURE(row.target);
        CAPTURE(row.rows);
        CAPTURE(row.head_dim);
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK(ran_plain(context, row.target) == row.are_plain);
        c.check();
    }
}

TEST_CASE("plain rows: an entry of a cache has the bits that it has alone, whatever the lengths of others") {
    const std::vector<int64_t> lengths = {512, 700, 40};
    AttentionCase c(AttentionShape().batches(3).lengths(1, 700).head_counts(30, 2).dims(72));
    c.args.seqused_k = c.hold(GYRE_I32, std::vector<double>(lengths.begin(), lengths.end()));
    c.check();
    c.args.lse = nullptr;
    c.check_threads({1, 2, 5});
    each_target([&](gyre_context *context) {
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        const std::vector<uint64_t> together = c.out.bits();
        c.out.fill(0);
        for (int64_t b = 0; b < 3; b++) {
            gyre_attention_args one = c.args;
            one.seqused_k = nullptr;
            for (gyre_tensor *t : {&one.q, &one.k, &one.v, &one.out}) *t = entry_of(*t, b);
            for (gyre_tensor *t : {&one.k, &one.v}) t->shape[1] = lengths[static_cast<size_t>(b)];
            REQUIRE_MESSAGE(gyre_attention(context, &one) == GYRE_OK, text(gyre_last_error()));
        }
        CHECK(c.out.bits() == together);
    });
}
