/// A device's kernel takes what the runtime hands over, or it is refused when it is registered, and never called.
#include "device_attention.h"
#include "support/candidate.h"
#include "support/each_kernel.h"

/// What the kernel that is linked says of its arguments.
extern "C" const halide_filter_metadata_t *
linked_metadata(void) __asm__("gyrekernel_gyre_attention_plain_as_stored_bf16_d64__cuda_metadata");

using namespace gyre::test;

namespace {

/// A candidate for the same calls as the kernel that is linked. At first it says what that one says.
struct CudaCandidate : Candidate {
    CudaCandidate()
        : Candidate("attention", "plain_as_stored_bf16_d64", "cuda",
                    "dtype=bfloat16 general=false as_stored=true head_dim=64 padded=false partial=false workspace=0") {
        kernel.image = &calls;
        const halide_filter_metadata_t *linked = linked_metadata();
        said.assign(linked->arguments, linked->arguments + linked->num_arguments);
    }
};

SaidArguments &said = Candidate::said;
int &calls = Candidate::calls;

/// A call that the candidate would take, with too many queries for others.
gyre_status attend() {
    const Context context("cuda");
    DeviceAttention a(AttentionShape().lengths(50, 70).head_counts(2, 1).dims(64).of(GYRE_BF16));
    const gyre_rope rope = gyre_rope_defaults();
    a.args.rope = &rope;
    return gyre_attention(context, &a.args);
}

} // namespace

TEST_CASE("a device's kernel that takes what the runtime hands over is registered and called") {
    CudaCandidate candidate;
    REQUIRE_MESSAGE(candidate.add() == GYRE_OK, text(gyre_last_error()));
    REQUIRE_MESSAGE(attend() == GYRE_OK, text(gyre_last_error()));
    CHECK(calls == 1);
}

TEST_CASE("a device's kernel with one argument moved is refused with both lists, and never called") {
    CudaCandidate candidate;
    REQUIRE(said.size() > 50);
    // Types and ranks do not tell neighbours apart that differ in their names alone.
    int alike = 0;
    for (size_t i = 1; i + 1 < said.size(); i++) {
        const auto &one = said[i], &next = said[i + 1];
        if (one.kind != next.kind || one.dimensions != next.dimensions || !(one.type == next.type)) continue;
        alike++;
        CAPTURE(one.name);
        std::swap(said[i], said[i + 1]);
        REQUIRE(candidate.add() == GYRE_UNSUPPORTED);
        const std::string refusal = gyre_last_error();
        CHECK(refusal.find("candidate: got a kernel that takes (") != std::string::npos);
        CHECK(refusal.find("expected (") != std::string::npos);
        std::swap(said[i], said[i + 1]);
    }
    CHECK(alike > 10);
    REQUIRE_MESSAGE(attend() == GYRE_OK, text(gyre_last_error()));
    CHECK(calls == 0);
}
