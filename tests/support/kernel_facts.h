/// What kernels say of themselves among their attributes.
#pragma once
#include <gyre/attention.h>

#include <string>

namespace gyre::test {

/// The value of `name=value` among the attributes of the kernel of that name; empty if it has none. Throws where no
/// linked kernel has that name.
std::string fact_of(const std::string &kernel, const std::string &name);

/// True if a kernel of this target is linked whose attributes have `attribute`: "cache=formed".
bool has_kernel_with(const std::string &target, const std::string &attribute);

/// Relative errors that a kernel of attention adds to those of f32 arithmetic.
struct KernelRounding {
    double operands = 0; // of weights and of rotated queries, keys and values, before products: fact `operands`
    double sum = 0;      // of the weights' sum: fact `sum`
    int terms = 0;       // bf16 numbers that factors are multiplied as; 0: they are multiplied in f32: fact `terms`
    bool without_subnormals = false; // vectors take them for 0: arm_32_neon
    /// What products of weights and values leave out. Of two sums of two bf16 numbers it is the product of the second ones, each of
    /// which is below 2^-7 of its number, since the first is cut to 8 bits.
    double products() const { return terms == 2 ? 0x1p-14 : 0; }
};
KernelRounding rounding_of_kernel(const std::string &kernel);

/// Rounding of a call that ran this kernel, with a context of this target. Tiles of queries that see a range of keys of a mask run in
/// kernels of calls without one, which may round what the call's own does not.
KernelRounding rounding_of_call(const gyre_attention_args &args, const std::string &kernel, const std::string &target);

/// Half the spacing of a type by its name among facts, relative; of "", which stands for f32, 0.
double half_spacing(const std::string &type);

} // namespace gyre::test
