/// Where a task of linear attention keeps what, all of it in rows (rows.h).
#pragma once
#include "core/workspace.h"

#include <cstdint>

namespace gyre {

struct LinearSizes {
    int64_t features = 0, stride = 0; // of a row
    int64_t chunk = 0;                // tokens at once
    int64_t heads = 1;                // key heads of a task
    bool rotated = false;             // keys and queries are
    int64_t kept_rows = 0;            // backward: queries of a task
    bool backward = false;
    size_t workspace = 0; // of the kernels
};

struct LinearMemory {
    // [chunk, stride]: features, rotated ones (the same without rotation), values, sums of features, results
    float *k, *k_rotated, *q, *q_rotated, *v, *sums, *rows;
    float *panels;                   // [chunk / lanes, features, lanes]
    float *ones, *dots, *other_dots; // [chunk]
    float *kv_states;                // [heads, features, stride]  of k and v
    float *k_states;                 // [heads, stride]

    // Backward
    float *out_grad, *k_grad, *v_grad, *other_sums; // [chunk, stride]
    float *q_state;                                 // [features, stride]  of q and the divided gradients of the result
    float *q_state_transposed;                      // [features, stride]
    float *q_sum;                                   // [stride]  of weighted q
    float *kept_grads, *kept_weights;               // [kept_rows, stride], [kept_rows]  and room for a chunk

    char *scratch;
    size_t bytes; // of all

    LinearMemory(const LinearSizes &z, char *memory) {
        size_t end = 0;
        const auto take = [&](int64_t floats) {
            char *part = memory ? memory + end : nullptr;
            end += round_up(static_cast<size_t>(floats) * sizeof(float));
            return reinterpret_cast<float *>(part);
        };
        const int64_t rows_size = z.chunk * z.stride, state_size = z.features * z.stride;
        k = take(rows_size);
        q = take(rows_size);
        k_rotated = z.rotated ? take(rows_size) : k;
        q_rotated = z.rotated ? take(rows_size) : q;
        v = take(rows_size);
        sums = take(rows_size);
        rows = take(rows_size);
        panels = take(z.chunk * z.features);
        ones = take(z.chunk);
        dots = take(z.chunk);
        other_dots = take(z.chunk);
        kv_states = take(z.heads * state_size);
        k_states = take(z.heads * z.stride);
        const int64_t backward = z.backward ? 1 : 0;
        for (float **part : {&out_grad, &k_grad, &v_grad, &other_sums}) *part = take(backward * rows_size);
        for (float **part : {&q_state, &q_state_transposed}) *part = take(backward * state_size);
        q_sum = take(backward * z.stride);
        kept_grads = take((z.kept_rows + backward * z.chunk) * z.stride);
        kept_weights = take(z.kept_rows + backward * z.chunk);
        scratch = memory ? memory + end : nullptr;
        bytes = end + round_up(z.workspace);
    }
};

} // namespace gyre
