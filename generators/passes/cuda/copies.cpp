#include "copies.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// A statement taken apart: what stands around all that follows it, or beside it, and the copies.
class TakeCopies {
public:
    Stmt rebuilt() const {
        Stmt all = Evaluate::make(0);
        if (!copies.empty()) all = Block::make(copies);
        for (size_t i = before.size(); i-- > 0;) {
            if (const LetStmt *let = before[i].as<LetStmt>())
                all = LetStmt::make(let->name, let->value, all);
            else
                all = Block::make(before[i], all);
        }
        return all;
    }

    void take(const Stmt &s) {
        if (const Block *block = s.as<Block>()) {
            take(block->first);
            take(block->rest);
        } else if (const LetStmt *let = s.as<LetStmt>()) {
            before.push_back(LetStmt::make(let->name, let->value, Evaluate::make(0)));
            take(let->body);
        } else if (const ProducerConsumer *op = s.as<ProducerConsumer>()) {
            take(op->body);
        } else if (const Store *store = s.as<Store>(); store && read_copy(store).from) {
            take_copy(store);
        } else {
            before.push_back(s);
        }
    }

private:
    std::vector<Stmt> before, copies;

    void take_copy(const Store *store) {
        const Copy copy = read_copy(store);
        const Expr to = known(store->index, "to"), from = known(copy.from->index, "from");
        const Expr load = Load::make(copy.from->type, copy.from->name, from, copy.from->image, copy.from->param,
                                     copy.from->predicate, copy.from->alignment);
        const Stmt moved = Store::make(store->name, load, to, store->param, store->predicate, store->alignment);
        copies.push_back(as_copy(moved.as<Store>(), copy.aligned));
    }

    /// `index` with its first element computed before the copies.
    Expr known(const Expr &index, const std::string &what) {
        const Ramp *ramp = index.as<Ramp>(); // none: of a word
        const std::string name = "copy_" + what + "." + std::to_string(copies.size());
        before.push_back(LetStmt::make(name, ramp ? ramp->base : index, Evaluate::make(0)));
        const Expr first = Variable::make(Int(32), name);
        return ramp ? Ramp::make(first, ramp->stride, ramp->lanes) : first;
    }
};

} // namespace

Stmt statement_of(const char *name, const std::vector<Expr> &arguments) {
    return Evaluate::make(Call::make(Int(32), name, arguments, Call::Extern));
}

Stmt commit_copies() { return statement_of(commit_call); }

Stmt wait_for_copies(int later) { return statement_of(wait_call, {later}); }

Stmt fence_copies() { return statement_of(fence_call); }

Stmt wait_for_threads() {
    return Evaluate::make(Call::make(Int(32), Call::gpu_thread_barrier, {IntImm::make(Int(32), 0)}, Call::Intrinsic));
}

bool is_barrier(const Stmt &s) {
    const Evaluate *op = s.as<Evaluate>();
    const Call *call = op ? op->value.as<Call>() : nullptr;
    return call && call->is_intrinsic(Call::gpu_thread_barrier);
}

Stmt as_copy(const Store *store, bool aligned) {
    const Expr value = Call::make(store->value.type(), copied_value, {store->value, Expr(aligned)}, Call::PureExtern);
    return Store::make(store->name, value, store->index, store->param, store->predicate, store->alignment);
}

Copy read_copy(const Store *store) {
    const Call *call = store->value.as<Call>();
    if (!call || call->name != copied_value) return {nullptr, false};
    return {call->args[0].as<Load>(), is_const_one(call->args[1])};
}

Stmt with_copies_last(const std::vector<Stmt> &statements) {
    TakeCopies all;
    for (const Stmt &s : statements) all.take(s);
    return all.rebuilt();
}

} // namespace gyre::cuda
