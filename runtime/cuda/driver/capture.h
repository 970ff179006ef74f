/// What a call does once that a captured stream would not have.
#pragma once
#include "cuda/driver/driver.h"

namespace gyre::cuda {

/// While it lives, the calling thread may load kernels and make pools although some stream is being captured into a graph: they
/// are no part of what is captured. (As cudaStreamBeginCapture() has it, such calls end a capture otherwise.)
class OutsideOfCaptures {
public:
    explicit OutsideOfCaptures(const Driver &driver) : exchange(driver.ThreadExchangeStreamCaptureMode) {
        if (exchange && exchange(&mode)) exchange = nullptr;
    }
    OutsideOfCaptures(const OutsideOfCaptures &) = delete;
    OutsideOfCaptures &operator=(const OutsideOfCaptures &) = delete;
    ~OutsideOfCaptures() {
        if (exchange) exchange(&mode);
    }

private:
    Result (*exchange)(int *);
    int mode = capture_relaxed; // then the thread's own
};

} // namespace gyre::cuda
