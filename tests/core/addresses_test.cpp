/// Tensors that no memory can hold: they are refused before anything is read. And those that begin or end where memory does.
#include "support/attention_case.h"
#include "support/guarded_memory.h"
#include "support/refusal.h"

#include <cstdint>
#include <cstring>

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
    if (sizeof(void *) < 8) return; // there the addresses end first
    AttentionCase c(AttentionShape().lengths(2, 2).dims(64));
    c.args.q.data = nullptr;
    size_t bytes = 0;
    c.args.q.strides[1] = INT32_MAX - 65; // the tokens of a head reach less than 2^31 - 1 elements
    CHECK_MESSAGE(gyre_attention_workspace_size(nullptr, &c.args, &bytes) == GYRE_OK, text(gyre_last_error()));
    c.args.q.strides[1]++;
    check_refused("one more", gyre_attention_workspace_size(nullptr, &c.args, &bytes), GYRE_UNSUPPORTED, "q");
}

TEST_CASE("keys and values may begin and end beside memory that may not be read") {
    for (const GuardedMemory::Bytes where : {GuardedMemory::Bytes::at_end, GuardedMemory::Bytes::at_begin})
        for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16})
            for (const int64_t head_dim : {64, 72})
                for (const int64_t queries : {1, 20})
                    for (const int64_t keys : {1, 37, 300}) {
                        AttentionCase c(AttentionShape().lengths(queries, keys).dims(head_dim).of(type));
                        const auto bytes = (size_t)(keys * head_dim * (type == GYRE_F32 ? 4 : 2));
                        const GuardedMemory k(bytes, where), v(bytes, where);
                        std::memcpy(k.data(), c.args.k.data, bytes);
                        std::memcpy(v.data(), c.args.v.data, bytes);
                        c.args.k.data = k.data();
                        c.args.v.data = v.data();
                        c.check();
                    }
}
