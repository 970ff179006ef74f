#include "carried.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

constexpr char carried_value[] = "gyre_carried";

class ReadCarried : public IRMutator {
    std::vector<std::string> scope;
    using IRMutator::visit;

    Stmt visit(const Allocate *op) override {
        scope.push_back(op->name);
        const Stmt same = IRMutator::visit(op);
        scope.pop_back();
        return same;
    }
    Expr visit(const Call *op) override {
        if (op->name != carried_value) return IRMutator::visit(op);
        const std::string func = op->args[0].as<StringImm>()->value;
        const int index = static_cast<int>(op->args[1].as<IntImm>()->value);
        const std::string array = array_of(func, index, scope);
        _halide_user_assert(!array.empty()) << "CUDA: what " << func << " carries is read where it is not computed\n";
        return Load::make(op->type, array, simplify(mutate(op->args[2])), Buffer<>(), Parameter(), const_true(),
                          ModulusRemainder());
    }
};

} // namespace

Expr carried(const std::string &func, int index, const Type &type, const std::vector<Expr> &place,
             const std::vector<int> &extents, const Expr &turn) {
    Expr at = 0;
    for (size_t i = place.size(); i > 0; i--) at = at * (i <= extents.size() ? extents[i - 1] : 1) + place[i - 1];
    return Call::make(type, carried_value, {StringImm::make(func), index, at, turn}, Call::PureExtern);
}

std::string array_of(const std::string &func, int index, const std::vector<std::string> &scope) {
    const std::string begin = func + "." + std::to_string(index);
    for (const std::string &name : scope)
        if (name == begin || name.rfind(begin + ".", 0) == 0) return name;
    return "";
}

Stmt read_carried(const Stmt &nest) { return ReadCarried().mutate(nest); }

} // namespace gyre::cuda
