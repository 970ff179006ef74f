// Copies of rows into shared memory, for nvcc, and as it is for the tests' emulation. Included by gyre_warp.h.
#pragma once

// Copies of 16 bytes, of which Runs are a row: a warp's neighbours take neighbours of a row. Where rows begin takes work to know, say
// an entry of a table of pages, so that each lane does it for one row.
//   to(turn)           the place in shared memory of this lane's copy
//   place(turn, lane)  where a lane's copy is from, in elements of `from`
template <int Numbers, int Turns, int Runs, class T, class Declared, class To, class Place>
GYRE_FN void gyre_copy_rows(Declared *memory, const To &to, const T *from, const Place &place) {
    constexpr int rows = 32 / Runs; // of a turn
    static_assert(Turns * rows <= 32, "a lane has one row");
    const int begin = place(GYRE_LANE / rows % Turns, GYRE_LANE % rows * Runs);
    const T *of_run = gyre_opaque(from + GYRE_LANE % Runs * Numbers);
#pragma unroll
    for (int turn = 0; turn < Turns; turn++)
        gyre_copy_async<Numbers>(memory, to(turn), of_run + gyre_of_lane(begin, turn * rows + GYRE_LANE / Runs));
}
