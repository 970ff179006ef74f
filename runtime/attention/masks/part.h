/// The part of attention that looks at what masks leave of the keys, as a program is linked with it or without. Libraries of kernels
/// that take masks ask for it (gyre_asks_for_masks() in cmake/GyreKernels.cmake). Without it kernels, which such a program can only load
/// later, read masks for every score.
#pragma once
#include "attention/call/call.h"
#include "attention/call/parted_call.h"

#include <memory>

namespace gyre {

struct AttentionTask;
struct KeysInSight;
struct Plan;
struct TaskExtent;

/// The part's functions; their own headers say what they do.
struct MasksPart {
    std::unique_ptr<PartedCall> (*plan)(const Plan &checked);
    bool (*run_task)(const AttentionTask &task, const AttentionKernel &of_sequence, const TaskExtent &x,
                     const KeysInSight &in_sight, char *scratch);
    gyre_status (*check_prepared)(const gyre_attention_args &args, bool need_data, AttentionCall *call);
    gyre_tensor (*prepared_view)(const void *memory, const AttentionCall &call);
};

} // namespace gyre

/// Named in C, since linkers are given its name.
extern "C" [[gnu::weak]] const gyre::MasksPart gyre_attention_masks;

namespace gyre {

inline bool has_masks_part() { return &gyre_attention_masks != nullptr; }

} // namespace gyre
