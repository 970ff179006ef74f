/// gyre_tensor_from_dlpack(): views of DLPack tensors, and its refusals.
#include "support/refusal.h"

#include <cstring>
#include <vector>

/// DLPack's ABI, https://dmlc.github.io/dlpack, written down a second time so that a wrong layout cannot agree with
/// itself.
struct DLTensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t type_code, type_bits;
    uint16_t type_lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};

using namespace gyre::test;

namespace {

float memory[256];

struct Source {
    int64_t shape[5] = {2, 3, 4, 5, 1}, strides[5] = {60, 20, 5, 1, 1};
    DLTensor tensor = {memory, 1, 0, 4, 2, 32, 1, shape, strides, 0};
};

bool unwritten(const gyre_tensor &view) {
    gyre_tensor poison;
    std::memset(&poison, 0x5a, sizeof poison);
    return std::memcmp(&poison, &view, sizeof view) == 0;
}

} // namespace

TEST_CASE("a DLPack tensor becomes a view of the same memory") {
    Source source;
    source.strides[0] = 100;
    source.tensor.byte_offset = 64;
    gyre_tensor view;
    REQUIRE_MESSAGE(gyre_tensor_from_dlpack(&source.tensor, &view) == GYRE_OK, text(gyre_last_error()));
    CHECK(view.data == memory + 16);
    CHECK(view.dtype == GYRE_F32);
    CHECK(view.device == GYRE_CPU);
    REQUIRE(view.rank == 4);
    for (int i = 0; i < 4; i++) {
        CHECK(view.shape[i] == source.shape[i]);
        CHECK(view.strides[i] == source.strides[i]);
    }
}

TEST_CASE("missing strides of a DLPack tensor mean C order") {
    Source source;
    source.tensor.strides = nullptr;
    gyre_tensor view;
    REQUIRE(gyre_tensor_from_dlpack(&source.tensor, &view) == GYRE_OK);
    for (int i = 0; i < 4; i++) CHECK(view.strides[i] == source.strides[i]);
}

TEST_CASE("every DLPack element type that the library knows is understood") {
    const struct {
        uint8_t code, bits;
        gyre_dtype dtype;
    } types[] = {{2, 32, GYRE_F32}, {2, 16, GYRE_F16}, {4, 16, GYRE_BF16}, {2, 64, GYRE_F64},
                 {0, 32, GYRE_I32}, {0, 64, GYRE_I64}, {6, 8, GYRE_BOOL}};
    for (const auto &type : types)
        for (int32_t rank = 1; rank <= 4; rank++) {
            Source source;
            source.tensor.ndim = rank;
            source.tensor.type_code = type.code;
            source.tensor.type_bits = type.bits;
            gyre_tensor view;
            REQUIRE(gyre_tensor_from_dlpack(&source.tensor, &view) == GYRE_OK);
            CHECK(view.dtype == type.dtype);
            CHECK(view.rank == rank);
        }
}

TEST_CASE("a DLPack tensor on CUDA keeps its device, and is refused only where it is used") {
    Source source;
    source.tensor.device_type = 2;
    gyre_tensor view;
    REQUIRE(gyre_tensor_from_dlpack(&source.tensor, &view) == GYRE_OK);
    CHECK(view.device == GYRE_CUDA);
}

TEST_CASE("DLPack tensors that cannot be viewed are refused by name, and nothing is written") {
    const std::vector<Refusal<Source>> refusals = {
        {"rank 0", GYRE_BAD_SHAPE, "dl_tensor", [](Source &s) { s.tensor.ndim = 0; }},
        {"rank 5", GYRE_BAD_SHAPE, "dl_tensor", [](Source &s) { s.tensor.ndim = 5; }},
        {"rank -1", GYRE_BAD_SHAPE, "dl_tensor", [](Source &s) { s.tensor.ndim = -1; }},
        {"no shape", GYRE_BAD_ARGUMENT, "dl_tensor", [](Source &s) { s.tensor.shape = nullptr; }},
        {"Vulkan", GYRE_UNSUPPORTED, "dl_tensor", [](Source &s) { s.tensor.device_type = 7; }},
        {"two lanes", GYRE_BAD_TYPE, "dl_tensor", [](Source &s) { s.tensor.type_lanes = 2; }},
        {"int8", GYRE_BAD_TYPE, "dl_tensor",
         [](Source &s) {
             s.tensor.type_code = 0;
             s.tensor.type_bits = 8;
         }},
        {"complex", GYRE_BAD_TYPE, "dl_tensor", [](Source &s) { s.tensor.type_code = 5; }},
    };
    for (const Refusal<Source> &refusal : refusals) {
        Source source;
        refusal.spoil(source);
        gyre_tensor view;
        std::memset(&view, 0x5a, sizeof view);
        check_refused(refusal.what, gyre_tensor_from_dlpack(&source.tensor, &view), refusal.status, refusal.named);
        CHECK(unwritten(view));
    }
    gyre_tensor view;
    Source source;
    check_refused("NULL", gyre_tensor_from_dlpack(nullptr, &view), GYRE_BAD_ARGUMENT, "dl_tensor");
    check_refused("NULL", gyre_tensor_from_dlpack(&source.tensor, nullptr), GYRE_BAD_ARGUMENT, "out");
}

TEST_CASE("gyre_tensor_dense packs in C order and survives ranks out of range") {
    const int64_t shape[5] = {2, 3, 4, 5, 6};
    const gyre_tensor view = gyre_tensor_dense(memory, GYRE_F16, 3, shape);
    CHECK(view.data == memory);
    CHECK(view.rank == 3);
    CHECK(view.strides[0] == 12);
    CHECK(view.strides[1] == 4);
    CHECK(view.strides[2] == 1);
    CHECK(gyre_tensor_dense(memory, GYRE_F16, 0, shape).rank == 0);
    CHECK(gyre_tensor_dense(memory, GYRE_F16, 5, shape).rank == 5); // refused by whoever is given it
}
