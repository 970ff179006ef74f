/// Attention kernels against the oracle: lengths around the kernel's own tiles, masks, grouped heads, layouts with
/// gaps, rotations, and what the general family adds. Everything around the tensors is NaN, and must stay it.
#include "events.h"
#include "libraries.h"
#include "verification.h"

#include "support/attention_allowance.h"
#include "support/keeper.h"
#include "support/oracle_attention.h"
#include "support/random.h"

#include <algorithm>
#include <functional>
#include <sstream>

namespace gyre::tune {
namespace {

using test::Placement;
using test::Tensor;

/// The sizes at which a kernel's code changes its way.
struct Tiles {
    std::int64_t row_tile, task_rows, key_block, head_dim, least_head_dim;
    bool padded, general, partial, as_stored;

    explicit Tiles(const gyre_kernel_info &kernel)
        : row_tile(number_attribute(kernel, "row_tile", 16)), task_rows(number_attribute(kernel, "task_rows", 64)),
          key_block(number_attribute(kernel, "key_block", 64)), head_dim(number_attribute(kernel, "head_dim", 64)),
          least_head_dim(number_attribute(kernel, "least_head_dim", 1)), padded(attribute(kernel, "padded") == "true"),
          general(attribute(kernel, "general") == "true"), partial(attribute(kernel, "partial") == "true"),
          as_stored(attribute(kernel, "as_stored") == "true") {}
};

struct Extents {
    std::int64_t batch = 1, seqlen_q = 1, seqlen_kv = 1, heads = 1, kv_heads = 1, head_dim = 64;
};

std::vector<std::int64_t> extents_in(gyre_layout layout, std::int64_t batch, std::int64_t seqlen, std::int64_t heads,
                                     std::int64_t dim) {
    return test::shape_in(layout, batch, seqlen, heads, dim);
}

class Call : public test::Keeper {
public:
    Call(gyre_dtype dtype, const Extents &given, gyre_layout layout, std::uint64_t seed)
        : extents(given), q(dtype, extents_in(layout, given.batch, given.seqlen_q, given.heads, given.head_dim),
                            Placement::with_gaps(3)),
          k(dtype, extents_in(layout, given.batch, given.seqlen_kv, given.kv_heads, given.head_dim),
            Placement::with_gaps(5)),
          v(dtype, extents_in(layout, given.batch, given.seqlen_kv, given.kv_heads, given.head_dim),
            Placement::with_gaps(7)),
          out(dtype, q.shape(), Placement::with_gaps(9)),
          lse(GYRE_F32, layout == GYRE_THD ? std::vector<std::int64_t>{given.heads, given.seqlen_q}
                                           : std::vector<std::int64_t>{given.batch, given.heads, given.seqlen_q}),
          args(gyre_attention_defaults()), lse_view_(lse.view()) {
        q.fill_normal(seed * 3 + 1);
        k.fill_normal(seed * 3 + 2);
        v.fill_normal(seed * 3 + 3);
        args.layout = layout;
        args.q = q.view();
        args.k = k.view();
        args.v = v.view();
        args.out = out.view();
        args.lse = &lse_view_;
    }

    void rotate(gyre_pairing pairing, std::int32_t rotary_dim, bool values) {
        gyre_rope rope = gyre_rope_defaults();
        rope.pairing = pairing;
        rope.rotary_dim = rotary_dim;
        args.rope = hold(rope);
        if (values) args.value_rope = args.rope;
    }

    void check(gyre_context *context, const char *what) {
        const std::string name = describe(what);
        const std::vector<std::uint64_t> q_bits = q.bits(), k_bits = k.bits(), v_bits = v.bits();
        out.poison();
        lse.poison();
        if (gyre_attention(context, &args) != GYRE_OK) throw WrongResult(name + ": " + gyre_last_error());
        require(q.bits() == q_bits && k.bits() == k_bits && v.bits() == v_bits, name, "an input was written");
        for (const Tensor *tensor : {&q, &k, &v, &out, &lse})
            require(tensor->surroundings_intact(), name, "memory around a tensor was written");
        const test::OracleAttention expected = test::oracle_attention(args);
        const test::AttentionAllowance allowed =
            test::attention_allowance(expected, args, test::rounding_of_kernel(gyre_selected_kernel(context)));
        compare(name, "out", test::Dense(out.view(), args.layout).data, expected.out.data, allowed.out);
        compare(name, "lse", lse.values(), expected.lse, allowed.lse);
    }

    const Extents extents;
    Tensor q, k, v, out, lse;
    gyre_attention_args args;

private:
    std::string describe(const char *what) const {
        std::ostringstream text;
        text << what << " (b=" << extents.batch << " h=" << extents.heads << " hkv=" << extents.kv_heads
             << " lq=" << extents.seqlen_q << " lk=" << extents.seqlen_kv << " d=" << extents.head_dim << ")";
        return text.str();
    }

