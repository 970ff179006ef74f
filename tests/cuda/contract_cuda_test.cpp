/// A device's kernel takes what the runtime hands over, or it is refused when it is registered, and never called.
#include "device_attention.h"
#include "support/each_kernel.h"
#include "support/said_arguments.h"

#include <gyre/kernels.h>

/// What the kernel that is linked says of its arguments.
extern "C" const halide_filter_metadata_t *
linked_metadata(void) __asm__("gyrekernel_gyre_attention_plain_bf16_d64__cuda_metadata");

using namespace gyre::test;

namespace {

int calls = 0;
int count_call(void **) {
    calls++;
    return 0;
}

/// What the kernel of Candidate says of its arguments: at first what the one that is linked says.
SaidArguments said;
const halide_filter_metadata_t *metadata_of_candidate() {
    static halide_filter_metadata_t metadata;
    metadata = {1, (int32_t)said.size(), said.data(), "cuda", "candidate"};
    return &metadata;
}

/// A library with a kernel for the same calls as the one that is linked.
struct Candidate {
    gyre_kernel kernel = {
        "candidate",
        "attention",
        "plain_bf16_d64",
        "cuda",
        "dtype=bfloat16 general=false as_stored=false head_dim=64 padded=false partial=false workspace=0",
        "default",
        count_call,
        &calls,
        metadata_of_candidate};
    gyre_kernel_library library = {sizeof library, GYRE_KERNEL_INTERFACE, "candidates", &kernel, 1};

    Candidate() {
        const halide_filter_metadata_t *linked = linked_metadata();
        said.assign(linked->arguments, linked->arguments + linked->num_arguments);
        calls = 0;
    }
    ~Candidate() { gyre_unregister_kernels(&library); }
    gyre_status add() { return gyre_register_kernels(&library); }
};

/// A call that the candidate would take.
gyre_status attend() {
    const Context context("cuda");
    DeviceAttention a(AttentionShape().lengths(5, 7).head_counts(2, 1).dims(64).of(GYRE_BF16));
    const gyre_rope rope = gyre_rope_defaults();
    a.args.rope = &rope;
    return gyre_attention(context, &a.args);
}

} // namespace

TEST_CASE("a device's kernel that takes what the runtime hands over is registered and called") {
    Candidate candidate;
    REQUIRE_MESSAGE(candidate.add() == GYRE_OK, text(gyre_last_error()));
    REQUIRE_MESSAGE(attend() == GYRE_OK, text(gyre_last_error()));
    CHECK(calls == 1);
}

TEST_CASE("a device's kernel with one argument moved is refused with both lists, and never called") {
    Candidate candidate;
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
