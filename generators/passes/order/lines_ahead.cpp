#include "lines_ahead.h"

#include "../instructions/prefetched_lines.h"
#include "../loop_mutator.h"
#include "../loop_name.h"

#include <algorithm>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class AskAhead : public LoopMutator {
public:
    AskAhead(const std::string &func, const std::string &loop, const OutputImageParam &tensor,
             const std::function<Asked(const LoopValues &)> &lines, const std::string &around)
        : LoopMutator("there is no loop " + loop + " of " + func + " to ask for lines in"), func(func), loop(loop),
          around(around), tensor(tensor), lines(lines) {}

private:
    const std::string func, loop, around;
    const OutputImageParam tensor;
    const std::function<Asked(const LoopValues &)> lines;
    std::vector<std::string> loops; // around the statement

    Expr value(const std::string &name) const {
        for (auto outer = loops.rbegin(); outer != loops.rend(); ++outer)
            if (variable_of_loop(*outer) == name) return Variable::make(Int(32), *outer);
        _halide_user_error << "loop " << loop << " of " << func << " is in no loop " << name << "\n";
        return {};
    }

    Stmt request(const LineAhead &line) const {
        const Expr begin = Load::make(Int(32), line.offsets.name(), simplify(line.row), Buffer<>(), Parameter(),
                                      const_true(), ModulusRemainder());
        return ask_for_line(Variable::make(Handle(), tensor.name()),
                            cast<int64_t>(begin + simplify(line.element)) * tensor.type().bytes());
    }

    Stmt request(const RowsAhead &rows) const {
        const std::string loop_of_rows = unique_name("row_ahead");
        const Expr row = Variable::make(Int(32), loop_of_rows);
        std::vector<Stmt> lines_of_row;
        for (int element = 0; element < rows.elements; element += cache_line_bytes / tensor.type().bytes())
            lines_of_row.push_back(request(LineAhead{rows.offsets, row, element}));
        return For::make(loop_of_rows, simplify(rows.first), simplify(rows.count), ForType::Serial, Partition::Never,
                         DeviceAPI::None, Block::make(lines_of_row));
    }

    bool is_around() const {
        return around.empty() || std::any_of(loops.begin(), loops.end(),
                                             [&](const std::string &name) { return variable_of_loop(name) == around; });
    }

    using LoopMutator::visit;
    Stmt visit(const For *op) override {
        loops.push_back(op->name);
        Stmt body = mutate(op->body);
        if (func_of_loop(op->name) == func && variable_of_loop(op->name) == loop && is_around()) {
            found = true;
            const Asked asked = lines([this](const std::string &name) { return value(name); });
            std::vector<Stmt> requests;
            for (const LineAhead &line : asked.lines) requests.push_back(request(line));
            for (const RowsAhead &rows : asked.rows) requests.push_back(request(rows));
            for (const Expr &place : asked.places)
                requests.push_back(ask_for_line(Variable::make(Handle(), tensor.name()),
                                                cast<int64_t>(simplify(place)) * tensor.type().bytes()));
            const Stmt all = Block::make(requests);
            body = Block::make(is_const_one(asked.where) ? all : IfThenElse::make(asked.where, all), body);
        }
        loops.pop_back();
        return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, body);
    }
};

/// The first elements of the dense vectors of a tensor that a statement reads, in terms of what is known before the statement.
class DenseReads : public IRVisitor {
public:
    explicit DenseReads(const std::string &tensor) : tensor(tensor) {}
    std::vector<Expr> first;

private:
    const std::string tensor;
    std::vector<std::pair<std::string, Expr>> lets; // around the expression

    template <typename T>
    void visit_let(const T *op) {
        op->value.accept(this);
        lets.emplace_back(op->name, op->value);
        op->body.accept(this);
        lets.pop_back();
    }

    using IRVisitor::visit;
    void visit(const Let *op) override { visit_let(op); }
    void visit(const LetStmt *op) override { visit_let(op); }
    void visit(const Load *op) override {
        IRVisitor::visit(op);
        const auto *places = op->index.as<Ramp>();
        if (op->name != tensor || !places || !is_const_one(places->stride)) return;
        Expr place = places->base;
        for (auto let = lets.rbegin(); let != lets.rend(); ++let) place = substitute(let->first, let->second, place);
        const auto same = [&](const Expr &other) { return equal(other, place); };
        if (std::none_of(first.begin(), first.end(), same)) first.push_back(place);
    }
};

class HasLoop : public IRVisitor {
public:
    bool found = false;

private:
    using IRVisitor::visit;
    void visit(const For *) override { found = true; }
};

class AskFurtherOn : public LoopMutator {
public:
    AskFurtherOn(const std::string &func, const OutputImageParam &tensor, const Expr &distance)
        : LoopMutator(func + " reads no vector of " + tensor.name() + " to ask further on for"), func(func),
          tensor(tensor), distance(distance) {}

private:
    const std::string func;
    const OutputImageParam tensor;
    const Expr distance;

    using LoopMutator::visit;
    Stmt visit(const For *op) override {
        HasLoop inner;
        op->body.accept(&inner);
        if (inner.found || func_of_loop(op->name) != func) return LoopMutator::visit(op);
        DenseReads reads(tensor.name());
        op->body.accept(&reads);
        if (reads.first.empty()) return op;
        found = true;
        std::vector<Stmt> turn;
        for (const Expr &place : reads.first)
            turn.push_back(ask_for_line(Variable::make(Handle(), tensor.name()),
                                        (cast<int64_t>(place) + cast<int64_t>(distance)) * tensor.type().bytes()));
        turn.push_back(op->body);
        return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api,
                         Block::make(turn));
    }
};

} // namespace

void ask_ahead(GeneratorBase &generator, const Func &of, const std::string &loop, const OutputImageParam &tensor,
               const std::function<Asked(const LoopValues &)> &lines, const std::string &around) {
    generator.get_pipeline().add_custom_lowering_pass(new AskAhead(of.name(), loop, tensor, lines, around));
}

void ask_further_on(GeneratorBase &generator, const Func &of, const OutputImageParam &tensor, const Expr &distance) {
    generator.get_pipeline().add_custom_lowering_pass(new AskFurtherOn(of.name(), tensor, distance));
}

} // namespace gyre
