/// gyre_attention() refuses scores and inputs of scores that are not right: by status, by name, and without writing.
#include "support/each_kernel.h"
#include "support/refusal.h"
#include "support/score_models.h"

using namespace gyre::test;

namespace {

/// Two batch entries of 5 queries and 7 keys, 4 heads on 2, with DeBERTa's two tables; spoilt by each test.
struct Spoilt {
    ScoreCase c{AttentionShape().batches(2).lengths(5, 7).head_counts(4, 2), "deberta"};

    Spoilt() { prepare_deberta(c, 3); }
    gyre_score_input &c2p() { return c.inputs[0]; }
    gyre_score_input &p2c() { return c.inputs[1]; }
};

void check_all_refused(const std::vector<Refusal<Spoilt>> &refusals) {
    for (const Refusal<Spoilt> &refusal : refusals) {
        Spoilt s;
        refusal.spoil(s);
        check_refused(refusal.what, s.c.run(nullptr), refusal.status, refusal.named);
        CHECK(s.c.out.untouched());
        CHECK(s.c.lse.untouched());
    }
}

} // namespace

TEST_CASE("score: the call that refusals start from is accepted, in any order of its inputs") {
    Spoilt s;
    CHECK_MESSAGE(s.c.run(nullptr) == GYRE_OK, text(gyre_last_error()));
    const std::vector<uint64_t> bits = s.c.out.bits();
    std::swap(s.c2p(), s.p2c());
    CHECK_MESSAGE(s.c.run(nullptr) == GYRE_OK, text(gyre_last_error()));
    CHECK(s.c.out.bits() == bits);
}

TEST_CASE("score: names and lists are refused") {
    check_all_refused({
        {"unknown score", GYRE_UNSUPPORTED, "score", [](Spoilt &s) { s.c.args.score = "debertina"; }},
        {"unknown score, with what is linked", GYRE_UNSUPPORTED, "score deberta",
         [](Spoilt &s) { s.c.args.score = "debertina"; }},
        {"empty score", GYRE_UNSUPPORTED, "score", [](Spoilt &s) { s.c.args.score = ""; }},
        {"inputs without score", GYRE_BAD_ARGUMENT, "score_inputs", [](Spoilt &s) { s.c.args.score = nullptr; }},
        {"list NULL", GYRE_BAD_ARGUMENT, "score_inputs", [](Spoilt &s) { s.c.args.score_inputs = nullptr; }},
        {"negative count", GYRE_BAD_ARGUMENT, "score_input_count", [](Spoilt &s) { s.c.args.score_input_count = -1; }},
        {"missing input", GYRE_BAD_ARGUMENT, "p2c", [](Spoilt &s) { s.c.args.score_input_count = 1; }},
        {"no input", GYRE_BAD_ARGUMENT, "c2p", [](Spoilt &s) { s.c.args.score_input_count = 0; }},
        {"name NULL", GYRE_BAD_ARGUMENT, "score_inputs", [](Spoilt &s) { s.p2c().name = nullptr; }},
        {"unknown input", GYRE_BAD_ARGUMENT, "score_inputs[1].name p2d", [](Spoilt &s) { s.p2c().name = "p2d"; }},
        {"another's input", GYRE_BAD_ARGUMENT, "score_inputs[1].name slopes",
         [](Spoilt &s) { s.p2c().name = "slopes"; }},
        {"longer name", GYRE_BAD_ARGUMENT, "score_inputs[1].name p2cc", [](Spoilt &s) { s.p2c().name = "p2cc"; }},
        {"duplicate", GYRE_BAD_ARGUMENT, "score_inputs[1].name c2p", [](Spoilt &s) { s.p2c().name = "c2p"; }},
        {"head size without kernel", GYRE_UNSUPPORTED, "q",
         [](Spoilt &s) {
             for (gyre_tensor *t : {&s.c.args.q, &s.c.args.k, &s.c.args.v, &s.c.args.out}) t->shape[3] = 32;
         }},
    });
}

