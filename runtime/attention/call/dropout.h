/// Dropout of probabilities, as kernels take it (generators/common/dropout.h).
#pragma once
#include "core/kernel_arguments.h"

#include <cstdint>

namespace gyre {

struct Dropout {
    static constexpr int64_t keys_of_draw = 4; // as kernels have it

    bool on = false;
    uint32_t threshold = 0; // of random words
    float keep_scale = 1;
    uint64_t seed = 0;
    uint32_t offset = 0;

    Dropout() = default;
    /// `probability` below 1.
    Dropout(float probability, uint64_t seed, uint32_t offset)
        : on(probability > 0), threshold(static_cast<uint32_t>(static_cast<double>(probability) * 4294967296.0)),
          keep_scale(static_cast<float>(1 / (1 - static_cast<double>(probability)))), seed(seed), offset(offset) {}
};

/// What a kernel is called with. Must outlive the call.
class DropoutArguments {
public:
    /// `head`: of all heads of all sequences; row and key: those that are the kernel's row 0 and key 0.
    DropoutArguments(const Dropout &d, int64_t head, int64_t first_row, int64_t first_key)
        : dropout(d), seed_low(static_cast<uint32_t>(d.seed)), seed_high(static_cast<uint32_t>(d.seed >> 32)),
          head(static_cast<int32_t>(head)), first_row(static_cast<int32_t>(first_row)),
          first_key(static_cast<int32_t>(first_key)) {}

    template <typename A>
    void add_to(KernelArguments<A> *to) const {
        KernelArguments<A> &arguments = *to;
        arguments[A::dropout_threshold] = &dropout.threshold;
        arguments[A::dropout_seed_low] = &seed_low;
        arguments[A::dropout_seed_high] = &seed_high;
        arguments[A::dropout_offset] = &dropout.offset;
        arguments[A::dropout_keep_scale] = &dropout.keep_scale;
        arguments[A::dropout_head] = &head;
        arguments[A::dropout_first_row] = &first_row;
        arguments[A::dropout_first_key] = &first_key;
    }

private:
    const Dropout dropout;
    const uint32_t seed_low, seed_high;
    const int32_t head, first_row, first_key;
};

} // namespace gyre
