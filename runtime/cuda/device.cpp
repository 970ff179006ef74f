// The CUDA device, as operations see it.
#include "core/device.h"

#include "core/argument_tables.h"
#include "core/contract.h"
#include "cuda/attention/attention.h"
#include "cuda/attention/merge.h"
#include "cuda/backward/backward.h"
#include "cuda/cache/append.h"
#include "cuda/linear/linear.h"
#include "cuda/rotary/rotary.h"

namespace gyre {
namespace {

// clang-format off
constexpr ArgumentTable tables[] = {
    argument_table<AttentionCudaArguments>("attention", true),
    argument_table<BackwardCudaArguments>("backward", true),
    argument_table<DeltaCudaArguments>("delta", true),
    argument_table<FeaturesCudaArguments>("features", true),
    argument_table<LinearCudaArguments>("linear", true),
    argument_table<MergeCudaArguments>("merge", true),
    argument_table<RotaryCudaArguments>("rotary", true),
};
// clang-format on

class CudaDevice final : public Device {
public:
    bool names(std::string_view feature) const override {
        return feature == cuda::feature || feature == cuda::hopper_feature;
    }
    bool is_available(std::string_view feature) const override { return cuda::available(feature); }

    std::unique_ptr<DeviceCall> call(const gyre_rotary_args &args) const override {
        return std::make_unique<cuda::RotaryOnDevice<gyre_rotary_args>>(args);
    }
    std::unique_ptr<DeviceCall> call(const gyre_rotary_qk_args &args) const override {
        return std::make_unique<cuda::RotaryOnDevice<gyre_rotary_qk_args>>(args);
    }
    std::unique_ptr<DeviceCall> call(const gyre_cache_append_args &args) const override {
        return std::make_unique<cuda::AppendOnDevice>(args);
    }
    std::unique_ptr<DeviceCall> call(const gyre_attention_args &args) const override {
        return std::make_unique<cuda::AttentionOnDevice>(args);
    }
    std::unique_ptr<DeviceCall> call(const gyre_attention_merge_args &args) const override {
        return std::make_unique<cuda::MergeOnDevice>(args);
    }
    std::unique_ptr<DeviceCall> call(const gyre_attention_backward_args &args) const override {
        return std::make_unique<cuda::BackwardOnDevice>(args);
    }
    std::unique_ptr<DeviceCall> call(const gyre_linear_attention_args &args) const override {
        return std::make_unique<cuda::LinearOnDevice>(args);
    }

    gyre_status run(const gyre_kernel &kernel, void **arguments, int32_t ordinal, void *stream) const override {
        cuda::Scope scope;
        GYRE_TRY(scope.enter(ordinal, stream));
        const Kernel known{kernel, nullptr, nullptr};
        cuda::Launches call{*scope.driver, known, scope.stream};
        void *user_context = &call;
        arguments[0] = &user_context;
        const int code = kernel.call(arguments);
        if (call.status == GYRE_OK && code)
            return fail(Failure::internal, "%s: the kernel failed (%d)", kernel.name, code);
        return call.status;
    }
};

constexpr CudaDevice cuda_device;

} // namespace

const ArgumentTables device_tables = {tables, sizeof tables / sizeof tables[0]};

const Device *linked_device() { return &cuda_device; }

} // namespace gyre
