/// Makes the arguments of gyre_rotary() of the options of gyre rotary (and gyre bench rotary).
#pragma once

#include "console/command.h"
#include "files/array.h"
#include "options/library_errors.h"
#include "options/rotation.h"

#include <memory>
#include <optional>
#include <string>

namespace gyre::cli {

struct RotaryOptions {
    std::optional<gyre_layout> layout;
    RotationOptions rotation;
    std::optional<std::int64_t> rotary_dim, rotary_offset, length, offset;
    std::string positions, inv_freq, cos, sin; // files
    bool reverse = false;
};

/// Adds every option but those of the tensors.
void add_rotary_options(const Command &command, RotaryOptions &options);

/// Arguments and what they point to.
class RotaryCall {
public:
    /// x, out: views of memory that outlives this. x_name: the option that x came from. Throws UsageError.
    RotaryCall(const RotaryOptions &options, const std::string &x_name, const gyre_tensor &x, const gyre_tensor &out);
    RotaryCall(const RotaryCall &) = delete;
    RotaryCall &operator=(const RotaryCall &) = delete;

    /// Throws UsageError for what the library refuses, by the options' names.
    void run(gyre_context *context);

    const gyre_rotary_args &args() const { return args_; }

private:
    void set_angles(const RotaryOptions &options, const std::string &x_name);

    gyre_rotary_args args_ = gyre_rotary_defaults();
    ArgumentNames names_;
    TensorStore store_;
    std::unique_ptr<Rotation> rotation_;
};

} // namespace gyre::cli
