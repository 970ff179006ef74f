// Which conditions a warp has as a whole.
#include "warp_nest.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

bool is_first(const Expr &condition, const char *index) {
    const LT *less = condition.as<LT>();
    const Variable *v = less ? less->a.as<Variable>() : nullptr;
    return v && v->name == index && is_const_one(less->b);
}

bool is_thread_index(const Expr &e) {
    if (const Max *both = e.as<Max>()) return is_thread_index(both->a) && is_thread_index(both->b);
    const Variable *v = e.as<Variable>();
    return v && (v->name == lane_index || v->name == warp_index);
}

} // namespace

bool is_for_warp(const Expr &condition, Expr *rest) {
    if (const And *both = condition.as<And>()) {
        Expr a, b;
        const bool first = is_for_warp(both->a, &a), second = is_for_warp(both->b, &b);
        *rest = a.defined() && b.defined() ? a && b : a.defined() ? a : b;
        return first || second;
    }
    const bool found = is_first(condition, lane_index);
    *rest = found ? Expr() : condition;
    return found;
}

Expr for_all_threads(const Expr &condition) {
    if (const And *both = condition.as<And>()) {
        const Expr a = for_all_threads(both->a), b = for_all_threads(both->b);
        return a.defined() && b.defined() ? a && b : a.defined() ? a : b;
    }
    const LT *less = condition.as<LT>();
    return less && is_const_one(less->b) && is_thread_index(less->a) ? Expr() : condition;
}

} // namespace gyre::cuda
