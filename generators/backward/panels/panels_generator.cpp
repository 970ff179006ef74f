// Binds signature, algorithm and schedule of panels. No arithmetic and no loop order here.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "../../passes/instructions/lane_shuffles.h"
#include "panels_schedules.h"

namespace gyre::panels {

class PanelsGenerator : public Halide::Generator<PanelsGenerator> {
public:
    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    DeclaredArguments arguments;
#include "panels_arguments.inc"

    void configure() { arguments.declare(*this); }

    void generate() {
        const int block = natural_vector_size<float>();
        for (int d : {0, 1, 2}) {
            x.dim(d).set_min(0);
            out.dim(d).set_min(0);
        }
        for (int d : {0, 1}) out.dim(d).set_extent(out.dim(d).extent() / block * block);
        Stages stages = algorithm(x, block, out);
        schedule_cpu(stages);
        map_lane_rounds(*this);
        publish_facts(*this, facts, {{"block", block}});
    }
};

} // namespace gyre::panels

HALIDE_REGISTER_GENERATOR(gyre::panels::PanelsGenerator, panels)
