/// Dispatch: the rules, forced targets for every operation, and that some call reaches every kernel.
#include "support/all_kernels.h"
#include "support/append_case.h"
#include "support/attention_case.h"
#include "support/backward_case.h"
#include "support/each_kernel.h"
#include "support/linear_backward_case.h"
#include "support/refusal.h"
#include "support/rotary_case.h"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <set>

using namespace gyre::test;

namespace {

/// Kernels that calls by the name of a score function alone reach: tests/attention/score_test.cpp.
bool has_score(const gyre_kernel_info &kernel) { return text(kernel.attributes).find(" score=") != std::string::npos; }

/// Calls of this file do not select these: outputs of many megabytes do (tests/rotary/streaming_test.cpp), or none, as angles of
/// all, keys and values in tiles, what a backward pass loads its operands with, and parts of linear attention.
bool runs_beside_others(const gyre_kernel_info &kernel) {
    const struct {
        const char *operation, *variants;
    } parts[] = {
#include "gyre_parts.inc"
    };
    return std::any_of(std::begin(parts), std::end(parts), [&](const auto &part) {
        return text(kernel.operation) == part.operation && fnmatch(part.variants, kernel.variant, 0) == 0;
    });
}

} // namespace

TEST_CASE("rules of dispatch: every attention kernel is of a family that they name, and calls get the first that takes "
          "them") {
    std::vector<std::string> families;
    gyre_dispatch_rule rule;
    for (int32_t i = 0; gyre_dispatch_rule_at(i, &rule); i++) {
        CHECK(text(rule.operation) == "attention");
        CHECK(text(rule.calls) != "");
        families.push_back(rule.kernels);
    }
    CHECK(families == std::vector<std::string>{"decode",
                                               "decode_own_keys",
                                               "decode_dropout",
                                               "split_value_blocks",
                                               "plain_value_blocks",
                                               "many_rows_as_stored",
                                               "many_rows",
                                               "narrow_as_stored",
                                               "split_as_stored",
                                               "split",
                                               "paged",
                                               "plain_as_stored",
                                               "plain_formed",
                                               "plain",
                                               "sloped",
                                               "capped",
                                               "general_as_stored",
                                               "dropout",
                                               "dropout_as_stored",
                                               "general",
                                               "score",
                                               "score_as_stored"});
    for (const gyre_kernel_info &kernel : all_kernels()) {
        if (text(kernel.operation) != "attention") continue;
        CAPTURE(kernel.name);
        CHECK(std::any_of(families.begin(), families.end(),
                          [&](const std::string &family) { return text(kernel.variant).rfind(family + "_", 0) == 0; }));
    }
    const gyre_rope rope = gyre_rope_defaults();
    const auto family_of = [&](int64_t queries, const gyre_rope *turned, float softcap) {
        AttentionCase c(AttentionShape().lengths(queries, 140).head_counts(2, 1).dims(64)); // 16 queries: 32 rows
        c.args.rope = turned;
        c.args.softcap = softcap;
        REQUIRE(c.run(nullptr) == GYRE_OK);
        const std::string name = gyre_selected_kernel(nullptr);
        return name.substr(0, name.rfind("_f32"));
    };
    const auto kernels = all_kernels(); // machines without vectors of AVX2 have the largest padded ones alone
    const auto has = [&](const char *variant) {
        return std::any_of(kernels.begin(), kernels.end(), [&](const gyre_kernel_info &kernel) {
            return kernel.runnable && text(kernel.variant) == variant;
        });
    };
    CHECK(family_of(16, nullptr, 0) == (has("many_rows_as_stored_f32_d64") ? "attention_many_rows_as_stored"
                                        : has("split_as_stored_f32_d64")   ? "attention_split_as_stored"
                                                                           : "attention_split"));
    CHECK(family_of(16, &rope, 0) == "attention_split");
    CHECK(family_of(17, nullptr, 0) == "attention_plain");
    CHECK(family_of(1, &rope, 0) == "attention_split");
    CHECK(family_of(1, nullptr, 3) == "attention_decode");
    CHECK(family_of(1, &rope, 3) == "attention_general");
    CHECK(family_of(17, nullptr, 3) == "attention_general");
}

