/// Offsets and counts beyond 32 bits: batch entries, heads, pages and rows of page tables that lie more than 2^31 elements apart, in memory
/// that is mapped and hardly used, and lists that say more than there can be.
#include "support/attention_case.h"
#include "support/each_kernel.h"
#include "support/refusal.h"

#include <cstring>
#include <vector>

#include <sys/mman.h>

using namespace gyre::test;

namespace {

constexpr int64_t far = (INT64_C(1) << 31) + 64; // elements

/// Zeros that cost memory only where they are written.
class FarMemory {
public:
    explicit FarMemory(size_t bytes) : bytes_(bytes) {
        data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        REQUIRE_MESSAGE(data_ != MAP_FAILED, "the system has no addresses for ", bytes, " bytes");
    }
    ~FarMemory() { munmap(data_, bytes_); }
    FarMemory(const FarMemory &) = delete;
    FarMemory &operator=(const FarMemory &) = delete;

    template <typename T>
    T *as() const {
        return static_cast<T *>(data_);
    }

private:
    size_t bytes_;
    void *data_;
};

/// A copy of a dense tensor of rank 4 and f32 whose dimension `dimension` has the stride `far`.
class Spread {
public:
    Spread(const gyre_tensor &dense, int dimension)
        : memory_((size_t)(dense.shape[dimension] * far) * sizeof(float)), view_(dense), dense_(dense) {
        view_.data = memory_.as<float>();
        int64_t stride = 1;
        for (int i = 3; i >= 0; i--) {
            view_.strides[i] = i == dimension ? far : stride;
            if (i != dimension) stride *= dense.shape[i];
        }
        each([](float &spread, float &near) { spread = near; });
    }

    const gyre_tensor &view() const { return view_; }
    /// True if it holds the same bits as the dense tensor.
    bool is_same() {
        bool same = true;
        each([&](float &spread, float &near) { same = same && std::memcmp(&spread, &near, sizeof near) == 0; });
        return same;
    }

private:
    FarMemory memory_;
    gyre_tensor view_, dense_;

    template <typename Use>
    void each(const Use &use) {
        for (int64_t n = 0; n < dense_.shape[0] * dense_.shape[1] * dense_.shape[2] * dense_.shape[3]; n++) {
            int64_t rest = n, spread = 0, near = 0;
            for (int i = 3; i >= 0; i--) {
                spread += rest % dense_.shape[i] * view_.strides[i];
                near += rest % dense_.shape[i] * dense_.strides[i];
                rest /= dense_.shape[i];
            }
            use(static_cast<float *>(view_.data)[spread], static_cast<float *>(dense_.data)[near]);
        }
    }
};

/// Whether the system has addresses for what these tests map; a limit of addresses (ulimit -v) leaves them out.
bool has_addresses() {
    constexpr size_t bytes = static_cast<size_t>(UINT64_C(1) << (sizeof(void *) < 8 ? 0 : 37));
    if (sizeof(void *) < 8) return false;
    void *const data = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) MESSAGE("left out: no addresses for ", bytes, " bytes");
    if (data != MAP_FAILED) munmap(data, bytes);
    return data != MAP_FAILED;
}

struct Numbers {
    std::vector<float> values;
    gyre_tensor view;

    explicit Numbers(const std::vector<int64_t> &shape, uint32_t seed = 1) {
        size_t count = 1;
        for (const int64_t extent : shape) count *= (size_t)extent;
        values.resize(count);
        for (float &x : values) {
            seed = seed * 1664525 + 1013904223;
            x = (float)(seed >> 8) * 0x1p-23f - 1;
        }
        view = gyre_tensor_dense(values.data(), GYRE_F32, (int32_t)shape.size(), shape.data());
    }
};

void attend(gyre_context *context, const gyre_attention_args &a) {
    REQUIRE_MESSAGE(gyre_attention(context, &a) == GYRE_OK, text(gyre_last_error()));
}

} // namespace

