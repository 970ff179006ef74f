/// Outputs that caches would not keep, which x86 kernels of their own store past them: the bits of small calls, and which calls
/// these kernels take.
#include "support/each_kernel.h"
#include "support/random.h"

#include <algorithm>
#include <cstring>

using namespace gyre::test;

namespace {

constexpr int64_t large = int64_t{16} << 20, alignment = 64;
constexpr unsigned char poison = 0xAB;

/// Memory of poison that begins `shift` bytes after a multiple of `alignment`.
class Memory {
public:
    Memory(int64_t bytes, int64_t shift) : all_((size_t)(bytes + 3 * alignment), poison), bytes_(bytes) {
        const auto begin = reinterpret_cast<uintptr_t>(all_.data());
        offset_ = (int64_t)(alignment - begin % alignment) + shift;
    }
    unsigned char *data() { return all_.data() + offset_; }
    bool surroundings_intact() const {
        const auto is_poison = [](unsigned char byte) { return byte == poison; };
        return std::all_of(all_.begin(), all_.begin() + offset_, is_poison) &&
               std::all_of(all_.begin() + offset_ + bytes_, all_.end(), is_poison);
    }
    bool operator==(const Memory &other) const {
        return bytes_ == other.bytes_ &&
               std::memcmp(all_.data() + offset_, other.all_.data() + other.offset_, (size_t)bytes_) == 0;
    }

private:
    std::vector<unsigned char> all_;
    int64_t bytes_, offset_ = 0;
};

struct LargeCase {
    gyre_dtype type = GYRE_F32;
    gyre_pairing pairing = GYRE_HALF;
    gyre_layout layout = GYRE_BSHD;
    int64_t dim = 128, rotary_dim = 0;
    int64_t gap = 0;   // elements between heads of the output
    int64_t shift = 0; // bytes that the output is away from a whole vector's address

    static constexpr int64_t heads = 8, parts = 4;
    int64_t size() const { return type == GYRE_F32 ? 4 : 2; }
    int64_t tokens() const { return ((large - 1) / (heads * dim * size() * parts) + 1) * parts; }

    /// The tokens from `first` on, of memory that holds all of them.
    gyre_tensor view(unsigned char *data, int64_t first, int64_t count, int64_t between) const {
        const int64_t row = dim + between;
        gyre_tensor t{};
        t.dtype = type;
        t.device = GYRE_CPU;
        t.rank = 4;
        const bool bshd = layout == GYRE_BSHD;
        const int64_t token_stride = bshd ? heads * row : row, head_stride = bshd ? row : tokens() * row;
        const int64_t shape[4] = {1, bshd ? count : heads, bshd ? heads : count, dim};
        const int64_t strides[4] = {0, bshd ? token_stride : head_stride, bshd ? head_stride : token_stride, 1};
        std::copy(shape, shape + 4, t.shape);
        std::copy(strides, strides + 4, t.strides);
        t.data = data + first * token_stride * size();
        return t;
    }
    int64_t bytes(int64_t between) const { return tokens() * heads * (dim + between) * size(); }

    Memory input() const {
        Memory x(bytes(0), 0);
        Random random(3);
        for (int64_t i = 0; i < bytes(0); i += size()) { // +-[0.5, 1)
            const auto bits = (uint32_t)random.integer(0, INT32_MAX);
            const uint32_t sign = bits >> 30 & 1;
            const uint32_t wide = sign << 31 | 0x3f000000u | (bits & 0x7fffffu);
            const uint16_t narrow = type == GYRE_F16 ? (uint16_t)(sign << 15 | 0x3800u | (bits & 0x3ffu))
                                                     : (uint16_t)(sign << 15 | 0x3f00u | (bits & 0x7fu));
            std::memcpy(x.data() + i, type == GYRE_F32 ? (const void *)&wide : &narrow, (size_t)size());
        }
        return x;
    }

    void run(gyre_context *context, Memory &x, Memory &out, int64_t first, int64_t count) const {
        gyre_rotary_args args = gyre_rotary_defaults();
        args.layout = layout;
        args.rope.pairing = pairing;
        args.rope.rotary_dim = (int32_t)rotary_dim;
        args.position_offset = first;
        args.x = view(x.data(), first, count, 0);
        args.out = view(out.data(), first, count, gap);
        REQUIRE_MESSAGE(gyre_rotary(context, &args) == GYRE_OK, text(gyre_last_error()));
    }