TEST_CASE("f16 keys and values of few queries are read as they are stored on AVX-512, unless the call rotates them") {
    const std::vector<std::string> runnable = runnable_targets();
    if (std::find(runnable.begin(), runnable.end(), "x86_64_avx512") == runnable.end()) return;
    const Context context("x86_64_avx512");
    const gyre_rope rope = gyre_rope_defaults();
    for (const int64_t head_dim : {64, 128}) {
        AttentionCase c(AttentionShape().lengths(1, 140).head_counts(8, 1).dims(head_dim).of(GYRE_F16));
        for (const gyre_rope *turned : {static_cast<const gyre_rope *>(nullptr), &rope}) {
            c.args.rope = turned;
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const std::string kernel = gyre_selected_kernel(context);
            CHECK(kernel.rfind(turned ? "attention_split_f16_" : "attention_split_as_stored_f16_", 0) == 0);
        }
    }
}

TEST_CASE("how many rows of a key head take kernels with vectors of keys") {
    struct Most {
        const char *target;
        gyre_dtype dtype;
        int64_t head_dim, rows, keys = 20;
    };
    const Most most[] = {{"x86_64_avx512", GYRE_F32, 64, 12},     {"x86_64_avx512", GYRE_F32, 64, 12, 129},
                         {"x86_64_avx512", GYRE_F32, 128, 12},    {"x86_64_avx512", GYRE_F16, 128, 3, 63},
                         {"x86_64_avx512", GYRE_F16, 128, 2, 64}, {"x86_64_avx512", GYRE_F16, 64, 3, 63},
                         {"x86_64_avx512", GYRE_F16, 64, 2, 64},  {"x86_64_avx2", GYRE_F32, 64, 7},
                         {"x86_64_avx2", GYRE_F32, 128, 15},      {"x86_64_avx2", GYRE_BF16, 64, 4},
                         {"x86_64_generic", GYRE_F32, 64, 4},     {"x86_64_amx", GYRE_BF16, 128, 4, 127},
                         {"x86_64_amx", GYRE_BF16, 128, 3, 128},  {"x86_64_amx", GYRE_BF16, 80, 4, 127},
                         {"x86_64_amx", GYRE_BF16, 80, 3, 128}};
    const std::vector<std::string> runnable = runnable_targets();
    for (const Most &m : most) {
        if (std::find(runnable.begin(), runnable.end(), m.target) == runnable.end()) continue;
        CAPTURE(m.target);
        const Context context(m.target);
        for (const int64_t rows : {m.rows, m.rows + 1}) {
            CAPTURE(rows);
            AttentionCase c(AttentionShape().lengths(1, m.keys).head_counts(rows, 1).dims(m.head_dim).of(m.dtype));
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const bool is_few = text(gyre_selected_kernel(context)).rfind("attention_decode_", 0) == 0;
            CHECK(is_few == (rows == m.rows));
        }
    }
}

TEST_CASE("row tiles of f32 that are whole take kernels with row tiles, as those that lack a row do on AVX-512, "
          "however few keys a "
          "window shows") {
    const std::vector<std::string> runnable = runnable_targets();
    for (const char *target : {"x86_64_avx512", "x86_64_avx2"}) {
        if (std::find(runnable.begin(), runnable.end(), target) == runnable.end()) continue;
        const Context context(target);
        for (const int64_t rows : {6, 7, 8})
            for (const int64_t seen : {20, 128, 129}) {
                CAPTURE(target);
                CAPTURE(rows);
                CAPTURE(seen);
                AttentionCase c(AttentionShape().lengths(1, 300).head_counts(2 * rows, 2).dims(64));
                c.args.causal = 1;
                c.args.window_left = seen - 1;
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const bool is_few = text(gyre_selected_kernel(context)).rfind("attention_decode_", 0) == 0;
                CHECK(is_few == (rows < (text(target) == "x86_64_avx512" ? 7 : 8)));
            }
    }
}

