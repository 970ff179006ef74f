#include "device_loops.h"

#include "../loop_name.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class FindExtents : public IRVisitor {
public:
    Extents grid, block;

private:
    using IRVisitor::visit;
    void visit(const For *op) override {
        if (is_gpu(op->for_type)) {
            _halide_user_assert(is_const_zero(op->min)) << "CUDA: the loop " << op->name << " does not begin at 0\n";
            _halide_user_assert(op->for_type != ForType::GPULane)
                << "CUDA: the loop " << op->name << " over lanes: expected blocks and threads\n";
            Extents &extents = op->for_type == ForType::GPUBlock ? grid : block;
            const char axis = variable_of_loop(op->name).back(); // block_id_x … thread_id_z
            (axis == 'x' ? extents.x : axis == 'y' ? extents.y : extents.z) = op->extent;
        }
        IRVisitor::visit(op);
    }
};

} // namespace

int DeviceLoops::threads() const {
    const auto count = as_const_int(simplify(block.x * block.y * block.z));
    return count ? static_cast<int>(*count) : 0;
}

DeviceLoops read_device_loops(const For *nest, const std::map<std::string, int> &by_value) {
    FindExtents extents;
    Stmt(nest).accept(&extents);
    DeviceLoops loops{nest, extents.grid, extents.block, {}};
    HostClosure closure;
    closure.include(nest->body, nest->name);
    for (const DeviceArgument &a : closure.arguments()) {
        const auto found = by_value.find(a.name);
        loops.arguments.push_back({a.name, a.type, a.is_buffer, a.write, found == by_value.end() ? 0 : found->second});
    }
    return loops;
}

} // namespace gyre::cuda
