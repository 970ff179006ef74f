/// gyre_linear_attention() against the oracle, over extents, options, types and layouts; and sequences in pieces.
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/linear_case.h"
#include "support/random.h"

using namespace gyre::test;

TEST_CASE("linear: every kind of head_dim, with causal and without") {
    const int64_t pairs[][2] = {{32, 32}, {64, 64}, {80, 80}, {96, 96}, {128, 128}, {256, 256}, {1, 1},
                                {7, 5},   {33, 64}, {72, 16}, {100, 40}, {512, 2}};
    for (const int causal : {0, 1})
        for (const auto &dims : pairs) {
            LinearCase c(AttentionShape().lengths(130, 130).dims(dims[0], dims[1]));
            c.args.causal = causal;
            c.give_states(), c.want_states();
            c.check();
        }
}

TEST_CASE("linear: every pair of lengths, around the ends of chunks") {
    for (const int64_t length : {0, 1, 2, 11, 12, 13, 31, 33, 95, 96, 97, 191, 192, 193, 300})
        for (const int states : {0, 1}) {
            LinearCase causal(AttentionShape().lengths(length, length).dims(32));
            causal.args.causal = 1;
            if (states) causal.give_states(), causal.want_states();
            causal.check();
            for (const int64_t queries : {0, 1, 97}) {
                LinearCase full(AttentionShape().lengths(queries, length).dims(32));
                if (states) full.give_states(), full.want_states();
                full.check();
            }
        }
}
