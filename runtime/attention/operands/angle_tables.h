/// The tables of angles that an attention call needs: of queries and keys, and of values and results where these differ.
#pragma once
#include "attention/operands/angle_table.h"

#include <array>

namespace gyre {

class AngleTables {
public:
    gyre_status prepare(gyre_context &context, const AttentionCall &call);

    size_t bytes() const;
    size_t scratch_bytes() const; // of a worker, to fill them

    /// They are filled in independent tasks, in `memory`; every worker has a slab.
    int64_t tasks() const;
    bool fill(gyre_context &context, char *memory, char *slabs, size_t slab_bytes);

    /// The table that serves; nullptr: these are not rotated.
    const AngleTable *queries() const { return q.on() ? &q : nullptr; }
    const AngleTable *keys() const { return k.on() ? &k : nullptr; }
    const AngleTable *values() const { return !rotate_values ? nullptr : v.on() ? &v : &k; }
    const AngleTable *results() const { return !rotate_results ? nullptr : out.on() ? &out : &q; }

private:
    AngleTable q, k, v, out; // the last two off where the first two serve
    bool rotate_values = false, rotate_results = false;

    std::array<AngleTable *, 4> all() { return {&q, &k, &v, &out}; }
    std::array<const AngleTable *, 4> all() const { return {&q, &k, &v, &out}; }
};

} // namespace gyre
