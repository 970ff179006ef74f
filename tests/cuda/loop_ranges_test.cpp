/// generators/passes/cuda/loop_ranges.h: the turns that are left of a loop whose range the device finds.
#include "passes/cuda/loop_ranges.h"

#include "lowered.h"

#include <doctest/doctest.h>

#include <vector>

using namespace Halide;
using namespace Halide::Internal;
using namespace gyre::cuda;

namespace {

constexpr int least = 2, turns = 10; // of the loop as it is for the host

Stmt loop_with_range() {
    const Stmt body = Evaluate::make(Call::make(Int(32), "use", {Variable::make(Int(32), "f.s0.turn")}, Call::Extern));
    Stmt loop = For::make("f.s0.turn", least, turns, ForType::Serial, Partition::Auto, DeviceAPI::None, body);
    for (const char *end : {"seen.1", "seen.0"})
        loop = Allocate::make(end, Int(32), MemoryType::Register, {Expr(1)}, const_true(), loop);
    return loop;
}

/// The loop of a nest, with numbers for what the Func of the range holds.
class Turns : public IRMutator {
public:
    Turns(int first, int end) : range{first, end} {}
    std::vector<int> taken;

private:
    const int range[2];
    using IRMutator::visit;
    Expr visit(const Load *op) override { return range[op->name == "seen.1"]; }
    Stmt visit(const For *op) override {
        const auto first = as_const_int(simplify(mutate(op->min))), count = as_const_int(simplify(mutate(op->extent)));
        REQUIRE(first);
        REQUIRE(count);
        for (int64_t turn = *first; turn < *first + *count; turn++) taken.push_back((int)turn);
        return op;
    }
};

std::vector<int> taken(int first, int end) {
    Turns turns(first, end);
    turns.mutate(limit_loops(loop_with_range(), {{"turn", LoopRange{"seen", 0, 1}}}));
    return turns.taken;
}

} // namespace

TEST_CASE("ranges of loops: the turns from the first to before the end, as far as the host's loop has them") {
    CHECK(taken(4, 7) == std::vector<int>{4, 5, 6});
    CHECK(taken(0, 4) == std::vector<int>{2, 3});
    CHECK(taken(10, 50) == std::vector<int>{10, 11});
    CHECK(taken(5, 5).empty());
    CHECK(taken(0, 0).empty());
}

TEST_CASE("ranges of loops: a range that nobody computes around the loop is refused by the loop's name") {
    const std::string said = refusal([] { limit_loops(loop_with_range(), {{"turn", LoopRange{"other", 0, 1}}}); });
    CHECK(said.find("f.s0.turn") != std::string::npos);
    CHECK(said.find("other") != std::string::npos);
}
