/// gyre_cache_append() against the definition in double, and against what attention reads.
#include "support/append_case.h"
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"

#include <algorithm>
#include <utility>

using namespace gyre::test;

TEST_CASE("append: every type, layout, page size and pairing, with and without rotations") {
    for (const auto &[from, to] : append_conversions)
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD, GYRE_THD})
            for (const int64_t page_size : {0, 1, 16, 32})
                for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
                    for (const int rotated : {0, 1, 2, 3}) {
                        const gyre_layout cache = (page_size + rotated) % 2 ? GYRE_BHSD : GYRE_BSHD;
                        AppendCase c(ragged_append(layout).of(from, to).paged(page_size).in(layout, cache));
                        const gyre_rope whole = rope_of(pairing), part = rope_of(pairing, 24),
                                        window = rope_of(pairing, 10, 7);
                        if (rotated == 1) c.args.rope = &whole;
                        if (rotated == 2) c.args.rope = c.args.value_rope = &part; // the same angles
                        if (rotated == 3) {
                            c.args.rope = &window;
                            c.args.value_rope = &whole;
                        }
                        c.check();
                    }
}

TEST_CASE("append: a decode step of many sequences, and long runs of tokens") {
    const gyre_rope rope = rope_of(GYRE_HALF);
    for (const int64_t page_size : {0, 64}) {
        std::vector<int64_t> held;
        for (int64_t b = 0; b < 70; b++) held.push_back(b * 37 % 127);
        AppendCase step(AppendShape().adding({1}).to(held).room(128).paged(page_size).of(GYRE_F32, GYRE_BF16));
        step.args.rope = step.args.value_rope = &rope;
        step.check();
        AppendCase prompt(AppendShape().adding({301}).to({19}).room(320).paged(page_size).of(GYRE_F32, GYRE_F16));
        prompt.args.rope = prompt.args.value_rope = &rope;
        prompt.check();
    }
}

TEST_CASE("append: values alone rotated, one pairing for keys and another for values") {
    const gyre_rope half = rope_of(GYRE_HALF), interleaved = rope_of(GYRE_INTERLEAVED);
    for (const gyre_rope *rope : {static_cast<const gyre_rope *>(nullptr), &half}) {
        AppendCase c(ragged_append(GYRE_THD).in(GYRE_THD, GYRE_BHSD).of(GYRE_F32, GYRE_BF16));
        c.args.rope = rope;
        c.args.value_rope = &interleaved;
        c.check();
    }
}

TEST_CASE("append: head sizes of every remainder, one of them zero") {
    for (int64_t dim = 1; dim <= 131; dim += 10) {
        AppendCase c(ragged_append(GYRE_BSHD).dims(dim, 132 - dim).of(GYRE_F32, GYRE_BF16));
        c.check();
    }
    const gyre_rope rope = rope_of(GYRE_HALF);
    AppendCase keys_only(ragged_append(GYRE_BSHD).dims(64, 0));
    keys_only.args.rope = &rope;
    keys_only.check();
}

TEST_CASE("append: gaps between rows, and tensors that are stored backwards") {
    const gyre_rope rope = rope_of(GYRE_HALF);
    AppendCase gaps(ragged_append(GYRE_BSHD).placed(Placement::with_gaps(3), Placement::with_gaps(5)));
    gaps.args.rope = &rope;
    gaps.check();
    for (const bool rotated : {false, true}) { // [4, 37, 2, 40] and [4, 96, 2, 40]
        AppendCase backwards(ragged_append(GYRE_BSHD).placed(Placement::with_strides({37 * 80, -80, 40, 1}),
                                                             Placement::with_strides({-96 * 80, 80, -96 * 80 * 4, 1})));
        if (rotated) backwards.args.rope = &rope;
        backwards.check();
    }
}

