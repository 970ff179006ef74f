/// A checked rotation: which features, which angles.
#pragma once
#include "core/context.h"
#include "rotary/positions.h"

#include <cstdint>

namespace gyre {

/// A gyre_rope whose parts agree with each other and with the head it rotates.
struct Rotation {
    bool on = false;
    gyre_pairing pairing = GYRE_HALF;
    int pairs = 0;
    int offset = 0;
    double theta = 0;
    int denominator = 0;              // of theta's exponent
    const double *inv_freq = nullptr; // the caller's, or NULL: theta's
    double fastest = 1;               // largest |frequency|, at least 1
    float scale = 1;                  // attention factor
    int axes = 1;
    int32_t sections[GYRE_MAX_AXES] = {};
    gyre_section_order section_order = GYRE_SECTIONS_CONTIGUOUS;
    const gyre_tensor *cos = nullptr; // the caller's table, or NULL
    const gyre_tensor *sin = nullptr; // the caller's table, or NULL
    bool per_token = false;           // tables have a row a token instead of a row a position

    /// Positions are below this: the tables' rows, or what keeps the quarter turns of the fastest angle in 31 bits.
    int64_t position_limit() const {
        return cos && !per_token ? cos->shape[0]
                                 : static_cast<int64_t>(static_cast<double>(INT64_C(1) << 31) / fastest);
    }
    int axis_of_pair(int pair) const;
};

/// True if both give every token the same cosines and sines.
bool same_angles(const Rotation &a, const Rotation &b);

/// Checks `rope` for heads of `head_dim` features, tokens [batch, seqlen]. `name` prefixes the fields in messages.
gyre_status check_rope(const gyre_rope *rope, const char *name, int64_t head_dim, int64_t batch, int64_t seqlen,
                       bool need_data, Rotation *rotation);

/// The rotation's frequencies: the caller's, or theta's, which `cache` keeps. Errors: OUT_OF_MEMORY.
gyre_status find_frequencies(const Rotation &rotation, gyre_context::Frequencies &cache, const double **inv_freq);

/// Rows of angles, [tokens, 2, pairs]: cosines and sines of a run of tokens.
class Angles {
public:
    /// Finds the kernel and prepares frequencies; `cache` is one of the context's. Errors: UNSUPPORTED, OUT_OF_MEMORY.
    gyre_status prepare(const gyre_context &context, const Rotation &rotation, gyre_context::Frequencies &cache);

    static size_t row_floats(const Rotation &rotation) { return 2 * static_cast<size_t>(rotation.pairs); }
    /// Bytes of scratch memory that fill() needs for a run of `tokens`, the kernel's included.
    size_t scratch_bytes(int64_t tokens) const;

    /// Writes the rows of tokens [first, first + tokens) of a batch entry; `scratch` as scratch_bytes() says. False:
    /// the kernel failed. Several threads may fill different rows at once.
    bool fill(const Positions &positions, int64_t batch, int64_t first, int64_t tokens, float *rows,
              char *scratch) const;

private:
    void copy_rows(const Positions &positions, int64_t batch, int64_t first, int64_t tokens, float *rows) const;

    const Rotation *rotation = nullptr;
    const Kernel *kernel = nullptr;
    const double *inv_freq = nullptr;
    size_t kernel_bytes = 0;
};

} // namespace gyre
