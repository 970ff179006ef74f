/// A good call of gyre_rotary() and the parts that tests of refusals spoil.
#pragma once
#include "refusal.h"
#include "rotary_case.h"

#include <cstdint>
#include <vector>

namespace gyre::test {

/// A copy of a view that a spoiler may change.
inline gyre_tensor *changeable(std::vector<gyre_tensor> &views, const gyre_tensor *view) {
    views.push_back(*view);
    return &views.back();
}

/// A call that succeeds until it is spoilt.
struct RotaryCall {
    RotaryCase c{RotaryShape().batches(2).length(5).head_count(3).dim(16)};
    std::vector<gyre_tensor> views;
    std::vector<double> inv_freq = std::vector<double>(8, 0.5);

    RotaryCall() { views.reserve(8); }
    gyre_tensor &positions(gyre_dtype type = GYRE_I64) {
        Tensor tensor(type, {2, 5});
        tensor.fill_uniform_integers(1, 0, 40);
        gyre_tensor *view = changeable(views, c.hold(std::move(tensor)));
        c.args.positions = view;
        return *view;
    }
    gyre_tensor &table(const gyre_tensor *gyre_rope::*which, std::vector<int64_t> shape, gyre_dtype type = GYRE_F32) {
        Tensor tensor(type, shape);
        tensor.fill(0.5);
        gyre_tensor *view = changeable(views, c.hold(std::move(tensor)));
        c.args.rope.*which = view;
        return *view;
    }
    void tables(std::vector<int64_t> shape) {
        table(&gyre_rope::cos, shape);
        table(&gyre_rope::sin, shape);
    }
    void axes(int32_t count, int32_t first, int32_t second) {
        c.args.rope.axes = count;
        c.args.rope.sections[0] = first;
        c.args.rope.sections[1] = second;
    }
};

inline void check_all_refused(const std::vector<Refusal<RotaryCall>> &refusals) {
    for (const Refusal<RotaryCall> &refusal : refusals) {
        RotaryCall call;
        refusal.spoil(call);
        call.c.out.poison();
        const std::vector<unsigned char> x = call.c.x.memory();
        check_refused(refusal.what, gyre_rotary(nullptr, &call.c.args), refusal.status, refusal.named);
        CHECK(call.c.out.untouched());
        CHECK(call.c.x.memory() == x);
    }
}

} // namespace gyre::test
