#include "loop_ranges.h"

#include "../loop_name.h"
#include "carried.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class LimitLoops : public IRMutator {
public:
    explicit LimitLoops(const std::map<std::string, LoopRange> &ranges) : ranges(ranges) {}

private:
    const std::map<std::string, LoopRange> &ranges;
    std::vector<std::string> arrays; // that are in scope
    using IRMutator::visit;

    Stmt visit(const Allocate *op) override {
        arrays.push_back(op->name);
        const Stmt same = IRMutator::visit(op);
        arrays.pop_back();
        return same;
    }

    /// Element `index` of the Tuple that a Func is, in registers.
    Expr number(const For *loop, const LoopRange &range, int index) const {
        const std::string array = array_of(range.func, index, arrays);
        _halide_user_assert(!array.empty()) << "CUDA: the loop " << loop->name << " has a range in " << range.func
                                            << ", which is not computed around it\n";
        return Load::make(Int(32), array, 0, Buffer<>(), Parameter(), const_true(), ModulusRemainder());
    }

    Stmt visit(const For *op) override {
        const auto found = ranges.find(variable_of_loop(op->name));
        if (found == ranges.end() || is_gpu(op->for_type)) return IRMutator::visit(op);
        const Expr first = max(op->min, number(op, found->second, found->second.first));
        const Expr end = min(op->min + op->extent, number(op, found->second, found->second.end));
        return For::make(op->name, first, end - first, op->for_type, op->partition_policy, op->device_api,
                         mutate(op->body));
    }
};

} // namespace

Stmt limit_loops(const Stmt &nest, const std::map<std::string, LoopRange> &ranges) {
    return ranges.empty() ? nest : LimitLoops(ranges).mutate(nest);
}

} // namespace gyre::cuda
