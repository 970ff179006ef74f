/// What a kernel of a block of rows and a block of keys is called with, whether it adds to gradients or to the weights' totals.
#pragma once
#include "attention/call/visible_keys.h"
#include "backward/kernels.h"
#include "backward/memory.h"
#include "core/argument_tables.h"
#include "core/kernel_arguments.h"

namespace gyre {

/// What a block of rows sees of a block of keys.
struct BlockSight {
    int32_t rows, keys;
    VisibleKeys visible;
    bool nothing;
};

/// A task's memory in the tiles and lanes that a kernel counts in dimensions of their own.
struct BlockViews {
    const BlockKernel &b;
    const BackwardSizes &z;

    Buffer rows(float *data, int64_t extent) const {
        return Buffer(data, halide_type(GYRE_F32),
                      {{z.features, 1}, {b.tile, z.stride}, {extent / b.tile, b.tile * z.stride}});
    }
    Buffer panels(float *data) const {
        return Buffer(data, halide_type(GYRE_F32),
                      {{b.key_lanes, 1}, {z.features, b.key_lanes}, {b.keys / b.key_lanes, z.features * b.key_lanes}});
    }
    Buffer numbers(float *data) const {
        return Buffer(data, halide_type(GYRE_F32), {{b.tile, 1}, {b.rows / b.tile, b.tile}});
    }
};

/// It must outlive the call.
struct BlockArguments {
    Buffer q, k_panels, power;
    int32_t feature_tiles, head_dim;
    float alibi;

    /// row: the block's first, of all heads' rows.
    BlockArguments(const BlockViews &views, const BackwardMemory &m, int64_t row, int64_t head_dim, float alibi)
        : q(views.rows(m.q + row * views.z.stride, views.b.rows)), k_panels(views.panels(m.k_panels)),
          power(views.numbers(m.power + row)), feature_tiles(static_cast<int32_t>(views.z.features / views.b.features)),
          head_dim(static_cast<int32_t>(head_dim)), alibi(alibi) {}

    void add_to(KernelArguments<BackwardArguments> *to, const BlockSight &seen, const AttentionCall &c) {
        using A = BackwardArguments;
        KernelArguments<A> &arguments = *to;
        arguments[A::q] = &q;
        arguments[A::k_panels] = &k_panels;
        arguments[A::lse] = &power;
        arguments[A::rows] = &seen.rows;
        arguments[A::keys] = &seen.keys;
        arguments[A::feature_tiles] = &feature_tiles;
        arguments[A::head_dim] = &head_dim;
        arguments[A::scale] = &c.scale;
        arguments[A::first_visible] = &seen.visible.first;
        arguments[A::last_visible] = &seen.visible.last;
        arguments[A::alibi] = &alibi;
        arguments[A::alibi_origin] = &seen.visible.origin;
    }
};

} // namespace gyre
