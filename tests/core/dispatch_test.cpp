/// Targets and kernels: enumeration, the choice among them, forcing one, and refusing what is unknown or cannot run.
#include "support/append_case.h"
#include "support/attention_case.h"
#include "support/backward_case.h"
#include "support/each_kernel.h"
#include "support/linear_backward_case.h"
#include "support/refusal.h"
#include "support/rotary_case.h"

#include <fnmatch.h>

#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>

using namespace gyre::test;

namespace {

std::vector<gyre_kernel_info> all_kernels() {
    std::vector<gyre_kernel_info> kernels;
    gyre_kernel_info info;
    while (gyre_kernel_at((int32_t)kernels.size(), &info)) kernels.push_back(info);
    return kernels;
}

/// Kernels that calls by the name of a score function alone reach: tests/attention/score_test.cpp.
bool has_score(const gyre_kernel_info &kernel) { return text(kernel.attributes).find(" score=") != std::string::npos; }

std::set<std::string> words(const char *list) {
    std::istringstream stream(list);
    std::set<std::string> words;
    for (std::string word; stream >> word;) words.insert(word);
    return words;
}

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

/// The environment variable GYRE_TARGET, for one scope.
class TargetVariable {
public:
    explicit TargetVariable(const char *value) {
        const char *const current = std::getenv("GYRE_TARGET");
        if (current) before_ = current;
        had_one_ = current != nullptr;
        setenv("GYRE_TARGET", value, 1);
    }
    ~TargetVariable() { had_one_ ? setenv("GYRE_TARGET", before_.c_str(), 1) : unsetenv("GYRE_TARGET"); }

private:
    std::string before_;
    bool had_one_ = false;
};

gyre_status create(const char *target, gyre_context **context) {
    gyre_context_options options = gyre_context_defaults();
    options.target = target;
    return gyre_context_create(&options, context);
}

} // namespace

TEST_CASE("targets are enumerated consistently, a runnable baseline among them") {
    const std::vector<gyre_target_info> targets = all_targets();
    CHECK((int32_t)targets.size() == gyre_target_count());
    REQUIRE(!targets.empty());
    const std::set<std::string> offered = words(gyre_cpu_features());
    std::set<std::string> names;
    gyre_target_info baseline{}; // the last of the CPU's
    for (const gyre_target_info &target : targets) {
        CAPTURE(text(target.name));
        CHECK(names.insert(target.name).second);
        if (target.device != GYRE_CPU) {
            CHECK(target.runnable == (text(target.missing).empty() ? 1 : 0));
            continue;
        }
        baseline = target;
        std::string first_missing;
        std::istringstream needed(target.features);
        for (std::string feature; first_missing.empty() && needed >> feature;)
            if (!offered.count(feature)) first_missing = feature;
        CHECK(text(target.missing) == first_missing);
        CHECK(target.runnable == (first_missing.empty() ? 1 : 0));
    }
#if !defined(__arm__) // where a row without NEON is missing
    CHECK(text(baseline.features) == "");
#endif
    CHECK(baseline.runnable == 1);
    CHECK(baseline.linked == 1);
}

TEST_CASE("kernels are enumerated consistently with the targets and with their own names") {
    const std::vector<gyre_kernel_info> kernels = all_kernels();
    CHECK((int32_t)kernels.size() == gyre_kernel_count());
    std::set<std::string> names, linked;
    size_t last_target = 0;
    const std::vector<gyre_target_info> targets = all_targets();
    for (const gyre_kernel_info &kernel : kernels) {
        CAPTURE(text(kernel.name));
        CHECK(names.insert(text(kernel.library) + "/" + kernel.name).second);
        CHECK(text(kernel.name) == text(kernel.operation) + "_" + kernel.variant + "__" + kernel.target);
        CHECK(text(kernel.evidence) != "");
        size_t target = 0;
        while (target < targets.size() && text(targets[target].name) != kernel.target) target++;
        REQUIRE(target < targets.size());
        CHECK_MESSAGE(target >= last_target, "kernels of a better target come first");
        last_target = target;
        CHECK(kernel.runnable == targets[target].runnable);
        linked.insert(kernel.target);
    }
    for (const gyre_target_info &target : targets) CHECK(linked.count(target.name) == (size_t)target.linked);
}

TEST_CASE("enumeration ends where it says") {
    gyre_target_info target;
    gyre_kernel_info kernel;
    for (const int32_t index : {-1, gyre_target_count(), 1 << 30}) CHECK(gyre_target_at(index, &target) == 0);
    for (const int32_t index : {-1, gyre_kernel_count(), 1 << 30}) CHECK(gyre_kernel_at(index, &kernel) == 0);
    gyre_dispatch_rule rule;
    for (const int32_t index : {-1, gyre_dispatch_rule_count(), 1 << 30})
        CHECK(gyre_dispatch_rule_at(index, &rule) == 0);
}

