#include "attention/operands/formed.h"

#include "core/argument_tables.h"
#include "core/kernel_arguments.h"
#include "core/kernel_list.h"

#include <algorithm>
#include <cstring>

namespace gyre {
namespace {

constexpr int64_t most_bytes = int64_t{64} << 20, fewest_rows = 2048;
constexpr int64_t norm_lanes = 16;          // u32 of a block's squares
constexpr int64_t mark_lanes = 16;          // u32 of a task's marks
constexpr uint32_t not_finite = 0x80008000; // bits of marks, one of each number of a pair
constexpr halide_type_t bits16{halide_type_uint, 16, 1}, bits32{halide_type_uint, 32, 1};

KernelTable<OperandsKernel> operands_kernels("operands", [](const Kernel &k) {
    return OperandsKernel{&k,
                          kernel_dtype(k),
                          attribute(k, "head_dim", 0),
                          attribute(k, "key_stride", 0),
                          attribute(k, "block", 0),
                          static_cast<size_t>(attribute(k, "workspace", 0))};
});

int64_t round_to_block(int64_t keys) { return ceil_div(keys, int64_t{GYRE_VALUE_BLOCK}) * GYRE_VALUE_BLOCK; }

/// Slots of one head for all sequences. Packed ones begin at blocks of their own.
int64_t slots_of_head(const AttentionCall &c) {
    if (c.packed_keys) return round_to_block(c.k.seqlen) + 2 * GYRE_VALUE_BLOCK * (c.sequences + 1);
    return c.sequences * round_to_block(c.k.seqlen);
}

int64_t first_slot(const AttentionCall &c, const Sequence &s, int64_t index) {
    return c.packed_keys ? round_to_block(s.k_first) + 2 * GYRE_VALUE_BLOCK * index
                         : index * round_to_block(c.k.seqlen);
}

} // namespace

const OperandsKernel *find_operands_kernel(const gyre_context &context, const AttentionCall &c) {
    for (const OperandsKernel &k : operands_kernels.rows(*context.kernels))
        if (k.dtype == c.k.dtype && k.head_dim == c.k.dim && k.head_dim == c.v.dim && may_use(context, *k.kernel))
            return &k;
    return nullptr;
}

bool pays_to_form_operands(const AttentionCall &c) {
    if (c.empty() || c.k.empty() || c.sequences == 0) return false;
    const int64_t queries = c.has_cu_seqlens_q ? c.q.seqlen / c.sequences : c.q.seqlen;
    const int64_t bytes = slots_of_head(c) * c.k.heads * (c.k.dim + c.v.dim) * 2;
    return c.rows(queries) >= fewest_rows && bytes <= most_bytes;
}

void FormedOperands::prepare(const gyre_context &context, const AttentionCall &c) {
    kernel = find_operands_kernel(context, c);
    slots = slots_of_head(c);
    all_slots = slots * c.k.heads;
    all_tasks = tasks(c);
}

int64_t FormedOperands::key_offset(int64_t slot) const { return slot * kernel->key_stride * 2; }
int64_t FormedOperands::value_offset(int64_t slot) const { return key_offset(all_slots) + slot * kernel->head_dim * 2; }
int64_t FormedOperands::square_offset(int64_t slot) const {
    return value_offset(all_slots) + slot / kernel->block * norm_lanes * static_cast<int64_t>(sizeof(uint32_t));
}

int64_t FormedOperands::mark_offset(int64_t task) const {
    return square_offset(all_slots) + task * mark_lanes * static_cast<int64_t>(sizeof(uint32_t));
}

size_t FormedOperands::bytes() const { return on() ? round_up(static_cast<size_t>(mark_offset(all_tasks))) : 0; }

int64_t FormedOperands::runs(const AttentionCall &c) const { return ceil_div(c.k.seqlen, run); }

int64_t FormedOperands::tasks(const AttentionCall &c) const { return on() ? c.sequences * runs(c) * c.k.heads : 0; }

int64_t FormedOperands::at(const AttentionCall &c, int64_t index, int64_t head, int64_t key) const {
    const Sequence s = c.sequence(index);
    return head * slots + first_slot(c, s, index) + key - s.first_seen;
}

KeyRows FormedOperands::keys(int64_t slot, int64_t count) const {
    return {data + key_offset(slot), bits16, kernel->head_dim, kernel->key_stride, round_to_block(count)};
}

KeyRows FormedOperands::values(int64_t slot, int64_t count) const {
    return {data + value_offset(slot), bits16, kernel->head_dim, kernel->head_dim, round_to_block(count)};
}

void FormedOperands::describe_squares(int64_t slot, int64_t count, Buffer *squares) const {
    squares->describe(data + square_offset(slot), bits32,
                      {{norm_lanes, 1}, {ceil_div(count, kernel->block), norm_lanes}});
}

/// Heads of the same tokens follow each other, since they share rows of angles.
bool FormedOperands::form(const AttentionCall &c, const AngleTables &angles, int64_t task, char *scratch) const {
    const int64_t head = task % c.k.heads, index = task / c.k.heads / runs(c);
    const Sequence s = c.sequence(index);
    const int64_t first = s.first_seen + task / c.k.heads % runs(c) * run, count = std::min(run, s.past_seen - first);
    char *marks_of_task = data + mark_offset(task);
    if (count <= 0) {
        std::memset(marks_of_task, 0, mark_lanes * sizeof(uint32_t));
        return true;
    }
    const int64_t slot = at(c, index, head, first), blocks = ceil_div(count, kernel->block), dim = kernel->head_dim;
    KeyRows k(c, c.k, halide_type(c.k.dtype), c.pages.k_page_stride, s, s.k_first + first, head, count);
    KeyRows v(c, c.v, halide_type(c.v.dtype), c.pages.v_page_stride, s, s.k_first + first, head, count);
    KeysAndValues keys_and_values(c, angles, s, index, first, count);
    Buffer k_rows(data + key_offset(slot), bits16, {{dim, 1}, {blocks * kernel->block, kernel->key_stride}});
    Buffer v_blocks(data + value_offset(slot), bits32,
                    {{kernel->block / 2, 1}, {dim, kernel->block / 2}, {blocks, dim * kernel->block / 2}});
    Buffer squares;
    describe_squares(slot, count, &squares);
    Buffer marks(marks_of_task, bits32, {{mark_lanes, 1}});
    using A = OperandsArguments;
    KernelArguments<A> arguments;
    keys_and_values.add_to(&arguments, &k, &v);
    arguments[A::k_rows] = &k_rows;
    arguments[A::v_blocks] = &v_blocks;
    arguments[A::key_squares] = &squares;
    arguments[A::marks] = &marks;
    Slab slab(scratch, kernel->workspace);
    return arguments.call(*kernel->kernel, slab);
}

bool FormedOperands::values_are_finite(const AttentionCall &c) const {
    uint32_t marks = 0;
    for (int64_t task = 0; task < tasks(c); task++) {
        uint32_t of_task[mark_lanes];
        std::memcpy(of_task, data + mark_offset(task), sizeof of_task);
        for (const uint32_t mark : of_task) marks |= mark;
    }
    return (marks & not_finite) == 0;
}

} // namespace gyre