TEST_CASE("append: positions of every shape, frequencies, tables, several axes, an attention factor") {
    gyre_rope rope = rope_of(GYRE_HALF), value_rope = rope;
    rope.attention_factor = value_rope.attention_factor = 1.3; // the values' is not applied
    for (const gyre_layout layout : {GYRE_BSHD, GYRE_THD}) {
        AppendCase c(ragged_append(layout).in(layout, GYRE_BSHD).paged(16));
        Tensor positions(GYRE_I64, layout == GYRE_THD ? std::vector<int64_t>{78} : std::vector<int64_t>{4, 37});
        positions.fill_uniform_integers(5, 0, 1000000);
        c.args.positions = c.hold(std::move(positions));
        c.args.rope = &rope;
        c.args.value_rope = &value_rope;
        c.check();
    }
    AppendCase axes(ragged_append(GYRE_BSHD));
    gyre_rope sections = rope_of(GYRE_INTERLEAVED, 24);
    sections.axes = 3;
    sections.sections[0] = 5;
    sections.sections[1] = 4;
    sections.sections[2] = 3;
    Tensor grid(GYRE_I32, {3, 4, 37});
    grid.fill_uniform_integers(6, 0, 500);
    axes.args.rope = axes.args.value_rope = &sections;
    axes.check();
    axes.args.positions = axes.hold(std::move(grid));
    axes.check();

    AppendCase tables(ragged_append(GYRE_BSHD).dims(16, 16));
    Tensor numbers(GYRE_F32, {192, 8});
    numbers.fill_normal(7);
    // Four readings of the same numbers: by position, every second row by position, and by token, in two orders.
    gyre_tensor views[4];
    for (gyre_tensor &view : views) view = *tables.hold(Tensor(numbers));
    for (gyre_tensor &view : views) view.data = views[0].data;
    views[0].shape[0] = views[1].shape[0] = 96;
    views[1].strides[0] = 16;
    for (gyre_tensor *by_token : {&views[2], &views[3]}) {
        const int64_t shape[] = {4, 37, 8}, strides[] = {by_token == &views[2] ? 37 * 8 : 8, 8, 1};
        by_token->rank = 3;
        std::copy(shape, shape + 3, by_token->shape);
        std::copy(strides, strides + 3, by_token->strides);
    }
    for (const gyre_tensor &of_k : views)
        for (const gyre_tensor &of_v : views) {
            gyre_rope key_rope = rope_of(GYRE_HALF), table_rope = key_rope;
            key_rope.cos = key_rope.sin = &of_k;
            table_rope.cos = table_rope.sin = &of_v;
            tables.args.rope = &key_rope;
            tables.args.value_rope = &table_rope;
            tables.check();
        }
}

TEST_CASE("append: without lengths caches are empty, and empty calls write nothing") {
    const gyre_rope rope = rope_of(GYRE_HALF);
    AppendCase first(AppendShape().adding({9}).to({0, 0}));
    first.args.cache_seqlens = nullptr;
    first.args.rope = &rope;
    first.check();
    for (const int64_t page_size : {0, 16}) {
        AppendCase none(AppendShape().adding({0}).to({3, 96}).paged(page_size));
        none.args.rope = &rope;
        none.check();
        AppendCase no_heads(AppendShape().adding({3}).to({0, 9}).head_count(0).paged(page_size));
        no_heads.args.rope = &rope;
        no_heads.check();
        AppendCase packed(AppendShape().adding({}).to({}).in(GYRE_THD, GYRE_BSHD).paged(page_size));
        packed.check();
    }
}

TEST_CASE("append: keys and values in one array of pages, and in one of features") {
    for (const bool of_features : {false, true}) {
        const gyre_rope rope = rope_of(GYRE_HALF);
        AppendCase c(AppendShape().adding({37}).to({11, 40}).dims(24, 24).paged(16).of(GYRE_F32, GYRE_BF16));
        c.args.rope = c.args.value_rope = &rope;
        REQUIRE(c.run(nullptr) == GYRE_OK);
        const int64_t pool = c.k_cache.shape()[0];
        gyre_tensor view = c.args.k_cache;
        const int64_t row = of_features ? 48 : 24, page = 16 * 2 * 48;
        view.strides[0] = page;
        view.strides[1] = 2 * row;
        view.strides[2] = row;
        Tensor one(GYRE_BF16, {pool, page});
        c.args.k_cache = c.args.v_cache = view;
        c.args.k_cache.data = one.view().data;
        c.args.v_cache.data = static_cast<uint16_t *>(one.view().data) + (of_features ? 24 : page / 2);
        one.poison();
        REQUIRE_MESSAGE(gyre_cache_append(nullptr, &c.args) == GYRE_OK, text(gyre_last_error()));
        CHECK(one.surroundings_intact());
        check_close("keys", values_of(c.args.k_cache), c.k_cache.values(), 0);
        check_close("values", values_of(c.args.v_cache), c.v_cache.values(), 0);
    }
}

TEST_CASE("append: sequences may write different slots of one page") {
    AppendCase c(AppendShape().adding({2}).to({0, 2, 6}).room(8).paged(8));
    c.table = {3, 3, 3};
    c.args.page_table = c.hold(GYRE_I32, {3, 3, 3}, {3, 1});
    c.check();
}

