#include "cuda/attention/score_function.h"

#include "core/error.h"
#include "cuda/driver/tensors.h"

#include <algorithm>

namespace gyre::cuda {
namespace {

/// Entries that a launch for `batches` batch entries tells apart: of packed tensors, the sequences.
int64_t entries_of(const AttentionCall &c, int64_t batches) { return c.layout == GYRE_THD ? c.sequences : batches; }

} // namespace

gyre_status AdoptedInputs::adopt(gyre_attention_args *args, Device *device) {
    const int32_t count = args->score_input_count;
    // Other lists are refused by the checks that all calls share.
    if (!args->score || !args->score_inputs || count < 1 || count > most_score_inputs) return GYRE_OK;
    std::copy_n(args->score_inputs, count, copies.begin());
    args->score_inputs = copies.data();
    const char *why;
    const Driver *driver = find_driver(&why);
    for (int32_t i = 0; i < count; i++) {
        gyre_score_input &input = copies[static_cast<size_t>(i)];
        const ArgumentName name("score_inputs[%d]", i);
        if (input.tensor.device != GYRE_CUDA)
            return refuse(GYRE_UNSUPPORTED, name, "is on the CPU, others are on a CUDA device");
        if (!driver) return refuse(GYRE_UNSUPPORTED, name, "is on a CUDA device, but %s", why);
        GYRE_TRY(check_memory(*driver, {&input.tensor, name}, device));
        input.tensor.device = GYRE_CPU;
    }
    return GYRE_OK;
}

bool in_reach(const ScoreInputs &asked, const ScoreViews &given, const AttentionCall &c, int64_t batches) {
    return std::all_of(asked.begin(), asked.end(), [&](const ScoreInput &input) {
        const ScoreView &view = given.views[static_cast<size_t>(&input - asked.begin())];
        return fits_kernel_index({{view.extents[0], view.strides[0]},
                                  {view.extents[1], view.strides[1]},
                                  {c.q.heads, view.head_stride},
                                  {entries_of(c, batches), view.batch_stride}});
    });
}

gyre_status check_reach(const ScoreInputs &asked, const ScoreViews &given, const AttentionCall &c) {
    if (in_reach(asked, given, c, 1)) return GYRE_OK;
    return refuse(GYRE_UNSUPPORTED, "score_inputs", "one batch entry reaches over 2^31 elements");
}

AskedTensors::AskedTensors(const ScoreInputs &asked, const ScoreViews &given, const AttentionCall &c, int64_t first,
                           int64_t batches)
    : count(asked.count) {
    for (size_t i = 0; i < static_cast<size_t>(asked.end() - asked.begin()); i++) {
        const ScoreInput &input = asked.inputs[i];
        const ScoreView &v = given.views[i];
        const char *data = v.data + first * v.batch_stride * static_cast<int64_t>(element_size(input.dtype));
        const Buffer::Dimension heads{c.q.heads, v.head_stride}, entries{entries_of(c, batches), v.batch_stride};
        const Buffer::Dimension outer{v.extents[0], v.strides[0]}, inner{v.extents[1], v.strides[1]};
        const halide_type_t type = halide_type(input.dtype);
        if (input.rank == 0) tensors[i].describe(data, type, {heads, entries});
        if (input.rank == 1) tensors[i].describe(data, type, {outer, heads, entries});
        if (input.rank == 2) tensors[i].describe(data, type, {inner, outer, heads, entries});
    }
}

void AskedTensors::add_to(KernelArguments<AttentionCudaArguments> *arguments) {
    for (int i = 0; i < count; i++)
        arguments->add(AttentionCudaArguments::score_inputs, &tensors[static_cast<size_t>(i)]);
}

} // namespace gyre::cuda
