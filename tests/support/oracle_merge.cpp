#include "oracle_merge.h"
#include "element.h"
#include "tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gyre::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Relative errors that f32 arithmetic leaves in powers and sums, and a rounding's.
constexpr double f32_error = 2e-6, f32_rounding = 0x1p-24;

/// Powers below it are 0.
constexpr double least_power = 0x1p-126;

gyre_tensor part_of(gyre_tensor t, int64_t stride, int32_t part) {
    t.data = static_cast<char *>(t.data) + stride * part * element_size(t.dtype);
    return t;
}

} // namespace

OracleMerge oracle_merge(const gyre_attention_merge_args &args) {
    std::vector<Dense> outs;
    std::vector<std::vector<double>> lses;
    for (int32_t p = 0; p < args.parts; p++) {
        outs.emplace_back(part_of(args.part_out, args.part_out_stride, p), args.layout);
        lses.push_back(values_of(part_of(args.part_lse, args.part_lse_stride, p)));
    }
    const gyre_tensor &o = args.out;
    const bool packed = args.layout == GYRE_THD, heads_first = args.layout == GYRE_BHSD;
    const int64_t tokens = packed ? o.shape[0] : o.shape[heads_first ? 2 : 1];
    const int64_t heads = packed ? o.shape[1] : o.shape[heads_first ? 1 : 2];
    Dense zeros(packed ? 1 : o.shape[0], tokens, heads, o.shape[o.rank - 1]);
    OracleMerge result{zeros, zeros.data, {}, {}};
    for (int64_t b = 0; b < zeros.batch; b++)
        for (int64_t h = 0; h < heads; h++)
            for (int64_t i = 0; i < tokens; i++) {
                const auto row = (size_t)((b * heads + h) * tokens + i);
                double top = -infinity, sum = 0, size = 0;
                bool has_nan = false;
                for (const std::vector<double> &lse : lses) {
                    has_nan = has_nan || std::isnan(lse[row]);
                    top = std::max(top, lse[row]);
                    if (lse[row] != -infinity) size = std::max(size, std::fabs(lse[row]));
                }
                const bool any = has_nan || top != -infinity;
                for (size_t p = 0; p < lses.size() && any; p++) sum += std::exp(lses[p][row] - top);
                const double merged = has_nan ? NAN : any ? top + std::log(sum) : -infinity;
                result.lse.push_back(merged);
                result.lse_allowed.push_back(any ? f32_error + 2 * rounding_of(GYRE_F32, size + 1) : 0);
                double *const out = result.out.head(b, i, h);
                std::vector<double> magnitude((size_t)zeros.dim), lost((size_t)zeros.dim);
                for (size_t p = 0; p < lses.size(); p++) {
                    if (lses[p][row] == -infinity) continue;
                    const double weight = std::exp(lses[p][row] - merged);
                    for (int64_t d = 0; d < zeros.dim; d++) {
                        const double number = outs[p].head(b, i, h)[d], term = weight * number;
                        out[d] += term;
                        magnitude[(size_t)d] += std::fabs(term);
                        lost[(size_t)d] += least_power * std::fabs(number);
                    }
                }
                const double relative = f32_error + std::expm1(8 * f32_rounding * size);
                for (int64_t d = 0; d < zeros.dim; d++)
                    result.out_allowed[(size_t)(out + d - result.out.data.data())] =
                        rounded_error(o.dtype, out[d], relative * magnitude[(size_t)d] + lost[(size_t)d]);
            }
    return result;
}

} // namespace gyre::test
