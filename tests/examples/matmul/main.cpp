/// Runs every kernel of the linear layer that this machine can run, and compares each number with the layer in double.
#include "layer.h"

#include <matmul.h>

#include <cmath>
#include <cstdio>

namespace {

/// A kernel's arguments after the first, which gyre_run_kernel() sets.
bool run(const gyre_kernel &kernel, Layer &layer) {
    Buffer x(layer.x, layer.K, layer.M), w(layer.w, layer.K, layer.N), bias(layer.bias, layer.N),
        out(layer.out, layer.N, layer.M);
    void *arguments[] = {nullptr, &x.buffer, &w.buffer, &bias.buffer, &out.buffer};
    if (gyre_run_kernel(&kernel, arguments, 0, nullptr) == GYRE_OK) return true;
    std::fprintf(stderr, "%s\n", gyre_last_error());
    return false;
}

} // namespace

int main() {
    const int sizes[][3] = {{1, 1, 1}, {5, 7, 3}, {6, 64, 32}, {33, 65, 31}, {64, 96, 130}, {100, 130, 257}};
    const char *best = nullptr;
    for (const gyre_kernel &kernel : matmul_kernels) {
        if (!gyre_choose_kernel(&kernel, 1, GYRE_CPU)) {
            std::printf("%s: not on this machine\n", kernel.name);
            continue;
        }
        double worst = 0;
        for (const auto &[M, N, K] : sizes) {
            Layer layer(M, N, K);
            if (!run(kernel, layer)) return 1;
            worst = std::fmax(worst, layer.worst_error());
        }
        std::printf("%s: errors are at most %.2f of what is allowed\n", kernel.name, worst);
        if (!(worst <= 1)) return 1;
        if (!best) best = kernel.name;
    }
    return !best || gyre_choose_kernel(matmul_kernels, matmul_kernel_count, GYRE_CPU)->name != best;
}
