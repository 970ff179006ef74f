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

} // namespace gyre::features
