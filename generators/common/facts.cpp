#include "facts.h"

#include <algorithm>
#include <fstream>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// Every block of the runtime's workspace starts on a cache line and leaves room for a vector read past its end.
constexpr int64_t alignment = 64, padding = 128;

/// What a kernel gets whose schedule an autoscheduler made, which knows no bounds: enough to measure it with.
constexpr int64_t autoscheduled_workspace = int64_t{256} << 20;

/// Measures the largest sum of heap allocations along any path of the loop nest. Changes nothing.
class MeasureWorkspace : public IRMutator {
public:
    MeasureWorkspace(std::string path, Facts facts, bool autoscheduled)
        : path(std::move(path)), facts(std::move(facts)), autoscheduled(autoscheduled) {}

    Stmt mutate(const Stmt &s) override {
        if (depth++ > 0) {
            Stmt same = IRMutator::mutate(s);
            depth--;
            return same;
        }
        Stmt same = IRMutator::mutate(s);
        depth--;
        std::ofstream out(path);
        out << '"';
        for (const auto &[name, value] : facts) out << name << '=' << value << ' ';
        out << "workspace=" << (autoscheduled ? autoscheduled_workspace : peak) << "\"\n";
        _halide_user_assert(out.good()) << "cannot write the kernel's facts to " << path << "\n";
        return same;
    }

protected:
    using IRMutator::mutate;
    using IRMutator::visit;

    Stmt visit(const LetStmt *op) override {
        return bound(op->name, op->value, [&] { return IRMutator::visit(op); });
    }
    Expr visit(const Let *op) override {
        return bound(op->name, op->value, [&] { return IRMutator::visit(op); });
    }

    Stmt visit(const Allocate *op) override {
        if (autoscheduled) return IRMutator::visit(op);
        int64_t elements = 1;
        for (const Expr &extent : op->extents) {
            const Expr most = find_constant_bound(extent, Direction::Upper, scope);
            const auto value = most.defined() ? as_const_int(most) : std::nullopt;
            _halide_user_assert(value) << "allocation " << op->name << " has no constant bound: extent " << extent
                                       << "\n";
            elements *= std::max<int64_t>(*value, 1);
        }
        const int64_t bytes = elements * op->type.bytes();
        const bool on_stack = op->memory_type == MemoryType::Stack || op->memory_type == MemoryType::Register ||
                              op->memory_type == MemoryType::AMXTile;
        const int64_t cost = on_stack ? 0 : (bytes + alignment - 1) / alignment * alignment + padding;
        live += cost;
        peak = std::max(peak, live);
        Stmt same = IRMutator::visit(op);
        live -= cost;
        return same;
    }

private:
    const std::string path;
    const Facts facts;
    const bool autoscheduled;
    Scope<Interval> scope;
    int depth = 0;
    int64_t live = 0, peak = 0;

    template <typename Body>
    auto bound(const std::string &name, const Expr &value, Body &&body) -> decltype(body()) {
        if (value.type() != Int(32)) return body();
        ScopedBinding<Interval> bind(scope, name, find_constant_bounds(value, scope));
        return body();
    }
};

} // namespace

void publish_facts(GeneratorBase &generator, const std::string &path, const Facts &facts, bool autoscheduled) {
    if (path.empty()) return;
    generator.get_pipeline().add_custom_lowering_pass(new MeasureWorkspace(path, facts, autoscheduled));
}

} // namespace gyre
