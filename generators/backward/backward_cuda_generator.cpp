// Binds signature, algorithm and schedule of attention's gradients on CUDA, one of the three in a launch. No arithmetic and no loop
// order here.
#include "../common/declared_arguments.h"
#include "../common/facts.h"
#include "../common/window.h"
#include "../passes/cuda/lower.h"
#include "warps/schedule.h"

namespace gyre::gradients {

class BackwardCudaGenerator : public Halide::Generator<BackwardCudaGenerator> {
public:
    // Variant.
    GeneratorParam<Of> of{"of", Of::queries, {{"queries", Of::queries}, {"keys", Of::keys}, {"values", Of::values}}};
    GeneratorParam<bool> general{"general", false}; // with a cap, ALiBi, a bias or dropout
    GeneratorParam<int> head_dim{"head_dim", 64, 16, 128};
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::BFloat(16)};
    GeneratorParam<std::string> facts{"facts", ""};
    GeneratorParam<std::string> device_code{"device_code", ""}; // where to write the CUDA C++

    // Knobs.
    GeneratorParam<int> warps{"warps", 0, 0, 16}, block{"block", 0, 0, 128}; // 0: what suits the variant
    GeneratorParam<int> stages{"stages", 2, 2, 4}, blocks{"blocks", 0, 0, 4};

    DeclaredArguments arguments;
#include "backward_cuda_arguments.inc"

    void configure() {
        _halide_user_assert(head_dim % 16 == 0) << "no kernel for CUDA is of head sizes that are no multiple of 16\n";
        arguments.declare(*this, {{"general", general}}, {{"dtype", dtype}});
    }

    void generate() {
        const Knobs knobs{warps, block, stages, blocks};
        const Sizes sizes = choose_sizes(of, general, head_dim, dtype, knobs);
        bind_shapes();
        const Inputs inputs = bind();
        Stages s = algorithm(inputs, sizes, grad, dtype);
        schedule(s, knobs);
        cuda::Lowering lowering;
        lowering.device_code = device_code;
        lowering.aligned = {"q", "k", "v", "out_grad"};
        lowering.last_first =
            of.value() == Of::queries; // tiles that see the most come first, where attention is causal
        lowering.across_first = is_bounded(inputs.sequences.right); // of all heads
        lowering.blocks_at_once = blocks_of_threads(general, dtype, knobs);
        lowering.ranges["blocks"] = {s.tile.turns.name(), 0, 1};
        cuda::lower_to_cuda(*this, lowering);
        Facts known{{"task_rows", sizes.rows}};
        if (dtype.value() != Halide::Float(32))
            known.emplace_back("operands", dtype.value().is_bfloat() ? "bf16" : "f16");
        publish_facts(*this, facts, known);
    }

private:
    Inputs bind() {
        const bool of_queries = of.value() == Of::queries;
        const Halide::Expr queries = q.dim(2).extent(), keys = k.dim(2).extent();
        Inputs in;
        in.row = of_queries ? q : k;
        in.row_partner = of_queries ? out_grad : v;
        in.column = of_queries ? k : q;
        in.column_partner = of_queries ? v : out_grad;
        in.lse = lse;
        in.delta = delta;
        in.scale = scale;
        in.out_stride = grad.dim(2).stride();
        in.sequences = {!of_queries,
                        of_queries ? q_bounds : k_bounds,
                        of_queries ? k_bounds : q_bounds,
                        packed,
                        sequences,
                        Halide::select(packed, sequences, 1),
                        key_counts,
                        has_key_counts,
                        of_queries ? queries : keys,
                        of_queries ? keys : queries,
                        bottom_right,
                        left,
                        right,
                        group,
                        of_queries ? k.dim(1).extent() : q.dim(1).extent()};
        if (general)
            in.scoring = {softcap,
                          alibi,
                          has_alibi,
                          has_f32_bias,
                          has_f16_bias,
                          has_bf16_bias,
                          bias_f32,
                          bias_16,
                          queries,
                          keys,
                          q.dim(1).extent(),
                          first_entry,
                          {dropout_threshold,
                           dropout_keep_scale,
                           dropout_seed_low,
                           dropout_seed_high,
                           dropout_offset,
                           {},
                           {},
                           {}}};
        return in;
    }

    void bind_shapes() {
        for (auto *t : {&q, &k, &v, &out_grad}) t->dim(0).set_bounds(0, head_dim);
        for (auto *t : {&q, &k, &v, &out_grad})
            for (int n = 1; n < 4; n++) t->dim(n).set_min(0);
        grad.dim(0).set_bounds(0, head_dim);
        for (int n = 1; n < 4; n++) grad.dim(n).set_min(0);
        for (auto *t : {&lse, &delta})
            for (int n = 0; n < 3; n++) t->dim(n).set_min(0);
        for (auto *t : {&q_bounds, &k_bounds, &key_counts}) t->dim(0).set_min(0);
        if (!general) return;
        alibi.dim(0).set_min(0);
        const auto take_any_strides = [](auto &t) {
            for (int n = 0; n < 4; n++) t.dim(n).set_min(0);
            t.dim(0).set_stride(Halide::Expr());
        };
        take_any_strides(bias_f32);
        take_any_strides(bias_16);
    }
};

} // namespace gyre::gradients

HALIDE_REGISTER_GENERATOR(gyre::gradients::BackwardCudaGenerator, backward_cuda)
