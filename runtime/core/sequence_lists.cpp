#include "core/sequence_lists.h"

#include "core/error.h"
#include "core/tensor.h"

namespace gyre {

gyre_status check_list(const gyre_tensor &t, const char *name, int64_t count, bool need_data, const int32_t **list) {
    GYRE_TRY(check_tensor(t, name, {1}, {GYRE_I32}, need_data));
    if (count >= 0) GYRE_TRY(check_shape(t, name, {count}));
    *list = static_cast<const int32_t *>(t.data);
    return GYRE_OK;
}

gyre_status check_cumulative(const int32_t *cu, const char *name, int64_t count, int64_t total) {
    for (int64_t i = 0; i < count; i++) {
        const int32_t low = i ? cu[i - 1] : 0;
        if (i == 0 ? cu[0] != 0 : cu[i] < low)
            return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s[%lld]", name, static_cast<long long>(i)),
                          "got %d, expected %s%d", cu[i], i ? "at least " : "", low);
    }
    if (cu[count - 1] != total)
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s[%lld]", name, static_cast<long long>(count - 1)),
                      "got %d, expected the number of tokens %lld", cu[count - 1], static_cast<long long>(total));
    return GYRE_OK;
}

gyre_status check_bounds(const gyre_tensor &t, const char *name, int64_t total, bool need_data, const int32_t **bounds,
                         int64_t *sequences) {
    GYRE_TRY(check_list(t, name, -1, need_data, bounds));
    *sequences = t.shape[0] - 1;
    if (*sequences < 0) return refuse(GYRE_BAD_SHAPE, name, "got shape [0], expected [batch + 1]");
    return need_data ? check_cumulative(*bounds, name, *sequences + 1, total) : GYRE_OK;
}

gyre_status check_page_size(int64_t page_size, const char *pool, int *bits) {
    *bits = 0;
    while (*bits < 62 && int64_t{1} << *bits < page_size) ++*bits;
    if (page_size == int64_t{1} << *bits) return GYRE_OK;
    return refuse(GYRE_BAD_SHAPE, pool, "got page_size %lld, expected a power of two",
                  static_cast<long long>(page_size));
}

gyre_status check_page_ids(const int32_t *entries, int64_t row, int64_t first, int64_t end, int64_t pages) {
    for (int64_t n = first; n < end; n++)
        if (entries[n] < 0 || entries[n] >= pages)
            return refuse(
                GYRE_BAD_ARGUMENT,
                ArgumentName("page_table[%lld, %lld]", static_cast<long long>(row), static_cast<long long>(n)),
                "got %d, expected 0 .. %lld", entries[n], static_cast<long long>(pages - 1));
    return GYRE_OK;
}

} // namespace gyre
