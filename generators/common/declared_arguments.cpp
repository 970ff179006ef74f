#include "declared_arguments.h"

namespace gyre {
using namespace Halide;
namespace {

template <typename Value>
Value find(const std::map<std::string, Value> &words, const std::string &word) {
    const auto found = words.find(word);
    _halide_user_assert(found != words.end()) << "the table of arguments has \"" << word << "\", which is not told\n";
    return found->second;
}

Type type_of(const std::string &word, const std::map<std::string, bool> &conditions,
             const std::map<std::string, Type> &types) {
    static const std::map<std::string, Type> fixed = {
        {"f16", Float(16)}, {"f32", Float(32)}, {"f64", Float(64)}, {"i8", Int(8)},    {"i32", Int(32)},
        {"u8", UInt(8)},    {"u16", UInt(16)},  {"u32", UInt(32)},  {"u64", UInt(64)}, {"boolean", Bool()}};
    const auto is = [&](const char *condition) { return find(conditions, condition); };
    const std::string meant(variant_type(word, is));
    const auto found = fixed.find(meant);
    return found != fixed.end() ? found->second : find(types, meant);
}

} // namespace

void DeclaredArguments::declare(Internal::GeneratorBase &generator, const std::map<std::string, bool> &conditions,
                                const std::map<std::string, Type> &types) {
    for (const Row &row : rows)
        if (row.when == "always" || find(conditions, row.when))
            row.make(generator, type_of(row.type, conditions, types));
}

} // namespace gyre
