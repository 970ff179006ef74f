/// Outputs beside inputs in one packed array are accepted; outputs that share memory with an input or themselves are
/// not.
#include "support/doctest.h"

#include <gyre/gyre.h>

#include <utility>
#include <vector>

namespace {

/// Slots of one array [batch 2, tokens 5, slots 3, heads 4, dim 16], as projections of q, k and v often leave them.
struct Packed {
    std::vector<float> memory = std::vector<float>(2 * 5 * 3 * 4 * 16, 0.25f);

    gyre_tensor slot(int index, gyre_layout layout) {
        const int64_t bshd[4] = {2, 5, 4, 16}, strides[4] = {5 * 192, 192, 16, 1};
        gyre_tensor t = gyre_tensor_dense(memory.data() + index * 64, GYRE_F32, 4, bshd);
        for (int i = 0; i < 4; i++) t.strides[i] = strides[i];
        if (layout == GYRE_BSHD) return t;
        std::swap(t.shape[1], t.shape[2]);
        std::swap(t.strides[1], t.strides[2]);
        return t;
    }
};

} // namespace

TEST_CASE("slots of a packed array do not overlap, in any layout") {
    for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD}) {
        Packed p;
        gyre_attention_args a = gyre_attention_defaults();
        a.layout = layout;
        a.q = a.out = p.slot(0, layout);
        a.k = p.slot(1, layout);
        a.v = p.slot(2, layout);
        CHECK(gyre_attention(nullptr, &a) == GYRE_OK);
        gyre_rotary_args r = gyre_rotary_defaults();
        r.layout = layout;
        r.x = p.slot(0, layout);
        r.out = p.slot(2, layout);
        CHECK(gyre_rotary(nullptr, &r) == GYRE_OK);
    }
}

TEST_CASE("an output that meets an input or itself is refused, and nothing is written") {
    Packed p;
    const std::vector<float> before = p.memory;
    gyre_attention_args a = gyre_attention_defaults();
    a.q = p.slot(0, GYRE_BSHD);
    a.k = p.slot(1, GYRE_BSHD);
    a.v = a.out = p.slot(2, GYRE_BSHD);
    CHECK(gyre_attention(nullptr, &a) == GYRE_BAD_ARGUMENT);
    a.out = p.slot(0, GYRE_BSHD);
    a.out.data = p.memory.data() + 32; // half of q's heads, half of k's
    CHECK(gyre_attention(nullptr, &a) == GYRE_BAD_ARGUMENT);
    a.out = p.slot(0, GYRE_BSHD);
    a.out.strides[2] = 0;
    CHECK(gyre_attention(nullptr, &a) == GYRE_BAD_SHAPE);

    gyre_rotary_args r = gyre_rotary_defaults();
    r.x = r.out = p.slot(0, GYRE_BSHD);
    r.x.strides[1] = r.out.strides[1] = 0;
    CHECK(gyre_rotary(nullptr, &r) == GYRE_BAD_SHAPE);
    r.x = p.slot(0, GYRE_BSHD);
    r.out = p.slot(0, GYRE_BSHD);
    r.out.data = p.memory.data() + 16; // one head further
    CHECK(gyre_rotary(nullptr, &r) == GYRE_BAD_ARGUMENT);
    CHECK(p.memory == before);
}

TEST_CASE("tensors that meet in one element overlap, and those that end where others begin do not") {
    std::vector<float> memory(400, 0.25f);
    const auto view = [&](int64_t first, int64_t heads, int64_t head_stride) {
        const int64_t shape[4] = {1, 1, heads, 16};
        gyre_tensor t = gyre_tensor_dense(memory.data() + first, GYRE_F32, 4, shape);
        t.strides[2] = head_stride;
        return t;
    };
    const auto rotated = [&](const gyre_tensor &x, const gyre_tensor &out) {
        gyre_rotary_args r = gyre_rotary_defaults();
        r.x = x;
        r.out = out;
        return gyre_rotary(nullptr, &r);
    };
    for (const int64_t heads : {1, 3}) { // one run, and runs beside those of the other
        const int64_t stride = heads == 1 ? 16 : 32;
        CHECK(rotated(view(100, heads, stride), view(116, heads, stride)) == GYRE_OK);
        CHECK(rotated(view(100, heads, stride), view(115, heads, stride)) == GYRE_BAD_ARGUMENT);
        CHECK(rotated(view(116, heads, stride), view(100, heads, stride)) == GYRE_OK);
        CHECK(rotated(view(115, heads, stride), view(100, heads, stride)) == GYRE_BAD_ARGUMENT);
    }
    CHECK(rotated(view(200, 3, 16), view(0, 3, 16)) == GYRE_OK);
    CHECK(rotated(view(200, 3, 16), view(0, 3, 15)) == GYRE_BAD_SHAPE);
    CHECK(rotated(view(0, 2, 16), view(0, 2, 16)) == GYRE_OK);
    CHECK(rotated(view(0, 2, 16), view(0, 2, 32)) == GYRE_BAD_ARGUMENT);
}
