/// gyre_attention_merge() on CUDA devices, against the oracle.
#include "support/each_kernel.h"
#include "support/merge_case.h"

#include <cmath>

using namespace gyre::test;

TEST_CASE("merge on devices: parts, tokens, heads, head sizes, types and layouts") {
    for (const auto &type : merge_types)
        for (const int64_t dim : {1, 64, 72, 130})
            for (const gyre_layout layout : {GYRE_BSHD, GYRE_THD})
                MergeCase(3, layout == GYRE_THD ? 1 : 2, 3, 4, dim, type[0], type[1], layout).check_on_devices();
    MergeCase(2, 1, 2, 1, 512).check_on_devices();
    for (const int64_t parts : {1, 16, 17, 40}) MergeCase(parts, 2, 5, 3, 24).check_on_devices();
    for (const double spread : {100.0, 1e4, 1e-3})
        MergeCase(6, 1, 4, 4, 32, GYRE_F32, GYRE_F32, GYRE_BSHD, spread).check_on_devices();
    MergeCase without(3, 1, 4, 2, 40);
    without.args.lse = nullptr;
    each_device([&](gyre_context *context) {
        REQUIRE_MESSAGE(without.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK(without.lse.elements_poisoned());
    });
    MergeCase empty(3, 1, 0, 2, 40);
    each_device([&](gyre_context *context) { CHECK(empty.run(context) == GYRE_OK); });
}

TEST_CASE("merge on devices: parts that see no key are not read, and rows that no part sees give 0 and -inf") {
    MergeCase c(4, 1, 6, 3, 16);
    std::vector<double> lses = c.part_lse.values(), outs = c.part_out.values();
    for (size_t i = 0; i < lses.size(); i++)
        if (i % 6 == 2 || i % 5 == 1) lses[i] = -MergeCase::infinity;
    for (int64_t p = 0; p < 4; p++)
        for (int64_t h = 0; h < 3; h++)
            for (int64_t i = 0; i < 6; i++)
                if (lses[(size_t)((p * 3 + h) * 6 + i)] == -MergeCase::infinity)
                    for (int64_t d = 0; d < 16; d++) outs[(size_t)(((p * 6 + i) * 3 + h) * 16 + d)] = NAN;
    c.part_lse.set_values(lses);
    c.part_out.set_values(outs);
    c.check_on_devices();
}
