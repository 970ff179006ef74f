// For the runtime alone: no kernels but those that other libraries register.
#include "registry.h"

const gyre_kernel_library *gyre::prebuilt_kernels() {
    static const gyre_kernel_library none{sizeof none, GYRE_KERNEL_INTERFACE, "gyre", nullptr, 0};
    return &none;
}
