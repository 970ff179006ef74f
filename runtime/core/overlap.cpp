#include "core/overlap.h"

#include "core/error.h"
#include "core/reach.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace gyre {
namespace {

/// The bytes from a tensor's lowest element to past its highest.
struct Span {
    const char *begin, *end;

    Span(const void *data, const Reach &reach, gyre_dtype dtype) {
        const auto *first = static_cast<const char *>(data);
        const auto size = static_cast<int64_t>(element_size(dtype));
        begin = first - reach.below * size;
        end = first + (reach.above + 1) * size;
    }

    bool is_apart(const Span &other) const {
        const std::less_equal<const char *> before;
        return before(end, other.begin) || before(other.end, begin);
    }
};

Span span(const Heads &v) {
    Reach reach;
    reach.add(v.batch, v.batch_stride);
    reach.add(v.seqlen, v.token_stride);
    reach.add(v.heads, v.head_stride);
    reach.add(v.dim, 1);
    return {v.data, reach, v.dtype};
}

/// A view as runs of `length` elements that repeat at strides: dense dimensions are part of the run.
struct Runs {
    int64_t length;
    int64_t gap = 0; // greatest common divisor of the strides at which runs repeat; 0: there is one run
    bool self_overlap = false;

    explicit Runs(const Heads &v) : length(v.dim) {
        struct Dimension {
            int64_t stride, extent;
        };
        Dimension dims[] = {{v.head_stride, v.heads}, {v.token_stride, v.seqlen}, {v.batch_stride, v.batch}};
        const auto order = [](Dimension &a, Dimension &b) {
            if (std::abs(b.stride) < std::abs(a.stride)) std::swap(a, b);
        };
        order(dims[0], dims[1]);
        order(dims[1], dims[2]);
        order(dims[0], dims[1]);
        int64_t reach = v.dim;
        for (const Dimension &d : dims) {
            if (d.extent < 2) continue;
            self_overlap |= std::abs(d.stride) < reach;
            if (d.stride == length && gap == 0)
                length *= d.extent;
            else
                gap = std::gcd(gap, d.stride);
            reach += std::abs(d.stride) * (d.extent - 1);
        }
    }
};

/// True if runs of both views can never meet: their places modulo the common gap are apart.
bool interleaved(const Heads &a, const Heads &b) {
    if (a.dtype != b.dtype) return false;
    const Runs r(a);
    const Runs s(b);
    const int64_t gap = std::gcd(r.gap, s.gap);
    const int64_t bytes = b.data - a.data;
    const auto size = static_cast<int64_t>(element_size(a.dtype));
    if (gap == 0 || bytes % size) return false;
    const int64_t offset = (bytes / size % gap + gap) % gap; // of b's runs behind a's
    return r.length <= offset && offset + s.length <= gap;
}

} // namespace

bool writable(const Heads &v) { return v.empty() || !Runs(v).self_overlap; }

bool disjoint(const Heads &a, const Heads &b) {
    if (a.empty() || b.empty() || !a.data || !b.data) return true;
    return span(a).is_apart(span(b)) || interleaved(a, b);
}

bool disjoint(const gyre_tensor &t, const Heads &v) {
    if (v.empty() || !v.data || !t.data || std::find(t.shape, t.shape + t.rank, 0) != t.shape + t.rank) return true;
    return span(v).is_apart({t.data, reach_of(t), t.dtype});
}

gyre_status ReadsApart::check(const gyre_tensor &t, const char *name) const {
    for (const Written &w : written)
        if (!disjoint(t, *w.view)) return refuse(GYRE_BAD_ARGUMENT, name, "overlaps %s, expected other memory", w.name);
    return GYRE_OK;
}

bool same_or_disjoint(const Heads &a, const Heads &b) {
    const bool same = a.data == b.data && a.dtype == b.dtype && a.dim == b.dim &&
                      (a.batch <= 1 || a.batch_stride == b.batch_stride) &&
                      (a.seqlen <= 1 || a.token_stride == b.token_stride) &&
                      (a.heads <= 1 || a.head_stride == b.head_stride);
    return same || disjoint(a, b);
}

} // namespace gyre
