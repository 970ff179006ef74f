#include "attention/masks/part.h"

#include "attention/masked/plan.h"
#include "attention/masked/prepared_mask.h"
#include "attention/masked/task.h"

using namespace gyre;

extern "C" constexpr MasksPart gyre_attention_masks = {
    [](const Plan &checked) -> std::unique_ptr<PartedCall> { return std::make_unique<MaskedPlan>(checked); },
    run_masked_task, check_prepared_mask, prepared_mask_view};