TEST_CASE("append: the bits of gyre_rotary() where types are the same") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16})
        each_target([&](gyre_context *context) {
            AppendCase c(AppendShape().adding({70}).to({11}).dims(64, 64).of(dtype, dtype));
            gyre_rotary_args rotary = gyre_rotary_defaults();
            c.args.rope = c.args.value_rope = &rotary.rope;
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            Tensor rotated(dtype, c.k.shape());
            rotary.position_offset = 11;
            for (const auto &[from, cache] : {std::pair(&c.k, &c.k_cache), std::pair(&c.v, &c.v_cache)}) {
                rotary.x = from->view();
                rotary.out = rotated.view();
                REQUIRE(gyre_rotary(context, &rotary) == GYRE_OK);
                const std::vector<uint64_t> all = cache->bits(), wanted = rotated.bits();
                const auto first = all.begin() + 11 * 2 * 64;
                CHECK(std::vector<uint64_t>(first, first + 70 * 2 * 64) == wanted);
            }
        });
}

TEST_CASE("append: the number of threads does not change a bit, and a workspace of the told size is enough") {
    const gyre_rope rope = rope_of(GYRE_HALF), other = rope_of(GYRE_INTERLEAVED, 10);
    AppendCase c(AppendShape()
                     .adding({200, 1, 0, 90})
                     .to({7, 50, 3, 0})
                     .room(256)
                     .paged(16)
                     .of(GYRE_F32, GYRE_BF16)
                     .in(GYRE_THD, GYRE_BSHD));
    c.args.rope = &rope;
    c.args.value_rope = &other;
    std::vector<uint64_t> k, v;
    for (const int32_t threads : {1, 3, 7}) {
        const Context context(nullptr, threads);
        size_t bytes = 0;
        gyre_cache_append_args sizes = c.args;
        sizes.k.data = sizes.v.data = sizes.k_cache.data = sizes.v_cache.data = nullptr;
        REQUIRE(gyre_cache_append_workspace_size(context, &sizes, &bytes) == GYRE_OK);
        Tensor memory(GYRE_F64, {(int64_t)(bytes / 8)});
        c.args.workspace = memory.view().data;
        c.args.workspace_size = bytes;
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK(memory.surroundings_intact());
        if (k.empty()) {
            k = c.k_cache.bits();
            v = c.v_cache.bits();
        }
        CHECK(c.k_cache.bits() == k);
        CHECK(c.v_cache.bits() == v);
    }
}

TEST_CASE("append: attention over a cache filled in steps is attention over the whole") {
    for (const int64_t page_size : {0, 16}) {
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD}) {
            const int64_t keys = 75, heads = 2, dim = 64, batch = 2;
            gyre_rope rope = rope_of(GYRE_HALF), value_rope = rope_of(GYRE_INTERLEAVED, 32);
            AttentionCase whole(
                AttentionShape().batches(batch).lengths(3, keys).head_counts(4, heads).dims(dim).in(layout));
            whole.args.causal = 1;
            whole.args.rope = &rope;
            whole.args.value_rope = &value_rope;
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(whole.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<double> expected = whole.out.values();

                AppendCase c(AppendShape().adding({keys}).to({0, 0}).dims(dim, dim).room(80).paged(page_size).in(
                    layout, layout));
                c.k_cache.poison();
                c.v_cache.poison();
                gyre_cache_append_args args = c.args;
                args.rope = &rope;
                args.value_rope = &value_rope;
                const int axis = layout == GYRE_BSHD ? 1 : 2;
                int64_t held = 0;
                for (const int64_t step : {40, 1, 33, 1}) {
                    args.k = whole.args.k;
                    args.v = whole.args.v;
                    for (gyre_tensor *t : {&args.k, &args.v}) {
                        t->data = static_cast<float *>(t->data) + held * t->strides[axis];
                        t->shape[axis] = step;
                    }
                    args.cache_seqlens = c.hold(GYRE_I32, {(double)held, (double)held});
                    REQUIRE_MESSAGE(gyre_cache_append(context, &args) == GYRE_OK, text(gyre_last_error()));
                    held += step;
                }
                REQUIRE(held == keys);
                gyre_attention_args cached = whole.args;
                cached.k = c.args.k_cache;
                cached.v = c.args.v_cache;
                cached.page_table = c.args.page_table;
                cached.seqused_k = c.hold(GYRE_I32, {(double)keys, (double)keys});
                cached.keys_rotated = cached.values_rotated = 1;
                whole.out.poison();
                REQUIRE_MESSAGE(gyre_attention(context, &cached) == GYRE_OK, text(gyre_last_error()));
                check_close("attention over the cache", whole.out.values(), expected, 5e-6);
            });
        }
    }
}
