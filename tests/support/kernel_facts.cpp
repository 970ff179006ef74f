#include "kernel_facts.h"

#include <gyre/gyre.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace gyre::test {

std::string fact_of(const std::string &kernel, const std::string &name) {
    gyre_kernel_info info;
    for (int32_t i = 0; gyre_kernel_at(i, &info); i++) {
        if (kernel != info.name) continue;
        const std::string attributes = " " + std::string(info.attributes) + " ", key = " " + name + "=";
        const size_t at = attributes.find(key);
        if (at == std::string::npos) return "";
        const size_t from = at + key.size();
        return attributes.substr(from, attributes.find(' ', from) - from);
    }
    throw std::invalid_argument("no linked kernel has the name " + kernel);
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
            std::atoi(fact_of(kernel, "terms").c_str())};
}

KernelRounding rounding_of_call(const gyre_attention_args &args, const std::string &kernel, const std::string &target) {
    KernelRounding rounding = rounding_of_kernel(kernel);
    const std::string type = args.q.dtype == GYRE_F32 ? "f32" : args.q.dtype == GYRE_F16 ? "f16" : "bf16";
    const std::string plain = "attention_plain_" + type + "_";
    gyre_kernel_info info;
    for (int32_t i = 0; args.mask && gyre_kernel_at(i, &info); i++) {
        if (target != info.target || std::string(info.name).rfind(plain, 0) != 0) continue;
        const KernelRounding other = rounding_of_kernel(info.name);
        rounding.operands = std::max(rounding.operands, other.operands);
        rounding.sum = std::max(rounding.sum, other.sum);
        rounding.terms = std::max(rounding.terms, other.terms);
    }
    return rounding;
}

double half_spacing(const std::string &type) {
    if (type.empty()) return 0;
    if (type == "bf16") return 0x1p-8;
    if (type == "f16") return 0x1p-11;
    if (type == "bf16x2") return 0x1p-16; // the sum of two
    throw std::invalid_argument("no half_spacing() of " + type);
}

} // namespace gyre::test