TEST_CASE("score: input tensors are refused") {
    check_all_refused({
        {"type", GYRE_BAD_TYPE, "c2p", [](Spoilt &s) { s.c2p().tensor.dtype = GYRE_I32; }},
        {"f16", GYRE_BAD_TYPE, "c2p", [](Spoilt &s) { s.c2p().tensor.dtype = GYRE_F16; }},
        {"unknown type", GYRE_BAD_TYPE, "p2c", [](Spoilt &s) { s.p2c().tensor.dtype = (gyre_dtype)99; }},
        {"rank 1", GYRE_BAD_SHAPE, "c2p", [](Spoilt &s) { s.c2p().tensor.rank = 1; }},
        {"rank 5", GYRE_BAD_SHAPE, "c2p", [](Spoilt &s) { s.c2p().tensor.rank = 5; }},
        {"rank 0", GYRE_BAD_SHAPE, "p2c", [](Spoilt &s) { s.p2c().tensor.rank = 0; }},
        {"batch", GYRE_BAD_SHAPE, "c2p", [](Spoilt &s) { s.c2p().tensor.shape[0] = 3; }},
        {"heads of keys", GYRE_BAD_SHAPE, "p2c", [](Spoilt &s) { s.p2c().tensor.shape[1] = 2; }},
        {"queries", GYRE_BAD_SHAPE, "c2p", [](Spoilt &s) { s.c2p().tensor.shape[2] = 7; }},
        {"one query for all", GYRE_BAD_SHAPE, "c2p", [](Spoilt &s) { s.c2p().tensor.shape[2] = 1; }},
        {"keys", GYRE_BAD_SHAPE, "p2c", [](Spoilt &s) { s.p2c().tensor.shape[2] = 5; }},
        {"empty", GYRE_BAD_SHAPE, "p2c", [](Spoilt &s) { s.p2c().tensor.shape[3] = 0; }},
        {"negative", GYRE_BAD_SHAPE, "c2p", [](Spoilt &s) { s.c2p().tensor.shape[3] = -2; }},
        {"no data", GYRE_BAD_ARGUMENT, "c2p", [](Spoilt &s) { s.c2p().tensor.data = nullptr; }},
        {"misaligned", GYRE_BAD_ARGUMENT, "c2p",
         [](Spoilt &s) { s.c2p().tensor.data = (char *)s.c2p().tensor.data + 2; }},
        {"on CUDA", GYRE_UNSUPPORTED, "p2c", [](Spoilt &s) { s.p2c().tensor.device = GYRE_CUDA; }},
        {"nowhere", GYRE_BAD_ARGUMENT, "p2c", [](Spoilt &s) { s.p2c().tensor.device = (gyre_device)7; }},
        {"far apart", past_2_31_elements, "c2p", [](Spoilt &s) { s.c2p().tensor.strides[2] = int64_t{1} << 30; }},
        {"overflow", GYRE_BAD_SHAPE, "c2p", [](Spoilt &s) { s.c2p().tensor.strides[2] = INT64_MAX / 3; }},
        {"is out", GYRE_BAD_ARGUMENT, "p2c",
         [](Spoilt &s) {
             s.p2c().tensor.data = (float *)s.c.args.out.data + 3;
             for (int64_t &stride : s.p2c().tensor.strides) stride = 0;
         }},
        {"ends in out", GYRE_BAD_ARGUMENT, "c2p",
         [](Spoilt &s) {
             s.c2p().tensor.data = s.c.args.out.data;
             for (int i = 0; i < 4; i++) s.c2p().tensor.strides[i] = i == 3 ? -1 : 0;
         }},
        {"is lse", GYRE_BAD_ARGUMENT, "p2c",
         [](Spoilt &s) {
             s.p2c().tensor.data = s.c.args.lse->data;
             for (int64_t &stride : s.p2c().tensor.strides) stride = 0;
         }},
    });
}

TEST_CASE("score: inputs whose extent is declared, and numbers, are refused") {
    ScoreCase t5(AttentionShape().lengths(5, 7).head_counts(4, 4), "t5_causal");
    prepare_t5_causal(t5, 4);
    t5.inputs[0].tensor.shape[1] = 31;
    check_refused("buckets", t5.run(nullptr), GYRE_BAD_SHAPE, "bias");
    CHECK(text(gyre_last_error()).find("32") != std::string::npos);
    ScoreCase window(AttentionShape().lengths(5, 7).head_counts(4, 4), "sliding_window_global");
    prepare_sliding_window_global(window, 4);
    window.inputs[0].tensor.dtype = GYRE_F32;
    check_refused("window of f32", window.run(nullptr), GYRE_BAD_TYPE, "window");
    window.inputs[0].tensor.dtype = GYRE_I32;
    window.inputs[0].tensor.shape[1] = 3;
    check_refused("window of heads", window.run(nullptr), GYRE_BAD_SHAPE, "window");
    window.inputs[0].tensor.rank = 3;
    check_refused("window of rank 3", window.run(nullptr), GYRE_BAD_SHAPE, "window");
    CHECK(window.out.untouched());
}

TEST_CASE("score: of packed sequences, tables that count tokens count them all and have no batch") {
    ScoreCase c(AttentionShape().lengths(5, 7).head_counts(2, 2).in(GYRE_THD), "document_mask");
    c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 2, 5});
    c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 3, 7});
    prepare_document_mask(c, 5);
    CHECK_MESSAGE(c.run(nullptr) == GYRE_OK, text(gyre_last_error()));
    c.inputs[0].tensor.shape[0] = 2;
    check_refused("a table for each sequence", c.run(nullptr), GYRE_BAD_SHAPE, "q_documents");
    c.inputs[0].tensor.shape[0] = 1;
    c.inputs[1].tensor.shape[2] = 4;
    check_refused("of one sequence", c.run(nullptr), GYRE_BAD_SHAPE, "k_documents");
}

TEST_CASE("score: arguments of a caller that knows no scores still work") {
    AttentionCase c(AttentionShape().lengths(5, 7));
    c.args.score = "nonsense"; // beyond the size that it tells
    c.args.size = (uint32_t)offsetof(gyre_attention_args, score);
    CHECK_MESSAGE(c.run(nullptr) == GYRE_OK, text(gyre_last_error()));
    c.args.size--;
    check_refused("shorter than any version", c.run(nullptr), GYRE_BAD_ARGUMENT, "size");
}

TEST_CASE("score: a context of a library without score functions says that there are none") {
    gyre_context_options options = gyre_context_defaults();
    options.library = "gyre";
    gyre_context *context = nullptr;
    REQUIRE(gyre_context_create(&options, &context) == GYRE_OK);
    Spoilt s;
    check_refused("of another library", s.c.run(context), GYRE_UNSUPPORTED, "score none");
    gyre_context_destroy(context);
}
