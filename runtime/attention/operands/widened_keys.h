/// Keys and values of a narrower type than the kernel takes, and queries likewise: a task converts those that it takes, exactly.
#pragma once
#include "attention/operands/views.h"
#include "rotary/rotary_kernel.h"

namespace gyre {

class WidenedKeys {
public:
    /// `dtype`: what the kernel takes. `most_keys`: of a task. Nothing to do where the types are the same. Errors: UNSUPPORTED (no kernel converts,
    /// too many keys).
    gyre_status prepare(const gyre_context &context, const AttentionCall &call, gyre_dtype dtype, int64_t most_keys);
    /// After it: queries, too, at most so many rows of a task. On x86 alone.
    void add_queries(int64_t most_rows) { query_rows = most_rows; }
    /// True if prepare() gives no error.
    static bool takes(const gyre_context &context, const AttentionCall &call, int64_t most_keys);

    bool on() const { return copy != nullptr; }
    bool has_queries() const { return is_x86 && query_rows > 0; }
    /// Scratch memory that a task's keys, values and queries take.
    size_t bytes() const;

    /// Writes keys [first, first + count) of the sequence with this index, and their values, into `memory`. False: the kernel failed.
    bool form(const AttentionCall &call, const Sequence &s, int64_t index, int64_t head, int64_t first, int64_t count,
              char *memory) const;
    /// What is there then, in dense rows.
    KeyRows keys(int64_t count, char *memory) const;
    KeyRows values(int64_t count, char *memory) const;
    /// Writes a task's queries into `memory` and describes them. False: the kernel failed.
    bool form_queries(const AttentionCall &call, const Sequence &s, int64_t token, int64_t tokens, int64_t head,
                      int64_t heads, char *memory, Buffer *queries) const;

private:
    const RotaryKernel *copy = nullptr;
    int64_t most_keys = 0, k_dim = 0, v_dim = 0, query_rows = 0;

    char *first_value(char *memory) const;
    char *scratch(char *memory) const;
    bool convert(TokenRun from, char *to, int64_t tokens, int64_t dim, char *memory) const;
};

} // namespace gyre
