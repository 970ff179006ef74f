#include "features_algorithm.h"

#include "../../math/feature.h"
#include "../../math/storage.h"

namespace gyre::features {

Stages algorithm(const Halide::Func &x, const Halide::Target &target, const Halide::Func &out) {
    Stages s;
    s.out = out;
    s.out(s.d, s.i) = feature(widen(x(s.d, s.i)), target);
    return s;
}

TensorStages algorithm_of_tensors(const Halide::Func &x, const Halide::Expr &mapped, const Halide::Target &target,
                                  const Halide::Func &out) {
    TensorStages s;
    s.out = out;
    const Halide::Expr number = widen(x(s.d, s.h, s.i, s.z), Bf16::as_casts);
    s.out(s.d, s.h, s.i, s.z) = Halide::select(mapped, feature(number, target), number);
    return s;
}

} // namespace gyre::features
