#include "engine.h"

namespace gyre::attention {

Facts facts_of(const Engine &engine) {
    const Engine::Tiling tiling = engine.tiling();
    const Engine::Precision precision = engine.precision();
    Facts facts{{"task_rows", tiling.task_rows}, {"row_tile", tiling.row_tile}, {"key_block", tiling.key_block}};
    if (!precision.operands.empty()) facts.emplace_back("operands", precision.operands);
    if (!precision.sum.empty()) facts.emplace_back("sum", precision.sum);
    if (precision.terms > 0) facts.emplace_back("terms", precision.terms);
    return facts;
}

} // namespace gyre::attention
