/* For the runtime alone: no kernels but those that other libraries register. */
#include <gyre/kernels.h>

static const gyre_kernel_library none = {sizeof none, GYRE_KERNEL_INTERFACE, "gyre", NULL, 0};

const gyre_kernel_library *gyre_prebuilt_kernels(void);
const gyre_kernel_library *gyre_prebuilt_kernels(void) { return &none; }
