/// The kernels that rotate, copy and convert heads, and how they are called for a few tokens.
#pragma once
#include "core/argument_row.h"
#include "core/tensor.h"
#include "rotary/rotation.h"

namespace gyre {

/// Tokens whose angles are formed at once: their rows stay in the L1 cache while every head reads them.
constexpr int64_t run_tokens = 32;

struct RotaryKernel {
    const Kernel *kernel;
    gyre_dtype from, to;
    gyre_pairing pairing;
    size_t workspace;                // bytes
    bool appended;                   // writes into a cache, at slots that it finds on the device
    int64_t vector_bytes;            // stores past the caches, to multiples of so many bytes; 0: stores into them
    ArgumentPlaces places_on_device; // of RotaryCudaArguments
};

/// The kernel for tensors on `device`. nullptr: none is linked that this context may use.
const RotaryKernel *find_rotary_kernel(const gyre_context &context, gyre_dtype from, gyre_dtype to,
                                       gyre_pairing pairing, gyre_device device = GYRE_CPU, bool appended = false);

/// The kernel that stores past the caches, without first reading what it overwrites. nullptr: none is linked.
const RotaryKernel *find_streaming_kernel(const gyre_context &context, gyre_dtype dtype, gyre_pairing pairing);

/// True if that one can rotate `from` into `to`, whole heads at addresses of whole vectors, and pays: the caches would not
/// keep the output anyway.
bool pays_to_stream(const RotaryKernel &streaming, const Heads &from, const Heads &to, const Rotation &rotation);

/// All heads of some tokens, at most run_tokens: where the first one's first head is. Strides in elements.
struct TokenRun {
    char *data;
    int64_t token_stride, head_stride;

    TokenRun(const Heads &heads, int64_t batch, int64_t token)
        : data(heads.at(batch, token, 0)), token_stride(heads.token_stride), head_stride(heads.head_stride) {}
};

/// What is done with each head.
struct HeadRotation {
    const RotaryKernel *kernel;
    int32_t offset, pairs; // the window of features that is rotated; no pairs: none
    float direction;       // +1: rotate, -1: rotate back
    bool in_place;         // the other features are where they belong

    /// Writes `heads` heads of `dim` features of each token. Rows of angles as Angles::fill() writes them, none without
    /// pairs; `scratch` as large as the kernel says. False: the kernel failed.
    bool run(const TokenRun &from, const TokenRun &to, int64_t tokens, int64_t heads, int64_t dim, const float *rows,
             char *scratch) const;
};

/// True if the offsets within one run of tokens fit the kernels' index. `in_a_row`: tokens that stride as the view's.
bool fits_run(const Heads &view, int64_t in_a_row);

} // namespace gyre
