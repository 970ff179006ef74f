/// Rotary embedding against the oracle: lengths and heads around a vector's width, windows of features, positions, both
/// directions, in place. Everything around the tensors is NaN, and must stay it.
#include "events.h"
#include "libraries.h"
#include "rotary_call.h"
#include "verification.h"

#include "support/element.h"
#include "support/keeper.h"
#include "support/oracle_rotary.h"

#include <algorithm>
#include <functional>
#include <sstream>

namespace gyre::tune {
namespace {

using test::Placement;
using test::Tensor;

struct Call : test::Keeper {
    Tensor x, out;
    gyre_rotary_args args = gyre_rotary_defaults();

    Call(gyre_dtype from, gyre_dtype to, const std::vector<std::int64_t> &shape, bool interleaved, std::uint64_t seed)
        : x(from, shape, Placement::with_gaps(3)), out(to, shape, Placement::with_gaps(5)) {
        x.fill_normal(seed);
        args.x = x.view();
        args.out = out.view();
        args.rope.pairing = interleaved ? GYRE_INTERLEAVED : GYRE_HALF;
    }

    void check(gyre_context *context, const std::string &name) {
        const std::vector<std::uint64_t> bits = x.bits();
        const test::OracleRotary expected = test::oracle_rotary(args);
        const bool in_place = args.out.data == args.x.data;
        out.poison();
        if (run_rotary(context, args) != GYRE_OK) throw WrongResult(name + ": " + gyre_last_error());
        require(in_place || x.bits() == bits, name, "x was written");
        require(x.surroundings_intact() && out.surroundings_intact(), name, "memory around a tensor was written");
        std::vector<double> tolerances = test::rotary_tolerances(args, expected);
        for (std::size_t i = 0; i < tolerances.size() && converts(); i++)
            tolerances[i] = std::max(tolerances[i], test::rounding_of(out.dtype(), expected.out.data[i]));
        compare(name, "out", test::Dense(args.out, args.layout).data, expected.out.data, tolerances);
    }

    bool converts() const { return x.dtype() != out.dtype(); }
    /// A cache has keys that are rotated forwards, at given positions or those of its slots.
    bool possible() const {
        return !converts() || (!args.reverse && !args.position_offset && args.out.data != args.x.data);
    }
};

struct Case {
    const char *what;
    std::vector<std::int64_t> shape; // [batch, seqlen, heads, head_dim]
    std::function<void(Call &)> set;
};

std::vector<Case> cases(bool thorough) {
    const auto nothing = [](Call &) {};
    std::vector<Case> list = {{"one token", {1, 1, 1, 64}, nothing},
                              {"whole head", {2, 17, 3, 128}, nothing},
                              {"head_dim 80", {1, 33, 2, 80}, nothing},
                              {"two features", {1, 5, 1, 2}, nothing},
                              {"rotated back", {1, 9, 2, 64}, [](Call &c) { c.args.reverse = 1; }},
                              {"in place", {1, 19, 2, 96}, [](Call &c) { c.args.out = c.args.x; }},
                              {"first features", {1, 7, 2, 128}, [](Call &c) { c.args.rope.rotary_dim = 34; }},
                              {"window of features",
                               {1, 7, 2, 64},
                               [](Call &c) {
                                   c.args.rope.rotary_dim = 32;
                                   c.args.rope.rotary_offset = 9;
                                   c.args.rope.attention_factor = 1.25;
                               }},
                              {"late positions", {1, 21, 1, 64}, [](Call &c) { c.args.position_offset = 1000003; }},
                              {"positions on three axes", {1, 6, 1, 16}, [](Call &c) {
                                   c.args.rope.axes = 3;
                                   c.args.rope.sections[0] = 2;
                                   c.args.rope.sections[1] = 3;
                                   c.args.rope.sections[2] = 3;
                                   c.args.positions = c.hold(
                                       GYRE_I32, {0, 5, 2, 9, 1, 7, 3, 3, 3, 8, 8, 8, 11, 0, 4, 4, 6, 1}, {3, 6});
                               }}};
    for (std::int64_t head_dim = 2; thorough && head_dim <= 260; head_dim += 6)
        list.push_back({"any head_dim", {1, 3, 2, head_dim}, nothing});
    return list;
}

} // namespace

int verify_rotary(gyre_context *context, const gyre_kernel_info &kernel, const Effort &effort) {
    std::vector<Case> all = cases(effort.thorough);
    if (effort.only) {
        const Shape &shape = *effort.only;
        all = {{"as it is timed", {1, shape["lq"], std::min<std::int64_t>(shape["h"], 4), shape["d"]}, [](Call &) {}}};
    }
    std::uint64_t seed = 1;
    int calls = 0;
    for (const Case &each : all) {
        Call call(from_dtype_of(kernel), dtype_of(kernel), each.shape, attribute(kernel, "pairing") == "interleaved",
                  seed++);
        each.set(call);
        if (!call.possible()) continue;
        calls++;
        std::ostringstream name;
        name << each.what << " (b=" << each.shape[0] << " l=" << each.shape[1] << " h=" << each.shape[2]
             << " d=" << each.shape[3] << ")";
        call.check(context, name.str());
    }
    return calls;
}

} // namespace gyre::tune
