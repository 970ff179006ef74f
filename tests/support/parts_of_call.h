/// A call beside calls for its parts, each of which writes its part of the results.
#pragma once
#include "attention_case.h"
#include "doctest.h"
#include "each_kernel.h"

#include <vector>

namespace gyre::test {

/// Checks that a case, which asks for no lse, gives the bits of `count` calls for parts of its tensors. `part_of(i)`: arguments of the i-th.
template <typename PartOf>
void check_parts_of_call(AttentionCase &c, int64_t count, const PartOf &part_of) {
    each_target([&](gyre_context *context) {
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        const std::vector<uint64_t> together = c.out.bits();
        c.out.fill(0);
        for (int64_t i = 0; i < count; i++) {
            const gyre_attention_args part = part_of(i);
            REQUIRE_MESSAGE(gyre_attention(context, &part) == GYRE_OK, text(gyre_last_error()));
        }
        CHECK(c.out.bits() == together);
    });
}

} // namespace gyre::test
