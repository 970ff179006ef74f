#include "cuda/tensors.h"

#include "core/error.h"
#include "core/kernel_call.h"

#include <algorithm>

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

gyre_status check_memory(const Driver &driver, const Named &t, Device *device) {
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

void CallTensors::add(const gyre_tensor *&t, const char *name) {
    if (!t) return;
    gyre_tensor &copy = copies[copied++];
    copy = *t;
    add(copy, name);
    t = &copy;
}

void CallTensors::add(const gyre_rope *&rope, const char *cos, const char *sin) {
    if (!rope || rope->size != sizeof *rope) return;
    gyre_rope &copy = ropes[ropes_copied++];
    copy = *rope;
    add(copy.cos, cos);
    add(copy.sin, sin);
    rope = &copy;
}

bool any_on_device(const NamedList &tensors) {
    return std::any_of(tensors.begin(), tensors.end(),
                       [](const Named &t) { return t.tensor && t.tensor->device == GYRE_CUDA; });
}

gyre_status adopt_tensors(const NamedList &tensors, Device *device) {
    const char *on_device = "";
    const char *elsewhere = nullptr;
    int more_on_device = 0; // than elsewhere
    for (const Named &t : tensors) {
        if (!t.tensor) continue;
        const bool is_on_device = t.tensor->device == GYRE_CUDA;
        (is_on_device ? on_device : elsewhere) = t.name;
        more_on_device += is_on_device ? 1 : -1;
    }
    if (elsewhere && more_on_device > 0)
        return refuse(GYRE_UNSUPPORTED, elsewhere, "is not on the CUDA device that %s is on", on_device);
    if (elsewhere) return refuse(GYRE_UNSUPPORTED, on_device, "is on a CUDA device, %s is not", elsewhere);
    const char *why;
    const Driver *driver = find_driver(&why);
    if (!driver) return refuse(GYRE_UNSUPPORTED, on_device, "is on a CUDA device, but %s", why);
    *device = -1;
    for (const Named &t : tensors)
        if (t.tensor) GYRE_TRY(check_memory(*driver, t, device));
    for (const Named &t : tensors)
        if (t.tensor) t.tensor->device = GYRE_CPU;
    return GYRE_OK;
}

gyre_status check_data(const NamedList &tensors) {
    for (const Named &t : tensors) {
        bool empty = false;
        for (int i = 0; i < std::clamp(t.tensor->rank, 0, GYRE_MAX_RANK); i++) empty = empty || t.tensor->shape[i] == 0;
        if (!empty && !t.tensor->data) return refuse(GYRE_BAD_ARGUMENT, t.name, "data is NULL");
    }
    return GYRE_OK;
}

bool in_reach(const Heads &x, int64_t batches) {
    return fits_kernel_index(
        {{x.dim, 1}, {x.heads, x.head_stride}, {x.seqlen, x.token_stride}, {batches, x.batch_stride}});
}

} // namespace gyre::cuda
