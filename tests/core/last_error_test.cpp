/// gyre_last_error_argument(): how names are spelled, where there is none, and on which thread.
#include "support/attention_refusals.h"
#include "support/backward_case.h"

#include <thread>

using namespace gyre::test;

namespace {

using Args = gyre_attention_args;

std::string argument() { return text(gyre_last_error_argument()); }

std::string blamed_by(const std::function<void(AttentionCall &)> &spoil, gyre_layout layout = GYRE_BSHD) {
    AttentionCall call(layout);
    spoil(call);
    CHECK(call.c.run(nullptr) != GYRE_OK);
    return argument();
}

} // namespace

TEST_CASE("arguments are named by the members and indices that lead to them") {
    CHECK(gyre_attention(nullptr, nullptr) == GYRE_BAD_ARGUMENT);
    CHECK(argument() == "args");
    CHECK(blamed_by([](AttentionCall &k) { k.c.args.size = 1; }) == "args.size");
    CHECK(blamed_by([](AttentionCall &k) { k.c.args.k.rank = 2; }) == "k");
    CHECK(blamed_by([](AttentionCall &k) { k.rotate().theta = 0.5; }) == "rope.theta");
    CHECK(blamed_by([](AttentionCall &k) { k.rotate_values().rotary_dim = 3; }) == "value_rope.rotary_dim");
    CHECK(blamed_by([](AttentionCall &k) {
              k.rotate().axes = 2;
              k.rope.sections[1] = -1;
          }) == "rope.sections[1]");
    CHECK(blamed_by([](AttentionCall &k) { k.list(&Args::cu_seqlens_q, {0, 9, 5}); }, GYRE_THD) == "cu_seqlens_q[2]");
    CHECK(blamed_by([](AttentionCall &k) { k.list(&Args::seqused_k, {7, 8}); }) == "seqused_k[1]");
}

TEST_CASE("what is wrong with a forward call is named as a member of it") {
    BackwardCase c(AttentionShape().lengths(4, 4).head_counts(2, 2).dims(8));
    REQUIRE(c.run(nullptr) == GYRE_OK);
    c.forward.args.k.rank = 2;
    CHECK(gyre_attention_backward(nullptr, &c.args) == GYRE_BAD_SHAPE);
    CHECK(argument() == "forward.k");
    CHECK(text(gyre_last_error()).find("forward.k: got rank 2") == 0);
    c.forward.args.k.rank = 4;
    c.args.out_grad.rank = 2;
    CHECK(gyre_attention_backward(nullptr, &c.args) == GYRE_BAD_SHAPE);
    CHECK(argument() == "out_grad");
}

TEST_CASE("a name and its message stay until the next failure, on their thread alone") {
    CHECK(blamed_by([](AttentionCall &k) { k.c.args.v.rank = 2; }) == "v");
    AttentionCall good;
    CHECK(good.c.run(nullptr) == GYRE_OK);
    CHECK(argument() == "v");
    std::thread([] {
        CHECK(gyre_last_error_argument() == nullptr);
        CHECK(text(gyre_last_error()) == "");
        CHECK(blamed_by([](AttentionCall &k) { k.c.args.q.rank = 2; }) == "q");
    }).join();
    CHECK(argument() == "v");
    CHECK(text(gyre_last_error()).find("v: ") == 0);
}

TEST_CASE("a message that is cut still begins with the argument's name") {
    const std::string longest(600, 'x');
    gyre_context_options options = gyre_context_defaults();
    options.library = longest.c_str();
    gyre_context *context;
    CHECK(gyre_context_create(&options, &context) == GYRE_BAD_ARGUMENT);
    CHECK(argument() == "library");
    CHECK(text(gyre_last_error()).find("library: got \"xxx") == 0);
}
