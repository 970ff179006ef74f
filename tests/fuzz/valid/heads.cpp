#include "heads.h"
#include "support/dense.h"
#include "support/random.h"

namespace gyre::fuzz {

std::vector<int64_t> Extents::shape() const { return test::shape_in(layout, batch, tokens, heads, dim); }

size_t Extents::index(int64_t b, int64_t token, int64_t head, int64_t feature) const {
    const int64_t row = layout == GYRE_BHSD ? (b * heads + head) * tokens + token : (b * tokens + token) * heads + head;
    return (size_t)(row * dim + feature);
}

std::vector<bool> Extents::of_tokens(const std::vector<bool> &tokens_of_all_entries) const {
    std::vector<bool> all((size_t)count());
    for (int64_t b = 0; b < batch; b++)
        for (int64_t t = 0; t < tokens; t++)
            for (int64_t h = 0; h < heads; h++)
                for (int64_t d = 0; d < dim; d++)
                    all[index(b, t, h, d)] = tokens_of_all_entries[(size_t)(b * tokens + t)];
    return all;
}

gyre_dtype random_dtype(ByteReader &r) { return r.pick<gyre_dtype>({GYRE_F32, GYRE_F16, GYRE_BF16}); }
gyre_layout random_layout(ByteReader &r) { return r.pick<gyre_layout>({GYRE_BSHD, GYRE_BHSD, GYRE_THD}); }

std::vector<double> random_numbers(ByteReader &r, int64_t count) {
    const double scale = r.pick<double>({1, 1, 1, 1, 0.01, 6});
    return test::normal_numbers(r.number<uint16_t>(), count, scale);
}

Input &random_heads(ByteReader &r, Store &store, const Extents &extents, gyre_dtype dtype) {
    return random_heads(r, store, extents, dtype, random_numbers(r, extents.count()), true);
}

Input &random_heads(ByteReader &r, Store &store, const Extents &extents, gyre_dtype dtype,
                    const std::vector<double> &numbers, bool may_repeat) {
    PlacementRules rules;
    rules.may_repeat = may_repeat;
    return store.read(dtype, extents.shape(), random_placement(r, extents.shape(), rules), numbers);
}

Output &random_output(ByteReader &r, Store &store, const char *name, const Extents &extents, gyre_dtype dtype) {
    return store.write(name, dtype, extents.shape(), random_placement(r, extents.shape(), {}));
}

} // namespace gyre::fuzz