TEST_CASE("a forced target really runs, for every operation, type and pairing") {
    for (const std::string &target : runnable_targets()) {
        const Context context(target.c_str());
        CHECK(text(gyre_context_target(context)) == target);
        CHECK(text(gyre_selected_kernel(context)) == "");
        std::set<std::string> own, rests;
        for (std::string serving = target; !serving.empty();) // each has the rest of the one before
            for (const gyre_target_info &info : all_targets())
                if (info.name == serving) {
                    rests.insert(serving = info.rest);
                    break;
                }
        for (const gyre_kernel_info &kernel : all_kernels())
            if (kernel.target == target) own.insert(text(kernel.operation) + "_" + kernel.variant);
        // A target may have kernels of its own for some calls only; another's may serve where it has none.
        const auto check_selected = [&](const std::string &operation) {
            const std::string selected = gyre_selected_kernel(context);
            CAPTURE(selected);
            CHECK(selected.rfind(operation + "_", 0) == 0);
            const size_t end = selected.rfind("__");
            REQUIRE(end != std::string::npos);
            if (selected.substr(end + 2) != target) {
                CHECK(own.count(selected.substr(0, end)) == 0);
                CHECK(rests.count(selected.substr(end + 2)) == 1);
            }
        };
        for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16})
            for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED}) {
                RotaryCase c(RotaryShape().of(type));
                c.args.rope.pairing = pairing;
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                check_selected("rotary");
            }
        for (const gyre_dtype type : {GYRE_F32, GYRE_BF16})
            for (const int64_t head_dim : {8, 64, 80, 128, 512})
                for (const float softcap : {0.0f, 3.0f}) {
                    AttentionCase c(AttentionShape().lengths(3, 5).dims(head_dim).of(type));
                    c.args.softcap = softcap;
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    check_selected("attention");
                }
    }
}

