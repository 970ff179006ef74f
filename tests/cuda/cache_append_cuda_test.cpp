/// gyre_cache_append() on CUDA devices against the definition in double.
#include "support/append_case.h"
#include "support/each_kernel.h"

#include <utility>

using namespace gyre::test;

TEST_CASE("append on devices: every type, layout, page size and pairing, with and without rotations") {
    int which = 0;
    for (const auto &[from, to] : append_conversions)
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD, GYRE_THD})
            for (const int64_t page_size : {0, 1, 16})
                for (const int rotated : {0, 1, 2, 3}) {
                    const gyre_pairing pairing = which++ % 2 ? GYRE_HALF : GYRE_INTERLEAVED;
                    const gyre_layout cache = (page_size + rotated) % 2 ? GYRE_BHSD : GYRE_BSHD;
                    AppendCase c(ragged_append(layout).of(from, to).paged(page_size).in(layout, cache));
                    const gyre_rope whole = rope_of(pairing), part = rope_of(pairing, 24),
                                    window = rope_of(pairing, 10, 7);
                    if (rotated == 1) c.args.rope = &whole;
                    if (rotated == 2) c.args.rope = c.args.value_rope = &part;
                    if (rotated == 3) {
                        c.args.rope = &window;
                        c.args.value_rope = &whole;
                    }
                    c.check_on_devices();
                }
}

TEST_CASE("append on devices: gaps, head sizes, no lengths, a decode step of many sequences") {
    const gyre_rope half = rope_of(GYRE_HALF), interleaved = rope_of(GYRE_INTERLEAVED);
    AppendCase gaps(ragged_append(GYRE_BSHD)
                        .dims(64, 64)
                        .of(GYRE_BF16, GYRE_BF16)
                        .placed(Placement::with_gaps(3), Placement::with_gaps(5)));
    gaps.args.rope = &half;
    gaps.args.value_rope = &interleaved;
    gaps.check_on_devices();
    AppendCase aligned(
        ragged_append(GYRE_THD).in(GYRE_THD, GYRE_BSHD).dims(128, 64).head_count(9).of(GYRE_BF16, GYRE_BF16));
    aligned.args.rope = aligned.args.value_rope = &half;
    aligned.check_on_devices();
    AppendCase keys_only(ragged_append(GYRE_BSHD).dims(64, 0));
    keys_only.args.rope = &half;
    keys_only.check_on_devices();
    AppendCase first(AppendShape().adding({9}).to({0, 0}));
    first.args.cache_seqlens = nullptr;
    first.args.rope = &half;
    first.check_on_devices();
    std::vector<int64_t> held;
    for (int64_t b = 0; b < 70; b++) held.push_back(b * 37 % 127);
    AppendCase step(AppendShape().adding({1}).to(held).room(128).paged(64).of(GYRE_F32, GYRE_BF16));
    step.args.rope = step.args.value_rope = &half;
    step.check_on_devices();
}

TEST_CASE("append on devices: positions, several axes, an attention factor, tables by position and by token") {
    gyre_rope rope = rope_of(GYRE_HALF), value_rope = rope;
    rope.attention_factor = value_rope.attention_factor = 1.3; // the values' is not applied
    for (const gyre_layout layout : {GYRE_BSHD, GYRE_THD}) {
        AppendCase c(ragged_append(layout).in(layout, GYRE_BSHD).paged(16));
        Tensor positions(GYRE_I64, layout == GYRE_THD ? std::vector<int64_t>{78} : std::vector<int64_t>{4, 37});
        positions.fill_uniform_integers(5, 0, 1000000);
        c.args.positions = c.hold(std::move(positions));
        c.args.rope = &rope;
        c.args.value_rope = &value_rope;
        c.check_on_devices();
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
    axes.args.positions = axes.hold(std::move(grid));
    axes.check_on_devices();

    for (const bool by_token : {false, true}) {
        AppendCase tables(ragged_append(GYRE_BSHD).dims(16, 16));
        Tensor numbers(GYRE_F32, by_token ? std::vector<int64_t>{4, 37, 8} : std::vector<int64_t>{96, 8});
        numbers.fill_normal(7);
        gyre_rope table_rope = rope_of(GYRE_HALF);
        table_rope.cos = table_rope.sin = tables.hold(std::move(numbers));
        tables.args.rope = tables.args.value_rope = &table_rope;
        tables.check_on_devices();
    }
}

TEST_CASE("append on devices: what has no room in the cache is not written, nor into pages that it does not have") {
    AppendCase full(AppendShape().adding({9}).to({90, 3}).room(96));
    each_device([&](gyre_context *context) {
        REQUIRE_MESSAGE(full.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK(full.k_cache.get({0, 95, 1, 39}) == full.k.get({0, 5, 1, 39}));
        CHECK(full.k_cache.get({1, 11, 1, 39}) == full.k.get({1, 8, 1, 39}));
    });
    AppendCase lost(AppendShape().adding({9}).to({0, 3}).room(96).paged(16));
    lost.table.assign(lost.table.size(), 1 << 20);
    lost.args.page_table = lost.hold(GYRE_I32, std::vector<double>(lost.table.begin(), lost.table.end()), {2, 6});
    each_device([&](gyre_context *context) {
        REQUIRE_MESSAGE(lost.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK((lost.k_cache.elements_poisoned() && lost.v_cache.elements_poisoned()));
    });
}

namespace {

/// Multiples of the smallest subnormal number of the cache's type, and what they are there: ties go to the even one.
struct Rounded {
    double given, kept;
};
const Rounded small_numbers[] = {{1, 1},   {12, 12},   {-3, -3},  {0.5, 0}, {1.5, 2},
                                 {2.5, 2}, {-3.5, -4}, {0.75, 1}, {2.25, 2}};

double smallest_of(gyre_dtype dtype) { return dtype == GYRE_F16 ? 0x1p-24 : dtype == GYRE_BF16 ? 0x1p-133 : 0x1p-149; }

void check_rounded(gyre_context *context, gyre_dtype from, gyre_dtype to, bool rotated, double given, double kept) {
    AppendCase c(AppendShape().adding({1}).dims(32, 32).of(from, to));
    c.k.fill(given);
    c.v.fill(given);
    const gyre_rope rope = rope_of(GYRE_HALF); // which turns nothing at position 0
    if (rotated) c.args.rope = c.args.value_rope = &rope;
    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
    CAPTURE(c.describe());
    for (int64_t feature = 0; feature < 32; feature++) {
        CHECK(c.k_cache.get({0, 0, 1, feature}) == kept);
        CHECK(c.v_cache.get({0, 0, 1, feature}) == kept);
    }
}

} // namespace

TEST_CASE("append on devices: subnormal numbers are kept, and all are rounded to the nearest, ties to even") {
    each_device([&](gyre_context *context) {
        for (const auto &[from, to] : append_conversions)
            for (const bool rotated : {false, true}) {
                for (const Rounded &r : small_numbers) {
                    if (from == to && r.given != r.kept) continue; // no number of this type
                    check_rounded(context, from, to, rotated, r.given * smallest_of(to), r.kept * smallest_of(to));
                }
                if (from == to) continue;
                const double spacing = to == GYRE_F16 ? 0x1p-10 : 0x1p-7;
                for (const int step : {0, 1, 2, 17}) {
                    const double below = 1 + step * spacing;
                    check_rounded(context, from, to, rotated, below + spacing / 2, step % 2 ? below + spacing : below);
                }
            }
    });
}
