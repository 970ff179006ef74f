/// Makes calls of problems: gives their numbers memory in some layout, in pages or not, and reads what was written.
#pragma once
#include "problem.h"
#include "support/kernel_facts.h"

#include <string>
#include <vector>

namespace gyre::fuzz {

/// Says where numbers lie.
struct Presentation {
    gyre_layout layout = GYRE_BSHD;
    int64_t page_size = 0; // 0: no pages; divides the number of keys
    uint16_t seed = 0;     // of strides, and of the order of pages; 0: dense
    bool prepares_mask = false;
};

/// Any layout that the problem's call can have, without pages: packed sequences have neither bias nor mask.
Presentation random_presentation(ByteReader &r, const Problem &p);

struct AttentionResult {
    std::string wrong; // why there is none, or what was written beside it; empty: nothing
    std::string kernel;
    test::KernelRounding rounding;
    test::Dense out;
    std::vector<double> lse; // [batch, heads, seqlen_q]
};

AttentionResult run(gyre_context *context, const Problem &p, const Presentation &as = {});

struct Gradients {
    std::string wrong;
    std::string forward_kernel, kernel;
    test::Dense out, q, k, v;
};

/// Runs the backward pass; there are no pages.
Gradients run_backward(gyre_context *context, const Problem &p, const test::Dense &out_grad,
                       const Presentation &as = {});

/// True if the numbers are equal, the sign of zero included; all NaNs are alike.
bool same_bits(const std::vector<double> &a, const std::vector<double> &b);

} // namespace gyre::fuzz
