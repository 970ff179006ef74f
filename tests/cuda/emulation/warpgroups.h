// Products of warpgroups, wgmma.mma_async of PTX ISA 8.0 (section 9.7.14): what four warps in a row do together, and what is under way.
#pragma once
#include "block.h"

#include <cstdint>

namespace gyre::emulation {

/// Begins and ends a block of so many threads.
void begin_warpgroups(size_t threads);
void end_warpgroups();

/// Where shared memory begins for descriptors: a device keeps the first kilobyte for itself.
constexpr uint32_t shared_window = 1024;

/// What a lane brings to a product: sums of 16 rows of its warp and `columns` columns, += a of 16 rows and 16 of the depth times b, which the
/// descriptor finds in shared memory.
struct WarpgroupProduct {
    float *sums;
    const uint32_t *a; // in registers; nullptr: in shared memory, 64 rows of the warpgroup with the depth as neighbours
    uint64_t rows;     // the descriptor of that
    uint64_t descriptor;
    int columns;
    bool transposed; // b has its columns as neighbours, else its depth
    float (*number)(uint16_t bits);
};

/// What lanes do together, by with_warp(). Sums hold NaN, and neither they nor `a` may be touched, until the product's group was
/// waited for. Each group of products must begin with a fence.
void fence_warpgroup(const Lane (&lanes)[32]);
void multiply_warpgroup(const Lane (&lanes)[32]);
void commit_warpgroup(const Lane (&lanes)[32]);
void wait_for_warpgroup(const Lane (&lanes)[32]); // in: const int *, groups that may be under way afterwards

/// Where an operand is, read off a descriptor bit by bit.
struct MatrixDescriptor {
    uint32_t start, leading, stride; // bytes
    int base_offset, swizzle;
    uint64_t reserved; // bits that must be 0
    explicit MatrixDescriptor(uint64_t bits);
};

/// The address of 16 bytes of an operand of 16-bit numbers in the layout of 128-byte swizzling: eight neighbours that begin at `depth`, `column`.
uint32_t place_of(const MatrixDescriptor &descriptor, bool transposed, int depth, int column);

} // namespace gyre::emulation
