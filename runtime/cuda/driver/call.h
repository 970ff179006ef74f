/// What the calls of all operations on a CUDA device share: their arguments, and the tensors of these.
#pragma once
#include "core/device.h"
#include "cuda/driver/tensors.h"

namespace gyre::cuda {

/// An operation's call with arguments of its own.
template <typename Args>
class Call : public DeviceCall {
protected:
    explicit Call(const Args &given) : args(given) { each_tensor(args, tensors); }

    /// The stream that the call is queued on: its own, or its context's.
    void *stream_of(const gyre_context &context) const {
        return args.cuda_stream ? args.cuda_stream : context.cuda_stream;
    }

    Args args;
    CallTensors tensors;
    Device device = -1; // -1: all tensors are empty
};

} // namespace gyre::cuda
