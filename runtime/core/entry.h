/// What every function of the C API does its work within: nothing is thrown across the boundary.
#pragma once
#include "core/error.h"
#include "cpu/call_state.h"

#include <new>

namespace gyre {

/// Does work that returns a status. Errors: OUT_OF_MEMORY, where memory for anything is lacking; INTERNAL.
template <typename Work>
gyre_status guard(const Work &work) noexcept {
    const FloatingPointModes modes;
    try {
        return work();
    } catch (const std::bad_alloc &) {
        return fail(Failure::out_of_memory, "no memory for what the call needs beside its workspace");
    } catch (...) {
        return fail(Failure::internal, "an exception was thrown: a defect of the library");
    }
}

/// guard(), in which the thread is not cancelled.
template <typename Work>
gyre_status enter(const Work &work) {
    const CancellationOff not_cancelled;
    const gyre_status status = guard(work);
    not_cancelled.restore();
    return status;
}

/// Does the work of a function that returns something else than a status, and gives `otherwise` where that fails.
template <typename Result, typename Work>
Result enter_or(Result otherwise, const Work &work) {
    Result result = otherwise;
    const gyre_status status = enter([&] {
        result = work();
        return GYRE_OK;
    });
    return status == GYRE_OK ? result : otherwise;
}

} // namespace gyre
