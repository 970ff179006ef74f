/// A workspace of the size that the library asks for.
#pragma once
#include "each_kernel.h"
#include "tensor.h"

namespace gyre::test {

/// Checks that a workspace of `bytes` is enough for a case's call, that nothing beyond it is written, and that the result has the bits
/// that it has in the context's own memory.
template <typename Case>
void check_exact_workspace(Case &c, gyre_context *context, size_t bytes) {
    REQUIRE(c.run(context) == GYRE_OK);
    const std::vector<uint64_t> own_memory = c.out.bits();
    Tensor workspace(GYRE_F64, {(int64_t)(bytes / 8 + 1)});
    c.args.workspace = workspace.view().data;
    c.args.workspace_size = bytes;
    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
    CHECK(c.out.bits() == own_memory);
    CHECK(workspace.surroundings_intact());
    c.args.workspace = nullptr;
    c.args.workspace_size = 0;
}

} // namespace gyre::test
