/// gyre_attention() of sequences whose last rows would leave most of a vector empty: on AVX2 and AVX-512 kernels for few rows take them.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/guarded_keys.h"
#include "support/masked_garbage.h"
#include "support/packed_sequences.h"

#include <algorithm>

using namespace gyre::test;

namespace {

constexpr gyre_dtype types[] = {GYRE_F32, GYRE_F16, GYRE_BF16};

/// More than the limits of all types ask for, but in bf16 of a row tile that is left with one vector.
constexpr int64_t enough_keys = 240;

/// Targets whose kernels have vectors of rows, and no others beside them.
std::vector<std::string> targets_of_vectors() {
    std::vector<std::string> found;
    for (const std::string &target : runnable_targets())
        if (target == "x86_64_avx2" || target.rfind("x86_64_avx512", 0) == 0) found.push_back(target);
    return found;
}

/// True if the lse of a call's last token, which 16 bits do not round, have the bits that a call of that token alone gives.
bool has_bits_of_few(AttentionCase &c, gyre_context *context) {
    const int64_t last = c.q.shape()[1] - 1, heads = c.q.shape()[2];
    const auto bits = [&] {
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        const std::vector<uint64_t> all = c.lse.bits();
        std::vector<uint64_t> found;
        for (int64_t h = 0; h < heads; h++) found.push_back(all[(size_t)(h * (last + 1) + last)]);
        return found;
    };
    const std::vector<uint64_t> of_call = bits();
    const gyre_attention_args args = c.args;
    gyre_tensor lse = *args.lse;
    c.args.lse = &lse;
    const auto keep_last = [&](gyre_tensor *t, int tokens) {
        t->data = static_cast<char *>(t->data) + last * t->strides[tokens] * (t->dtype == GYRE_F32 ? 4 : 2);
        t->shape[tokens] = 1;
    };
    keep_last(&c.args.q, 1);
    keep_last(&c.args.out, 1);
    keep_last(&lse, 2);
    const std::vector<uint64_t> alone = bits();
    c.args = args;
    return of_call == alone;
}

/// A causal call of so many heads that share keys.
struct Causal : AttentionCase {
    Causal(gyre_dtype type, int64_t queries, int64_t keys, int64_t heads = 1, int64_t head_dim = 64)
        : AttentionCase(AttentionShape().lengths(queries, keys).head_counts(2 * heads, 2).dims(head_dim).of(type)) {
        args.causal = 1;
    }
};

} // namespace

TEST_CASE("last rows: which they are") {
    for (const std::string &target : targets_of_vectors()) {
        CAPTURE(target);
        const Context context(target.c_str(), 1);
        const bool on_avx2 = target == "x86_64_avx2";
        for (const gyre_dtype type : types)
            for (const int64_t head_dim : {64, 72, 128}) {
                CAPTURE(type);
                CAPTURE(head_dim);
                const auto takes = [&](int64_t queries, int64_t keys) {
                    AttentionCase c(
                        AttentionShape().lengths(queries, keys).head_counts(16, 16).dims(head_dim).of(type));
                    return has_bits_of_few(c, context);
                };
                CHECK(takes(33, enough_keys));
                CHECK(takes(on_avx2 ? 34 : 36, enough_keys));
                CHECK_FALSE(takes(on_avx2 ? 35 : 37, enough_keys));
                CHECK_FALSE(takes(35, 20));
            }
    }
}

TEST_CASE("last rows: counts of rows, heads that share keys, windows, sinks and lse") {
    for (const gyre_dtype type : types)
        for (const int64_t head_dim : {64, 72, 128})
            for (const int64_t heads : {1, 2, 3, 4})
                for (const int64_t queries : {17, 18, 20, 33, 35, 41, 49, 52}) {
                    Causal c(type, queries, enough_keys, heads, head_dim);
                    c.check();
                    c.args.sinks = c.hold(GYRE_F32, std::vector<double>((size_t)(2 * heads), 1.5));
                    c.args.window_left = 101;
                    c.check();
                    c.args.lse = nullptr;
                    c.args.causal = 0;
                    c.check();
                }
}

TEST_CASE("last rows: values of another size, pages and lengths of a cache, and threads") {
    for (const gyre_dtype type : types) {
        AttentionCase values(AttentionShape().lengths(33, enough_keys).head_counts(3, 1).dims(192, 128).of(type));
        values.check();
        AttentionCase c(AttentionShape().batches(4).lengths(65, 700).head_counts(8, 4).dims(64).of(type));
        c.args.causal = 1;
        c.args.seqused_k = c.hold(GYRE_I32, {700, 65, 0, 327});
        c.check();
        c.check_threads({1, 2, 5});
    }
}

TEST_CASE("last rows: nothing is read past the last key, and what a row does not see does not change its bits") {
    for (const gyre_dtype type : types) {
        Causal end(type, 34, enough_keys + 1);
        check_at_end_of_memory(end);
        constexpr int64_t queries = 34, keys = enough_keys, first_token = keys - queries, window = 150;
        Causal c(type, queries, keys);
        c.args.window_left = window;
        check_garbage(c, in_causal_window(c), {first_token - window, keys - window - 2, keys - 2, keys - 1});
    }
}

TEST_CASE("last rows: packed sequences give the bits that each has alone") {
    for (const gyre_dtype type : types)
        for (const int64_t heads : {1, 2, 4})
            check_packed_and_alone(AttentionShape().head_counts(heads, 1).dims(64).of(type), {0, 33, 33, 51, 100},
                                   {0, 300, 400, 800, 1200}, [](AttentionCase &c) { c.args.causal = 1; });
}
