#include "cuda/driver/tensors.h"

#include "core/error.h"
#include "core/kernel_call.h"

namespace gyre::cuda {
namespace {

/// What a tensor's elements span, in bytes from its data.
struct Span {
    int64_t low = 0, high = 0;
};

/// False: it is empty, or too odd for an answer, which the checks that follow will say.
bool find_span(const gyre_tensor &t, Span *span) {
    if (t.rank < 1 || t.rank > GYRE_MAX_RANK || !t.data) return false;
    const auto size = static_cast<int64_t>(element_size(t.dtype));
    *span = {0, size};
    for (int i = 0; i < t.rank; i++) {
        int64_t far;
        if (t.shape[i] <= 0 || __builtin_mul_overflow(t.shape[i] - 1, t.strides[i], &far) ||
            __builtin_mul_overflow(far, size, &far) ||
            __builtin_add_overflow(far < 0 ? span->low : span->high, far, far < 0 ? &span->low : &span->high))
            return false;
    }
    return true;
}

} // namespace

gyre_status check_memory(const Driver &driver, const NamedTensor &t, Device *device) {
    Span span;
    if (!find_span(*t.tensor, &span)) return GYRE_OK;
    const auto data = reinterpret_cast<Pointer>(t.tensor->data);
    unsigned type = 0;
    int ordinal = -1;
    if (driver.PointerGetAttribute(&type, pointer_memory_type, data) || type != memory_type_device ||
        driver.PointerGetAttribute(&ordinal, pointer_device_ordinal, data))
        return refuse(GYRE_BAD_ARGUMENT, t.name, "data at %p is no memory of a CUDA device", t.tensor->data);
    if (*device >= 0 && ordinal != *device)
        return refuse(GYRE_BAD_ARGUMENT, t.name, "is on CUDA device %d, others on %d", ordinal, *device);
    *device = ordinal;
    Pointer begin = 0;
    size_t bytes = 0;
    // Not every kind of allocation tells its range.
    if (driver.PointerGetAttribute(&begin, pointer_range_start, data) ||
        driver.PointerGetAttribute(&bytes, pointer_range_size, data))
        return GYRE_OK;
    if (data + static_cast<uint64_t>(span.low) < begin || data + static_cast<uint64_t>(span.high) > begin + bytes)
        return refuse(GYRE_BAD_ARGUMENT, t.name, "shape %s with strides %s reaches beyond its allocation of %zu bytes",
                      shape_text(t.tensor->shape, t.tensor->rank), shape_text(t.tensor->strides, t.tensor->rank),
                      bytes);
    return GYRE_OK;
}

gyre_status adopt_tensors(const CallTensors &tensors, Device *device) {
    GYRE_TRY(check_same_device(tensors));
    const char *why;
    const Driver *driver = find_driver(&why);
    if (!driver) return refuse(GYRE_UNSUPPORTED, (tensors.end() - 1)->name, "is on a CUDA device, but %s", why);
    *device = -1;
    for (const NamedTensor &t : tensors) GYRE_TRY(check_memory(*driver, t, device));
    for (const NamedTensor &t : tensors) t.tensor->device = GYRE_CPU;
    return GYRE_OK;
}

bool in_reach(const Heads &x, int64_t batches) {
    return fits_kernel_index(
        {{x.dim, 1}, {x.heads, x.head_stride}, {x.seqlen, x.token_stride}, {batches, x.batch_stride}});
}

} // namespace gyre::cuda
