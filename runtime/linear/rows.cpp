#include "linear/rows.h"

#include "core/argument_tables.h"
#include "core/kernel_arguments.h"

namespace gyre {
namespace {

const halide_type_t f32 = halide_type(GYRE_F32);

Buffer view(const HeadRows &r, int64_t count) {
    return Buffer(r.heads.at(r.batch, r.token, r.head), halide_type(r.heads.dtype),
                  {{r.heads.dim, 1}, {count, r.heads.token_stride}});
}
Buffer view(const Rows &r, int64_t features, int64_t count) {
    return Buffer(r.first, f32, {{features, 1}, {count, r.stride}});
}
Buffer view(const RowNumbers &n, int64_t count) { return Buffer(n.first, f32, {{count, n.stride}}); }

template <typename Table>
bool call(const LinearPart &part, char *scratch, KernelArguments<Table> &arguments) {
    Slab slab(scratch, part.workspace);
    return arguments.call(*part.kernel, slab);
}

bool divide_by_product(const LinearPart &part, char *scratch, Buffer &a, Buffer &b, Buffer &x, Buffer &product,
                       Buffer &out) {
    using A = NormsArguments;
    KernelArguments<A> arguments;
    arguments[A::a] = &a;
    arguments[A::b] = &b;
    arguments[A::x] = &x;
    arguments[A::product] = &product;
    arguments[A::out] = &out;
    return call(part, scratch, arguments);
}

TokenRun run_of(const HeadRows &r) {
    TokenRun run(r.heads, r.batch, r.token);
    run.data = r.heads.at(r.batch, r.token, r.head);
    return run;
}
TokenRun run_of(const float *rows, int64_t stride) {
    const Heads heads{reinterpret_cast<char *>(const_cast<float *>(rows)), GYRE_F32, 1, 1, 1, stride, 0, stride, 0};
    return TokenRun(heads, 0, 0);
}

} // namespace

bool RowKernels::load(const HeadRows &from, int64_t count, float *rows) const {
    const HeadRotation copy{kernels.load, 0, 0, 1, false};
    return copy.run(run_of(from), run_of(rows, stride()), count, 1, from.heads.dim, nullptr, scratch);
}

bool RowKernels::store(const float *rows, int64_t count, const HeadRows &to) const {
    const HeadRotation copy{kernels.store, 0, 0, 1, false};
    return copy.run(run_of(rows, stride()), run_of(to), count, 1, to.heads.dim, nullptr, scratch);
}

bool RowKernels::map(const HeadRows &from, int64_t count, float *rows) const {
    Buffer x = view(from, count), out = view(Rows{rows, stride()}, from.heads.dim, count);
    using A = FeaturesArguments;
    KernelArguments<A> arguments;
    arguments[A::x] = &x;
    arguments[A::out] = &out;
    return call(kernels.features, scratch, arguments);
}

bool RowKernels::rotate(const float *from, float *to, int64_t count, int64_t dim, const Rotation &rotation,
                        const float *angles, float direction) const {
    const HeadRotation turn{kernels.rotary, 0, rotation.pairs, direction, from == to};
    return turn.run(run_of(from, stride()), run_of(to, stride()), count, 1, dim, angles, scratch);
}

bool RowKernels::store_gradient(const HeadRows &x, const float *product, RowNumbers weight, Rows sums, int64_t count,
                                const HeadRows &to) const {
    const int64_t dim = x.heads.dim;
    Buffer from = view(x, count), products = view(Rows{const_cast<float *>(product), stride()}, dim, count);
    Buffer all_sums = view(sums, dim, count), weights = view(weight, count), out = view(to, count);
    using A = SlopesArguments;
    KernelArguments<A> arguments;
    arguments[A::x] = &from;
    arguments[A::product] = &products;
    arguments[A::sums] = &all_sums;
    arguments[A::weight] = &weights;
    arguments[A::out] = &out;
    return call(kernels.slopes, scratch, arguments);
}

bool RowKernels::divide(Rows a, Rows b, Rows x, int64_t count, float *product, const HeadRows &to) const {
    Buffer first = view(a, features_, count), second = view(b, features_, count);
    Buffer rows = view(x, to.heads.dim, count), products = view(RowNumbers{product}, count), out = view(to, count);
    return divide_by_product(kernels.norms, scratch, first, second, rows, products, out);
}

bool RowKernels::divide(Rows a, Rows b, Rows x, int64_t features, int64_t count, float *product, Rows to) const {
    Buffer first = view(a, features_, count), second = view(b, features_, count);
    Buffer rows = view(x, features, count), products = view(RowNumbers{product}, count);
    Buffer out = view(to, features, count);
    return divide_by_product(kernels.norms_in_f32, scratch, first, second, rows, products, out);
}

bool RowKernels::sum(Rows x, RowNumbers weight, Rows before, int64_t count, Rows to) const {
    Buffer rows = view(x, features_, count), start = view(before, features_, count), weights = view(weight, count);
    Buffer out = view(to, features_, count);
    using A = SumsArguments;
    KernelArguments<A> arguments;
    arguments[A::x] = &rows;
    arguments[A::before] = &start;
    arguments[A::weight] = &weights;
    arguments[A::out] = &out;
    return call(kernels.sums, scratch, arguments);
}

bool RowKernels::form_panels(Rows rows, int64_t count, float *panels) const {
    const int64_t lanes = kernels.key_lanes, whole = ceil_div(count, lanes);
    Buffer x(rows.first, f32, {{features_, 1}, {lanes, rows.stride}, {whole, lanes * rows.stride}});
    Buffer out(panels, f32, {{lanes, 1}, {features_, lanes}, {whole, features_ * lanes}});
    using A = PanelsArguments;
    KernelArguments<A> arguments;
    arguments[A::x] = &x;
    arguments[A::out] = &out;
    return call(kernels.panels, scratch, arguments);
}

bool RowKernels::attend(Rows q, const float *panels, Rows v, const float *state, int64_t count, Rows to) const {
    const int64_t lanes = kernels.key_lanes, tile = kernels.tile, tiles = ceil_div(count, tile);
    const int32_t causal = panels != nullptr, stateful = state != nullptr;
    static const float nothing[1] = {0};
    Buffer rows = view(q, features_, tiles * tile);
    Buffer keys(panels ? panels : nothing, f32,
                {{lanes, 1}, {features_, lanes}, {kernels.chunk / lanes, features_ * lanes}});
    Buffer values = view(v, features_, kernels.chunk);
    Buffer states(state ? state : nothing, f32, {{features_, 1}, {features_, stride()}});
    Buffer out(to.first, f32, {{features_, 1}, {tile, to.stride}, {tiles, tile * to.stride}});
    using A = LinearArguments;
    KernelArguments<A> arguments;
    arguments[A::q] = &rows;
    arguments[A::k_panels] = &keys;
    arguments[A::v] = &values;
    arguments[A::state] = &states;
    arguments[A::causal] = &causal;
    arguments[A::stateful] = &stateful;
    arguments[A::out] = &out;
    return call(kernels.linear, scratch, arguments);
}

bool RowKernels::add(Rows k, Rows v, int64_t count, float *state) const {
    Buffer keys = view(k, features_, count), values = view(v, features_, count);
    Buffer sums(state, f32, {{features_, 1}, {features_, stride()}});
    using A = OuterArguments;
    KernelArguments<A> arguments;
    arguments[A::k] = &keys;
    arguments[A::v] = &values;
    arguments[A::state] = &sums;
    return call(kernels.outer, scratch, arguments);
}

} // namespace gyre
