/// gyre_attention() of few queries of 64 features in f32 and f16: on AVX-512 a task of row tiles has one tile, since kernels of more rows and of fewer
/// take all sequences but those that fill one.
#include "support/attention_case.h"
#include "support/each_kernel.h"
#include "support/packed_sequences.h"

#include <gyre/kernels.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

extern "C" const gyre_kernel_library *gyre_prebuilt_kernels(void);

using namespace gyre::test;

namespace {

constexpr const char *target = "x86_64_avx512";

/// Those of the library's kernels of the target whose names begin so.
std::vector<gyre_kernel> kernels_of(const std::vector<std::string> &names) {
    std::vector<gyre_kernel> found;
    const gyre_kernel_library *library = gyre_prebuilt_kernels();
    for (size_t i = 0; library && i < library->count; i++) {
        const std::string name = library->kernels[i].name;
        const auto is_name = [&](const std::string &wanted) { return name == wanted + "__" + target; };
        if (std::any_of(names.begin(), names.end(), is_name)) found.push_back(library->kernels[i]);
    }
    return found;
}

} // namespace

TEST_CASE("single tiles: packed sequences of fewer and more rows than one have the bits that they have alone") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_F16})
        check_packed_and_alone(AttentionShape().head_counts(2, 1).dims(64).of(type), {0, 1, 4, 8, 13, 21, 37},
                               {0, 70, 370, 378, 1578, 1600, 1900}, [](AttentionCase &c) { c.args.causal = 1; });
}

TEST_CASE("single tiles: where no other kernel is linked, a task of more rows is several calls") {
    const std::vector<std::string> targets = runnable_targets();
    if (std::find(targets.begin(), targets.end(), target) == targets.end()) return;
    const std::vector<gyre_kernel> kernels =
        kernels_of({"attention_split_as_stored_f32_d64", "attention_decode_f32_d64", "merge_f32_f32"});
    if (kernels.size() != 3) return; // a build of other kernels
    const gyre_kernel_library library = {sizeof library, GYRE_KERNEL_INTERFACE, "single tiles", kernels.data(),
                                         kernels.size()};
    REQUIRE(gyre_register_kernels(&library) == GYRE_OK);
    gyre_context_options options = gyre_context_defaults();
    options.target = target;
    options.library = library.name;
    gyre_context *context = nullptr;
    REQUIRE(gyre_context_create(&options, &context) == GYRE_OK);
    for (const int64_t heads : {1, 8, 16, 24}) {
        AttentionCase c(AttentionShape().lengths(16, 300).head_counts(heads, 1).dims(64).in(GYRE_THD));
        c.args.cu_seqlens_q = c.hold(GYRE_I32, std::vector<double>{0, 16});
        c.args.cu_seqlens_k = c.hold(GYRE_I32, std::vector<double>{0, 300});
        c.args.causal = 1;
        const Context all(target);
        REQUIRE(c.run(all) == GYRE_OK);
        const std::vector<double> expected = c.out.values();
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK(text(gyre_selected_kernel(context)).rfind("attention_split_as_stored_f32_d64", 0) == 0);
        const std::vector<double> found = c.out.values();
        double difference = 0;
        for (size_t i = 0; i < found.size(); i++) difference = std::max(difference, std::abs(found[i] - expected[i]));
        CHECK(difference < 1e-5);
    }
    gyre_context_destroy(context);
    CHECK(gyre_unregister_kernels(&library) == GYRE_OK);
}
