#include "keys_of_block.h"

namespace gyre::attention {
using namespace Halide;
namespace {

RDom keys_of_block(int key_block, int together, const std::string &name) {
    if (together == 1) return {0, key_block, name};
    return {0, together, 0, key_block / together, name};
}

} // namespace

KeysOfBlock::KeysOfBlock(int key_block, int together, const std::string &name)
    : dom(keys_of_block(key_block, together, name)), lane(dom.x) {
    const bool in_vectors = together > 1;
    first = in_vectors ? Expr(dom.y * together) : Expr(dom.x);
    key = in_vectors ? first + dom.x : first;
}

} // namespace gyre::attention