    /// On every target: the whole call gives the bits of calls for parts, which are not large. Tells whether kernels of any
    /// target stored past the caches.
    bool check() const {
        CAPTURE(type);
        CAPTURE(pairing);
        CAPTURE(layout);
        CAPTURE(dim);
        bool streamed = false;
        Memory x = input();
        each_target([&](gyre_context *context) {
            Memory whole(bytes(gap), shift), in_parts(bytes(gap), shift);
            run(context, x, whole, 0, tokens());
            streamed = streamed || is_streamed(gyre_selected_kernel(context));
            for (int64_t part = 0; part < parts; part++) {
                run(context, x, in_parts, part * tokens() / parts, tokens() / parts);
                CHECK_FALSE(is_streamed(gyre_selected_kernel(context)));
            }
            CHECK(whole == in_parts);
            CHECK(whole.surroundings_intact());
        });
        return streamed;
    }

    static bool is_streamed(const std::string &kernel) { return kernel.rfind("rotary_streamed_", 0) == 0; }
};

/// True if kernels that store this type past the caches are linked and can run here.
bool any_can_stream(gyre_dtype type) {
    const std::string prefix = std::string("rotary_streamed_") +
                               (type == GYRE_F32   ? "f32"
                                : type == GYRE_F16 ? "f16"
                                                   : "bf16") +
                               "_";
    gyre_kernel_info info;
    for (int32_t i = 0; gyre_kernel_at(i, &info); i++)
        if (info.runnable && std::string(info.name).rfind(prefix, 0) == 0) return true;
    return false;
}

} // namespace

TEST_CASE("large outputs are stored past the caches, with the bits of small ones") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16})
        for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED}) {
            LargeCase c;
            c.type = type;
            c.pairing = pairing;
            CHECK(c.check() == any_can_stream(c.type));
            c.layout = GYRE_BHSD;
            c.dim = 64;
            c.gap = 64;
            CHECK(c.check() == any_can_stream(c.type));
            c.dim = 256;
            c.gap = 0;
            CHECK(c.check() == any_can_stream(c.type));
        }
    LargeCase c;
    c.dim = 96;
    CHECK(c.check() == any_can_stream(c.type));
}

TEST_CASE("outputs that are not whole vectors of whole heads go through the caches") {
    LargeCase c;
    c.shift = 4;
    CHECK_FALSE(c.check());
    c = LargeCase();
    c.gap = 1;
    CHECK_FALSE(c.check());
    c = LargeCase();
    c.rotary_dim = 64;
    CHECK_FALSE(c.check());
    c = LargeCase();
    c.dim = 72;
    CHECK_FALSE(c.check());
}

TEST_CASE("large outputs in place go through the caches") {
    const LargeCase c;
    each_target([&](gyre_context *context) {
        Memory x = c.input(), beside = c.input(), out(c.bytes(0), 0);
        c.run(context, beside, out, 0, c.tokens());
        c.run(context, x, x, 0, c.tokens());
        CHECK_FALSE(LargeCase::is_streamed(gyre_selected_kernel(context)));
        CHECK(x == out);
    });
}

TEST_CASE("every kernel that stores past the caches is reached by a large output") {
    std::vector<std::string> linked, reached;
    gyre_kernel_info info;
    for (int32_t i = 0; gyre_kernel_at(i, &info); i++)
        if (info.runnable && LargeCase::is_streamed(info.name)) linked.push_back(info.name);
    each_target([&](gyre_context *context) {
        for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16})
            for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED}) {
                LargeCase c;
                c.type = type;
                c.pairing = pairing;
                Memory x(c.bytes(0), 0), out(c.bytes(0), 0);
                std::memset(x.data(), 0, (size_t)c.bytes(0));
                c.run(context, x, out, 0, c.tokens());
                reached.push_back(gyre_selected_kernel(context));
            }
    });
    for (const std::string &kernel : linked) CHECK_MESSAGE(std::count(reached.begin(), reached.end(), kernel), kernel);
}
