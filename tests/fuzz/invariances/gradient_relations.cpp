#include "../valid/trial.h"
#include "bounds.h"
#include "relation.h"
#include "support/element.h"
#include "support/random.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gyre::fuzz {
namespace {

using test::Dense;

Gradients call(gyre_context *context, const Problem &p, const Dense &out_grad, const Presentation &as = {}) {
    relation_tally().calls += 2;
    return run_backward(context, p, out_grad, as);
}

std::string expect_same(const Gradients &base, const Gradients &other) {
    if (!other.wrong.empty()) return other.wrong;
    if (!same_bits(base.q.data, other.q.data)) return "q_grad has other bits";
    if (!same_bits(base.k.data, other.k.data)) return "k_grad has other bits";
    return same_bits(base.v.data, other.v.data) ? "" : "v_grad has other bits";
}

double norm(const double *x, int64_t dim) {
    double sum = 0;
    for (int64_t d = 0; d < dim; d++) sum += x[d] * x[d];
    return std::sqrt(sum);
}

/// At least sum_i P_ij c_i, where c_i = |do_i|, or |do_i| |q_i|: the gradient of values of a result's gradient that is c_i everywhere,
/// where nothing turns values. The c_i are made 1 and less, and what f16 loses of them is added.
Dense column_sums(gyre_context *context, Problem p, const Dense &out_grad, bool times_queries) {
    p.value_rope.reset();
    if (!p.rope) {
        p.q_positions.clear();
        p.k_positions.clear();
    }
    std::vector<double> numbers;
    for (int64_t row = 0; row < p.batch() * p.queries() * p.heads(); row++) {
        numbers.push_back(norm(out_grad.data.data() + row * p.v.dim, p.v.dim));
        if (times_queries) numbers.back() *= norm(p.q.data.data() + row * p.q.dim, p.q.dim);
    }
    const double largest = std::max(*std::max_element(numbers.begin(), numbers.end()), 1e-30);
    Dense rows = out_grad;
    for (size_t n = 0; n < rows.data.size(); n++) rows.data[n] = numbers[n / (size_t)p.v.dim] / largest;
    Gradients sums = call(context, p, rows);
    if (!sums.wrong.empty()) throw std::runtime_error(sums.wrong);
    for (double &sum : sums.v.data) sum = largest * (1.02 * sum + 0x1p-22);
    return sums.v;
}

AllowedGradients allowed(gyre_context *context, const Problem &p, const Gradients &g, const Dense &out_grad) {
    return allowed_gradients(p, g, out_grad, column_sums(context, p, out_grad, true),
                             column_sums(context, p, out_grad, false));
}

std::string compare_all(const Problem &p, const Gradients &got, const Gradients &expected, const AllowedGradients &a,
                        const AllowedGradients &b) {
    std::string wrong = compare("q_grad", got.q.data, expected.q.data, a.q, b.q, p.dtype);
    if (wrong.empty()) wrong = compare("k_grad", got.k.data, expected.k.data, a.k, b.k, p.dtype);
    if (wrong.empty()) wrong = compare("v_grad", got.v.data, expected.v.data, a.v, b.v, p.dtype);
    return wrong;
}

/// Multiples of 1/8 up to 4, which all types hold, and so they do their sums.
Dense random_gradient(const Problem &p, uint64_t seed) {
    Dense g(p.batch(), p.queries(), p.heads(), p.v.dim);
    test::Random random(seed);
    for (double &number : g.data) number = (double)random.integer(-32, 32) / 8;
    return g;
}

/// Gradients of twice a gradient are twice its gradients: the same bits, but for numbers near the type's smallest.
std::string twice(const TargetContexts &on, const Problem &p, const Dense &out_grad, const Gradients &base, uint16_t) {
    Gradients other = call(on.several, p, scaled(out_grad, 2));
    if (!other.wrong.empty()) return other.wrong;
    const auto compare_halves = [&](const char *name, const Dense &got, const Dense &expected) {
        const std::vector<double> tolerance(expected.data.size(), smallest_of(p.dtype));
        return find_difference(name, scaled(got, 0.5).data, expected.data, tolerance, p.dtype);
    };
    std::string wrong = compare_halves("q_grad", other.q, base.q);
    if (wrong.empty()) wrong = compare_halves("k_grad", other.k, base.k);
    if (wrong.empty()) wrong = compare_halves("v_grad", other.v, base.v);
    return wrong;
}

/// Gradients of a sum are the sums of gradients.
std::string sums(const TargetContexts &on, const Problem &p, const Dense &out_grad, const Gradients &base,
                 uint16_t seed) {
    const Dense more = random_gradient(p, seed);
    Dense sum = out_grad;
    for (size_t n = 0; n < sum.data.size(); n++) sum.data[n] += more.data[n];
    const Gradients of_more = call(on.several, p, more), of_sum = call(on.several, p, sum);
    if (!of_more.wrong.empty() || !of_sum.wrong.empty()) return of_more.wrong + of_sum.wrong;
    Gradients expected = base;
    for (const auto &[to, from] :
         {std::pair(&expected.q, &of_more.q), std::pair(&expected.k, &of_more.k), std::pair(&expected.v, &of_more.v)})
        for (size_t n = 0; n < to->data.size(); n++) to->data[n] += from->data[n];
    const AllowedGradients a = allowed(on.several, p, base, out_grad), c = allowed(on.several, p, of_sum, sum);
    AllowedGradients b = allowed(on.several, p, of_more, more);
    for (const auto &[to, from] : {std::pair(&b.q, &c.q), std::pair(&b.k, &c.k), std::pair(&b.v, &c.v)})
        for (size_t n = 0; n < to->size(); n++) (*to)[n] += (*from)[n];
    return compare_all(p, of_sum, expected, a, b);
}

/// Keys in another order: their gradients are in that order.
std::string permute_keys(const TargetContexts &on, const Problem &p, const Dense &out_grad, const Gradients &base,
                         uint16_t seed) {
    const std::vector<std::vector<int64_t>> order = random_order(p, seed);
    const Problem permuted = p.with_positions().with_order(order);
    const Gradients other = call(on.several, permuted, out_grad);
    if (!other.wrong.empty()) return other.wrong;
    Problem gradients = p; // whose keys are gradients, to be put into that order
    gradients.k = base.k;
    gradients.v = base.v;
    Gradients expected = base;
    expected.k = gradients.with_order(order).k;
    expected.v = gradients.with_order(order).v;
    return compare_all(p, other, expected, allowed(on.alone, permuted, expected, out_grad),
                       allowed(on.alone, permuted, other, out_grad));
}

std::string entries_alone(const TargetContexts &on, const Problem &p, const Dense &out_grad, const Gradients &base,
                          uint16_t) {
    for (int64_t b = 0; b < p.batch(); b++) {
        Gradients expected;
        expected.q = entry_of(base.q, b);
        expected.k = entry_of(base.k, b);
        expected.v = entry_of(base.v, b);
        const Gradients alone = call(b % 2 ? on.alone : on.several, p.with_entry(b), entry_of(out_grad, b));
        const std::string wrong = expect_same(expected, alone);
        if (!wrong.empty()) return "entry " + std::to_string(b) + ": " + wrong;
    }
    return "";
}

std::string present_otherwise(const TargetContexts &on, const Problem &p, const Dense &out_grad, const Gradients &base,
                              uint16_t seed) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(&seed);
    ByteReader r(bytes, sizeof seed);
    const Presentation as = random_presentation(r, p);
    const std::string wrong = expect_same(base, call(on.odd, p, out_grad, as));
    return wrong.empty() ? "" : "layout " + std::to_string(as.layout) + ": " + wrong;
}