TEST_CASE("every linked kernel that can run here is reachable by some call") {
    std::set<std::string> reached, expected;
    for (const gyre_kernel_info &kernel : all_kernels())
        // Those of devices are reached by tensors there (tests/cuda).
        if (kernel.runnable && text(kernel.target) != "cuda" && !runs_beside_others(kernel) && !has_score(kernel))
            expected.insert(kernel.name);
    each_target([&](gyre_context *context) {
        for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16})
            for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED}) {
                RotaryCase c(RotaryShape().of(type));
                c.args.rope.pairing = pairing;
                REQUIRE(c.run(context) == GYRE_OK);
                reached.insert(gyre_selected_kernel(context));
                AppendCase append(AppendShape().of(GYRE_F32, type));
                append.args.rope = &c.args.rope;
                REQUIRE(append.run(context) == GYRE_OK);
                reached.insert(gyre_selected_kernel(context));
            }
        for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16})
            for (int64_t head_dim = 8; head_dim <= 512; head_dim += 8)
                for (const float softcap : {0.0f, 3.0f})
                    for (const int64_t queries : {1, 16, 17})
                        for (const bool rotated : {false, true}) {
                            AttentionCase c(AttentionShape().lengths(queries, 1).dims(head_dim).of(type));
                            const gyre_rope rope = gyre_rope_defaults();
                            c.args.rope = rotated ? &rope : nullptr;
                            c.args.softcap = softcap;
                            REQUIRE(c.run(context) == GYRE_OK);
                            reached.insert(gyre_selected_kernel(context));
                        }
        for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16})
            for (const int64_t head_dim : {64, 128, 256})
                for (const auto &[heads, keys] :
                     {std::pair<int64_t, int64_t>{150, 1}, // more rows a key head than are few
                      {150, 2},                            // and more scores
                      {150, 200},                          // and more keys than kernels for many queries take
                      {4, 300},                            // a narrow row tile
                      {8, 200}}) {                         // whole row tiles
                    AttentionCase c(AttentionShape().lengths(1, keys).head_counts(heads, 1).dims(head_dim).of(type));
                    REQUIRE(c.run(context) == GYRE_OK);
                    reached.insert(gyre_selected_kernel(context));
                }
        for (const int64_t head_dim : {64, 128, 256}) // too many tokens for kernels of short blocks
            for (const bool capped : {false, true}) {
                AttentionCase c(AttentionShape().lengths(40, 40).dims(head_dim).of(GYRE_BF16));
                c.args.causal = 1;
                if (capped)
                    c.args.softcap = 3;
                else
                    c.args.alibi = c.hold(GYRE_F32, {0.5});
                REQUIRE(c.run(context) == GYRE_OK);
                reached.insert(gyre_selected_kernel(context));
            }
        for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16})
            for (int64_t head_dim = 8; head_dim <= 512; head_dim += 8)
                for (const int64_t queries : {1, 20}) {
                    AttentionCase c(AttentionShape().lengths(queries, 1).dims(head_dim).of(type));
                    c.args.dropout = 0.5f;
                    REQUIRE(c.run(context) == GYRE_OK);
                    reached.insert(gyre_selected_kernel(context));
                }
        for (int64_t head_dim = 32; head_dim <= 512; head_dim += 32)
            for (const int64_t queries : {1, 17}) {
                AttentionCase c(
                    AttentionShape().lengths(queries, GYRE_VALUE_BLOCK).dims(head_dim).of(GYRE_BF16).in(GYRE_BHSD));
                c.args.value_order = GYRE_VALUES_IN_BLOCKS;
                const gyre_status status = c.run(context);
                REQUIRE((status == GYRE_OK || status == GYRE_UNSUPPORTED));
                if (status == GYRE_OK) reached.insert(gyre_selected_kernel(context));
            }
        for (int64_t head_dim = 32; head_dim <= 512; head_dim += 32) { // many queries
            AttentionCase c(AttentionShape().lengths(64, 1).head_counts(32, 1).dims(head_dim).of(GYRE_BF16));
            REQUIRE(c.run(context) == GYRE_OK);
            reached.insert(gyre_selected_kernel(context));
        }
        for (const float softcap : {0.0f, 3.0f, -1.0f}) {
            BackwardCase c(AttentionShape().lengths(2, 3));
            if (softcap < 0)
                c.forward.args.dropout = 0.5f;
            else
                c.forward.args.softcap = softcap;
            REQUIRE(c.run(context) == GYRE_OK);
            reached.insert(gyre_selected_kernel(context));
        }
        for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16}) {
            LinearBackwardCase c(AttentionShape().lengths(2, 3).of(type));
            REQUIRE(c.forward.run(context) == GYRE_OK);
            reached.insert(gyre_selected_kernel(context));
            REQUIRE(c.run(context) == GYRE_OK);
            reached.insert(gyre_selected_kernel(context));
        }
        for (const gyre_dtype from : {GYRE_F32, GYRE_F16, GYRE_BF16})
            for (const gyre_dtype to : {GYRE_F32, GYRE_F16, GYRE_BF16}) {
                if (from != GYRE_F32 && from != to) continue;
                Tensor part_out(from, {1, 1, 1, 8}), part_lse(GYRE_F32, {1, 1, 1}), out(to, {1, 1, 1, 8});
                gyre_attention_merge_args merge = gyre_attention_merge_defaults();
                merge.part_out = part_out.view();
                merge.part_lse = part_lse.view();
                merge.out = out.view();
                merge.parts = 1;
                REQUIRE(gyre_attention_merge(context, &merge) == GYRE_OK);
                reached.insert(gyre_selected_kernel(context));
            }
    });
    for (const std::string &name : expected) {
        CAPTURE(name);
        CHECK(reached.count(name) == 1);
    }
}
