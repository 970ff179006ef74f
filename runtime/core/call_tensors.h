/// The tensors of a call by their names in its arguments. Every operation that a device has tells them to a visitor:
///
///     template <typename Visitor> void each_tensor(gyre_foo_args &args, Visitor &visit) { visit(args.x, "x"); … }
///
/// A visitor takes a tensor, a pointer to one that may be NULL, and a rotation, whose tables have names of their own.
#pragma once
#include "gyre/gyre.h"

#include <cstddef>

namespace gyre {

/// True for a rotation of this version's size. One of another size is refused later, and nothing of it is read.
inline bool is_known(const gyre_rope &rope) { return rope.size == sizeof rope; }

/// What visitors that only read have alike. They are told each tensor by `Visitor::read(tensor, name)`.
template <typename Visitor>
class TensorReader {
public:
    void operator()(const gyre_tensor &t, const char *name) { static_cast<Visitor *>(this)->read(t, name); }
    void operator()(const gyre_tensor *t, const char *name) {
        if (t) (*this)(*t, name);
    }
    void operator()(const gyre_rope &rope, const char *cos, const char *sin) {
        if (!is_known(rope)) return;
        (*this)(rope.cos, cos);
        (*this)(rope.sin, sin);
    }
    void operator()(const gyre_rope *rope, const char *cos, const char *sin) {
        if (rope) (*this)(*rope, cos, sin);
    }
};

/// Finds the first tensor of a call that is on a device.
struct FirstOnDevice : TensorReader<FirstOnDevice> {
    const char *name = nullptr; // NULL: none is

    void read(const gyre_tensor &t, const char *of_tensor) {
        if (!name && t.device == GYRE_CUDA) name = of_tensor;
    }
};

/// A tensor of a call by its name in the arguments.
struct NamedTensor {
    gyre_tensor *tensor;
    const char *name;
};

/// Collects all tensors of a call. Those that its arguments point to are copied, with the rotations that point to more, and the
/// arguments then point to the copies: what a device changes of them is not the caller's.
class CallTensors {
public:
    CallTensors() = default;
    CallTensors(const CallTensors &) = delete; // arguments point into it
    CallTensors &operator=(const CallTensors &) = delete;

    void operator()(gyre_tensor &t, const char *name) { all[count++] = {&t, name}; }
    void operator()(const gyre_tensor *&t, const char *name);
    void operator()(gyre_rope &rope, const char *cos, const char *sin);
    void operator()(const gyre_rope *&rope, const char *cos, const char *sin);

    const NamedTensor *begin() const { return all; }
    const NamedTensor *end() const { return all + count; }

private:
    // Room for those of gyre_attention(), which has the most.
    NamedTensor all[19];
    gyre_tensor copies[15];
    gyre_rope ropes[2];
    size_t count = 0;
    size_t copied = 0;
    size_t ropes_copied = 0;
};

/// Checks that all tensors are on a device, since no kernel reads from two memories. Errors: UNSUPPORTED, which names one that is
/// elsewhere than most.
gyre_status check_same_device(const CallTensors &tensors);

/// Checks that what is only read on the device is there. Errors: BAD_ARGUMENT.
gyre_status check_data(const CallTensors &tensors);

} // namespace gyre
