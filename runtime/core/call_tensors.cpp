#include "core/call_tensors.h"

#include "core/error.h"

#include <algorithm>

namespace gyre {

void CallTensors::operator()(const gyre_tensor *&t, const char *name) {
    if (!t) return;
    gyre_tensor &copy = copies[copied++];
    copy = *t;
    (*this)(copy, name);
    t = &copy;
}

void CallTensors::operator()(gyre_rope &rope, const char *cos, const char *sin) {
    if (!is_known(rope)) return;
    (*this)(rope.cos, cos);
    (*this)(rope.sin, sin);
}

void CallTensors::operator()(const gyre_rope *&rope, const char *cos, const char *sin) {
    if (!rope || !is_known(*rope)) return;
    gyre_rope &copy = ropes[ropes_copied++];
    copy = *rope;
    (*this)(copy, cos, sin);
    rope = &copy;
}

gyre_status check_same_device(const CallTensors &tensors) {
    const char *on_device = "";
    const char *elsewhere = nullptr;
    int more_on_device = 0; // than elsewhere
    for (const NamedTensor &t : tensors) {
        const bool is_on_device = t.tensor->device == GYRE_CUDA;
        (is_on_device ? on_device : elsewhere) = t.name;
        more_on_device += is_on_device ? 1 : -1;
    }
    if (!elsewhere) return GYRE_OK;
    if (!*on_device)
        return refuse(GYRE_UNSUPPORTED, elsewhere, "is not on the CUDA device that other arguments are on");
    if (more_on_device > 0)
        return refuse(GYRE_UNSUPPORTED, elsewhere, "is not on the CUDA device that %s is on", on_device);
    return refuse(GYRE_UNSUPPORTED, on_device, "is on a CUDA device, %s is not", elsewhere);
}

gyre_status check_data(const CallTensors &tensors) {
    for (const NamedTensor &t : tensors) {
        bool empty = false;
        for (int i = 0; i < std::clamp(t.tensor->rank, 0, GYRE_MAX_RANK); i++) empty = empty || t.tensor->shape[i] == 0;
        if (!empty && !t.tensor->data) return refuse(GYRE_BAD_ARGUMENT, t.name, "data is NULL");
    }
    return GYRE_OK;
}

} // namespace gyre
