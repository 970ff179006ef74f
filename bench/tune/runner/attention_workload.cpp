/// Attention on random queries, keys and values: [b, h, lq, d], [b, hkv, lk, d].
#include "buffers.h"
#include "events.h"
#include "libraries.h"
#include "workload.h"

#include "calls/work_done.h"

#include <vector>

namespace gyre::tune {
namespace {

class AttentionWorkload : public Workload {
public:
    AttentionWorkload(const gyre_kernel_info &kernel, const Shape &shape)
        : copies_(copies_for(2.0 * double(shape["b"]) * double(shape["d"]) * double(sizeof(float)) *
                             double(shape["h"] * shape["lq"] + shape["hkv"] * shape["lk"]))),
          q_(dtype_of(kernel), {shape["b"], shape["h"], shape["lq"], shape["d"]}, copies_, 1),
          k_(dtype_of(kernel), {shape["b"], shape["hkv"], shape["lk"], shape["d"]}, copies_, 2),
          v_(dtype_of(kernel), {shape["b"], shape["hkv"], shape["lk"], shape["d"]}, copies_, 3),
          out_(dtype_of(kernel), {shape["b"], shape["h"], shape["lq"], shape["d"]}, copies_, 0),
          slopes_(GYRE_F32, {shape["h"]}, 1, 0), alibi_(slopes_.view(0)) {
        for (std::size_t copy = 0; copy < copies_; copy++) {
            gyre_attention_args args = gyre_attention_defaults();
            args.layout = GYRE_BHSD;
            args.q = q_.view(copy);
            args.k = k_.view(copy);
            args.v = v_.view(copy);
            args.out = out_.view(copy);
            args.causal = shape["causal"] != 0;
            // ALiBi is the least that asks for the general family; slopes of 0 leave the weights as large as calls have them.
            if (attribute(kernel, "general") == "true") args.alibi = &alibi_;
            args_.push_back(args);
        }
    }

    gyre_status prepare(gyre_context *context) override {
        std::size_t bytes = 0;
        const gyre_status status = gyre_attention_workspace_size(context, &args_[0], &bytes);
        workspaces_.reserve(bytes);
        return status;
    }
    gyre_status run(gyre_context *context, std::size_t index) override {
        gyre_attention_args &args = args_[index % copies_];
        args.workspace = workspaces_.at(index);
        args.workspace_size = workspaces_.bytes();
        return gyre_attention(context, &args);
    }
    double flops() const override { return cli::work_of(args_[0]).flops; }
    double bytes() const override { return cli::work_of(args_[0]).bytes; }

private:
    std::size_t copies_;
    Buffers q_, k_, v_, out_, slopes_;
    gyre_tensor alibi_;
    Workspaces workspaces_;
    std::vector<gyre_attention_args> args_;
};

} // namespace

std::unique_ptr<Workload> make_attention_workload(const gyre_kernel_info &kernel, const Shape &shape) {
    return std::make_unique<AttentionWorkload>(kernel, shape);
}

} // namespace gyre::tune
