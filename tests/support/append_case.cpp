#include "append_case.h"
#include "compare.h"
#include "each_kernel.h"
#include "on_device.h"
#include "oracle_append.h"
#include "random.h"

#include <algorithm>
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
    args.k = k.view();
    args.v = v.view();
    args.k_cache = k_cache.view();
    args.v_cache = v_cache.view();
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
            if (page < 0) {
                page = free.back();
                free.pop_back();
            }
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
    const uint64_t k_before = k.fingerprint(), v_before = v.fingerprint();
    k_cache.poison();
    v_cache.poison();
    const gyre_status status = is_on_device(context) ? run_on_device(context) : gyre_cache_append(context, &args);
    CHECK_MESSAGE((k.fingerprint() == k_before && v.fingerprint() == v_before),
                  "k or v was written, or memory around them");
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
    compare("k_cache", oracle_appended_keys(args), k_cache);
    compare("v_cache", oracle_appended_values(args), v_cache);
}

void AppendCase::compare(const char *name, const OracleAppended &expected, const Tensor &cache) const {
    const Tensor untouched(cache.dtype(), cache.shape()); // all poison
    const std::vector<uint64_t> bits = cache.bits(), poison = untouched.bits();
    std::vector<double> got = cache.values();
    size_t written_by_mistake = 0;
    for (size_t i = 0; i < got.size(); i++) {
        if (expected.written[i]) continue;
        written_by_mistake += bits[i] != poison[i];
        got[i] = expected.exact[i];
    }
    check_within(name, got, expected.exact, expected.allowed);
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
