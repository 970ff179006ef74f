/// What this machine can do at best, measured now and not looked up: clocks drift, and neighbours share the machine, so
/// a kernel's rate means something only beside a peak that was taken between its runs, on as many threads.
///
///     gyre::roofline::Roofline roofline(2);
///     double peak = roofline.fma_gflops(gyre::roofline::InstructionSet::avx2, 0.001);
///     double copy = roofline.copy_gbytes_per_s(64 << 20, 0.001);
#pragma once

#include "thread_team.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace gyre::roofline {

/// The floating-point instructions that a kernel was compiled for.
///   sse     128-bit mulps and addps, what every x86-64 has        avx2         256-bit vfmadd
///   avx512  512-bit vfmadd                                        avx512_bf16  512-bit vdpbf16ps
///   neon    128-bit fmla
enum class InstructionSet { sse, avx2, avx512, avx512_bf16, neon };

/// "SSE mul + add", "256-bit FMA", "512-bit FMA", "512-bit bf16 products" or "NEON FMA".
const char *name(InstructionSet set);

/// The instructions that a kernel's products are made of; nothing if its target is not known here.
/// target, attributes: of gyre_kernel_info.
std::optional<InstructionSet> instruction_set_of_kernel(std::string_view target, std::string_view attributes);

/// This build has the loop and this machine can run it.
bool can_run(InstructionSet set);

/// Measures on a fixed number of threads, which wait without using a core between measurements.
class Roofline {
public:
    /// threads: >= 1. Throws std::system_error if a thread cannot be started.
    explicit Roofline(int threads);

    /// Peak rate of independent multiply-adds, 2 operations each, in 10^9 operations a second, all threads
    /// together; 0 if can_run(set) is false. Takes `seconds` and a little to warm up.
    double fma_gflops(InstructionSet set, double seconds);

    /// Rate of memcpy of `bytes` shared out among the threads, in 10^9 bytes a second, counting each byte twice (it is
    /// read and written); 0 if bytes is 0. Takes `seconds`, or one copy if that is longer. Keeps 2 * bytes of memory.
    /// Throws std::bad_alloc.
    double copy_gbytes_per_s(std::size_t bytes, double seconds);

private:
    ThreadTeam team_;
    std::size_t capacity_ = 0; // bytes of each of the two
    std::unique_ptr<char[]> from_, to_;
};

} // namespace gyre::roofline
