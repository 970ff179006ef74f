// Stands for the device in builds that know none beside the CPU.
#include "core/device.h"

const gyre::Device *gyre::linked_device() { return nullptr; }

// A kernel for a device may be linked, but no call reaches it.
extern "C" int gyre_kernel_launch(void *, const char *, int, int, int, int, int, int, int, void **) {
    return GYRE_UNSUPPORTED;
}
