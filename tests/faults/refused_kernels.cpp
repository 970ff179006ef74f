// A program that is linked with kernels whose arguments were moved: it has none of them, and every call says why.
#include "../support/said_arguments.h"

#include <gyre/kernels.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

using namespace gyre::test;

namespace {

int called(void **) {
    std::puts("a kernel that takes other arguments was called");
    std::abort();
}

const halide_filter_metadata_t *moved() {
    static SaidArguments arguments = rotary_arguments();
    static const halide_filter_metadata_t metadata = {1, (int32_t)arguments.size(), arguments.data(), "host", "moved"};
    static const bool once = (std::swap(arguments[3], arguments[4]), true);
    return once ? &metadata : nullptr;
}

const gyre_kernel kernels[] = {{"moved", "rotary", "moved", "x86_64_generic", "dtype=float32 pairing=half workspace=0",
                                "default", called, nullptr, moved}};
const gyre_kernel_library library = {sizeof library, GYRE_KERNEL_INTERFACE, "gyre", kernels, 1};

} // namespace

extern "C" const gyre_kernel_library *gyre_prebuilt_kernels(void) { return &library; }

int main() {
    float x[2] = {1, 0};
    const int64_t shape[4] = {1, 1, 1, 2};
    gyre_rotary_args args = gyre_rotary_defaults();
    args.x = args.out = gyre_tensor_dense(x, GYRE_F32, 4, shape);
    const gyre_status status = gyre_rotary(nullptr, &args);
    std::printf("%d kernels, %s: %s\n", gyre_kernel_count(), gyre_status_string(status), gyre_last_error());
    const bool tells =
        std::strstr(gyre_last_error(), "moved: got a kernel that takes (cos f32[3], sin f32[3], pairs i32, offset i32");
    return status == GYRE_UNSUPPORTED && tells && gyre_kernel_count() == 0 ? 0 : 1;
}
