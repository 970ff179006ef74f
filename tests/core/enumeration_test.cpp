/// Targets, kernels, statuses and the version: what is enumerated, and how it is named.
#include "support/all_kernels.h"
#include "support/each_kernel.h"
#include "support/refusal.h"

#include <set>
#include <sstream>

using namespace gyre::test;

namespace {

std::set<std::string> words(const char *list) {
    std::istringstream stream(list);
    std::set<std::string> words;
    for (std::string word; stream >> word;) words.insert(word);
    return words;
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
