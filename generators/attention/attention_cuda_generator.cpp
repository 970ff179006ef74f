// Binds signature, algorithm and schedule of fused attention on CUDA, whole tensors in one launch. No arithmetic and no loop
// order here.
#include "../common/facts.h"
#include "../cuda/lower.h"
#include "../cuda/warp_nest.h"
#include "attention_cuda_schedule.h"

namespace gyre::attention {

class AttentionCudaGenerator : public Halide::Generator<AttentionCudaGenerator> {
public:
    // Variant.
    GeneratorParam<bool> general{"general", false};
    GeneratorParam<int> head_dim{"head_dim", 64, 16, 256};
    GeneratorParam<bool> padded{"padded", false};
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::BFloat(16)};
    GeneratorParam<bool> as_stored{"as_stored", false}; // keys and values are copied as they are
    GeneratorParam<std::string> facts{"facts", ""};
    GeneratorParam<std::string> device_code{"device_code", ""}; // where to write the CUDA C++

    // Knobs.
    GeneratorParam<int> warps{"warps", 8, 1, 16}, key_block{"key_block", 64, 16, 256}, stages{"stages", 2, 2, 4};

    // Angles of queries and keys, and of values and results: cuda/turns.h, or tables.
    Input<Halide::Buffer<uint64_t, 1>> rope_frequencies{"rope_frequencies"};    // (pair)          by value
    Input<Halide::Buffer<int32_t, 1>> rope_axis{"rope_axis"};                   // (pair)          by value
    Input<Halide::Buffer<float, 2>> rope_cos{"rope_cos"}, rope_sin{"rope_sin"}; // (pair, position)
    Input<bool> rope_has_tables{"rope_has_tables"};
    Input<float> rope_scale{"rope_scale"};
    Input<int32_t> rope_pairs{"rope_pairs"};
    Input<bool> rope_interleaved{"rope_interleaved"};
    Input<Halide::Buffer<uint64_t, 1>> value_frequencies{"value_frequencies"};
    Input<Halide::Buffer<int32_t, 1>> value_axis{"value_axis"};
    Input<Halide::Buffer<float, 2>> value_cos{"value_cos"}, value_sin{"value_sin"};
    Input<bool> value_has_tables{"value_has_tables"};
    Input<float> value_scale{"value_scale"};
    Input<int32_t> value_pairs{"value_pairs"};
    Input<bool> value_interleaved{"value_interleaved"};
    Input<bool> rotate_keys{"rotate_keys"}, rotate_values{"rotate_values"};
    Input<Halide::Buffer<int32_t, 3>> q_positions{"q_positions"}, k_positions{"k_positions"}; // (token, z, axis)
    Input<bool> has_q_positions{"has_q_positions"}, has_k_positions{"has_k_positions"};

    Input<Halide::Buffer<int32_t, 1>> key_counts{"key_counts"}; // (z)
    Input<bool> has_key_counts{"has_key_counts"};
    Input<bool> bottom_right{"bottom_right"};
    Input<int32_t> group{"group"}, left{"left"}, right{"right"};
    Input<float> scale{"scale"}, sign{"sign"};

    Output<Halide::Buffer<void, 4>> out{"out"};  // (d, h, token, z)
    Output<Halide::Buffer<float, 3>> lse{"lse"}; // (token, h, z)

    void configure() {
        q = add_input<Halide::Buffer<>>("q", dtype, 4); // (d, h, token, z)
        k = add_input<Halide::Buffer<>>("k", dtype, 4);
        v = add_input<Halide::Buffer<>>("v", dtype, 4);
        out.set_type(dtype);
        _halide_user_assert(!general && !padded && head_dim % 16 == 0 && dtype.value().bits() == 16)
            << "no kernel for CUDA is general, padded, of f32 or of head sizes that are no multiple of 16\n";
    }

    void generate() {
        CudaSizes sizes{head_dim, head_dim, warps * cuda::tile_rows, key_block, as_stored};
        CudaInputs in;
        in.q = *q, in.k = *k, in.v = *v;
        in.queries = q->dim(2).extent(), in.keys = k->dim(2).extent(), in.key_heads = k->dim(1).extent();
        in.key_counts = key_counts, in.has_key_counts = has_key_counts, in.bottom_right = bottom_right;
        in.group = group, in.left = left, in.right = right, in.scale = scale, in.sign = sign;
        in.rope = {rope_frequencies, rope_axis,  rope_cos,   rope_sin,        rope_cos.dim(1).extent(),
                   rope_has_tables,  rope_scale, rope_pairs, rope_interleaved};
        in.value_rope = {value_frequencies, value_axis,  value_cos,   value_sin,        value_cos.dim(1).extent(),
                         value_has_tables,  value_scale, value_pairs, value_interleaved};
        in.rotate_keys = rotate_keys, in.rotate_values = rotate_values;
        in.q_positions = {q_positions, has_q_positions, q_positions.dim(2).extent(), 0};
        in.k_positions = {k_positions, has_k_positions, k_positions.dim(2).extent(), 0};

        for (auto *t : {q, k, v}) {
            t->dim(0).set_bounds(0, head_dim);
            for (int n = 1; n < 4; n++) t->dim(n).set_min(0);
        }
        out.dim(0).set_bounds(0, head_dim);
        for (int n = 1; n < 4; n++) out.dim(n).set_min(0);
        for (int n = 0; n < 3; n++) lse.dim(n).set_min(0), q_positions.dim(n).set_min(0), k_positions.dim(n).set_min(0);
        for (auto *t : {&q_positions, &k_positions}) t->dim(0).set_stride(Halide::Expr()); // words of 64-bit positions
        for (auto *t : {&rope_cos, &rope_sin, &value_cos, &value_sin}) t->dim(0).set_min(0), t->dim(1).set_min(0);
        for (auto *t : {&rope_frequencies, &value_frequencies}) t->dim(0).set_min(0);
        for (auto *t : {&rope_axis, &value_axis}) t->dim(0).set_min(0);
        key_counts.dim(0).set_min(0);

        CudaStages s = cuda_algorithm(in, sizes, out, lse, dtype);
        schedule_cuda(s, {stages});
        const int most_pairs = head_dim / 2;
        cuda::Lowering lowering;
        lowering.device_code = device_code;
        for (const char *of : {"rope", "value"})
            for (const char *what : {"_frequencies", "_axis"}) lowering.by_value[std::string(of) + what] = most_pairs;
        lowering.ranges["blocks"] = {s.seen.name(), 1, 2};
        cuda::lower_to_cuda(*this, lowering);
        publish_facts(*this, facts,
                      {{"row_tile", cuda::tile_rows},
                       {"task_rows", sizes.query_rows},
                       {"key_block", sizes.key_block},
                       {"most_pairs", most_pairs}});
    }

private:
    Input<Halide::Buffer<>> *q = nullptr, *k = nullptr, *v = nullptr;
};

} // namespace gyre::attention

HALIDE_REGISTER_GENERATOR(gyre::attention::AttentionCudaGenerator, attention_cuda)
