/// A kernel takes what the runtime hands over, or it is refused when it is registered, and never called.
#include "support/candidate.h"
#include "support/each_kernel.h"

#include <functional>
#include <string>
#include <utility>

using namespace gyre::test;

namespace {

/// A candidate for the best target here, of rotary if nothing else is said.
struct HostCandidate : Candidate {
    explicit HostCandidate(const char *operation = "rotary",
                           const char *attributes = "dtype=float32 pairing=half workspace=0")
        : Candidate(operation, "candidate", "", attributes) {
        kernel.target = target_.c_str();
    }

private:
    const std::string target_ = runnable_targets().front();
};

SaidArguments &said = Candidate::said;
int &calls = Candidate::calls;

std::string refusal() { return gyre_last_error(); }

bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

/// Rotates one token in place by a table's angles.
gyre_status rotate() {
    static float x[2] = {1, 0}, cos[1] = {1}, sin[1] = {0};
    const int64_t shape[4] = {1, 1, 1, 2}, table[2] = {1, 1};
    const gyre_tensor c = gyre_tensor_dense(cos, GYRE_F32, 2, table), s = gyre_tensor_dense(sin, GYRE_F32, 2, table);
    gyre_rotary_args args = gyre_rotary_defaults();
    args.x = args.out = gyre_tensor_dense(x, GYRE_F32, 4, shape);
    args.rope.cos = &c;
    args.rope.sin = &s;
    return gyre_rotary(nullptr, &args);
}

} // namespace

TEST_CASE("a kernel that takes what the runtime hands over is registered and called") {
    HostCandidate candidate;
    said = rotary_arguments();
    REQUIRE_MESSAGE(candidate.add() == GYRE_OK, refusal());
    calls = 0;
    REQUIRE(rotate() == GYRE_OK);
    CHECK(calls == 1);
}

TEST_CASE("a kernel with one argument moved is refused with both lists, and never called") {
    HostCandidate candidate;
    said = rotary_arguments();
    const std::string expected =
        "expected (cos f32[3], sin f32[3], offset i32, pairs i32, direction f32, copied_before i32, "
        "after i32, copied_after i32, x f32[3], -> out f32[3])";
    std::swap(said[3], said[4]); // two counts: their types would not tell
    const int32_t before = gyre_kernel_count();
    REQUIRE(candidate.add() == GYRE_UNSUPPORTED);
    CHECK(has(refusal(),
              "candidate: got a kernel that takes (cos f32[3], sin f32[3], pairs i32, offset i32, direction f32, "));
    CHECK(has(refusal(), expected));
    CHECK(gyre_kernel_count() == before);
    calls = 0;
    REQUIRE(rotate() == GYRE_OK);
    CHECK(calls == 0);
}

TEST_CASE("a kernel whose arguments differ in anything is refused") {
    const halide_type_t f32(halide_type_float, 32);
    const std::pair<const char *, std::function<void()>> changes[] = {
        {"one is missing", [] { said.erase(said.begin() + 7); }},
        {"one is more", [&] { said.insert(said.begin() + 9, said_scalar("bias", f32)); }},
        {"one is more, behind the output", [&] { said.push_back(said_output("more", f32, 3)); }},
        {"another name", [] { said[5].name = "turn"; }},
        {"another type", [&] { said[6].type = f32; }},
        {"another number of bits", [] { said[9].type.bits = 16; }},
        {"a lower rank", [] { said[1].dimensions = 2; }},
        {"a higher rank", [] { said[1].dimensions = 4; }},
        {"an input for the output", [] { said.back().kind = halide_argument_kind_input_buffer; }},
        {"a buffer for a scalar", [&] { said[5] = said_buffer("direction", f32, 1); }},
        {"the output is first", [] { std::rotate(said.begin() + 1, said.end() - 1, said.end()); }},
    };
    for (const auto &[what, change] : changes) {
        CAPTURE(what);
        HostCandidate candidate;
        said = rotary_arguments();
        change();
        CHECK(candidate.add() == GYRE_UNSUPPORTED);
        CHECK(has(refusal(), "candidate: got a kernel that takes ("));
    }
}

