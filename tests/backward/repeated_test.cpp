/// gyre_attention_backward() once more: the same bits, whatever threads and workspace it has.
#include "support/asked_workspace.h"
#include "support/backward_case.h"
#include "support/each_kernel.h"

using namespace gyre::test;

TEST_CASE("backward: the same bits every time, with any number of threads, and with the workspace that is asked for") {
    BackwardCase c(AttentionShape().batches(2).lengths(130, 210).head_counts(6, 3).dims(40));
    const gyre_rope rope = gyre_rope_defaults();
    c.forward.args.causal = 1;
    c.forward.args.rope = c.forward.args.value_rope = &rope;
    for (const std::string &target : runnable_targets()) {
        std::vector<std::vector<uint64_t>> first;
        for (const int32_t threads : {1, 1, 2, 5}) {
            const Context context(target.c_str(), threads);
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const auto bits = [&] {
                return std::vector<std::vector<uint64_t>>{c.q_grad.bits(), c.k_grad.bits(), c.v_grad.bits()};
            };
            if (first.empty()) first = bits();
            CHECK(bits() == first);

            gyre_attention_args no_data = c.forward.args;
            gyre_attention_backward_args sizes = c.args;
            no_data.q.data = no_data.k.data = no_data.v.data = no_data.out.data = nullptr;
            sizes.forward = &no_data;
            sizes.out_grad.data = sizes.q_grad.data = sizes.k_grad.data = sizes.v_grad.data = nullptr;
            size_t bytes = 0;
            REQUIRE_MESSAGE(gyre_attention_backward_workspace_size(context, &sizes, &bytes) == GYRE_OK,
                            text(gyre_last_error()));
            check_asked_workspace(c, context, bytes, bits);
        }
    }
}
