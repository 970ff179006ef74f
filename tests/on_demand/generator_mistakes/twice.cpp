// twice(i) = times x(i), in vectors of `lanes`.
#include <Halide.h>

class Twice : public Halide::Generator<Twice> {
public:
    Input<Halide::Buffer<float, 1>> x{"x"};
    Output<Halide::Buffer<float, 1>> out{"out"};
    GeneratorParam<int> times{"times", 2}, lanes{"lanes", 4, 1, 16};

    void generate() {
        Halide::Var i("i");
        out(i) = static_cast<float>(times) * x(i);
        out.vectorize(i, lanes, Halide::TailStrategy::GuardWithIf);
        x.set_estimates({{0, 1000}});
        out.set_estimates({{0, 1000}});
    }
};

HALIDE_REGISTER_GENERATOR(Twice, twice)
