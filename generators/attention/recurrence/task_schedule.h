/// HOW a task is computed by engines with rows along the lanes: all that surrounds the recurrence, and its loops.
#pragma once
#include "stages.h"

namespace gyre::attention {

/// The loops of a recurrence over blocks of keys: of row tiles, of their register tiles, of these the vectors, of these
/// lanes. Names differ between recurrences, so that a stage can be formed in a loop of one of them.
struct TaskLoops {
    Halide::Var tile, register_tile, vector, lane;

    explicit TaskLoops(const std::string &prefix = "")
        : tile(prefix + "tile"), register_tile(prefix + "register_tile"), vector(prefix + "vector"),
          lane(prefix + "lane") {}
};

/// Schedules the state and the results, which are stored in vectors of `stored_lanes` elements where a row is a known number of them.
void schedule_task(Stages &s, int stored_lanes);

/// Schedules `lanes_of_rows`, transposed queries, and `prepared`, what becomes of them: (r, column, …), in blocks of `columns`, each of
/// `features`. Rows of queries are formed in vectors of `row_lanes` features.
void schedule_query_lanes(Stages &s, Halide::Func prepared, Transpose &lanes_of_rows, int columns, int features,
                          int row_lanes);

/// Schedules the loops of the recurrence that is update `update` of the state: all row tiles of the task in each block, in
/// register tiles of `row_vectors` vectors; `unrolled`: whose loop is unrolled. The result is its stage.
Halide::Stage schedule_recurrence(Stages &s, int row_vectors, const TaskLoops &loops, int update = 0,
                                  bool unrolled = true);

} // namespace gyre::attention