TEST_CASE("far tensors: batch entries and heads 2^31 elements apart, forward and backward, in any layout") {
    if (!has_addresses()) return;
    // {queries, keys}: the keys are one part; they are two, which are merged; there are too many queries for parts.
    const int64_t lengths[][2] = {{1, 40}, {1, 1100}, {20, 40}};
    for (const auto &[queries, keys] : lengths)
        for (const int dimension : {0, 1}) { // of bhsd: batch entries, heads
            Numbers q({2, 2, queries, 64}, 1), k({2, 2, keys, 64}, 2), v({2, 2, keys, 64}, 3), out({2, 2, queries, 64}),
                lse({2, 2, queries});
            Numbers out_grad({2, 2, queries, 64}, 4), q_grad({2, 2, queries, 64}), k_grad({2, 2, keys, 64}),
                v_grad({2, 2, keys, 64});
            gyre_attention_args near = gyre_attention_defaults();
            near.layout = GYRE_BHSD;
            near.q = q.view;
            near.k = k.view;
            near.v = v.view;
            near.out = out.view;
            near.lse = &lse.view;
            gyre_attention_backward_args back = gyre_attention_backward_defaults();
            back.forward = &near;
            back.out_grad = out_grad.view;
            back.q_grad = q_grad.view;
            back.k_grad = k_grad.view;
            back.v_grad = v_grad.view;
            each_target([&](gyre_context *context) {
                attend(context, near);
                REQUIRE(gyre_attention_backward(context, &back) == GYRE_OK);
                Spread far_q(q.view, dimension), far_k(k.view, dimension), far_v(v.view, dimension),
                    far_out(out.view, dimension);
                gyre_attention_args apart = near;
                apart.q = far_q.view();
                apart.k = far_k.view();
                apart.v = far_v.view();
                apart.out = far_out.view();
                attend(context, apart);
                CHECK(far_out.is_same());
                Spread far_k_grad(k_grad.view, dimension), far_v_grad(v_grad.view, dimension);
                gyre_attention_backward_args back_apart = back;
                back_apart.forward = &apart;
                back_apart.k_grad = far_k_grad.view();
                back_apart.v_grad = far_v_grad.view();
                REQUIRE(gyre_attention_backward(context, &back_apart) == GYRE_OK);
                CHECK((far_k_grad.is_same() && far_v_grad.is_same()));
            });
        }
}

TEST_CASE("far tensors: pages, and rows of the page table, 2^31 elements apart, in attention and appending") {
    if (!has_addresses()) return;
    const int64_t table_shape[] = {2, 3};
    FarMemory table_memory((size_t)(far + 8) * sizeof(int32_t));
    gyre_tensor table = gyre_tensor_dense(table_memory.as<int32_t>(), GYRE_I32, 2, table_shape);
    table.strides[0] = far;
    const int32_t pages[2][3] = {{5, 0, 3}, {2, 4, 1}};
    for (int64_t b = 0; b < 2; b++) std::memcpy(table_memory.as<int32_t>() + b * far, pages[b], sizeof pages[b]);
    Numbers k({6, 16, 2, 64}, 1), v({6, 16, 2, 64}, 2), new_k({2, 7, 2, 64}, 5), new_v({2, 7, 2, 64}, 6);
    const int64_t two[] = {2};
    int32_t held[] = {14, 37}, all[] = {21, 44};
    const gyre_tensor held_view = gyre_tensor_dense(held, GYRE_I32, 1, two),
                      all_view = gyre_tensor_dense(all, GYRE_I32, 1, two);
    each_target([&](gyre_context *context) {
        Spread far_k(k.view, 0), far_v(v.view, 0);
        const auto append = [&](const gyre_tensor &to_k, const gyre_tensor &to_v) {
            gyre_cache_append_args a = gyre_cache_append_defaults();
            a.k = new_k.view;
            a.v = new_v.view;
            a.k_cache = to_k;
            a.v_cache = to_v;
            a.page_table = &table;
            a.cache_seqlens = &held_view;
            REQUIRE_MESSAGE(gyre_cache_append(context, &a) == GYRE_OK, text(gyre_last_error()));
        };
        append(k.view, v.view);
        append(far_k.view(), far_v.view());
        CHECK((far_k.is_same() && far_v.is_same()));
        gyre_attention_args a = gyre_attention_defaults();
        Numbers q({2, 20, 4, 64}, 3), out({2, 20, 4, 64}), contiguous_out({2, 20, 4, 64});
        a.q = q.view;
        a.k = k.view;
        a.v = v.view;
        a.out = out.view;
        a.page_table = &table;
        a.seqused_k = &all_view;
        a.causal = 1;
        attend(context, a);
        const gyre_tensor near_table = gyre_tensor_dense((void *)pages, GYRE_I32, 2, table_shape);
        a.page_table = &near_table;
        a.out = contiguous_out.view;
        attend(context, a);
        CHECK(out.values == contiguous_out.values);
        a.k = far_k.view();
        check_refused("a pool that indices do not reach", gyre_attention(context, &a), GYRE_UNSUPPORTED, "k");
    });
}