TEST_CASE("what a variant adds to its arguments is expected of it alone") {
    const halide_type_t f32(halide_type_float, 32), i32(halide_type_int, 32);
    said = {said_buffer("q", f32, 3),          said_buffer("out_grad", f32, 3),   said_buffer("k", f32, 3),
            said_buffer("k_panels", f32, 3),   said_buffer("v_panels", f32, 3),   said_buffer("lse", f32, 2),
            said_buffer("delta", f32, 2),      said_scalar("rows", i32),          said_scalar("keys", i32),
            said_scalar("feature_tiles", i32), said_scalar("head_dim", i32),      said_scalar("v_head_dim", i32),
            said_scalar("scale", f32),         said_scalar("first_visible", i32), said_scalar("last_visible", i32),
            said_scalar("alibi", f32),         said_scalar("alibi_origin", i32),  said_scalar("softcap", f32),
            said_output("dq", f32, 3),         said_output("dk", f32, 3),         said_output("dv", f32, 3)};
    {
        HostCandidate plain("backward", "gradients=1 capped=false rows=8 workspace=0");
        CHECK_MESSAGE(plain.add() == GYRE_OK, refusal());
    }
    HostCandidate general("backward", "general=true gradients=1 rows=8 workspace=0");
    CHECK(general.add() == GYRE_UNSUPPORTED);
    CHECK(has(refusal(), "dropout_keep_scale f32"));
    CHECK(has(refusal(), "-> bias_grad f32[2]"));
    HostCandidate totals("backward", "totals=true rows=8 workspace=0");
    CHECK(totals.add() == GYRE_UNSUPPORTED);
    CHECK(has(refusal(), "k_panels f32[3], lse f32[2], rows i32"));
    CHECK(has(refusal(), "alibi_origin i32, -> row_totals f32[2])"));
}

TEST_CASE("the format of a cache tells the arguments that come with it, and the type of its elements") {
    said = rotary_arguments();
    const auto expected_with = [](const char *attributes) {
        HostCandidate candidate("attention", attributes);
        CHECK(candidate.add() == GYRE_UNSUPPORTED);
        const std::string text = refusal();
        return text.substr(text.find("expected ("));
    };
    const std::string rows = expected_with("dtype=bfloat16 cache=rows workspace=0");
    CHECK(has(rows, "k bf16[2]"));
    CHECK_FALSE(has(rows, "key_squares"));
    CHECK_FALSE(has(rows, "k_scales"));
    const std::string formed = expected_with("dtype=bfloat16 cache=formed workspace=0");
    CHECK(has(formed, "k u16[2], v u16[2], key_squares u32[2]"));
    const std::string integers = expected_with("dtype=float32 cache=int8 workspace=0");
    CHECK(has(expected_with("dtype=float32 cache=f16 workspace=0"), "k f16[2], v f16[2]"));
    CHECK(has(integers, "k i8[2], v i8[2], k_scales f32[1], v_scales f32[1]"));
    CHECK(has(expected_with("dtype=bfloat16 cache=value_blocks workspace=0"), "k u16[2], v u16[2]"));
}

TEST_CASE("types follow the parameters that a kernel tells") {
    const halide_type_t bf16(halide_type_bfloat, 16);
    said = rotary_arguments();
    said[9].type = said[10].type = bf16;
    {
        HostCandidate converts("rotary", "from_dtype=bfloat16 dtype=bfloat16 pairing=half workspace=0");
        CHECK_MESSAGE(converts.add() == GYRE_OK, refusal());
    }
    HostCandidate other("rotary", "from_dtype=float32 dtype=bfloat16 pairing=half workspace=0");
    CHECK(other.add() == GYRE_UNSUPPORTED);
    CHECK(has(refusal(), "x f32[3], -> out bf16[3])"));
}

TEST_CASE("a kernel that says nothing of its arguments is refused") {
    HostCandidate silent;
    silent.kernel.metadata = nullptr;
    CHECK(silent.add() == GYRE_BAD_ARGUMENT);
    CHECK(has(refusal(), "metadata"));
    HostCandidate unknown("origami"); // which no call runs
    unknown.kernel.metadata = nullptr;
    CHECK(unknown.add() == GYRE_OK);
}
