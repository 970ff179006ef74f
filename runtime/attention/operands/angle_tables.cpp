#include "attention/operands/angle_tables.h"

#include "core/error.h"

#include <algorithm>

namespace gyre {

gyre_status AngleTables::prepare(gyre_context &context, const AttentionCall &c) {
    rotate_values = c.rotate_values;
    rotate_results = c.value_rope.on;
    auto &frequencies = context.frequencies;
    if (c.rope.on) GYRE_TRY(q.prepare(context, c, c.rope, AngleTable::queries, frequencies[0]));
    if (c.rotate_keys) GYRE_TRY(k.prepare(context, c, c.rope, AngleTable::keys, frequencies[0]));
    const bool reuse_queries = c.same_angles, reuse_keys = c.same_angles && c.rotate_keys;
    if (c.rotate_values && !reuse_keys) GYRE_TRY(v.prepare(context, c, c.value_rope, AngleTable::keys, frequencies[1]));
    if (c.value_rope.on && !reuse_queries)
        GYRE_TRY(out.prepare(context, c, c.value_rope, AngleTable::queries, frequencies[1]));
    return GYRE_OK;
}

size_t AngleTables::bytes() const {
    size_t sum = 0;
    for (const AngleTable *table : all()) sum += table->on() ? table->bytes() : 0;
    return sum;
}

size_t AngleTables::scratch_bytes() const {
    size_t most = 0;
    for (const AngleTable *table : all()) most = std::max(most, table->on() ? table->scratch_bytes() : 0);
    return most;
}

int64_t AngleTables::tasks() const {
    int64_t sum = 0;
    for (const AngleTable *table : all()) sum += table->on() ? table->tasks() : 0;
    return sum;
}

bool AngleTables::fill(gyre_context &context, char *memory, char *slabs, size_t slab_bytes) {
    for (AngleTable *table : all()) {
        if (!table->on()) continue;
        table->place(memory);
        memory += table->bytes();
    }
    return context.threads.run_all(tasks(), [&](int64_t index, int worker) {
        for (const AngleTable *table : all()) {
            if (!table->on()) continue;
            if (index < table->tasks()) return table->fill(index, slabs + static_cast<size_t>(worker) * slab_bytes);
            index -= table->tasks();
        }
        return false;
    });
}

} // namespace gyre
