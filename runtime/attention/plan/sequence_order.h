/// The order in which threads take the sequences of a call.
#pragma once
#include "attention/task/task.h"

namespace gyre {

/// Sequences of different lengths: those whose tasks take longest come first, so that no thread is left with a long one at the
/// end. Results do not depend on it.
class SequenceOrder {
public:
    void prepare(const AttentionCall &call, int threads);
    size_t bytes() const;
    /// Sorts them in `memory`, which holds bytes().
    void form(const AttentionTask &task, char *memory);
    int64_t at(int64_t place) const { return entries ? entries[place].sequence : place; }

private:
    struct Entry {
        int64_t work, sequence;
    };
    int64_t sorted = 0; // sequences; 0: they stay as they are
    const Entry *entries = nullptr;
};

} // namespace gyre
