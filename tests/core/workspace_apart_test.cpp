/// A caller's workspace that lies where a tensor of the call is: results, lists and tables would be overwritten while they are used.
#include "support/each_kernel.h"
#include "support/refusal.h"

#include <cstring>
#include <string>
#include <vector>

using namespace gyre::test;

namespace {

constexpr int64_t tokens = 4, heads = 2, dim = 16;
constexpr size_t room = 1 << 22; // of a tensor, and of any workspace

/// Tensors that lie far from each other, by name.
class Places {
public:
    gyre_tensor dense(const char *name, gyre_dtype dtype, const std::vector<int64_t> &shape) {
        names_.emplace_back(name);
        char *data = memory() + (names_.size() - 1) * room;
        std::memset(data, 0, 4096);
        return gyre_tensor_dense(data, dtype, (int32_t)shape.size(), shape.data());
    }
    gyre_tensor rows(const char *name) { return dense(name, GYRE_F32, {1, tokens, heads, dim}); }
    const gyre_tensor *view(const char *name, gyre_dtype dtype, const std::vector<int64_t> &shape) {
        views_.reserve(32); // so that none moves
        views_.push_back(dense(name, dtype, shape));
        return &views_.back();
    }
    gyre_rope tables() {
        gyre_rope rope = gyre_rope_defaults();
        rope.cos = view("rope.cos", GYRE_F32, {tokens, dim / 2});
        rope.sin = view("rope.sin", GYRE_F32, {tokens, dim / 2});
        return rope;
    }

    /// Calls with a workspace on each tensor, and right before it.
    template <typename Args>
    void check(gyre_status (*call)(gyre_context *, const Args *),
               gyre_status (*workspace_size)(gyre_context *, const Args *, size_t *), Args args) {
        const Context context(nullptr, 1);
        size_t bytes = 0;
        REQUIRE_MESSAGE(workspace_size(context, &args, &bytes) == GYRE_OK, text(gyre_last_error()));
        REQUIRE((bytes > 64 && bytes < room));
        args.workspace_size = bytes;
        for (size_t i = 0; i < names_.size(); i++) {
            args.workspace = memory() + i * room;
            const std::vector<char> before((char *)args.workspace, (char *)args.workspace + room);
            check_refused(names_[i].c_str(), call(context, &args), GYRE_BAD_ARGUMENT, "workspace");
            CHECK(text(gyre_last_error()).find(names_[i] + ",") != std::string::npos);
            CHECK(std::memcmp(before.data(), args.workspace, room) == 0);
            // What is used ends where the next tensor begins, or 64 bytes behind that.
            char *const next = memory() + (i + 1) * room;
            args.workspace = next - (bytes - 64) / 64 * 64;
            CHECK_MESSAGE(call(context, &args) == GYRE_OK, names_[i], " and the next: ", text(gyre_last_error()));
            if (i + 1 == names_.size()) continue;
            args.workspace = next - (bytes - 64) / 64 * 64 + 64;
            check_refused(names_[i + 1].c_str(), call(context, &args), GYRE_BAD_ARGUMENT, "workspace");
        }
    }

private:
    std::vector<std::string> names_;
    std::vector<gyre_tensor> views_;
    std::vector<char> memory_ = std::vector<char>(24 * room);

    char *memory() { return memory_.data() + (64 - (uintptr_t)memory_.data() % 64) % 64; }
};

} // namespace

