#include "calls/rotary_call.h"

#include "console/errors.h"
#include "files/inputs.h"
#include "options/layout.h"
#include "options/option_values.h"

namespace gyre::cli {
namespace {

const std::int64_t any_position = (std::int64_t(1) << 31) - 1;

void check_combinations(const RotaryOptions &options) {
    const Given theta = {"--theta", options.rotation.theta.has_value()};
    const Given rope = {"--rope", !options.rotation.rope.empty()};
    const Given inv_freq = {"--inv-freq", !options.inv_freq.empty()};
    const Given cos = {"--cos", !options.cos.empty()};
    const Given sin = {"--sin", !options.sin.empty()};
    refuse_together({theta, rope, inv_freq, cos});
    refuse_together({theta, rope, inv_freq, sin});
    refuse_without(cos, sin);
    refuse_without(sin, cos);
    refuse_without({"--length", options.length.has_value()}, rope);
    refuse_together({{"--positions", !options.positions.empty()}, {"--offset", options.offset.has_value()}});
}

} // namespace

void add_rotary_options(const Command &command, RotaryOptions &options) {
    add_layout(command, options.layout);
    add_text(command, "--positions", options.positions, "P.npy", "int, [batch, seqlen] or [seqlen], in tokens");
    add_whole_number(command, "--offset", options.offset, 0, any_position, "position of the first token, default 0");
    add_whole_number(command, "--rotary-dim", options.rotary_dim, 2, any_position, "rotated features, default all");
    add_whole_number(command, "--rotary-offset", options.rotary_offset, 0, any_position, "first rotated feature");
    add_rotation(command, options.rotation);
    add_whole_number(command, "--length", options.length, 1, std::int64_t(1) << 40,
                     "tokens of the sequence, for rules that depend on it; default: last position + 1");
    add_text(command, "--inv-freq", options.inv_freq, "F.npy", "float, [rotary_dim/2], radians a token");
    add_text(command, "--cos", options.cos, "C.npy", "float, [rows, rotary_dim/2] or [batch, seqlen, rotary_dim/2]");
    add_text(command, "--sin", options.sin, "S.npy", "as --cos");
    command.add_flag("--reverse", options.reverse, "rotate back");
}

RotaryCall::RotaryCall(const RotaryOptions &options, const std::string &x_name, const gyre_tensor &x,
                       const gyre_tensor &out) {
    check_combinations(options);
    args_.layout = options.layout.value_or(GYRE_BHSD);
    args_.x = x;
    args_.out = out;
    args_.reverse = options.reverse;
    args_.position_offset = options.offset.value_or(0);
    if (!options.positions.empty()) {
        const std::string subject = "--positions " + options.positions;
        args_.positions = store_.keep(subject, read_positions("--positions", options.positions));
        names_.push_back({"positions", subject});
    }
    set_angles(options, x_name);

    names_.insert(names_.end(), {{"x", x_name},
                                 {"out", "--out"},
                                 {"position_offset", "--offset"},
                                 {"rope.rotary_offset", "--rotary-offset"},
                                 {"rope.rotary_dim", "--rotary-dim"},
                                 {"rope.theta", "--theta"},
                                 {"rope.inv_freq", options.inv_freq.empty() ? "--rope" : "--inv-freq"},
                                 {"rope.attention_factor", "--rope"},
                                 {"rope.axes", "--rope"},
                                 {"rope.sections", "--rope"},
                                 {"rope.cos", "--cos " + options.cos},
                                 {"rope.sin", "--sin " + options.sin}});
}

void RotaryCall::set_angles(const RotaryOptions &options, const std::string &x_name) {
    const Extents extents = extents_of(x_name, args_.layout, Shape(args_.x.shape, args_.x.shape + args_.x.rank));
    const std::int64_t head_dim = extents.dim;
    const std::optional<RopeConfig> config = rope_config(options.rotation);
    const std::int64_t natural = config ? rotary_dim_of(*config, head_dim) : head_dim;
    const std::int64_t rotary_dim = options.rotary_dim.value_or(natural);
    const std::int64_t offset = options.rotary_offset.value_or(0);
    const std::string &blamed = options.rotary_dim ? "--rotary-dim" : offset ? "--rotary-offset" : x_name;
    check_rotary_dim(blamed, rotary_dim, offset, head_dim);
    check_configured_dim(config, rotary_dim, head_dim);
    const std::int64_t last =
        args_.positions ? length_from_positions(*args_.positions) : args_.position_offset + extents.seqlen;
    rotation_ =
        std::make_unique<Rotation>(options.rotation, config, rotary_dim, head_dim, options.length.value_or(last));
    args_.rope = rotation_->rope;
    args_.rope.rotary_offset = std::int32_t(offset);
    if (config && args_.positions) use_position_axes(args_.rope, *config);

    if (!options.inv_freq.empty()) {
        const std::string subject = "--inv-freq " + options.inv_freq;
        Array inv_freq = read_floats("--inv-freq", options.inv_freq, GYRE_F64);
        if (inv_freq.shape != Shape{rotary_dim / 2}) {
            refuse(subject, "shape " + shape_text(inv_freq.shape),
                   shape_text({rotary_dim / 2}) + ", half of the rotated features");
        }
        args_.rope.inv_freq = static_cast<const double *>(store_.keep(subject, std::move(inv_freq))->data);
    }
    if (!options.cos.empty()) {
        args_.rope.cos = store_.keep("--cos " + options.cos, read_floats("--cos", options.cos, GYRE_F32));
        args_.rope.sin = store_.keep("--sin " + options.sin, read_floats("--sin", options.sin, GYRE_F32));
    }
}

void RotaryCall::run(gyre_context *context) { check(gyre_rotary(context, &args_), names_); }

} // namespace gyre::cli
