/// Keys and values of a call in the form in which matrix tiles take them, rotated: formed once, and read by all tasks
/// (generators/operands).
#pragma once
#include "attention/operands/angle_tables.h"
#include "attention/operands/views.h"

namespace gyre {

struct OperandsKernel {
    const Kernel *kernel = nullptr;
    gyre_dtype dtype = GYRE_BF16;
    int64_t head_dim = 0;
    int64_t key_stride = 0, block = 0; // elements from key to key; keys of a block of values
    size_t workspace = 0;              // bytes
};

/// The best target's kernel for a call; nullptr: none is linked.
const OperandsKernel *find_operands_kernel(const gyre_context &context, const AttentionCall &call);

/// True if enough tasks read the same keys, and these are few enough to be kept a second time.
bool pays_to_form_operands(const AttentionCall &call);

class FormedOperands {
public:
    void prepare(const gyre_context &context, const AttentionCall &call);

    bool on() const { return kernel != nullptr; }
    size_t bytes() const;
    size_t scratch_bytes() const { return on() ? kernel->workspace : 0; } // of a worker, to form them
    void place(char *memory) { data = memory; }
    void turn_off() { kernel = nullptr; }

    /// They are formed in independent tasks. False: the kernel failed.
    int64_t tasks(const AttentionCall &call) const;
    bool form(const AttentionCall &call, const AngleTables &angles, int64_t task, char *scratch) const;
    /// True if all values are finite, once all tasks have been run. Tiles take no others, of keys that some row does not see.
    bool values_are_finite(const AttentionCall &call) const;

    /// The slot of a sequence's key, in a block of its own if `key` is the first of one; then what is in the slots from there on. A sequence's
    /// first slot is that of the first key that some query sees.
    int64_t at(const AttentionCall &call, int64_t index, int64_t head, int64_t key) const;
    KeyRows keys(int64_t slot, int64_t count) const;
    KeyRows values(int64_t slot, int64_t count) const;
    void describe_squares(int64_t slot, int64_t count, Buffer *squares) const;

private:
    static constexpr int64_t run = 256; // keys of a task

    const OperandsKernel *kernel = nullptr;
    int64_t slots = 0, all_slots = 0; // of a head; of all heads
    int64_t all_tasks = 0;
    char *data = nullptr; // keys; values; squares; marks of tasks

    int64_t runs(const AttentionCall &call) const;
    int64_t key_offset(int64_t slot) const; // bytes
    int64_t value_offset(int64_t slot) const;
    int64_t square_offset(int64_t slot) const;
    int64_t mark_offset(int64_t task) const;
};

} // namespace gyre