TEST_CASE("a workspace that a tensor lies in is refused: attention and merging") {
    Places p;
    gyre_attention_args a = gyre_attention_defaults();
    a.q = p.rows("q");
    a.k = p.rows("k");
    a.v = p.rows("v");
    a.out = p.rows("out");
    a.lse = p.view("lse", GYRE_F32, {1, heads, tokens});
    a.bias = p.view("bias", GYRE_F32, {tokens, tokens});
    a.mask = p.view("mask", GYRE_BOOL, {tokens, tokens});
    a.sinks = p.view("sinks", GYRE_F32, {heads});
    a.alibi = p.view("alibi", GYRE_F32, {heads});
    a.seqused_k = p.view("seqused_k", GYRE_I32, {1});
    a.q_positions = p.view("q_positions", GYRE_I32, {tokens});
    a.k_positions = p.view("k_positions", GYRE_I32, {tokens});
    const gyre_rope rope = p.tables();
    a.rope = &rope;
    p.check(gyre_attention, gyre_attention_workspace_size, a);

    Places of_pages;
    gyre_attention_args paged = gyre_attention_defaults();
    paged.q = of_pages.rows("q");
    paged.k = of_pages.rows("k");
    paged.v = of_pages.rows("v");
    paged.out = of_pages.rows("out");
    paged.page_table = of_pages.view("page_table", GYRE_I32, {1, 1});
    paged.rope = paged.value_rope = &rope;
    of_pages.check(gyre_attention, gyre_attention_workspace_size, paged);

    Places of_parts;
    gyre_attention_merge_args m = gyre_attention_merge_defaults();
    m.parts = 2;
    m.part_out = of_parts.rows("part_out");
    m.part_lse = of_parts.dense("part_lse", GYRE_F32, {1, heads, tokens});
    m.part_out_stride = tokens * heads * dim;
    m.part_lse_stride = heads * tokens;
    m.out = of_parts.rows("out");
    of_parts.check(gyre_attention_merge, gyre_attention_merge_workspace_size, m);
    // A part that lies far behind the first is there, too.
    m.part_out_stride = room / 2 / sizeof(float);
    size_t bytes = 0;
    REQUIRE(gyre_attention_merge_workspace_size(nullptr, &m, &bytes) == GYRE_OK);
    m.workspace = static_cast<char *>(m.part_out.data) + room / 2;
    m.workspace_size = bytes;
    check_refused("the second part", gyre_attention_merge(nullptr, &m), GYRE_BAD_ARGUMENT, "workspace");
    // A merge of no parts has no part_out.
    m.parts = 0;
    for (void *where : {m.workspace, m.part_out.data, m.part_lse.data}) {
        m.workspace = where;
        CHECK_MESSAGE(gyre_attention_merge(nullptr, &m) == GYRE_OK, text(gyre_last_error()));
    }
}

TEST_CASE("a workspace may lie between the elements of tensors, and not on one") {
    const Context context(nullptr, 1);
    const int64_t entry = 1 << 22; // elements from a batch entry to the next
    std::vector<float> buffer(2 * entry);
    float *const memory = buffer.data() + (64 - (uintptr_t)buffer.data() % 64) % 64 / 4;
    for (const int64_t head_stride : {dim, tokens * dim, entry / 4, -dim}) {
        gyre_attention_args a = gyre_attention_defaults();
        const int64_t shape[] = {2, tokens, heads, dim};
        a.q = gyre_tensor_dense(memory + 1024, GYRE_F32, 4, shape);
        const int64_t token_stride = head_stride == dim || head_stride < 0 ? heads * dim : dim;
        const int64_t strides[] = {entry, token_stride, head_stride, 1};
        std::copy_n(strides, 4, a.q.strides);
        a.k = a.v = a.q;
        std::vector<float> out(2 * tokens * heads * dim);
        a.out = gyre_tensor_dense(out.data(), GYRE_F32, 4, shape);
        REQUIRE(gyre_attention_workspace_size(context, &a, &a.workspace_size) == GYRE_OK);
        REQUIRE((int64_t)a.workspace_size / 4 < entry / 16);
        a.workspace = memory + entry / 8;
        CHECK_MESSAGE(gyre_attention(context, &a) == GYRE_OK, head_stride, ": ", text(gyre_last_error()));
        // What is used ends where the second entry begins, or 64 bytes behind that.
        const int64_t used = (int64_t)((a.workspace_size - 64) / 64 * 64 / 4);
        for (const int64_t late : {0, 16}) {
            INFO(head_stride, ", ", late);
            const int64_t first = 1024 + entry + (head_stride < 0 ? head_stride : 0);
            a.workspace = memory + first - used + late;
            const gyre_status status = gyre_attention(context, &a);
            if (late)
                check_refused("on the second entry", status, GYRE_BAD_ARGUMENT, "workspace");
            else
                CHECK_MESSAGE(status == GYRE_OK, text(gyre_last_error()));
        }
    }
}

