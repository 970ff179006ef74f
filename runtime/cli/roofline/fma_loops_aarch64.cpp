#if defined(__aarch64__)
#include "fma_loops.h"

namespace gyre::roofline {
namespace {

// 24 accumulators, two constants: four units with a latency of 4 cycles are busy from 16 on. The sums stop growing at
// 2^24 times the product, so they never overflow.
void neon_loop(std::int64_t iterations) {
    const float factor = -0.999f, addend = 0.7f;
    asm volatile("dup v30.4s, %[factor].s[0]\n\t"
                 "dup v31.4s, %[addend].s[0]\n\t"
                 ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n\t"
                 "mov v\\r\\().16b, v31.16b\n\t"
                 ".endr\n"
                 "1:\n\t"
                 ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n\t"
                 "fmla v\\r\\().4s, v30.4s, v31.4s\n\t"
                 ".endr\n\t"
                 "subs %[n], %[n], #1\n\t"
                 "b.ne 1b"
                 : [n] "+r"(iterations)
                 : [factor] "w"(factor), [addend] "w"(addend)
                 : "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
                   "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v30", "v31");
}

} // namespace

FmaLoop fma_loop(InstructionSet set) {
    if (set != InstructionSet::neon) return {};
    return {neon_loop, 24 * 4 * 2};
}

} // namespace gyre::roofline
#endif
