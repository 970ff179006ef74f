/// Tensors that no memory can hold: they are refused before anything is read.
#include "support/attention_case.h"
#include "support/refusal.h"

#include <cstdint>

using namespace gyre::test;

TEST_CASE(
    "tensors beyond either end of the addresses, of negative extents, and with strides that overflow are refused") {
    float number = 0;
    const int64_t shape[4] = {1, 2, 1, 16};
    const auto status_of = [&](uintptr_t address, int64_t tokens, int64_t token_stride) {
        gyre_rotary_args a = gyre_rotary_defaults();
        a.x = gyre_tensor_dense(&number, GYRE_F32, 4, shape);
        a.x.data = reinterpret_cast<void *>(address);
        a.x.shape[1] = tokens;
        a.x.strides[1] = token_stride;
        a.out = a.x;
        return gyre_rotary(nullptr, &a);
    };
    const auto somewhere = reinterpret_cast<uintptr_t>(&number);
    check_refused("one extent below 0", status_of(somewhere, -1, 16), GYRE_BAD_SHAPE, "x");
    check_refused("the last address is in it", status_of(UINTPTR_MAX - 127, 2, 16), GYRE_BAD_SHAPE, "x");
    check_refused("the token before it is at no address", status_of(64, 2, -32), GYRE_BAD_SHAPE, "x");

    AttentionCase c(AttentionShape().lengths(2, 2).dims(64)); // without data only a sum of strides can tell
    c.args.q.data = nullptr;
    c.args.q.strides[1] = -(INT64_C(1) << 61);
    size_t bytes = 0;
    check_refused("below", gyre_attention_workspace_size(nullptr, &c.args, &bytes), GYRE_BAD_SHAPE, "q");
}

TEST_CASE("the last of some rows is as far as their strides to it say, not one further") {
    AttentionCase c(AttentionShape().lengths(2, 2).dims(64));
    c.args.q.data = nullptr;
    size_t bytes = 0;
    c.args.q.strides[1] = INT32_MAX - 65; // the tokens of a head reach less than 2^31 - 1 elements
    CHECK_MESSAGE(gyre_attention_workspace_size(nullptr, &c.args, &bytes) == GYRE_OK, text(gyre_last_error()));
    c.args.q.strides[1]++;
    check_refused("one more", gyre_attention_workspace_size(nullptr, &c.args, &bytes), GYRE_UNSUPPORTED, "q");
}