struct Relation {
    const char *name;
    std::string (*holds)(const TargetContexts &, const Problem &, const Dense &, const Gradients &, uint16_t seed);
    bool independent_of_order = false;
};

constexpr Relation relations[] = {
    {"gradients of twice a gradient", twice},
    {"gradients of a sum", sums},
    {"gradients of keys in another order", permute_keys, true},
    {"gradients of entries alone", entries_alone},
    {"gradients in other layouts", present_otherwise},
};

} // namespace

std::string try_gradients(ByteReader &r) {
    const Relation &relation = relations[r.below(std::size(relations))];
    ProblemRules rules;
    rules.has_gradients = true;
    rules.may_depend_on_order = !relation.independent_of_order;
    rules.most_keys = 300;
    const Problem p = random_problem(r, rules);
    const Dense out_grad = random_gradient(p, r.number<uint16_t>());
    const auto seed = r.number<uint16_t>();
    const std::string wrong = on_each_target([&](const TargetContexts &on) {
        const Gradients base = call(on.alone, p, out_grad);
        if (!base.wrong.empty()) return base.wrong;
        return relation.holds(on, p, out_grad, base, seed);
    });
    return wrong.empty() ? "" : std::string(relation.name) + ": " + wrong + "\n" + p.text();
}

} // namespace gyre::fuzz
