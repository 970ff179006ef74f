/// Dispatch: the rules, and what calls get by them.
#include "support/all_kernels.h"
#include "support/attention_case.h"
#include "support/each_kernel.h"

#include <algorithm>

using namespace gyre::test;

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
                                               "key_columns",
                                               "options_as_stored",
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
                                        : has("split_as_stored_f32_d64")
                                            ? "attention_plain" // AVX2: row tiles from 16 rows on
                                            : "attention_split"));
    CHECK(family_of(16, &rope, 0) == "attention_split");
    CHECK(family_of(17, nullptr, 0) ==
          (has("many_rows_as_stored_f32_d64") ? "attention_many_rows_as_stored" : "attention_plain"));
    CHECK(family_of(193, nullptr, 0) == "attention_plain");
    CHECK(family_of(1, &rope, 0) == "attention_split");
    CHECK(family_of(1, nullptr, 3) == "attention_decode");
    CHECK(family_of(1, &rope, 3) == "attention_general");
    CHECK(family_of(17, nullptr, 3) == (has("key_columns_f32_d64")             ? "attention_key_columns"
                                        : has("options_as_stored_f32_dmax512") ? "attention_options_as_stored"
                                                                               : "attention_general")); // 34 rows
    CHECK(family_of(30, nullptr, 3) == "attention_general");                                            // 60
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
