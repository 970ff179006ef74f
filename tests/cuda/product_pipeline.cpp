// Writes the CUDA C++ of products by warps, for the emulation's tests, which take something away from those that say so.
//
//     product_pipeline DIRECTORY
#include "product.h"

int main(int count, char **arguments) {
    if (count != 2) return 1;
    struct Variant {
        const char *name;
        Halide::Type type;
        int row_padding;
        int row_tiles = 1;
        bool rows_in_shared = false;
    };
    for (const Variant &v : {Variant{"product_bf16", Halide::BFloat(16), 8},
                             {"product_f16", Halide::Float(16), 8},
                             {"product_f32", Halide::Float(32), 4},
                             {"product_row_tiles", Halide::BFloat(16), 8, 2},
                             {"product_row_tiles_f32", Halide::Float(32), 4, 2},
                             {"product_row_tiles_shared", Halide::Float(16), 8, 2, true},
                             {"product_rows_shared", Halide::BFloat(16), 8, 1, true},
                             {"product_rows_unpadded", Halide::BFloat(16), 0, 2, true},
                             {"product_row_tiles_without_barrier", Halide::BFloat(16), 8, 2, true},
                             {"product_unpadded", Halide::BFloat(16), 0},
                             {"product_without_barrier", Halide::BFloat(16), 8},
                             {"product_without_wait", Halide::BFloat(16), 8},
                             {"product_not_transposed", Halide::BFloat(16), 8}}) {
        gyre::test::Product product;
        product.type = v.type;
        product.row_padding = v.row_padding;
        product.row_tiles = v.row_tiles;
        product.rows_in_shared = v.rows_in_shared;
        product.build();
        Halide::Pipeline pipeline(product.out);
        gyre::cuda::Lowering lowering;
        lowering.device_code = std::string(arguments[1]) + "/" + v.name + ".cu";
        lowering.aligned = {"a", "b"};
        gyre::cuda::lower_to_cuda(pipeline, lowering);
        pipeline.compile_to_module(
            {product.a, product.b}, v.name,
            Halide::Target("x86-64-linux-cuda-cuda_capability_80-no_runtime-no_asserts-no_bounds_query-user_context"));
    }
    return 0;
}
