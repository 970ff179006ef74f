/// What the name of a lowered loop, f.s0.old.new, says.
#pragma once
#include <Halide.h>
#include <algorithm>
#include <string>

namespace gyre {

/// The Func whose stage it is of.
inline std::string func_of_loop(const std::string &name) { return name.substr(0, name.find('.')); }

/// Without what tells that Halide lets the loop begin at 0, where it began elsewhere.
inline std::string name_before_rebasing(const std::string &name) {
    const std::string rebased = ".rebased";
    const size_t end = name.size() - std::min(name.size(), rebased.size());
    return name.compare(end, rebased.size(), rebased) == 0 ? name.substr(0, end) : name;
}

/// The variable that a split made last, without what tells a reduction's ($x) from others of that name.
inline std::string variable_of_loop(const std::string &name) {
    const std::string whole = name_before_rebasing(name), last = whole.substr(whole.rfind('.') + 1);
    return last.substr(0, last.find('$'));
}

/// The name of a reduction's variable, as loops over it have it once it is lowered.
inline std::string loop_of(const Halide::RVar &variable) { return variable_of_loop(variable.name()); }

} // namespace gyre
