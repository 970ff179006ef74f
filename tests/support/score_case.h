/// A call of gyre_attention() with a score function, by the C API's names.
///
///     ScoreCase c(AttentionShape().lengths(17, 65), "alibi");
///     c.give("slopes", GYRE_F32, {1, 1}, {0.5});
///     c.oracle_score = …;
///     c.check();
#pragma once
#include "attention_case.h"
#include "random.h"

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace gyre::test {

class ScoreCase : public AttentionCase {
public:
    ScoreCase(const AttentionShape &shape, const char *score, uint64_t seed = 1) : AttentionCase(shape, seed) {
        args.score = score;
    }

    /// Adds an input, or replaces that of the same name.
    gyre_tensor &give(const char *name, Tensor tensor) {
        const gyre_tensor view = *hold(std::move(tensor));
        gyre_score_input *place = nullptr;
        for (gyre_score_input &input : inputs)
            if (std::string(input.name) == name) place = &input;
        if (!place) place = &inputs.emplace_back();
        *place = {name, view};
        args.score_inputs = inputs.data();
        args.score_input_count = (int32_t)inputs.size();
        return place->tensor;
    }
    gyre_tensor &give(const char *name, gyre_dtype dtype, const std::vector<int64_t> &shape,
                      const std::vector<double> &values, const Placement &placement = {}) {
        Tensor tensor(dtype, shape, placement);
        tensor.set_values(values);
        return give(name, std::move(tensor));
    }

    /// Gives the call every option of scores beside the function: of two heads.
    void give_options() {
        args.softcap = 3;
        Tensor bias(GYRE_F16, {shape.seqlen_q, shape.seqlen_kv});
        bias.fill_normal(3);
        args.bias = hold(std::move(bias));
        Tensor mask(GYRE_BOOL, {shape.batch, 1, 1, shape.seqlen_kv});
        mask.fill_uniform_integers(4, 0, 1);
        args.mask = hold(std::move(mask));
        args.sinks = hold(GYRE_F32, {0.5, -1});
        args.alibi = hold(GYRE_F32, {0.125, 0.25});
    }

    /// Entries of the batch, or packed sequences.
    int64_t entries() const { return args.layout == GYRE_THD ? args.cu_seqlens_q->shape[0] - 1 : shape.batch; }
    /// The first extents of an input whose next counts tokens.
    std::vector<int64_t> token_shape(std::vector<int64_t> more) const {
        more.insert(more.begin(), {args.layout == GYRE_THD ? 1 : shape.batch, shape.heads});
        return more;
    }

    std::vector<gyre_score_input> inputs;
};

} // namespace gyre::test
