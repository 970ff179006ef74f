/// The tensors that a score function asks for, as kernels of CUDA devices take them: whole, behind their own dimensions heads and batch.
#pragma once
#include "attention/call/score_inputs.h"
#include "core/argument_tables.h"
#include "core/kernel_arguments.h"
#include "cuda/driver/driver.h"

#include <array>

namespace gyre::cuda {

/// A call's list of them. `args` then points to a copy, in which they count as the CPU's, so that the checks that all calls share take
/// them. Errors: UNSUPPORTED (one is elsewhere), BAD_ARGUMENT (memory that is not `device`'s).
class AdoptedInputs {
public:
    gyre_status adopt(gyre_attention_args *args, Device *device);

private:
    std::array<gyre_score_input, most_score_inputs> copies;
};

/// Refuses an input, checked already, of which the entries of a launch reach further than kernels count.
gyre_status check_reach(const ScoreInputs &asked, const ScoreViews &given, const AttentionCall &call);

/// True if every element that `batches` batch entries read counts in 31 bits.
bool in_reach(const ScoreInputs &asked, const ScoreViews &given, const AttentionCall &call, int64_t batches);

/// The views of batch entries from `first` on, which must outlive the launch.
class AskedTensors {
public:
    AskedTensors(const ScoreInputs &asked, const ScoreViews &given, const AttentionCall &call, int64_t first,
                 int64_t batches);

    void add_to(KernelArguments<AttentionCudaArguments> *arguments);

private:
    const int count;
    std::array<Buffer, most_score_inputs> tensors; // (own dimensions, innermost first; head; entry)
};

} // namespace gyre::cuda
