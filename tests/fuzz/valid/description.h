/// A call as C that would make it, for people who look into a finding. What tensors hold follows from the bytes of the case.
#pragma once
#include <gyre/gyre.h>

#include <string>

namespace gyre::fuzz {

class Description {
public:
    explicit Description(const char *structure)
        : text_(std::string(structure) + "_args a = " + structure + "_defaults();\n") {}

    Description &tensor(const char *field, const gyre_tensor &t);
    Description &tensor(const char *field, const gyre_tensor *t);
    Description &rope(const char *field, const gyre_rope *r);
    /// Is left out where it is 0.
    Description &number(const char *field, double value);

    const std::string &text() const { return text_; }

private:
    std::string text_;
};

Description describe(const gyre_rotary_args &a);
Description describe(const gyre_rotary_qk_args &a);
Description describe(const gyre_attention_args &a);
Description describe(const gyre_attention_backward_args &a);
Description describe(const gyre_attention_merge_args &a);
Description describe(const gyre_cache_append_args &a);
Description describe(const gyre_linear_attention_args &a);
Description describe(const gyre_linear_attention_backward_args &a);

} // namespace gyre::fuzz
