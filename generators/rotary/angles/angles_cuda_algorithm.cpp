#include "angles_cuda_algorithm.h"

namespace gyre::angles {
using namespace Halide;

CudaStages cuda_algorithm(const CudaInputs &in, const Func &table) {
    CudaStages s;
    s.table = table;
    const Var &i = s.i, &t = s.t, &z = s.z;
    s.both = Func("both");
    s.both(i, t, z) = cuda::angle_at(in.angles, in.positions, i, t, z, t);
    s.table(i, s.c, t, z) = mux(s.c, {s.both(i, t, z)[0], s.both(i, t, z)[1]});
    return s;
}

} // namespace gyre::angles
