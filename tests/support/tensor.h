/// An owning tensor for tests: any element type, any strides, and poison wherever the view has no element.
///
///     Tensor x(GYRE_BF16, {2, 17, 3, 64}, Placement::ordered({0, 2, 1, 3}, 5));   // heads outside tokens
///     x.fill_normal(seed);
///     gyre_tensor view = x.view();
///     … call …
///     CHECK(x.surroundings_intact());
#pragma once
#include <gyre/gyre.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace gyre::test {

/// Where the elements lie in memory; by default in C order without gaps.
struct Placement {
    std::vector<int> order;       // dimensions, outermost in memory first; empty: C order
    int64_t row_gap = 0;          // unused elements after every run of the dimension that is innermost in memory
    std::vector<int64_t> strides; // given: used as they are, 0 and negative ones included

    static Placement ordered(std::vector<int> order, int64_t row_gap = 0) {
        Placement placement;
        placement.order = std::move(order);
        placement.row_gap = row_gap;
        return placement;
    }
    static Placement with_gaps(int64_t row_gap) { return ordered({}, row_gap); }
    static Placement with_strides(std::vector<int64_t> strides) {
        Placement placement;
        placement.strides = std::move(strides);
        return placement;
    }
};

class Tensor {
public:
    Tensor(gyre_dtype dtype, std::vector<int64_t> shape, Placement placement = {});

    gyre_tensor view() const;
    gyre_dtype dtype() const { return dtype_; }
    const std::vector<int64_t> &shape() const { return shape_; }
    int64_t count() const;

    /// Elements in C order of the shape, whatever the strides.
    std::vector<double> values() const;
    std::vector<uint64_t> bits() const;
    void set_values(const std::vector<double> &values);
    void set(const std::vector<int64_t> &index, double value);
    double get(const std::vector<int64_t> &index) const;

    void fill_normal(uint64_t seed, double scale = 1.0);
    void fill_uniform_integers(uint64_t seed, int64_t lowest, int64_t highest);
    void fill(double value);
    void poison(); // NaN with a payload (integers: a pattern) in every element

    /// Everything that it owns, guard bands included. Equal to what it was: nobody wrote an element or around one.
    std::vector<unsigned char> &memory() { return memory_; }
    const std::vector<unsigned char> &memory() const { return memory_; }
    /// A hash of that memory. A change of one word changes it, and one of several does but for a chance of 2^-64.
    uint64_t fingerprint() const;

    bool elements_poisoned() const;   // nobody wrote an element since poison()
    bool surroundings_intact() const; // nobody wrote before, after or between the elements
    bool untouched() const { return elements_poisoned() && surroundings_intact(); }

private:
    template <typename Visit>
    void each_run(Visit visit) const;
    void set_values(const double *values);
    int64_t offset_of(const std::vector<int64_t> &index) const;
    const unsigned char *at(int64_t offset) const;
    unsigned char *at(int64_t offset);

    gyre_dtype dtype_;
    std::vector<int64_t> shape_, strides_;
    int64_t first_ = 0; // offset of element (0, 0, …), in elements
    std::vector<unsigned char> memory_;
};

/// The element at `offset` (in elements) of a view, as a double.
double read_element(const gyre_tensor &view, int64_t offset);
/// `count` of them, `stride` elements apart.
void read_elements(const gyre_tensor &view, int64_t offset, int64_t stride, int64_t count, double *to);

/// All elements of a view in C order.
std::vector<double> values_of(const gyre_tensor &view);

} // namespace gyre::test
