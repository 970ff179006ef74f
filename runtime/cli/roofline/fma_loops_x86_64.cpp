#if defined(__x86_64__)
#include "fma_loops.h"

// Each loop holds two constants, factor and addend, in its last two registers and uses the others as accumulators: 14
// of 16, or 24 of AVX-512's 32. Two units with a latency of 4 or 5 cycles are busy from 10 on. Accumulators start from
// a constant, because whatever was in the register could be subnormal, which is slow.

namespace gyre::roofline {
namespace {

// A kernel for the baseline has no fused instruction: half of the accumulators are multiplied and half added to.
// Multiplying by -1 for ever neither vanishes nor overflows; the sums stop growing at 2^24 times the addend.
void sse_loop(std::int64_t iterations) {
    const float factor = -1.0f, addend = 0.7f;
    asm volatile("movss %[factor], %%xmm14\n\t"
                 "shufps $0, %%xmm14, %%xmm14\n\t"
                 "movss %[addend], %%xmm15\n\t"
                 "shufps $0, %%xmm15, %%xmm15\n\t"
                 ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13\n\t"
                 "movaps %%xmm15, %%xmm\\r\n\t"
                 ".endr\n"
                 "1:\n\t"
                 ".irp r, 0,1,2,3,4,5,6\n\t"
                 "mulps %%xmm14, %%xmm\\r\n\t"
                 ".endr\n\t"
                 ".irp r, 7,8,9,10,11,12,13\n\t"
                 "addps %%xmm15, %%xmm\\r\n\t"
                 ".endr\n\t"
                 "decq %[n]\n\t"
                 "jnz 1b"
                 : [n] "+r"(iterations)
                 : [factor] "m"(factor), [addend] "m"(addend)
                 : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

// a = a * factor + addend swings around addend / (1 - factor) with an ever smaller amplitude. vzeroupper: code that was
// compiled without AVX follows, and would be slowed down by dirty upper halves.
__attribute__((target("avx2,fma"))) void avx2_loop(std::int64_t iterations) {
    const float factor = -0.999f, addend = 0.7f;
    asm volatile("vbroadcastss %[factor], %%ymm14\n\t"
                 "vbroadcastss %[addend], %%ymm15\n\t"
                 ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13\n\t"
                 "vmovaps %%ymm15, %%ymm\\r\n\t"
                 ".endr\n"
                 "1:\n\t"
                 ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13\n\t"
                 "vfmadd213ps %%ymm15, %%ymm14, %%ymm\\r\n\t"
                 ".endr\n\t"
                 "decq %[n]\n\t"
                 "jnz 1b\n\t"
                 "vzeroupper"
                 : [n] "+r"(iterations)
                 : [factor] "m"(factor), [addend] "m"(addend)
                 : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

__attribute__((target("avx512f"))) void avx512_loop(std::int64_t iterations) {
    const float factor = -0.999f, addend = 0.7f;
    asm volatile("vbroadcastss %[factor], %%zmm30\n\t"
                 "vbroadcastss %[addend], %%zmm31\n\t"
                 ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n\t"
                 "vmovaps %%zmm31, %%zmm\\r\n\t"
                 ".endr\n"
                 "1:\n\t"
                 ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n\t"
                 "vfmadd213ps %%zmm31, %%zmm30, %%zmm\\r\n\t"
                 ".endr\n\t"
                 "decq %[n]\n\t"
                 "jnz 1b\n\t"
                 "vzeroupper"
                 : [n] "+r"(iterations)
                 : [factor] "m"(factor), [addend] "m"(addend)
                 : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21",
                   "xmm22", "xmm23", "xmm30", "xmm31");
}

// The accumulators grow by 0.5 * 0.5 + 0.5 * 0.5 until that is less than their last digit.
__attribute__((target("avx512f,avx512bf16"))) void avx512_bf16_loop(std::int64_t iterations) {
    const std::uint32_t pair = 0x3f003f00; // 0.5 twice
    asm volatile("vpbroadcastd %[pair], %%zmm30\n\t"
                 "vmovaps %%zmm30, %%zmm31\n\t"
                 ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n\t"
                 "vpxord %%zmm\\r, %%zmm\\r, %%zmm\\r\n\t"
                 ".endr\n"
                 "1:\n\t"
                 ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n\t"
                 "vdpbf16ps %%zmm31, %%zmm30, %%zmm\\r\n\t"
                 ".endr\n\t"
                 "decq %[n]\n\t"
                 "jnz 1b\n\t"
                 "vzeroupper"
                 : [n] "+r"(iterations)
                 : [pair] "m"(pair)
                 : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21",
                   "xmm22", "xmm23", "xmm30", "xmm31");
}

} // namespace

FmaLoop fma_loop(InstructionSet set) {
    const auto flops = [](int instructions, int lanes, int each) { return double(instructions * lanes * each); };
    __builtin_cpu_init();
    switch (set) {
    case InstructionSet::sse:
        return {sse_loop, flops(14, 4, 1)};
    case InstructionSet::avx2:
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {avx2_loop, flops(14, 8, 2)};
        return {};
    case InstructionSet::avx512:
        if (__builtin_cpu_supports("avx512f")) return {avx512_loop, flops(24, 16, 2)};
        return {};
    case InstructionSet::avx512_bf16:
        if (__builtin_cpu_supports("avx512bf16")) return {avx512_bf16_loop, flops(24, 16, 4)};
        return {};
    case InstructionSet::neon:
        return {};
    }
    return {};
}

} // namespace gyre::roofline
#endif
