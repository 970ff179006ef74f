#include "facts.h"

#include "../passes/memory/allocation_bounds.h"
#include "../passes/memory/workspace_slots.h"

#include <algorithm>
#include <fstream>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// Every block of the runtime's workspace starts on a cache line and leaves room for a vector read past its end.
constexpr int64_t alignment = 64, runtime_padding = 128;

/// Without an operating system the state of a single row stays on the stack: in a slot it would be kept twice.
constexpr int64_t bare_state_of_row = 320;

/// What a kernel gets whose schedule an autoscheduler made, which knows no bounds: enough to measure it with.
constexpr int64_t autoscheduled_workspace = int64_t{256} << 20;

/// Measures the largest sum of heap allocations along any path of the loop nest. Changes nothing.
class MeasureWorkspace : public AllocationBounds {
public:
    MeasureWorkspace(std::string path, Facts facts, bool autoscheduled, int64_t padding)
        : path(std::move(path)), facts(std::move(facts)), autoscheduled(autoscheduled), padding(padding) {}

    Stmt mutate(const Stmt &s) override {
        if (depth++ > 0) {
            Stmt same = AllocationBounds::mutate(s);
            depth--;
            return same;
        }
        Stmt same = AllocationBounds::mutate(s);
        depth--;
        std::ofstream out(path);
        out << '"';
        for (const auto &[name, value] : facts) out << name << '=' << value << ' ';
        out << "workspace=" << (autoscheduled ? autoscheduled_workspace : peak) << "\"\n";
        _halide_user_assert(out.good()) << "cannot write the kernel's facts to " << path << "\n";
        return same;
    }

protected:
    using AllocationBounds::mutate;
    using AllocationBounds::visit;

    Stmt visit(const Allocate *op) override {
        if (autoscheduled) return AllocationBounds::visit(op);
        const int64_t bytes = most_bytes(op);
        const bool on_stack = op->memory_type == MemoryType::Stack || op->memory_type == MemoryType::Register ||
                              op->memory_type == MemoryType::AMXTile;
        const int64_t cost = on_stack ? 0 : (bytes + alignment - 1) / alignment * alignment + padding;
        live += cost;
        peak = std::max(peak, live);
        Stmt same = AllocationBounds::visit(op);
        live -= cost;
        return same;
    }

private:
    const std::string path;
    const Facts facts;
    const bool autoscheduled;
    const int64_t padding; // of each allocation
    int depth = 0;
    int64_t live = 0, peak = 0;
};

} // namespace

void publish_facts(GeneratorBase &generator, const std::string &path, const Facts &facts, bool autoscheduled) {
    const Target target = generator.context().target();
    if (!autoscheduled && target.os == Target::NoOS)
        use_workspace_slots(generator, bare_state_of_row, true);
    else if (!autoscheduled && !target.has_gpu_feature())
        use_workspace_slots(generator);
    if (path.empty()) return;
    const int64_t padding = target.os == Target::NoOS ? 0 : runtime_padding; // whose one allocation the caller gives
    generator.get_pipeline().add_custom_lowering_pass(new MeasureWorkspace(path, facts, autoscheduled, padding));
}

} // namespace gyre
