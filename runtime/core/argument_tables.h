/// The arguments of every operation's kernels, by name: tables of generators/<operation>/.
#pragma once
#include "core/argument_row.h"

namespace gyre {

struct AnglesArguments {
#define GYRE_ARGUMENT_TABLE "rotary/angles/angles_arguments.inc"
#include "core/argument_table.inc"
};
struct AttentionArguments {
#define GYRE_ARGUMENT_TABLE "attention/attention_arguments.inc"
#include "core/argument_table.inc"
};
struct AttentionCudaArguments {
#define GYRE_ARGUMENT_TABLE "attention/attention_cuda_arguments.inc"
#include "core/argument_table.inc"
};
struct BackwardArguments {
#define GYRE_ARGUMENT_TABLE "backward/backward_arguments.inc"
#include "core/argument_table.inc"
};
struct BackwardCudaArguments {
#define GYRE_ARGUMENT_TABLE "backward/backward_cuda_arguments.inc"
#include "core/argument_table.inc"
};
struct DeltaCudaArguments {
#define GYRE_ARGUMENT_TABLE "backward/delta/delta_cuda_arguments.inc"
#include "core/argument_table.inc"
};
struct DeltaArguments {
#define GYRE_ARGUMENT_TABLE "backward/delta/delta_arguments.inc"
#include "core/argument_table.inc"
};
struct FeaturesArguments {
#define GYRE_ARGUMENT_TABLE "linear/features/features_arguments.inc"
#include "core/argument_table.inc"
};
struct FeaturesCudaArguments {
#define GYRE_ARGUMENT_TABLE "linear/features/features_cuda_arguments.inc"
#include "core/argument_table.inc"
};
struct LinearArguments {
#define GYRE_ARGUMENT_TABLE "linear/linear_arguments.inc"
#include "core/argument_table.inc"
};
struct LinearCudaArguments {
#define GYRE_ARGUMENT_TABLE "linear/linear_cuda_arguments.inc"
#include "core/argument_table.inc"
};
struct MergeArguments {
#define GYRE_ARGUMENT_TABLE "attention/merge/merge_arguments.inc"
#include "core/argument_table.inc"
};
struct MergeCudaArguments {
#define GYRE_ARGUMENT_TABLE "attention/merge/merge_cuda_arguments.inc"
#include "core/argument_table.inc"
};
struct NormsArguments {
#define GYRE_ARGUMENT_TABLE "linear/norms/norms_arguments.inc"
#include "core/argument_table.inc"
};
struct OperandsArguments {
#define GYRE_ARGUMENT_TABLE "attention/operands/operands_arguments.inc"
#include "core/argument_table.inc"
};
struct OuterArguments {
#define GYRE_ARGUMENT_TABLE "linear/outer/outer_arguments.inc"
#include "core/argument_table.inc"
};
struct PanelsArguments {
#define GYRE_ARGUMENT_TABLE "backward/panels/panels_arguments.inc"
#include "core/argument_table.inc"
};
struct RotaryArguments {
#define GYRE_ARGUMENT_TABLE "rotary/rotary_arguments.inc"
#include "core/argument_table.inc"
};
struct RotaryCudaArguments {
#define GYRE_ARGUMENT_TABLE "rotary/rotary_cuda_arguments.inc"
#include "core/argument_table.inc"
};
struct SlopesArguments {
#define GYRE_ARGUMENT_TABLE "linear/slopes/slopes_arguments.inc"
#include "core/argument_table.inc"
};
struct SumsArguments {
#define GYRE_ARGUMENT_TABLE "linear/sums/sums_arguments.inc"
#include "core/argument_table.inc"
};

} // namespace gyre
