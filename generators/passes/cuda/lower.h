/// The door of this room: CUDA C++ from pipelines whose schedules name GPU blocks and threads, on stock Halide.
///
///     f.gpu_blocks(x, y).gpu_threads(t);                       // any schedule with GPU loops
///     cuda::lower_to_cuda(*this, {device_code, {}});           // at the end of generate()
///
/// Once Halide has lowered the pipeline, each nest of GPU loops is taken out (device_loops.h) and printed as one __global__
/// function (printer.h) into the file `device_code`, for nvcc. What stays is the host's side: it computes extents and calls
///
///     int gyre_kernel_launch(void *user_context, const char *entry, int grid_x, int grid_y, int grid_z,
///                            int block_x, int block_y, int block_z, int shared_bytes, void **arguments);
///
/// once a nest. Halide's own CUDA runtime is not used: buffers are device memory from the start, their `host` field is the
/// device address, and nothing is copied. What cannot be mapped stops the build with the loop's name and the reason.
#pragma once
#include "copying_warps.h"

#include <map>
#include <set>
#include <string>

namespace gyre::cuda {

/// Where the device finds a loop's range: two elements of the Tuple of a Func in registers.
struct LoopRange {
    std::string func;
    int first, end;
};

struct Lowering {
    std::string device_code; // the file to write, <symbol>.cu, whose functions are <symbol>_0, …; "": none

    /// Buffers of host memory that are passed by value, and how many elements that takes. A caller's array is at least so
    /// long. All of a kernel's arguments must fit in 4 KB.
    std::map<std::string, int> by_value;

    int most_threads = 0; // of a block, where their number is not constant; 0: as many as a device takes

    int blocks_at_once = 0; // that registers of a multiprocessor are to have room for; 0: as many as they have

    /// Buffers of which 16 bytes that a copy or a vector takes at once are so aligned. Reads of others ask.
    std::set<std::string> aligned{};

    /// Arrays of shared memory that rows are copied into, and how many copies of 16 bytes a row takes, a divisor of 32. Of the rows that a
    /// warp copies, at most 32, each lane works out where one begins.
    std::map<std::string, int> copies_of_row{};

    /// Blocks along x begin with the last one. If that has the most to do, the shortest of those wait that a device has no room for.
    bool last_first = false;

    /// The blocks of one place along x and all of y (heads) come before those of the next along x, not after. So the longest of all come
    /// first, and a device that is done with them has only short ones left.
    /// `across_first` says of which calls, by the kernel's scalar arguments; undefined: none. Others read the same of a head one after another.
    Halide::Expr across_first{};

    /// Products of 16 bits are those of four warps together (wgmma of compute capability 9.0a): of a fragment and of shared memory that is
    /// laid out as swizzle.h says.
    bool warpgroups = false;

    /// Further warps of a block, which fill the rings of its staged loop while the others compute: see copying_warps.h. Schedules fill by as many.
    CopyingWarps copying{};

    std::map<std::string, LoopRange> ranges{}; // of loops, by their variable: see loop_ranges.h

    /// What the names of the functions begin with.
    std::string entry() const;
};

void lower_to_cuda(Halide::Internal::GeneratorBase &generator, const Lowering &lowering);
void lower_to_cuda(Halide::Pipeline pipeline, const Lowering &lowering);

} // namespace gyre::cuda
