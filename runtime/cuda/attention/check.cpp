// What AttentionOnDevice takes, and what it refuses.
#include "attention/check/check.h"
#include "core/kernel_call.h"
#include "cuda/attention/attention.h"
#include "cuda/attention/score_tensors.h"

#include <algorithm>
#include <cmath>

namespace gyre::cuda {
namespace {

constexpr double least_scale = 1e-20, most_scale = 1e8; // so that a masked score's power is 0, and finite before
constexpr int64_t most_tile_rows = 256;                 // of any kernel

} // namespace

gyre_status AttentionOnDevice::refuse_unsupported() const {
    const std::pair<bool, const char *> no_kernel_takes[] = {{args.value_order != GYRE_VALUES_IN_ROWS, "value_order"},
                                                             {args.prepared_mask, "prepared_mask"}};
    for (const auto &[given, name] : no_kernel_takes)
        if (given) return refuse(GYRE_UNSUPPORTED, name, "no kernel of a CUDA device takes %s", name);
    return GYRE_OK;
}

/// Refuses a call that no kernel takes, by the argument that asks for more than others.
gyre_status AttentionOnDevice::fail_without_kernel(const gyre_context &context) const {
    const auto scores = usable_scores(context, GYRE_CUDA);
    if (call.score && std::find(scores.begin(), scores.end(), call.score) == scores.end())
        return refuse_score(call.score, scores);
    const auto dim = static_cast<long long>(call.q.dim);
    const char *with = call.score ? ", with this score" : call.dropout.on ? ", with dropout" : "";
    return refuse(GYRE_UNSUPPORTED, "q", "no linked kernel of a CUDA device takes %s with head sizes %lld and %lld%s",
                  dtype_name(call.q.dtype), dim, static_cast<long long>(call.v.dim), with);
}

gyre_status AttentionOnDevice::check_reach() const {
    for (const auto &[t, name] :
         {std::pair(&call.q, "q"), std::pair(&call.k, "k"), std::pair(&call.v, "v"), std::pair(&call.out, "out")}) {
        const bool of_pages = args.page_table && (t == &call.k || t == &call.v);
        if (!of_pages && !in_reach(*t, 1))
            return refuse(GYRE_UNSUPPORTED, name, "one batch entry reaches over 2^31 elements");
        if (of_pages && !in_reach(pool(*t), call.pages.pages))
            return refuse(GYRE_UNSUPPORTED, name, "pages reach over 2^31 elements");
    }
    for (const auto &[t, name] : {std::pair(&call.bias, "bias"), std::pair(&call.mask, "mask")})
        if (!in_reach(call, *t, 1)) return refuse(GYRE_UNSUPPORTED, name, "one batch entry reaches over 2^31 elements");
    Heads tiles = call.out;
    tiles.seqlen = most_rows(most_tile_rows, 1);
    if (!in_reach(tiles, 1)) return refuse(GYRE_UNSUPPORTED, "out", "packed sequences reach over 2^31 elements");
    return GYRE_OK;
}

gyre_status AttentionOnDevice::check(bool need_data) {
    GYRE_TRY(refuse_unsupported());
    GYRE_TRY(adopt_tensors(tensors, &device));
    GYRE_TRY(score_inputs.adopt(&args, &device));
    needs_data = need_data;
    GYRE_TRY(check_attention(args, need_data, &call, true, false));
    if (need_data) GYRE_TRY(check_data(tensors));
    const double scale = std::abs(static_cast<double>(call.scale));
    if (scale < least_scale || scale > most_scale)
        return refuse(GYRE_UNSUPPORTED, "scale", "got %g, on CUDA devices expected a magnitude in %g .. %g",
                      static_cast<double>(call.scale), least_scale, most_scale);
    return check_reach();
}

/// Keys or values as the pages that they are in.
Heads AttentionOnDevice::pool(const Heads &keys) const {
    Heads pages = keys;
    pages.batch = call.pages.pages;
    pages.seqlen = int64_t{1} << call.pages.bits;
    pages.batch_stride = &keys == &call.k ? call.pages.k_page_stride : call.pages.v_page_stride;
    return pages;
}

/// Query heads that share a key head.
int64_t AttentionOnDevice::group() const { return call.sharing(); }

/// Rows of all tiles of `rows` rows, `fold` of each query: a packed sequence may begin and end within one.
int64_t AttentionOnDevice::most_rows(int64_t rows, int64_t fold) const {
    const int64_t all = call.q.seqlen * fold;
    return args.cu_seqlens_q ? (all / rows + call.sequences) * rows : all;
}

} // namespace gyre::cuda
