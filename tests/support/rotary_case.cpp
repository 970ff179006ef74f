#include "rotary_case.h"
#include "compare.h"
#include "each_kernel.h"
#include "on_device.h"

#include <algorithm>
#include <sstream>

namespace gyre::test {

RotaryCase::RotaryCase(const RotaryShape &given, uint64_t seed)
    : shape(given),
      x(shape.dtype, shape_in(shape.layout, shape.batch, shape.seqlen, shape.heads, shape.head_dim), shape.x_placement),
      out(shape.dtype, x.shape(), shape.out_placement), args(gyre_rotary_defaults()) {
    x.fill_normal(seed);
    args.layout = shape.layout;
    args.x = x.view();
    args.out = out.view();
}

gyre_status RotaryCase::run(gyre_context *context) {
    const uint64_t x_before = x.fingerprint();
    out.poison();
    const gyre_status status = is_on_device(context) ? run_on_device(context) : gyre_rotary(context, &args);
    CHECK_MESSAGE(x.fingerprint() == x_before, "x was written, or memory around it");
    CHECK_MESSAGE(out.surroundings_intact(), "memory around out was written");
    return status;
}

gyre_status RotaryCase::run_on_device(gyre_context *context) {
    OnDevice device;
    device.add(x);
    device.add(out);
    gyre_rotary_args there = args;
    there.x = device.view(args.x);
    there.out = device.view(args.out);
    there.positions = device.view(args.positions);
    there.rope.cos = device.view(args.rope.cos);
    there.rope.sin = device.view(args.rope.sin);
    const gyre_status status = gyre_rotary(context, &there);
    device.fetch();
    return status;
}

void RotaryCase::check() {
    const std::string description = describe();
    CAPTURE(description);
    const OracleRotary expected = oracle_rotary(args);
    each_target_and_device([&](gyre_context *context) {
        REQUIRE_MESSAGE(run(context) == GYRE_OK, text(gyre_last_error()));
        CAPTURE(text(gyre_selected_kernel(context)));
        compare(expected);
    });
}

void RotaryCase::compare(const OracleRotary &expected) const {
    const Dense got(out.view(), args.layout);
    const std::vector<double> allowed = rotary_tolerances(args, expected);
    std::vector<double> excess; // error beyond what is allowed
    for (size_t i = 0; i < got.data.size(); i++)
        excess.push_back(std::max(0.0, difference(got.data[i], expected.out.data[i]) - allowed[i]));
    check_close("error beyond the allowed one", excess, std::vector<double>(excess.size(), 0.0), 0);
}

std::string RotaryCase::describe() const {
    static const char *const layouts[] = {"bshd", "bhsd", "thd"}, *const types[] = {"f32", "f16", "bf16"};
    std::ostringstream text;
    text << types[shape.dtype] << " " << layouts[args.layout] << " b=" << shape.batch << " l=" << shape.seqlen
         << " h=" << shape.heads << " d=" << shape.head_dim
         << (args.rope.pairing == GYRE_HALF ? " half" : " interleaved") << " rotary_dim=" << args.rope.rotary_dim
         << " rotary_offset=" << args.rope.rotary_offset << " position_offset=" << args.position_offset
         << (args.positions ? " positions" : "") << (args.rope.inv_freq ? " inv_freq" : "")
         << (args.rope.cos ? " tables" : "") << " axes=" << args.rope.axes << (args.reverse ? " reverse" : "");
    return text.str();
}

} // namespace gyre::test