    gyre_tensor lse_view_;
};

/// A call by its name, extents and what is set in its arguments.
struct Case {
    const char *what;
    Extents extents;
    gyre_layout layout;
    std::function<void(Call &)> set;
};

std::vector<Case> plain_cases(const Tiles &t) {
    const std::int64_t rows = std::min<std::int64_t>(t.row_tile, 512), keys = t.key_block, d = t.head_dim;
    const std::int64_t task = std::min<std::int64_t>(t.task_rows, 2048); // the oracle takes its time
    const std::int64_t odd = t.padded ? std::max<std::int64_t>(d - 3, 1) : d, half = d / 4 * 2;
    const auto nothing = [](Call &) {};
    const auto causal = [](Call &c) { c.args.causal = 1; };
    return {
        {"one query, one key", {1, 1, 1, 1, 1, odd}, GYRE_BSHD, nothing},
        {"full, grouped heads", {1, rows + 1, keys + 1, 2, 1, d}, GYRE_BSHD, nothing},
        {"causal, two batches", {2, rows - 1, keys + rows / 2, 1, 1, odd}, GYRE_BHSD, causal},
        {"causal, more queries than keys", {1, rows + 5, rows / 2 + 1, 1, 1, d}, GYRE_BSHD, causal},
        {"causal from the top left",
         {1, rows + 2, 2 * keys + 3, 1, 1, d},
         GYRE_BSHD,
         [](Call &c) {
             c.args.causal = 1;
             c.args.alignment = GYRE_TOP_LEFT;
         }},
        {"window",
         {1, rows + 3, 2 * keys + 7, 1, 1, d},
         GYRE_BHSD,
         [keys](Call &c) {
             c.args.window_left = keys / 2 + 1;
             c.args.window_right = 3;
         }},
        {"several tasks", {1, task + rows / 2 + 1, 19, 1, 1, odd}, GYRE_BSHD, nothing},
        {"packed sequences",
         {1, rows + 9, keys + 9, 2, 2, d},
         GYRE_THD,
         [rows, keys](Call &c) {
             c.args.causal = 1;
             c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 4, 4, double(rows + 9)});
             c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 7, 9, double(keys + 9)});
         }},
        {"fewer keys than there is room for",
         {2, 9, keys + 4, 1, 1, odd},
         GYRE_BSHD,
         [keys](Call &c) { c.args.seqused_k = c.hold(GYRE_I32, {0, double(keys - 1)}); }},
        {"rotated, half pairs",
         {1, rows + 1, keys + 5, 2, 1, d},
         GYRE_BSHD,
         [](Call &c) { c.rotate(GYRE_HALF, 0, true); }},
        {"rotated, interleaved pairs of a part",
         {1, 11, keys + 5, 1, 1, d},
         GYRE_BHSD,
         [half](Call &c) {
             c.args.causal = 1;
             c.rotate(GYRE_INTERLEAVED, std::int32_t(half), true);
         }},
    };
}

/// Few queries, whose keys are cut into parts.
std::vector<Case> decode_cases(const Tiles &t) {
    const std::int64_t part = 1024, keys = t.key_block, d = t.head_dim; // as the runtime cuts them
    const std::int64_t odd = t.padded ? std::max<std::int64_t>(d - 3, 1) : d;
    const auto causal = [](Call &c) { c.args.causal = 1; };
    return {
        {"one query, one key", {1, 1, 1, 1, 1, odd}, GYRE_BSHD, [](Call &) {}},
        {"grouped heads, two parts", {1, 1, part + keys + 1, 8, 2, d}, GYRE_BHSD, [](Call &) {}},
        {"causal, two batches, as many queries as may be", {2, 16, 2 * part + 5, 3, 1, odd}, GYRE_BSHD, causal},
        {"window",
         {1, 9, 2 * part + keys, 2, 1, d},
         GYRE_BHSD,
         [](Call &c) {
             c.args.causal = 1;
             c.args.window_left = 1100;
         }},
        {"fewer keys than there is room for",
         {2, 2, part + 9, 2, 2, odd},
         GYRE_BSHD,
         [](Call &c) { c.args.seqused_k = c.hold(GYRE_I32, {0, double(part + 1)}); }},
        {"packed sequences",
         {1, 12, keys + part, 2, 1, d},
         GYRE_THD,
         [keys](Call &c) {
             c.args.causal = 1;
             c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 1, 1, 12});
             c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 7, 9, double(keys + part)});
         }},
        {"rotated, half pairs",
         {1, 3, part + 5, 4, 1, d},
         GYRE_BSHD,
         [as_stored = t.as_stored](Call &c) {
             c.rotate(GYRE_HALF, 0, true);
             c.args.keys_rotated = c.args.values_rotated = as_stored;
         }},
    };
}

