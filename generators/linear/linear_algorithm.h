/// Linear attention of a chunk of rows: WHAT is computed. No scheduling call may appear here.
///     out_i += sum over j <= i of <q_i, k_j> v_j + sum over d of q_i[d] state_d
/// The first sum is over the chunk's own tokens, the state stands for those before; either may be left out. q and k are features
/// that have been rotated; what the rows are divided by is not formed here. The gradients are the same sums of other rows, in
/// the order of tokens or against it.
/// Source: Katharopoulos et al., Transformers are RNNs (arXiv:2006.16236), section 3.3; Su et al., RoFormer (arXiv:2104.09864),
/// section 3.3: the rotation; in chunks as Hua et al., FLASH (arXiv:2202.10447), section 3.2.
///
/// Keys run along the lanes of the first product, for which they are in panels of `lanes` neighbours; features along those of
/// both sums, whose other factors are scalars. So no reduction crosses lanes. All numbers are f32, whatever the tensors' type.
///
/// Index order is Halide's, innermost first.   d, e: feature;  row i = t * tile + y;  key j = u * tile + x = p * lanes + l.
#pragma once
#include <Halide.h>

namespace gyre::linear {

/// Sizes that the code is specialised for.
struct Sizes {
    int rows = 96;      // of a chunk, and its keys
    int tile = 6;       // rows of a register tile; divides `rows`
    int key_lanes = 32; // keys of a panel; divides `rows`
    int features = 32;  // of a register tile; divides the number of features of the result
};

/// What a kernel reads. Rows and keys past the end hold anything; values there finite numbers.
struct Inputs {
    Halide::Func q;        // (d, i)
    Halide::Func k_panels; // (l, d, p)
    Halide::Func v;        // (e, j)
    Halide::Func state;    // (e, d)
    Halide::Expr depth;    // features d
    Halide::Expr causal;   // row i sees keys j <= i of the chunk; else none
    Halide::Expr stateful; // the second sum is added
};

/// Every Func and Var that a schedule may name.
struct Stages {
    Sizes sizes;
    Halide::Var e{"e"}, j{"j"}, y{"y"}, t{"t"};
    Halide::RVar score_feature, formed_key, formed_panel, summed_key, summed_tile, own_key, state_feature;
    Halide::Func scores;  // (j, y, t)  <q, k>
    Halide::Func weights; // (j, y, t)  0 where a key comes after the row
    Halide::Func sum;     // (e, y, t)
    Halide::Func out;     // (e, y, t)  the generator's own output, which is added to
};

Stages algorithm(const Inputs &in, const Sizes &sizes, const Halide::Func &out);

} // namespace gyre::linear
