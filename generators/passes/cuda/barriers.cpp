#include "barriers.h"

#include "filled_rings.h"
#include "run_ahead.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;

Stmt place_barriers(const Stmt &kernel, const Fragments &fragments, const std::set<std::string> &aligned, bool fenced,
                    const CopyingWarps &copying) {
    if (copying.count) return FilledRings(fragments, aligned, fenced, copying).mutate(kernel);
    return RunAhead(fragments, aligned, fenced).mutate(kernel);
}

bool is_staged(const For *loop) {
    const Block *block = loop->body.as<Block>();
    const Evaluate *begin = block ? block->first.as<Evaluate>() : nullptr;
    const Call *call = begin ? begin->value.as<Call>() : nullptr;
    return call && call->name == staged_turn;
}

} // namespace gyre::cuda
