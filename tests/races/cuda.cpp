/// Calls on tensors in a device's memory from several threads at once, under ThreadSanitizer: the driver that is found by the first of
/// them, kernels that are loaded by the first that needs them, contexts apart and shared, each with its stream. The driver is
/// tests/cuda/fake_driver/, whose launches here do nothing.
#include "races.h"

#include <dlfcn.h>

using namespace gyre::test;

namespace {

constexpr int64_t shape[4] = {2, 24, 4, 64};
constexpr size_t bytes = sizeof(uint16_t) * 2 * 24 * 4 * 64;

/// A tensor on the device. The library closes nothing that it has opened.
gyre_tensor on_device(gyre_dtype dtype = GYRE_BF16) {
    using Allocate = int(uint64_t *, size_t);
    static void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
    static auto *const allocate = driver ? reinterpret_cast<Allocate *>(dlsym(driver, "cuMemAlloc_v2")) : nullptr;
    uint64_t address = 0;
    if (!allocate || allocate(&address, 2 * bytes) != 0) std::abort();
    gyre_tensor t = gyre_tensor_dense(reinterpret_cast<void *>(address), dtype, 4, shape);
    t.device = GYRE_CUDA;
    return t;
}

/// Every operation that devices have.
struct Calls {
    gyre_tensor x = on_device(), k = on_device(), v = on_device(), out = on_device();
    gyre_rope rope = gyre_rope_defaults();

    void run(gyre_context *context) {
        gyre_rotary_args rotary = gyre_rotary_defaults();
        rotary.x = x;
        rotary.out = out;
        expect(gyre_rotary(context, &rotary) == GYRE_OK, "gyre_rotary()");
        gyre_cache_append_args append = gyre_cache_append_defaults();
        append.k = append.v = x;
        append.k_cache = k;
        append.v_cache = v;
        append.rope = &rope;
        expect(gyre_cache_append(context, &append) == GYRE_OK, "gyre_cache_append()");
        gyre_attention_args attention = gyre_attention_defaults();
        attention.q = x;
        attention.k = k;
        attention.v = v;
        attention.out = out;
        attention.causal = 1;
        expect(gyre_attention(context, &attention) == GYRE_OK, "gyre_attention()");
        attention.rope = &rope; // rotated keys in memory of the stream's
        expect(gyre_attention(context, &attention) == GYRE_OK, "gyre_attention() with RoPE");
        expect(*gyre_selected_kernel(context), "no name of a kernel");
    }
};

gyre_context *create(void *stream) {
    gyre_context_options options = gyre_context_defaults();
    options.cuda_stream = stream;
    gyre_context *context = nullptr;
    expect(gyre_context_create(&options, &context) == GYRE_OK, "a context");
    return context;
}

} // namespace

int main() {
    std::vector<Calls> calls(callers);
    in_threads(callers,
               [&](int i) { calls[(size_t)i].run(nullptr); }); // the first that this process does on the device
    static char streams[callers];
    gyre_context *const shared = create(nullptr);
    in_threads(callers, [&](int i) {
        for (int round = 0; round < rounds; round++) {
            gyre_context *const own = create(nullptr);
            calls[(size_t)i].run(own);
            calls[(size_t)i].run(shared);
            gyre_context_destroy(own);
        }
    });
    gyre_context_destroy(shared);
    in_threads(callers, [&](int i) { // rotations alone allocate nothing in the order of a stream
        gyre_context *const own = create(&streams[i]);
        gyre_rotary_args rotary = gyre_rotary_defaults();
        rotary.x = calls[(size_t)i].x;
        rotary.out = calls[(size_t)i].out;
        for (int round = 0; round < rounds; round++)
            expect(gyre_rotary(own, &rotary) == GYRE_OK, "a stream of its own");
        gyre_context_destroy(own);
    });
    std::printf("%d failure(s)\n", failures.load());
    return failures != 0;
}
