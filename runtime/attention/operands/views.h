/// What kernels of attention are called with: angles, and rows of keys and values, of a part of a call.
#pragma once
#include "attention/operands/angle_tables.h"
#include "core/kernel_arguments.h"

namespace gyre {

/// Pairs as the kernels take them: two counts, one of them 0.
struct RotatedPairs {
    int32_t half = 0, interleaved = 0;

    RotatedPairs(bool on, const Rotation &r) {
        if (on) (r.pairing == GYRE_HALF ? half : interleaved) = r.pairs;
    }
};

/// Cosine and sine buffers of some tokens; one element where the rotation is off.
struct AngleViews {
    Buffer cos, sin;

    AngleViews(const AngleTable *table, const Sequence &s, int64_t index, int64_t first, int64_t tokens);

private:
    AngleViews(const float *rows, int64_t pairs, int64_t stride, int64_t tokens);
};

/// The pages that hold some keys of a sequence.
struct PageViews {
    Buffer table;
    int32_t bits = 30, first_slot = 0; // of the first page: where the first key is

    PageViews(const PageTable &p, int64_t index, int64_t first_key, int64_t keys);
};

/// Some keys or values of a sequence, as rows that begin at page * page_stride + slot * slot_stride.
struct KeyRows {
    Buffer elements;
    int32_t slot_stride, page_stride = 0;

    /// `t` is the call's k or v, `token` of the batch entry the first of `keys`. In pages, these of the call's whole pool. `heads`: from `head` on,
    /// of rows that have keys of their own.
    KeyRows(const AttentionCall &c, const Heads &t, halide_type_t type, int64_t pool_page_stride, const Sequence &s,
            int64_t token, int64_t head, int64_t keys, int64_t heads = 1);
    /// Dense rows of `dim` elements that begin `stride` elements apart.
    KeyRows(const char *data, halide_type_t type, int64_t dim, int64_t stride, int64_t slots);
};

/// Where some keys and values of a sequence are, and how they are rotated: what all kernels are called with that read them.
struct KeysAndValues {
    PageViews pages;
    AngleViews k_angle, v_angle;
    RotatedPairs k_pairs, v_pairs;
    int32_t keys;

    /// `in_pages` false: rows were put together, wherever the call has them.
    KeysAndValues(const AttentionCall &c, const AngleTables &angles, const Sequence &s, int64_t index,
                  int64_t first_key, int64_t keys, bool in_pages = true);

    template <typename A>
    void add_to(KernelArguments<A> *to, KeyRows *k, KeyRows *v) {
        KernelArguments<A> &arguments = *to;
        arguments[A::k_cos] = &k_angle.cos;
        arguments[A::k_sin] = &k_angle.sin;
        arguments[A::v_cos] = &v_angle.cos;
        arguments[A::v_sin] = &v_angle.sin;
        arguments[A::k_half] = &k_pairs.half;
        arguments[A::k_interleaved] = &k_pairs.interleaved;
        arguments[A::v_half] = &v_pairs.half;
        arguments[A::v_interleaved] = &v_pairs.interleaved;
        arguments[A::keys] = &keys;
        arguments[A::pages] = &pages.table;
        arguments[A::page_bits] = &pages.bits;
        arguments[A::first_slot] = &pages.first_slot;
        arguments[A::k_slot_stride] = &k->slot_stride;
        arguments[A::k_page_stride] = &k->page_stride;
        arguments[A::v_slot_stride] = &v->slot_stride;
        arguments[A::v_page_stride] = &v->page_stride;
        arguments[A::k] = &k->elements;
        arguments[A::v] = &v->elements;
    }
};

} // namespace gyre
