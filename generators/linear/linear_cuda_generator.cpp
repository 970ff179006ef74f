// Binds signature, algorithm and schedule of linear attention on CUDA: one of its three steps. No arithmetic and no loop order here.
#include "../common/declared_arguments.h"
#include "../common/facts.h"
#include "../passes/cuda/lower.h"
#include "linear_cuda.h"

namespace gyre::linear {

class LinearCudaGenerator : public Halide::Generator<LinearCudaGenerator> {
public:
    // Variant: the step.
    GeneratorParam<bool> of_chunks{"of_chunks", false}, of_sums{"of_sums", false}, of_rows{"of_rows", false};
    GeneratorParam<bool> multiplies{"multiplies", false}; // of chunks or rows
    GeneratorParam<std::string> facts{"facts", ""};
    GeneratorParam<std::string> device_code{"device_code", ""}; // where to write the CUDA C++

    DeclaredArguments arguments;
#include "linear_cuda_arguments.inc"

    void configure() {
        arguments.declare(
            *this, {{"of_chunks", of_chunks}, {"of_sums", of_sums}, {"of_rows", of_rows}, {"multiplies", multiplies}},
            {});
    }

    void generate() {
        set_mins(k_bounds, 1);
        set_mins(key_counts, 1);
        if (multiplies) set_mins(v, 4);
        if (of_chunks) bind_chunks();
        if (of_sums) bind_sums();
        if (of_rows) bind_rows();
        cuda::lower_to_cuda(*this, {device_code, {}});
        publish_facts(*this, facts, {{"rows", chunk}});
    }

private:
    Sequences sequences_of(const Halide::Func &bounds) {
        return {bounds, packed, sequences, keys, key_counts, has_key_counts};
    }

    template <typename Buffer>
    static void set_mins(Buffer &of, int rank) {
        for (int n = 0; n < rank; n++) of.dim(n).set_min(0);
    }

    void bind_chunks() {
        set_mins(k_rows, 4);
        set_mins(k_rows_rotated, 4);
        set_mins(kv, 5);
        set_mins(k_sum, 4);
        ChunkStages stages = chunk_algorithm({sequences_of(k_bounds), k_rows, k_rows_rotated, v}, kv, k_sum);
        schedule(stages);
    }

    void bind_sums() {
        set_mins(before, 4);
        set_mins(chunks, 5);
        set_mins(sums, 5);
        SumStages stages = sum_algorithm({sequences_of(k_bounds), before, has_before, last_only, chunks,
                                          chunks.dim(2).extent(), chunks.dim(4).extent()},
                                         sums);
        schedule(stages);
    }

    void bind_rows() {
        set_mins(q_bounds, 1);
        for (auto *of : {&q, &q_rotated, &k, &k_rotated}) set_mins(*of, 4);
        set_mins(kv_before, 5);
        set_mins(k_before, 4);
        set_mins(out, 5);
        out.dim(2).set_bounds(0, chunk);
        Sequences queries = sequences_of(q_bounds);
        queries.tokens = q.dim(0).extent();
        RowStages stages = row_algorithm({queries, sequences_of(k_bounds), causal, rotated, group,
                                          k_before.dim(2).extent(), q, q_rotated, k, k_rotated, v, kv_before, k_before,
                                          q.dim(1).extent(), k_before.dim(1).extent(), out.dim(2).stride()},
                                         out);
        schedule(stages);
    }
};

} // namespace gyre::linear

HALIDE_REGISTER_GENERATOR(gyre::linear::LinearCudaGenerator, linear_cuda)
