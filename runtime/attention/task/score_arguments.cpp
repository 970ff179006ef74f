#include "attention/task/score_arguments.h"

#include <algorithm>
#include <cstring>

namespace gyre {
namespace {

int32_t index_of(int64_t i) { return static_cast<int32_t>(std::clamp<int64_t>(i, INT32_MIN, INT32_MAX)); }

} // namespace

ScoreArguments::ScoreArguments(const ScoreInputs &asked, const ScoreViews &given, const AttentionCall &c,
                               const Sequence &s, int64_t index, int64_t head, int64_t first_row, int64_t first_key)
    : asked(asked), batch(index_of(index)), head(index_of(head)), first_row(index_of(first_row)),
      first_key(index_of(first_key)), first_position(index_of(first_row + c.shift(s))), queries(index_of(s.q_len)),
      keys(index_of(s.k_len)) {
    for (size_t i = 0; i < static_cast<size_t>(asked.count); i++) {
        const ScoreInput &input = asked.inputs[i];
        const ScoreView &view = given.views[i];
        int64_t element = index * view.batch_stride + head * view.head_stride;
        Buffer::Dimension dims[2];
        for (int d = 0; d < input.rank; d++) {
            const int64_t stride = view.strides[d];
            dims[d] = {view.extents[d], stride};
            if (input.extents[d] == ScoreInput::queries) {
                element += s.q_first * stride;
                dims[d].extent = s.q_len;
            }
            if (input.extents[d] == ScoreInput::keys) {
                element += s.k_first * stride;
                dims[d].extent = s.k_len;
            }
        }
        const char *data = view.data + element * static_cast<int64_t>(element_size(input.dtype));
        if (input.rank == 0) std::memcpy(&values[i], data, sizeof values[i]);
        if (input.rank == 1) tables[i].describe(data, halide_type(input.dtype), {dims[0]});
        if (input.rank == 2) tables[i].describe(data, halide_type(input.dtype), {dims[1], dims[0]});
    }
}

void ScoreArguments::add_to(KernelArguments<AttentionArguments> *to) {
    using A = AttentionArguments;
    KernelArguments<A> &arguments = *to;
    arguments[A::score_batch] = &batch;
    arguments[A::score_head] = &head;
    arguments[A::score_first_row] = &first_row;
    arguments[A::score_first_key] = &first_key;
    arguments[A::score_first_position] = &first_position;
    arguments[A::score_queries] = &queries;
    arguments[A::score_keys] = &keys;
    for (size_t i = 0; i < static_cast<size_t>(asked.count); i++)
        if (asked.inputs[i].rank == 0)
            arguments.add(A::score_inputs, &values[i]);
        else
            arguments.add(A::score_inputs, &tables[i]);
}

} // namespace gyre
