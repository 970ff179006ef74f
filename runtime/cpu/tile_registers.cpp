#include "cpu/tile_registers.h"

#if defined(__x86_64__)

#if defined(__linux__)
#include <cstdint>

#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace gyre {
namespace {

constexpr long supported_features = 0x1021; // ARCH_GET_XCOMP_SUPP
constexpr long request_permission = 0x1023; // ARCH_REQ_XCOMP_PERM
constexpr long tile_data = 18;              // XFEATURE_XTILEDATA

} // namespace

bool tiles_supported() {
#if defined(__linux__)
    uint64_t supported = 0;
    return syscall(SYS_arch_prctl, supported_features, &supported) == 0 && (supported >> tile_data & 1);
#else
    return false;
#endif
}

bool request_tiles() {
#if defined(__linux__)
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
    return false;
#endif
}

} // namespace gyre

#endif
