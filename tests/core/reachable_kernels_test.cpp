/// Dispatch: some call reaches every kernel.
#include "support/all_kernels.h"
#include "support/append_case.h"
#include "support/attention_case.h"
#include "support/backward_case.h"
#include "support/each_kernel.h"
#include "support/linear_backward_case.h"
#include "support/rotary_case.h"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <set>

using namespace gyre::test;

namespace {

/// Kernels that calls by the name of a score function alone reach: tests/attention/score_test.cpp.
bool has_score(const gyre_kernel_info &kernel) { return text(kernel.attributes).find(" score=") != std::string::npos; }

/// Calls of this file do not select these: outputs of many megabytes do (tests/rotary/streaming_test.cpp), or none, as angles of
/// all, keys and values in tiles, what a backward pass loads its operands with, and parts of linear attention.
bool runs_beside_others(const gyre_kernel_info &kernel) {
    const struct {
        const char *operation, *variants;
    } parts[] = {
#include "gyre_parts.inc"
    };
    return std::any_of(std::begin(parts), std::end(parts), [&](const auto &part) {
        return text(kernel.operation) == part.operation && fnmatch(part.variants, kernel.variant, 0) == 0;
    });
}

constexpr gyre_dtype float_types[] = {GYRE_F32, GYRE_F16, GYRE_BF16};

/// The kernels that calls with a context have taken.
class Reached {
public:
    explicit Reached(gyre_context *context) : context(context) {}

    /// Runs a case, which must have a kernel.
    template <typename Case>
    void run(Case &&c) {
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        add();
    }
    template <typename Case>
    void run_if_supported(Case &&c) {
        const gyre_status status = c.run(context);
        REQUIRE((status == GYRE_OK || status == GYRE_UNSUPPORTED));
        if (status == GYRE_OK) add();
    }
    void merge(gyre_dtype from, gyre_dtype to) {
        Tensor part_out(from, {1, 1, 1, 8}), part_lse(GYRE_F32, {1, 1, 1}), out(to, {1, 1, 1, 8});
        gyre_attention_merge_args args = gyre_attention_merge_defaults();
        args.part_out = part_out.view();
        args.part_lse = part_lse.view();
        args.out = out.view();
        args.parts = 1;
        REQUIRE(gyre_attention_merge(context, &args) == GYRE_OK);
        add();
    }
    const std::set<std::string> &names() const { return all; }

private:
    gyre_context *const context;
    std::set<std::string> all;

    void add() { all.insert(gyre_selected_kernel(context)); }
};

void reach_rotary(Reached &reached) {
    for (const gyre_dtype type : float_types)
        for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED}) {
            RotaryCase c(RotaryShape().of(type));
            c.args.rope.pairing = pairing;
            reached.run(c);
            AppendCase append(AppendShape().of(GYRE_F32, type));
            append.args.rope = &c.args.rope;
            reached.run(append);
        }
}

/// Every kind of head size, of few queries and many.
void reach_attention_of_sizes(Reached &reached) {
    const gyre_rope rope = gyre_rope_defaults();
    for (const gyre_dtype type : float_types)
        for (int64_t head_dim = 8; head_dim <= 512; head_dim += 8) {
            for (const float softcap : {0.0f, 3.0f})
                for (const int64_t queries : {1, 16, 17})
                    for (const bool rotated : {false, true}) {
                        AttentionCase c(AttentionShape().lengths(queries, 1).dims(head_dim).of(type));
                        c.args.rope = rotated ? &rope : nullptr;
                        c.args.softcap = softcap;
                        reached.run(c);
                    }
            for (const int64_t queries : {1, 20}) {
                AttentionCase c(AttentionShape().lengths(queries, 1).dims(head_dim).of(type));
                c.args.dropout = 0.5f;
                reached.run(c);
            }
        }
}

void reach_attention_of_rows(Reached &reached) {
    for (const gyre_dtype type : float_types)
        for (const int64_t head_dim : {64, 96, 128, 256})
            for (const auto &[heads, keys] : {std::pair<int64_t, int64_t>{150, 1}, // more rows a key head than are few
                                              {150, 2},                            // and more scores
                                              {150, 200}, // and more keys than kernels for many queries take
                                              {12, 64},   // keys in columns
                                              {4, 300},   // a narrow row tile
                                              {8, 200}})  // whole row tiles
                reached.run(
                    AttentionCase(AttentionShape().lengths(1, keys).head_counts(heads, 1).dims(head_dim).of(type)));
}

/// What bf16 alone has.
void reach_attention_of_bf16(Reached &reached) {
    for (const int64_t head_dim : {64, 128, 256}) // too many tokens for kernels of short blocks
        for (const bool capped : {false, true}) {
            AttentionCase c(AttentionShape().lengths(40, 40).dims(head_dim).of(GYRE_BF16));
            c.args.causal = 1;
            if (capped)
                c.args.softcap = 3;
            else
                c.args.alibi = c.hold(GYRE_F32, {0.5});
            reached.run(c);
        }
    for (int64_t head_dim = 32; head_dim <= 512; head_dim += 32) {
        for (const int64_t queries : {1, 17}) {
            AttentionCase c(
                AttentionShape().lengths(queries, GYRE_VALUE_BLOCK).dims(head_dim).of(GYRE_BF16).in(GYRE_BHSD));
            c.args.value_order = GYRE_VALUES_IN_BLOCKS;
            reached.run_if_supported(c);
        }
        reached.run( // many queries
            AttentionCase(AttentionShape().lengths(64, 1).head_counts(32, 1).dims(head_dim).of(GYRE_BF16)));
    }
}

void reach_gradients(Reached &reached) {
    for (const gyre_dtype type : {GYRE_F32, GYRE_BF16})
        for (const float softcap : {0.0f, 3.0f, -1.0f}) {
            BackwardCase c(AttentionShape().lengths(2, 3).of(type));
            if (softcap < 0)
                c.forward.args.dropout = 0.5f;
            else
                c.forward.args.softcap = softcap;
            reached.run(c);
        }
    for (const gyre_dtype type : float_types) {
        LinearBackwardCase c(AttentionShape().lengths(2, 3).of(type));
        reached.run(c.forward);
        reached.run(c);
    }
}

void reach_merge(Reached &reached) {
    for (const gyre_dtype from : float_types)
        for (const gyre_dtype to : float_types)
            if (from == GYRE_F32 || from == to) reached.merge(from, to);
}

} // namespace

TEST_CASE("every linked kernel that can run here is reachable by some call") {
    std::set<std::string> all;
    each_target([&](gyre_context *context) {
        Reached reached(context);
        for (const auto reach : {reach_rotary, reach_attention_of_sizes, reach_attention_of_rows,
                                 reach_attention_of_bf16, reach_gradients, reach_merge})
            reach(reached);
        all.insert(reached.names().begin(), reached.names().end());
    });
    for (const gyre_kernel_info &kernel : all_kernels()) {
        // Those of devices are reached by tensors there (tests/cuda).
        if (!kernel.runnable || text(kernel.target) == "cuda" || runs_beside_others(kernel) || has_score(kernel))
            continue;
        CAPTURE(kernel.name);
        CHECK(all.count(kernel.name) == 1);
    }
}
