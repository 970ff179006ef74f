/// Where a task of attention's backward pass keeps what.   Rows are in f32 and longer than heads: padded with zeros, and by a
/// cache line, since at powers of two equal features of all rows would share a few sets of the L1 cache.
#pragma once
#include "core/workspace.h"

#include <cstdint>

namespace gyre {

constexpr int64_t round_to(int64_t n, int64_t multiple) { return ceil_div(n, multiple) * multiple; }

struct BackwardSizes {
    int64_t features = 0, stride = 0; // of a row, and from row to row
    int64_t group = 0, rows = 0;      // heads, and rows of each, in whole blocks
    int64_t keys = 0;                 // of a block
    int64_t run = 0;                  // rows of the result that are loaded at once
    size_t workspace = 0;             // of the kernels
};

struct BackwardMemory {
    float *q, *out_grad, *q_grad;   // [group, rows, stride]
    float *delta, *power, *totals;  // [group, rows]
    float *k, *v, *k_grad, *v_grad; // [keys, stride]
    float *k_panels, *v_panels;     // [keys / lanes, features, lanes]
    float *out, *stored_grad;       // [run, stride]
    char *scratch;
    size_t bytes; // of all

    BackwardMemory(const BackwardSizes &z, char *memory) {
        size_t end = 0;
        const auto take = [&](int64_t floats) {
            char *part = memory ? memory + end : nullptr;
            end += round_up(static_cast<size_t>(floats) * sizeof(float));
            return reinterpret_cast<float *>(part);
        };
        const int64_t all_rows = z.group * z.rows;
        for (float **rows : {&q, &out_grad, &q_grad}) *rows = take(all_rows * z.stride);
        for (float **numbers : {&delta, &power, &totals}) *numbers = take(all_rows);
        for (float **block : {&k, &v, &k_grad, &v_grad}) *block = take(z.keys * z.stride);
        for (float **panels : {&k_panels, &v_panels}) *panels = take(z.keys * z.features);
        for (float **run : {&out, &stored_grad}) *run = take(z.run * z.stride);
        scratch = memory ? memory + end : nullptr;
        bytes = end + round_up(z.workspace);
    }
};

} // namespace gyre
