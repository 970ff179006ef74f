/// Few queries on few keys: a batch whose heads follow each other in memory is one sequence with more heads.
#include "support/attention_case.h"
#include "support/batch_entry.h"
#include "support/compare.h"
#include "support/parts_of_call.h"
#include "support/score_options.h"

using namespace gyre::test;

namespace {

struct Heads {
    int64_t all, of_keys;
};

} // namespace

TEST_CASE(
    "a batch whose heads follow each other: each entry has the bits that it has alone, and the oracle's results") {
    for (const Heads &heads : {Heads{3, 3}, Heads{8, 1}, Heads{1, 1}})
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD})
            for (const std::string option : {"none", "bias", "softcap", "window"}) {
                AttentionCase c(AttentionShape()
                                    .batches(6)
                                    .lengths(2, 13)
                                    .head_counts(heads.all, heads.of_keys)
                                    .dims(72)
                                    .in(layout));
                CAPTURE(option);
                add_option(&c, option);
                c.check();
                c.check_threads({1, 4});
                if (option != "none") continue;
                c.args.lse = nullptr;
                check_parts_of_call(c, 6, [&](int64_t b) {
                    gyre_attention_args one = c.args;
                    for (gyre_tensor *t : {&one.q, &one.k, &one.v, &one.out}) *t = entry_of(*t, b);
                    return one;
                });
            }
}

TEST_CASE("a batch with a bias of each entry, dense, is one sequence's heads") {
    AttentionCase c(AttentionShape().batches(4).lengths(1, 22).head_counts(5, 5).dims(64).in(GYRE_BHSD));
    Tensor bias(GYRE_F32, {4, 5, 1, 22});
    bias.fill_normal(3);
    c.args.bias = c.hold(std::move(bias));
    c.check();
}
