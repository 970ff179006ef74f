/// Memory of one call of a problem, and where the tokens of its entries lie in tensors of heads.
#pragma once
#include "present.h"
#include "support/tensor.h"

#include <deque>

namespace gyre::fuzz {

class CallMemory {
public:
    CallMemory(const Problem &p, const Presentation &as);

    /// Numbers of heads, entry by entry. `lengths`: of thd, the tokens of each entry that are packed.
    gyre_tensor heads(const test::Dense &x, const std::vector<int64_t> &lengths) { return place(x, lengths).view(); }
    test::Tensor &written(const test::Dense &like, const std::vector<int64_t> &lengths);
    /// What was written, with 0 for tokens that are not there.
    test::Dense read(const test::Tensor &tensor, const test::Dense &like, const std::vector<int64_t> &lengths) const;

    /// Keys or values as a pool of pages, by a table that is the same for both.
    gyre_tensor pool(const test::Dense &x);
    const gyre_tensor *table();
    const gyre_tensor *list(const std::vector<double> &values, std::vector<int64_t> shape, gyre_dtype dtype = GYRE_I32);
    /// Positions [batch, tokens]; of thd those that are packed.
    const gyre_tensor *positions(const std::vector<double> &all, int64_t tokens, const std::vector<int64_t> &lengths);
    /// The sums of lengths, from 0 on.
    const gyre_tensor *bounds(const std::vector<int64_t> &lengths);
    const gyre_rope *rope(const std::optional<gyre_rope> &r) { return r ? &ropes_.emplace_back(*r) : nullptr; }
    const gyre_tensor *view(const test::Tensor &tensor) { return &views_.emplace_back(tensor.view()); }
    /// Nobody wrote around or between elements.
    bool intact() const;

private:
    gyre_dtype dtype_;
    int64_t batch_, keys_;
    Presentation as_;
    std::vector<uint8_t> choices_;
    ByteReader reader_{nullptr, 0};
    std::deque<test::Tensor> tensors_;
    std::deque<gyre_tensor> views_;
    std::deque<gyre_rope> ropes_;
    std::vector<double> table_;

    void draw_table(int64_t pages);
    test::Tensor &place(const test::Dense &x, const std::vector<int64_t> &lengths);
    test::Tensor &place_in(gyre_layout layout, const test::Dense &x);
};

} // namespace gyre::fuzz
