/// Calls with the workspace that they ask for.
#pragma once
#include "support/each_kernel.h"
#include "support/tensor.h"

namespace gyre::test {

/// The case's call with a workspace of `bytes`, which it asked for, gives the bits that it gave without one, `bits()`, and writes nothing beside
/// it; with one byte less it is refused. The case has no workspace, before and afterwards.
template <typename Case, typename Bits>
void check_asked_workspace(Case &c, const Context &context, size_t bytes, const Bits &bits) {
    const auto expected = bits();
    Tensor workspace(GYRE_F64, {(int64_t)(bytes / 8 + 1)});
    c.args.workspace = workspace.view().data;
    c.args.workspace_size = bytes;
    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
    CHECK(bits() == expected);
    CHECK(workspace.surroundings_intact());
    c.args.workspace_size = bytes - 1;
    CHECK(c.run(context) == GYRE_WORKSPACE_TOO_SMALL);
    c.args.workspace = nullptr;
    c.args.workspace_size = 0;
}

} // namespace gyre::test
