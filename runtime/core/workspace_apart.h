/// A caller's workspace must share no memory with the call's tensors: lists are followed, and results written, while it is filled.
#pragma once
#include "core/call_tensors.h"
#include "core/error.h"

namespace gyre {

/// A visitor of checked tensors (core/call_tensors.h) that refuses the workspace for the first one that has an element in it. Between
/// elements it may lie.
class WorkspaceApart : public TensorReader<WorkspaceApart> {
public:
    WorkspaceApart(const char *memory, size_t bytes) : begin(memory), end(memory + bytes) {}

    void read(const gyre_tensor &t, const char *name) { check(t, name, 1, 0); }
    /// `copies` of a tensor, `copy_stride` elements apart. One that the call does not look at may be anything.
    void check(const gyre_tensor &t, const char *name, int64_t copies, int64_t copy_stride);

    gyre_status status = GYRE_OK; // or BAD_ARGUMENT, which names the workspace
    const char *structure = "";   // before the names of what is visited

private:
    const char *begin, *end;
};

} // namespace gyre
