#include "kernel_facts.h"

#include <gyre/gyre.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <tuple>

namespace gyre::test {
namespace {

/// The attributes of a kernel. It is looked for where it was found last: asking for all kernels, time and again, took a fifth of the
/// time of tests with assertions.
std::string attributes_of(const std::string &kernel) {
    static std::map<std::string, int32_t> places;
    gyre_kernel_info info;
    const auto known = places.find(kernel);
    if (known != places.end() && gyre_kernel_at(known->second, &info) && kernel == info.name) return info.attributes;
    for (int32_t i = 0; gyre_kernel_at(i, &info); i++) {
        if (kernel != info.name) continue;
        places[kernel] = i;
        return info.attributes;
    }
    throw std::invalid_argument("no linked kernel has the name " + kernel);
}

/// The coarsest roundings of a target's kernels whose names begin so.
KernelRounding coarsest_rounding(const std::string &target, const std::string &begin) {
    static std::map<std::tuple<std::string, std::string, int32_t>, KernelRounding> known;
    const auto key = std::tuple(target, begin, gyre_kernel_count()); // libraries come and go
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    KernelRounding coarsest;
    gyre_kernel_info info;
    for (int32_t i = 0; gyre_kernel_at(i, &info); i++) {
        if (target != info.target || std::string(info.name).rfind(begin, 0) != 0) continue;
        const KernelRounding rounding = rounding_of_kernel(info.name);
        coarsest.operands = std::max(coarsest.operands, rounding.operands);
        coarsest.sum = std::max(coarsest.sum, rounding.sum);
        coarsest.terms = std::max(coarsest.terms, rounding.terms);
    }
    known[key] = coarsest;
    return coarsest;
}

} // namespace

std::string fact_of(const std::string &kernel, const std::string &name) {
    const std::string attributes = " " + attributes_of(kernel) + " ", key = " " + name + "=";
    const size_t at = attributes.find(key);
    if (at == std::string::npos) return "";
    const size_t from = at + key.size();
    return attributes.substr(from, attributes.find(' ', from) - from);
}

bool has_kernel_with(const std::string &target, const std::string &attribute) {
    gyre_kernel_info info;
    for (int32_t i = 0; gyre_kernel_at(i, &info); i++)
        if (target == info.target &&
            (" " + std::string(info.attributes) + " ").find(" " + attribute + " ") != std::string::npos)
            return true;
    return false;
}

KernelRounding rounding_of_kernel(const std::string &kernel) {
    return {half_spacing(fact_of(kernel, "operands")), half_spacing(fact_of(kernel, "sum")),
            std::atoi(fact_of(kernel, "terms").c_str()), kernel.find("__arm_32_neon") != std::string::npos};
}

KernelRounding rounding_of_call(const gyre_attention_args &args, const std::string &kernel, const std::string &target) {
    const KernelRounding own = rounding_of_kernel(kernel);
    if (!args.mask) return own;
    const std::string type = args.q.dtype == GYRE_F32 ? "f32" : args.q.dtype == GYRE_F16 ? "f16" : "bf16";
    const KernelRounding plain = coarsest_rounding(target, "attention_plain_" + type + "_");
    return {std::max(own.operands, plain.operands), std::max(own.sum, plain.sum), std::max(own.terms, plain.terms),
            own.without_subnormals};
}

double half_spacing(const std::string &type) {
    if (type.empty()) return 0;
    if (type == "bf16") return 0x1p-8;
    if (type == "f16") return 0x1p-11;
    if (type == "bf16x2") return 0x1p-16; // the sum of two
    throw std::invalid_argument("no half_spacing() of " + type);
}

} // namespace gyre::test