Tensor uniform(gyre_dtype dtype, std::vector<std::int64_t> shape, std::uint64_t seed) {
    Tensor tensor(dtype, std::move(shape));
    dtype == GYRE_BOOL ? tensor.fill_uniform_integers(seed, 0, 1) : tensor.fill_normal(seed);
    return tensor;
}

std::vector<Case> general_cases(const Tiles &t) {
    const std::int64_t rows = std::min<std::int64_t>(t.row_tile, 512), keys = t.key_block, d = t.head_dim;
    const std::int64_t lq = rows + 3, lk = keys + 9;
    return {
        {"softcap and bias",
         {1, lq, lk, 2, 1, d},
         GYRE_BSHD,
         [lq, lk](Call &c) {
             c.args.softcap = 2.5f;
             c.args.bias = c.hold(uniform(GYRE_F32, {1, 2, lq, lk}, 11));
         }},
        {"bias in bf16, causal",
         {2, lq, lk, 1, 1, d},
         GYRE_BHSD,
         [lk](Call &c) {
             c.args.causal = 1;
             c.args.bias = c.hold(uniform(GYRE_BF16, {2, 1, 1, lk}, 12));
         }},
        {"mask and sinks",
         {1, lq, lk, 2, 2, d},
         GYRE_BSHD,
         [lq, lk](Call &c) {
             c.args.mask = c.hold(uniform(GYRE_BOOL, {lq, lk}, 13));
             c.args.sinks = c.hold(GYRE_F32, {0.5, -3});
         }},
        {"ALiBi",
         {1, lq, 2 * keys + 1, 2, 1, d},
         GYRE_BSHD,
         [](Call &c) {
             c.args.causal = 1;
             c.args.alibi = c.hold(GYRE_F32, {-0.25, -0.0625});
         }},
    };
}

/// The lengths that are timed, with one head.
std::vector<Case> timed_cases(const Shape &shape) {
    const Extents extents{1, shape["lq"], shape["lk"], 1, 1, shape["d"]};
    const bool causal = shape["causal"] != 0;
    return {{"as it is timed", extents, GYRE_BHSD, [causal](Call &c) { c.args.causal = causal; }}};
}

/// Extents and masks at random.
Case random_case(const Tiles &t, std::uint64_t seed) {
    test::Random random(seed);
    const std::int64_t kv_heads = random.integer(1, 2), heads = kv_heads * random.integer(1, 2);
    const std::int64_t d = t.padded ? random.integer(t.least_head_dim, t.head_dim) : t.head_dim;
    const bool causal = random.chance(0.5), window = random.chance(0.3);
    const std::int64_t left = random.integer(0, 2 * t.key_block);
    return {"at random",
            {random.integer(1, 2), random.integer(1, t.partial ? 16 : std::min<std::int64_t>(2 * t.row_tile, 400)),
             random.integer(1, t.partial ? 3000 : 3 * std::min<std::int64_t>(t.key_block, 256)), heads, kv_heads, d},
            random.chance(0.5) ? GYRE_BSHD : GYRE_BHSD,
            [=](Call &c) {
                c.args.causal = causal;
                if (window) c.args.window_left = left;
            }};
}

} // namespace

int verify_attention(gyre_context *context, const gyre_kernel_info &kernel, const Effort &effort) {
    const Tiles tiles(kernel);
    std::vector<Case> cases = effort.only     ? timed_cases(*effort.only)
                              : tiles.partial ? decode_cases(tiles)
                                              : plain_cases(tiles);
    for (std::uint64_t seed = 1; effort.thorough && seed <= 12; seed++) cases.push_back(random_case(tiles, seed));
    // The general family's kernels run only calls that need them: a slope of ALiBi that changes nothing makes them
    // serve all others, too.
    const auto make_general = [](Call &c) {
        if (c.args.alibi || !c.extents.heads) return;
        c.args.alibi = c.hold(GYRE_F32, std::vector<double>(std::size_t(c.extents.heads), 0.0));
    };
    if (tiles.general && !effort.only)
        for (Case &more : general_cases(tiles)) cases.push_back(more);
    std::uint64_t seed = 1;
    for (const Case &each : cases) {
        Call call(dtype_of(kernel), each.extents, each.layout, seed++);
        each.set(call);
        if (tiles.general) make_general(call);
        call.check(context, each.what);
    }
    return int(cases.size());
}

} // namespace gyre::tune