TEST_CASE("far tensors: tables and lists of more keys and tokens than there can be are refused by name") {
    AttentionCase c(AttentionShape().lengths(2, 16).dims(64));
    size_t bytes = 0;
    const int64_t most = INT64_C(1) << 40;
    for (const int64_t entries : {INT64_C(1) << 25, INT64_C(1) << 31, INT64_C(1) << 32, most}) { // of 16 keys each
        CAPTURE(entries);
        gyre_tensor table = c.args.q;
        table.data = nullptr;
        table.dtype = GYRE_I32;
        table.rank = 2;
        table.shape[0] = 1;
        table.shape[1] = entries;
        table.strides[0] = entries;
        table.strides[1] = 1;
        gyre_attention_args a = c.args;
        a.page_table = &table;
        check_refused("pages", gyre_attention_workspace_size(nullptr, &a, &bytes), GYRE_UNSUPPORTED, "page_table");
    }
    // Lengths and numbers of pages that are just beyond the tensors, or as large as an int32 gets.
    int32_t used = 0, page = 0;
    const int64_t one[] = {1, 1};
    const gyre_tensor list = gyre_tensor_dense(&used, GYRE_I32, 1, one),
                      table = gyre_tensor_dense(&page, GYRE_I32, 2, one);
    for (const int32_t wrong : {17, INT32_MAX, -1, INT32_MIN}) {
        CAPTURE(wrong);
        gyre_attention_args a = c.args;
        used = wrong;
        a.seqused_k = &list;
        check_refused("keys", gyre_attention(nullptr, &a), GYRE_BAD_ARGUMENT, "seqused_k");
        used = 16;
        page = wrong;
        a.page_table = &table;
        check_refused("page", gyre_attention(nullptr, &a), GYRE_BAD_ARGUMENT, "page_table");
    }
    int32_t bounds[] = {0, INT32_MAX};
    const int64_t two[] = {2};
    const gyre_tensor packed = gyre_tensor_dense(bounds, GYRE_I32, 1, two);
    gyre_attention_args a = c.args;
    a.layout = GYRE_THD;
    for (gyre_tensor *t : {&a.q, &a.k, &a.v, &a.out}) {
        t->rank = 3;
        std::memmove(t->shape, t->shape + 1, 3 * sizeof(int64_t));
        std::memmove(t->strides, t->strides + 1, 3 * sizeof(int64_t));
    }
    a.lse = nullptr;
    a.cu_seqlens_q = a.cu_seqlens_k = &packed;
    check_refused("tokens", gyre_attention(nullptr, &a), GYRE_BAD_ARGUMENT, "cu_seqlens_q");
}
