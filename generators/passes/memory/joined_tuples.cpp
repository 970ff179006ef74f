#include "joined_tuples.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// "state" of "state.3"; empty if that is no element of a Tuple.
std::string tuple_of(const std::string &name) {
    const size_t dot = name.rfind('.');
    const bool numbered = dot != std::string::npos && dot + 1 < name.size() &&
                          name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
    return numbered ? name.substr(0, dot) : std::string();
}

/// Moves all uses of elements, by their names, to the allocation that holds them in this order.
class UseJoined : public IRMutator {
public:
    UseJoined(const std::string &joined, const std::vector<std::string> &elements, int size)
        : joined(joined), elements(elements), size(size) {}

private:
    using IRMutator::visit;
    const std::string &joined;
    const std::vector<std::string> &elements;
    const int size;

    std::optional<int> offset_of(const std::string &name) const {
        const auto place = std::find(elements.begin(), elements.end(), name);
        if (place == elements.end()) return {};
        return static_cast<int>(place - elements.begin()) * size;
    }
    Expr moved(const Expr &index, int offset) {
        return simplify(mutate(index) + make_const(index.type(), int64_t{offset}));
    }
    Expr visit(const Load *op) override {
        const auto offset = offset_of(op->name);
        if (!offset) return IRMutator::visit(op);
        return Load::make(op->type, joined, moved(op->index, *offset), {}, {}, mutate(op->predicate), {});
    }
    Stmt visit(const Store *op) override {
        const auto offset = offset_of(op->name);
        if (!offset) return IRMutator::visit(op);
        return Store::make(joined, mutate(op->value), moved(op->index, *offset), {}, mutate(op->predicate), {});
    }
    Stmt visit(const Free *op) override { return offset_of(op->name) ? Evaluate::make(0) : Stmt(op); } // at the end
};

class JoinTuples : public IRMutator {
public:
    explicit JoinTuples(int most_on_stack) : most_on_stack(most_on_stack) {}
    JoinTuples(const std::string &func, int apart) : func(func), apart(apart) {}

private:
    using IRMutator::visit;
    const int most_on_stack = 0;
    const std::string func; // empty: any
    const int apart = 0;    // 0: one after the other

    Stmt visit(const Allocate *op) override {
        const std::string joined = tuple_of(op->name);
        const int size = op->constant_allocation_size();
        std::vector<std::string> elements;
        Stmt body = op;
        for (const Allocate *next = op; next; next = body.as<Allocate>()) {
            if (joined.empty() || (!func.empty() && joined != func) || tuple_of(next->name) != joined ||
                next->type != op->type || next->constant_allocation_size() != size ||
                next->memory_type != op->memory_type || !is_const_one(next->condition))
                break;
            elements.push_back(next->name);
            body = next->body;
        }
        if (elements.size() < 2 || size <= 0) return IRMutator::visit(op);
        const int all = apart > 0 ? size : static_cast<int>(elements.size()) * size;
        MemoryType type = all * op->type.bytes() > most_on_stack ? MemoryType::Heap : op->memory_type;
        if (apart > 0) type = MemoryType::Stack;
        body = UseJoined(joined, elements, apart > 0 ? apart : size).mutate(mutate(body));
        return Allocate::make(joined, op->type, type, {Expr(all)}, op->condition, body, op->new_expr, op->free_function,
                              op->padding);
    }
};

} // namespace

void join_tuples(GeneratorBase &generator, int most_on_stack) {
    generator.get_pipeline().add_custom_lowering_pass(new JoinTuples(most_on_stack));
}

void join_tuple(GeneratorBase &generator, const std::string &func, int apart) {
    generator.get_pipeline().add_custom_lowering_pass(new JoinTuples(func, apart));
}

} // namespace gyre
