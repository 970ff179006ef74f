/// A call whose sequences are two parts, each with plans of its own. Stacks have no room for more than one plan.
#pragma once
#include "gyre/context.h"
#include "gyre/status.h"

#include <cstddef>

namespace gyre {

class PartedCall {
public:
    virtual ~PartedCall() = default;
    virtual gyre_status prepare(gyre_context &context) = 0;
    virtual size_t workspace_bytes(const gyre_context &context) const = 0;
    virtual gyre_status run(gyre_context &context, char *memory) = 0;
};

} // namespace gyre
