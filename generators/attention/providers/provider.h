/// Who delivers a block's keys and values: one class for each way in which they are stored.
#pragma once
#include "attention/recurrence/inputs.h"
#include "attention/recurrence/stages.h"

namespace gyre::attention {

/// What an engine takes: numbers of f32, or what is said here.
struct OperandForm {
    bool as_bits = false;            // bf16 numbers as their bits
    bool unwidened_keys = false;     // keys as they are stored; of keys that are not rotated
    bool one_page_apart = false;     // tables of offsets are specialised for one page, which all keys are then in
    bool no_values_past_end = false; // none is asked for
    bool own_keys = false; // k_rows and v_rows are (d, j, b, t): rows, each a row tile, may have keys of their own
};

class Provider {
public:
    virtual ~Provider() = default;

    /// Defines k_rows and v_rows of a block, and the other stages of s.operands that it has. Keys past the end repeat the last one, and
    /// are masked.
    virtual void define(Stages &s, const Inputs &in, const OperandForm &form) const = 0;
    /// The place of a feature of v in v_rows.
    virtual Halide::Expr place(const Stages &, const Inputs &, const Halide::Expr &feature) const { return feature; }
    /// The element of v as it is stored.
    virtual Halide::Expr stored_value(const Inputs &in, const Halide::Expr &key, const Halide::Expr &feature) const;
    /// What a slot of value blocks holds in step `step` of a block: its value, or the last key's if the slot is after it. Undefined:
    /// slots after the last key repeat that key already.
    virtual Halide::Expr held_value(const Stages &, const Inputs &, const Halide::Expr & /*slot*/,
                                    const Halide::Expr & /*feature*/, const Halide::Expr & /*step*/) const {
        return {};
    }

    /// Rows are read where they are: nothing is copied.
    virtual bool reads_in_place() const { return true; }
    /// Values are in blocks of tile_depth keys, [feature][key], and keys as matrix tiles take them (OperandStages::v_ones).
    virtual bool has_value_blocks() const { return false; }
    /// All values are finite, or the kernel is not called.
    virtual bool is_finite() const { return false; }

    /// Schedules the tables of offsets, once a block.
    void schedule_offsets(Stages &s, int lanes) const;
    /// Schedules copies of rows, once a task and block, in vectors of `lanes` features.
    void schedule_copies(Stages &s, int lanes) const;
};

} // namespace gyre::attention
