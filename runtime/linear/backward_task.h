/// One task of linear attention's backward pass: one sequence, one key head, all query heads that share it.
///
/// With o_i = S_i q_i / D_i, S_i the sum of v_j k_j^T over the keys that i sees, D_i = <f_i, z_i>, z_i the sum of their features g_j;
/// q, k: features f, g rotated:
///
///     n_i  = do_i / D_i        delta_i = <q_i, dq_i> / D_i          what o_i's denominator takes
///     dq_i = S_i^T n_i         df_i = R(-i) dq_i - delta_i z_i
///     dk_j = T_j v_j           dg_j = R(-j) dk_j - w_j              T_j = sum of q_i n_i^T over the queries that see j
///     dv_j = T_j^T k_j                                              w_j = sum of delta_i f_i
///
/// So dq is linear attention of other rows, and dk and dv are, against the order of tokens. Neither out nor D is taken from the
/// forward pass. The order of all sums is that of tokens and heads, whoever runs the task.
#pragma once
#include "linear/task.h"

namespace gyre {

struct LinearBackwardTask {
    LinearBackwardCall call;
    LinearTask forward; // its call is call.forward

    /// False: a kernel failed.
    bool run(int64_t sequence, int64_t kv_head, char *memory) const;
};

} // namespace gyre
