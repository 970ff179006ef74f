/// Rotary embedding of random heads, out of place: [b, h, lq, d]. Serves the kernels of rotary, those that convert too,
/// and, with few heads, of angles.
#include "buffers.h"
#include "libraries.h"
#include "rotary_call.h"
#include "workload.h"

#include "calls/work_done.h"

#include <vector>

namespace gyre::tune {
namespace {

class RotaryWorkload : public Workload {
public:
    RotaryWorkload(const gyre_kernel_info &kernel, const Shape &shape)
        : copies_(copies_for(2.0 * double(sizeof(float)) * double(shape["b"] * shape["h"] * shape["lq"] * shape["d"]))),
          x_(from_dtype_of(kernel), {shape["b"], shape["h"], shape["lq"], shape["d"]}, copies_, 1),
          out_(dtype_of(kernel), {shape["b"], shape["h"], shape["lq"], shape["d"]}, copies_, 0) {
        for (std::size_t copy = 0; copy < copies_; copy++) {
            gyre_rotary_args args = gyre_rotary_defaults();
            args.layout = GYRE_BHSD;
            args.x = x_.view(copy);
            args.out = out_.view(copy);
            if (attribute(kernel, "pairing") == "interleaved") args.rope.pairing = GYRE_INTERLEAVED;
            args_.push_back(args);
        }
    }

    gyre_status prepare(gyre_context *context) override {
        std::size_t bytes = 0;
        const gyre_status status = rotary_workspace_size(context, args_[0], &bytes);
        workspaces_.reserve(bytes);
        return status;
    }
    gyre_status run(gyre_context *context, std::size_t index) override {
        gyre_rotary_args &args = args_[index % copies_];
        args.workspace = workspaces_.at(index);
        args.workspace_size = workspaces_.bytes();
        return run_rotary(context, args);
    }
    double flops() const override { return cli::work_of(args_[0]).flops; }
    double bytes() const override { return cli::work_of(args_[0]).bytes; }

private:
    std::size_t copies_;
    Buffers x_, out_;
    Workspaces workspaces_;
    std::vector<gyre_rotary_args> args_;
};

} // namespace

std::unique_ptr<Workload> make_rotary_workload(const gyre_kernel_info &kernel, const Shape &shape) {
    return std::make_unique<RotaryWorkload>(kernel, shape);
}

} // namespace gyre::tune
