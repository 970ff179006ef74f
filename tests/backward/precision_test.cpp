/// Gradients of peaked rows: their weights follow from lse and from scores that the backward pass forms itself, so that what the two
/// passes round otherwise shows in all weights of a row at once.
#include "support/backward_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"

using namespace gyre::test;

TEST_CASE("backward: gradients of values where scores are small, large and very large") {
    // Where both passes form scores alike they are off by 6e-7, 2e-6 and 5e-6; after a forward pass on matrix tiles by twice that.
    const double deviations[] = {1, 8, 30}, limits[] = {9e-7, 3.5e-6, 1.1e-5};
    for (const int64_t head_dim : {64, 128})
        for (int n = 0; n < 3; n++) {
            BackwardCase c(AttentionShape().lengths(192, 1024).head_counts(1, 1).dims(head_dim));
            c.forward.q.fill_normal(11, deviations[n]);
            c.forward.k.fill_normal(12);
            c.out_grad.fill_normal(13);
            const OracleBackward expected = oracle_backward(c.forward.args, c.args.out_grad);
            CAPTURE(head_dim);
            CAPTURE(deviations[n]);
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CAPTURE(text(gyre_selected_kernel(context)));
                CHECK(relative_rms(c.v_grad.values(), expected.v.exact.data) < limits[n]);
            });
        }
}
