// What kernels call whose warpgroups multiply tiles of matrices, for this machine: the same names as generators/passes/cuda/device/gyre_warpgroup.h
// has for nvcc.
#pragma once
#include "gyre_device.h"
#include "shared.h"
#include "warpgroups.h"

// Where memory is in the block's window, as descriptors have it.
GYRE_FN uint32_t gyre_shared_address(const void *memory) {
    return gyre::emulation::shared_window +
           (uint32_t)((const unsigned char *)memory - gyre::emulation::shared_memory());
}

GYRE_FN void gyre_fence_async_proxy() { gyre::emulation::fence_for_tensor_cores(); }
GYRE_FN void gyre_warpgroup_fence() { gyre::emulation::with_warp(nullptr, nullptr, gyre::emulation::fence_warpgroup); }
GYRE_FN void gyre_warpgroup_commit() {
    gyre::emulation::with_warp(nullptr, nullptr, gyre::emulation::commit_warpgroup);
}
template <int Later>
GYRE_FN void gyre_warpgroup_wait() {
    const int later = Later;
    gyre::emulation::with_warp(&later, nullptr, gyre::emulation::wait_for_warpgroup);
}
template <int Count>
GYRE_FN void gyre_warpgroup_hold(float *) {}

template <class T, int Columns, bool Transposed>
GYRE_FN void gyre_warpgroup_multiply(float *c, const uint32_t *a, uint64_t descriptor) {
    const gyre::emulation::WarpgroupProduct product{
        c, a, 0, descriptor, Columns, Transposed, [](uint16_t bits) { return gyre_cast<float>(T{bits}); }};
    gyre::emulation::with_warp(&product, nullptr, gyre::emulation::multiply_warpgroup);
}
template <class T, int Columns, bool Transposed>
GYRE_FN void gyre_warpgroup_multiply(float *c, uint64_t a, uint64_t descriptor) {
    const gyre::emulation::WarpgroupProduct product{
        c, nullptr, a, descriptor, Columns, Transposed, [](uint16_t bits) { return gyre_cast<float>(T{bits}); }};
    gyre::emulation::with_warp(&product, nullptr, gyre::emulation::multiply_warpgroup);
}

GYRE_FN int gyre_warpgroup() { return GYRE_THREAD_Y / 4; }

#include "gyre_rings.h"

#include "../../../generators/passes/cuda/device/gyre_swizzle.h"