TEST_CASE("rules of dispatch: every attention kernel is of a family that they name, and calls get the first that takes "
          "them") {
    std::vector<std::string> families;
    gyre_dispatch_rule rule;
    for (int32_t i = 0; gyre_dispatch_rule_at(i, &rule); i++) {
        CHECK(text(rule.operation) == "attention");
        CHECK(text(rule.calls) != "");
        families.push_back(rule.kernels);
    }
    CHECK(families == std::vector<std::string>{"decode", "split_value_blocks", "plain_value_blocks", "split_as_stored",
                                               "split", "paged", "plain_as_stored", "plain_formed", "plain",
                                               "general_as_stored", "dropout", "general", "score"});
    for (const gyre_kernel_info &kernel : all_kernels()) {
        if (text(kernel.operation) != "attention") continue;
        CAPTURE(kernel.name);
        CHECK(std::any_of(families.begin(), families.end(),
                          [&](const std::string &family) { return text(kernel.variant).rfind(family + "_", 0) == 0; }));
    }
    const gyre_rope rope = gyre_rope_defaults();
    const auto family_of = [&](int64_t queries, const gyre_rope *turned, float softcap) {
        AttentionCase c(AttentionShape().lengths(queries, 20).dims(64));
        c.args.rope = turned;
        c.args.softcap = softcap;
        REQUIRE(c.run(nullptr) == GYRE_OK);
        const std::string name = gyre_selected_kernel(nullptr);
        return name.substr(0, name.rfind("_f32"));
    };
    CHECK(family_of(16, nullptr, 0) == "attention_split_as_stored");
    CHECK(family_of(16, &rope, 0) == "attention_split");
    CHECK(family_of(17, nullptr, 0) == "attention_plain");
    CHECK(family_of(2, nullptr, 0) == "attention_decode");
    CHECK(family_of(1, nullptr, 3) == "attention_decode");
    CHECK(family_of(1, &rope, 3) == "attention_general");
    CHECK(family_of(17, nullptr, 3) == "attention_general");
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
            for (int64_t head_dim = 8; head_dim <= 512; head_dim += 8) {
                AttentionCase c(AttentionShape().dims(head_dim).of(type));
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

TEST_CASE("without a wish the best runnable target is taken") {
    std::string best;
    for (const gyre_target_info &target : all_targets())
        if (best.empty() && target.linked && target.runnable) best = target.name;
    unsetenv("GYRE_TARGET");
    const Context context;
    CHECK(text(gyre_context_target(context)) == best);
}

TEST_CASE("GYRE_TARGET chooses, an explicit target beats it, and nonsense in it is refused") {
    const std::string worst = runnable_targets().back(), best = runnable_targets().front();
    {
        const TargetVariable variable(worst.c_str());
        const Context chosen, explicitly(best.c_str());
        CHECK(text(gyre_context_target(chosen)) == worst);
        CHECK(text(gyre_context_target(explicitly)) == best);
    }
    gyre_context *context = nullptr;
    const TargetVariable nonsense("x86_64_nonsense");
    check_refused("environment", create(nullptr, &context), GYRE_BAD_ARGUMENT, "GYRE_TARGET");
    CHECK(context == nullptr);
}

TEST_CASE("unknown and unrunnable targets are refused by name") {
    gyre_context *context = nullptr;
    for (const char *name : {"", "avx512", "x86_64_avx512 ", "X86_64_AVX512"}) {
        check_refused("unknown", create(name, &context), GYRE_BAD_ARGUMENT, "target");
        CHECK(context == nullptr);
    }
    int refused = 0;
    for (const gyre_target_info &target : all_targets()) {
        if (target.linked && target.runnable) continue;
        check_refused("unrunnable", create(target.name, &context), GYRE_UNSUPPORTED,
                      (std::string("target ") + target.name).c_str());
        CHECK(context == nullptr);
        refused++;
    }
    MESSAGE(refused, " of ", gyre_target_count(), " targets could be tried as unrunnable on this machine");
}

TEST_CASE("contexts refuse bad options") {
    gyre_context *context = nullptr;
    gyre_context_options options = gyre_context_defaults();
    check_refused("context NULL", gyre_context_create(&options, nullptr), GYRE_BAD_ARGUMENT, "context");
    options.threads = -1;
    check_refused("threads", gyre_context_create(&options, &context), GYRE_BAD_ARGUMENT, "threads");
    options = gyre_context_defaults();
    options.size = 2;
    check_refused("size", gyre_context_create(&options, &context), GYRE_BAD_ARGUMENT, "size");
    CHECK(context == nullptr);
    REQUIRE(gyre_context_create(nullptr, &context) == GYRE_OK);
    CHECK(gyre_context_threads(context) >= 1);
    gyre_context_destroy(context);
    gyre_context_destroy(nullptr);
}

TEST_CASE("statuses and the version have names") {
    std::set<std::string> names;
    for (int status = GYRE_OK; status <= GYRE_INTERNAL; status++) {
        const char *const name = gyre_status_string((gyre_status)status);
        REQUIRE(name != nullptr);
        CHECK(names.insert(name).second);
    }
    CHECK(gyre_status_string((gyre_status)1234) != nullptr);
    std::ostringstream version;
    version << GYRE_VERSION_MAJOR << "." << GYRE_VERSION_MINOR << "." << GYRE_VERSION_PATCH;
    CHECK(text(gyre_version()) == version.str());
}
