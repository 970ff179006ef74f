#include "prefetched_lines.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// The request for line `n` of those that begin where `first` does.
Stmt request(const Call *first, const Expr &n) {
    const Expr buffer = first->args[0], index = first->args[1];
    return ask_for_line(buffer, cast<int64_t>(simplify(index)) * first->type.bytes() +
                                    simplify(cast<int64_t>(n) * cache_line_bytes));
}

const Call *as_prefetch(const Stmt &s) {
    const auto *evaluated = s.as<Evaluate>();
    const Call *call = evaluated ? evaluated->value.as<Call>() : nullptr;
    return call && call->is_intrinsic(Call::prefetch) ? call : nullptr;
}

class MapPrefetches : public IRMutator {
    using IRMutator::visit;

    Stmt visit(const Evaluate *op) override {
        const Call *call = as_prefetch(op);
        return call ? request(call, 0) : op;
    }

    Stmt visit(const For *loop) override {
        if (loop->name.find("prefetch_split") == std::string::npos) return IRMutator::visit(loop);
        const Stmt first = substitute(loop->name, loop->min, loop->body);
        const Call *call = as_prefetch(first);
        _halide_user_assert(call && call->args.size() == 4)
            << "a loop of prefetches has another body: " << first << "\n";
        const auto count = as_const_int(loop->extent);
        if (!count) {
            const Expr n = Variable::make(Int(32), loop->name);
            return For::make(loop->name, 0, loop->extent, loop->for_type, loop->partition_policy, loop->device_api,
                             request(call, n));
        }
        std::vector<Stmt> lines;
        for (int n = 0; n < *count; n++) lines.push_back(request(call, n));
        return Block::make(lines);
    }
};

} // namespace

Stmt ask_for_line(const Expr &memory, const Expr &byte) {
    const Expr address = reinterpret(Handle(), reinterpret<uint64_t>(memory) + cast<uint64_t>(byte));
    const int read = 0, all_caches = 3, data = 1;
    return Evaluate::make(Call::make(Int(32), "llvm.prefetch.p0", {address, read, all_caches, data}, Call::Extern));
}

Expr may_begin_within_lines(const OutputImageParam &tensor, const Expr &stride) {
    const Expr first = reinterpret<uint64_t>(Variable::make(Handle(), tensor.name()));
    const Expr apart = cast<uint64_t>(cast<int64_t>(stride) * tensor.type().bytes());
    return ((first | apart) & cast<uint64_t>(cache_line_bytes - 1)) != cast<uint64_t>(0);
}

void map_prefetches(GeneratorBase &generator) { generator.get_pipeline().add_custom_lowering_pass(new MapPrefetches); }

} // namespace gyre