TEST_CASE("a workspace that a tensor lies in is refused: gradients") {
    Places p;
    gyre_attention_args forward = gyre_attention_defaults();
    forward.q = p.rows("forward.q");
    forward.k = p.rows("forward.k");
    forward.v = p.rows("forward.v");
    forward.out = p.rows("forward.out");
    forward.lse = p.view("forward.lse", GYRE_F32, {1, heads, tokens});
    gyre_attention_backward_args a = gyre_attention_backward_defaults();
    a.forward = &forward;
    a.out_grad = p.rows("out_grad");
    a.q_grad = p.rows("q_grad");
    a.k_grad = p.rows("k_grad");
    a.v_grad = p.rows("v_grad");
    p.check(gyre_attention_backward, gyre_attention_backward_workspace_size, a);
}

TEST_CASE("a workspace that a tensor lies in is refused: rotations and caches") {
    Places p;
    gyre_rotary_args one = gyre_rotary_defaults();
    one.x = p.rows("x");
    one.out = p.rows("out");
    one.positions = p.view("positions", GYRE_I32, {tokens});
    p.check(gyre_rotary, gyre_rotary_workspace_size, one);

    Places of_both;
    gyre_rotary_qk_args both = gyre_rotary_qk_defaults();
    both.q = of_both.rows("q");
    both.k = of_both.rows("k");
    both.q_out = of_both.rows("q_out");
    both.k_out = of_both.rows("k_out");
    of_both.check(gyre_rotary_qk, gyre_rotary_qk_workspace_size, both);

    Places of_cache;
    gyre_cache_append_args append = gyre_cache_append_defaults();
    append.k = of_cache.rows("k");
    append.v = of_cache.rows("v");
    append.k_cache = of_cache.rows("k_cache");
    append.v_cache = of_cache.rows("v_cache");
    append.cache_seqlens = of_cache.view("cache_seqlens", GYRE_I32, {1});
    append.page_table = of_cache.view("page_table", GYRE_I32, {1, 1});
    append.positions = of_cache.view("positions", GYRE_I32, {tokens});
    const gyre_rope rope = gyre_rope_defaults();
    append.rope = &rope;
    of_cache.check(gyre_cache_append, gyre_cache_append_workspace_size, append);
}

TEST_CASE("a workspace that a tensor lies in is refused: linear attention and its gradients") {
    Places p;
    gyre_linear_attention_args a = gyre_linear_attention_defaults();
    a.q = p.rows("q");
    a.k = p.rows("k");
    a.v = p.rows("v");
    a.out = p.rows("out");
    a.kv_state = p.view("kv_state", GYRE_F32, {1, heads, dim, dim});
    a.k_state = p.view("k_state", GYRE_F32, {1, heads, dim});
    a.kv_state_out = p.view("kv_state_out", GYRE_F32, {1, heads, dim, dim});
    a.k_state_out = p.view("k_state_out", GYRE_F32, {1, heads, dim});
    p.check(gyre_linear_attention, gyre_linear_attention_workspace_size, a);

    Places of_gradients;
    gyre_linear_attention_args forward = gyre_linear_attention_defaults();
    forward.q = of_gradients.rows("forward.q");
    forward.k = of_gradients.rows("forward.k");
    forward.v = of_gradients.rows("forward.v");
    gyre_linear_attention_backward_args g = gyre_linear_attention_backward_defaults();
    g.forward = &forward;
    g.out_grad = of_gradients.rows("out_grad");
    g.q_grad = of_gradients.rows("q_grad");
    g.k_grad = of_gradients.rows("k_grad");
    g.v_grad = of_gradients.rows("v_grad");
    of_gradients.check(gyre_linear_attention_backward, gyre_linear_attention_backward_workspace_size, g);
}
