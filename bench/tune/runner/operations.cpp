#include "operations.h"

#include "events.h"
#include "libraries.h"
#include "own_kernel.h"

#include <string>

namespace gyre::tune {

const Operation &operation_of(const gyre_kernel_info &kernel) {
    if (!attribute(kernel, "score").empty())
        throw Failure("kernels with a score function of their own cannot be verified: no oracle knows it");
    static const Operation operations[] = {
        {"attention", make_attention_workload, verify_attention},
        {"rotary", make_rotary_workload, verify_rotary},
        {"angles", make_rotary_workload, verify_rotary}, // the kernel that forms gyre_rotary()'s angles
    };
    static const Operation own = {"own", make_own_workload, nullptr}; // compared with the reference alone
    if (is_own(kernel)) return own;
    for (const Operation &operation : operations)
        if (std::string(operation.name) == kernel.operation) return operation;
    throw Failure(std::string("there is no workload for kernels of ") + kernel.operation);
}

} // namespace gyre::tune
