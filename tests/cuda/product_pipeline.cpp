// Writes the CUDA C++ of products by warps, for the emulation's tests, which take something away from the last three.
//
//     product_pipeline DIRECTORY
#include "product.h"

int main(int count, char **arguments) {
    if (count != 2) return 1;
    struct Variant {
        const char *name;
        Halide::Type type;
        int row_padding;
    };
    for (const Variant &v : {Variant{"product_bf16", Halide::BFloat(16), 8},
                             {"product_f16", Halide::Float(16), 8},
                             {"product_f32", Halide::Float(32), 4},
                             {"product_unpadded", Halide::BFloat(16), 0},
                             {"product_without_barrier", Halide::BFloat(16), 8},
                             {"product_without_wait", Halide::BFloat(16), 8},
                             {"product_not_transposed", Halide::BFloat(16), 8}}) {
        gyre::test::Product product;
        product.type = v.type;
        product.row_padding = v.row_padding;
        product.build();
        Halide::Pipeline pipeline(product.out);
        gyre::cuda::Lowering lowering;
        lowering.device_code = std::string(arguments[1]) + "/" + v.name + ".cu";
        lowering.aligned = {"b"};
        gyre::cuda::lower_to_cuda(pipeline, lowering);
        pipeline.compile_to_module(
            {product.a, product.b}, v.name,
            Halide::Target("x86-64-linux-cuda-cuda_capability_80-no_runtime-no_asserts-no_bounds_query-user_context"));
    }
    return 0;
}
