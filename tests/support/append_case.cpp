#include "append_case.h"
#include "compare.h"
#include "each_kernel.h"
#include "element.h"
#include "on_device.h"
#include "random.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

namespace gyre::test {
namespace {

bool packed(const AppendShape &s) { return s.layout == GYRE_THD; }

std::vector<int64_t> new_shape(const AppendShape &s, int64_t dim) {
    if (packed(s)) return {std::accumulate(s.added.begin(), s.added.end(), int64_t{0}), s.heads, dim};
    return shape_in(s.layout, s.sequences(), s.added[0], s.heads, dim);
}

int64_t pages_of(const AppendShape &s) { return s.page_size ? s.capacity / s.page_size : 0; }

std::vector<int64_t> cache_shape(const AppendShape &s, int64_t dim) {
    const bool in_pages = s.page_size > 0;
    return shape_in(s.cache_layout, in_pages ? s.sequences() * pages_of(s) + 1 : s.sequences(),
                    in_pages ? s.page_size : s.capacity, s.heads, dim);
}

} // namespace

AppendCase::AppendCase(const AppendShape &given, uint64_t seed)
    : shape(given), k(shape.dtype, new_shape(shape, shape.head_dim), shape.k_placement),
      v(shape.dtype, new_shape(shape, shape.v_head_dim)),
      k_cache(shape.cache_dtype, cache_shape(shape, shape.head_dim), shape.cache_placement),
      v_cache(shape.cache_dtype, cache_shape(shape, shape.v_head_dim)), args(gyre_cache_append_defaults()) {
    k.fill_normal(seed);
    v.fill_normal(seed + 1);
    args.layout = shape.layout;
    args.cache_layout = shape.cache_layout;
    args.k = k.view(), args.v = v.view(), args.k_cache = k_cache.view(), args.v_cache = v_cache.view();
    args.cache_seqlens = hold(GYRE_I32, std::vector<double>(shape.held.begin(), shape.held.end()));
    if (packed(shape)) {
        std::vector<double> ends{0};
        for (const int64_t tokens : shape.added) ends.push_back(ends.back() + (double)tokens);
        args.cu_seqlens_k = hold(GYRE_I32, ends);
    }
    if (!shape.page_size) return;
    std::vector<int64_t> free((size_t)(shape.sequences() * pages() + 1));
    std::iota(free.begin(), free.end(), 0);
    Random random(seed + 2);
    for (size_t i = free.size(); i > 1; i--) std::swap(free[i - 1], free[(size_t)random.integer(0, (int64_t)i - 1)]);
    table.assign((size_t)(shape.sequences() * pages()), -700000000);
    for (int64_t b = 0; b < shape.sequences(); b++) {
        const int64_t held = shape.held[(size_t)b];
        for (int64_t key = held; key < std::min(held + shape.added_to(b), shape.capacity); key++) {
            int64_t &page = table[(size_t)(b * pages() + key / shape.page_size)];
            if (page < 0) page = free.back(), free.pop_back();
        }
    }
    args.page_table = hold(GYRE_I32, std::vector<double>(table.begin(), table.end()), {shape.sequences(), pages()});
}

int64_t AppendCase::pages() const { return pages_of(shape); }

std::pair<int64_t, int64_t> AppendCase::place(int64_t sequence, int64_t key) const {
    if (!shape.page_size) return {sequence, key};
    return {table[(size_t)(sequence * pages() + key / shape.page_size)], key % shape.page_size};
}

std::vector<int64_t> AppendCase::element(int64_t entry, int64_t slot, int64_t head, int64_t feature) const {
    if (shape.cache_layout == GYRE_BHSD) return {entry, head, slot, feature};
    return {entry, slot, head, feature};
}

gyre_status AppendCase::run(gyre_context *context) {
    const std::vector<unsigned char> k_before = k.memory(), v_before = v.memory();
    k_cache.poison();
    v_cache.poison();
    const gyre_status status = is_on_device(context) ? run_on_device(context) : gyre_cache_append(context, &args);
    CHECK_MESSAGE((k.memory() == k_before && v.memory() == v_before), "k or v was written, or memory around them");
    for (const Tensor *t : {&k_cache, &v_cache})
        CHECK_MESSAGE(t->surroundings_intact(), "memory around a cache was written");
    return status;
}

gyre_status AppendCase::run_on_device(gyre_context *context) {
    OnDevice device;
    for (Tensor *t : {&k, &v, &k_cache, &v_cache}) device.add(*t);
    gyre_cache_append_args there = args;
    for (gyre_tensor *t : {&there.k, &there.v, &there.k_cache, &there.v_cache}) *t = device.view(*t);
    for (const gyre_tensor **t : {&there.cu_seqlens_k, &there.cache_seqlens, &there.page_table, &there.positions})
        *t = device.view(*t);
    for (const gyre_rope **rope : {&there.rope, &there.value_rope}) *rope = device.view(*rope);
    const gyre_status status = gyre_cache_append(context, &there);
    device.fetch();
    return status;
}

void AppendCase::check() {
    each_target([&](gyre_context *context) { check_with(context); });
}

void AppendCase::check_on_devices() {
    each_device([&](gyre_context *context) { check_with(context); });
}

void AppendCase::check_with(gyre_context *context) {
    const std::string description = describe();
    CAPTURE(description);
    REQUIRE_MESSAGE(run(context) == GYRE_OK, text(gyre_last_error()));
    CAPTURE(text(gyre_selected_kernel(context)));
    compare(k, k_cache, args.rope, true);
    compare(v, v_cache, args.value_rope, false);
}

void AppendCase::compare(const Tensor &from, const Tensor &cache, const gyre_rope *rope, bool with_factor) const {
    const Dense x(from.view(), shape.layout);
    std::vector<double> slots; // where keys stand whose positions are not given
    for (int64_t b = 0; b < shape.sequences(); b++)
        for (int64_t i = 0; i < shape.added_to(b); i++) slots.push_back((double)(shape.held[(size_t)b] + i));
    OracleRotation rotation;
    if (rope)
        rotation = OracleRotation(*rope, x.dim, x.batch, x.seqlen,
                                  resolve_positions(args.positions, rope->axes, x.batch, x.seqlen, slots), with_factor);
    const double factor = rope && with_factor && !rope->cos ? std::max(1.0, rope->attention_factor) : 1;
    Tensor expected(cache.dtype(), cache.shape()); // all poison
    const std::vector<double> got = cache.values();
    const std::vector<uint64_t> got_bits = cache.bits();
    std::vector<double> allowed(got.size(), 0), exact(got.size(), NAN);
    const auto index = [&](const std::vector<int64_t> &at) {
        size_t flat = 0;
        for (size_t d = 0; d < at.size(); d++) flat = flat * (size_t)cache.shape()[d] + (size_t)at[d];
        return flat;
    };
    int64_t token = 0;
    for (int64_t b = 0; b < shape.sequences(); b++)
        for (int64_t i = 0; i < shape.added_to(b); i++, token++) {
            const int64_t entry = packed(shape) ? 0 : b, at = packed(shape) ? token : i;
            const auto [page, slot] = place(b, shape.held[(size_t)b] + i);
            for (int64_t h = 0; h < x.heads; h++) {
                std::vector<double> head(x.head(entry, at, h), x.head(entry, at, h) + x.dim);
                std::vector<double> tolerance(head.size(), 0);
                for (int64_t pair = 0; pair < rotation.pairs(); pair++) {
                    const auto p = (size_t)rotation.left(pair), q = (size_t)rotation.right(pair);
                    tolerance[p] = tolerance[q] = (2e-6 + 2e-7) * factor * (std::fabs(head[p]) + std::fabs(head[q]));
                }
                if (rope) rotation.apply(head.data(), entry, at);
                const size_t first = index(element(page, slot, h, 0));
                for (int64_t d = 0; d < x.dim; d++) {
                    const auto f = (size_t)d;
                    const size_t flat = first + f;
                    const bool rotated = tolerance[f] > 0;
                    exact[flat] = rotated ? head[f] : rounded(cache.dtype(), head[f]);
                    allowed[flat] = rotated ? tolerance[f] + rounding_of(cache.dtype(), head[f]) : 0;
                }
            }
        }
    const std::vector<uint64_t> poison = expected.bits();
    std::vector<double> excess(got.size(), 0); // error beyond what is allowed
    size_t written_by_mistake = 0;
    for (size_t i = 0; i < got.size(); i++) {
        if (std::isnan(exact[i]))
            written_by_mistake += got_bits[i] != poison[i];
        else
            excess[i] = std::max(0.0, difference(got[i], exact[i]) - allowed[i]);
    }
    check_close("error beyond the allowed one", excess, std::vector<double>(excess.size(), 0.0), 0);
    CHECK(written_by_mistake == 0);
}

std::string AppendCase::describe() const {
    static const char *const layouts[] = {"bshd", "bhsd", "thd"}, *const types[] = {"f32", "f16", "bf16"};
    std::ostringstream text;
    text << types[shape.dtype] << " to " << types[shape.cache_dtype] << " " << layouts[shape.layout] << " to "
         << layouts[shape.cache_layout] << " page_size=" << shape.page_size << " held=";
    for (const int64_t keys : shape.held) text << keys << ",";
    text << " added=";
    for (const int64_t tokens : shape.added) text << tokens << ",";
    text << " h=" << shape.heads << " d=" << shape.head_dim << "/" << shape.v_head_dim;
    for (const gyre_rope *rope : {args.rope, args.value_rope})
        if (rope)
            text << (rope == args.rope ? " rope" : " value_rope")
                 << (rope->pairing == GYRE_HALF ? "=half" : "=interleaved") << " rotary_dim=" << rope->rotary_dim
                 << " rotary_offset=" << rope->rotary_offset;
    return text.str();
}

} // namespace gyre::test
