/// What a call leaves as it was: the caller's floating-point modes, and what the system permits the process.
#include "support/attention_case.h"
#include "support/each_kernel.h"
#include "support/self_contained_call.h"

#include <cfenv>

#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace gyre::test;

TEST_CASE("results do not depend on the caller's floating-point modes, which stay as they are") {
    SelfContainedCall call(1e-20f); // products are subnormal
    gyre_context *one = context_of(1), *expected_of = context_of(1);
    REQUIRE(call.run(expected_of) == GYRE_OK);
    const std::vector<float> expected = call.out;
    const auto check = [&] {
        gyre_context *several = context_of(3); // whose threads start here
        for (gyre_context *context : {one, several}) {
            call.out.assign(call.out.size(), -1);
            CHECK(call.run(context) == GYRE_OK);
            CHECK(call.out == expected);
        }
        gyre_context_destroy(several);
    };
    for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        REQUIRE(std::fesetround(rounding) == 0);
        check();
        CHECK(std::fegetround() == rounding);
        REQUIRE(std::fesetround(FE_TONEAREST) == 0);
    }
#if defined(__x86_64__)
    const unsigned before = _mm_getcsr();
    for (const unsigned modes : {0x8000u, 0x0040u, 0x8040u}) { // FTZ, DAZ
        _mm_setcsr((before & ~0x3fu) | modes);
        const unsigned set = _mm_getcsr();
        check();
        const unsigned after = _mm_getcsr();
        _mm_setcsr(before);
        CHECK((after & ~0x3fu) == (set & ~0x3fu)); // but for flags of this program's own arithmetic
    }
#endif
    gyre_context_destroy(one);
    gyre_context_destroy(expected_of);
}

#if defined(__x86_64__) && defined(__linux__)
TEST_CASE("the system is not asked for matrix tiles by a context of a target that has none") {
    const auto permitted = [] { // ARCH_GET_XCOMP_PERM; 0 where the system does not know it
        uint64_t features = 0;
        return syscall(SYS_arch_prctl, 0x1022, &features) == 0 ? features : 0;
    };
    const uint64_t before = permitted();
    const Context context("x86_64_generic");
    SelfContainedCall call;
    REQUIRE(call.run(context) == GYRE_OK);
    gyre_target_info target;
    CHECK(*gyre_cpu_features());
    CHECK(gyre_target_at(0, &target));
    CHECK(permitted() == before);
}
#endif
