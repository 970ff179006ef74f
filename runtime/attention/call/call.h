/// A checked attention call: views, options, and the sequences it consists of.
#pragma once
#include "attention/call/dropout.h"
#include "attention/call/lse.h"
#include "attention/call/sequence.h"
#include "core/tensor.h"
#include "rotary/rotation.h"

#include <algorithm>

namespace gyre {

/// Matrix tiles are of x86, and many rows a key head, windows and single key heads of decoding were measured there alone. Elsewhere nothing of
/// them is compiled.
#if defined(__x86_64__)
constexpr bool is_x86 = true;
#else
constexpr bool is_x86 = false;
#endif

/// What a row of a boolean mask leaves: keys from `first` to the one before `end`, all of these if it is whole.
struct RowSpan {
    int32_t first, end, whole;

    bool operator==(const RowSpan &o) const { return first == o.first && end == o.end && whole == o.whole; }
};

/// The spans of a mask's rows, one behind the other: [sequences, heads, tokens], each extent 1 where the mask is the same in all.
struct MaskSpans {
    const RowSpan *rows = nullptr; // NULL: the mask was not looked at
    int64_t sequences = 0, heads = 0, tokens = 0;

    int64_t count() const { return sequences * heads * tokens; }
    const RowSpan &at(int64_t sequence, int64_t head, int64_t token) const {
        const auto place = [](int64_t index, int64_t extent) { return extent == 1 ? 0 : index; };
        return rows[(place(sequence, sequences) * heads + place(head, heads)) * tokens + place(token, tokens)];
    }
};

/// A tensor that broadcasts to [batch, num_heads, seqlen_q, seqlen_kv]; repeated dimensions have stride 0.
struct Broadcast {
    const char *data = nullptr; // NULL: absent
    gyre_dtype dtype = GYRE_F32;
    int64_t strides[4] = {};
};

/// Where the keys of a paged cache are. k and v then have the extents that a call without pages would have, and only
/// data, head and token strides are the pool's.
struct PageTable {
    const int32_t *entries = nullptr;             // NULL: no pages, or not known yet
    int64_t stride = 0;                           // from batch entry to batch entry
    int bits = 0;                                 // of page_size
    int64_t pages = 0;                            // in the pool
    int64_t k_page_stride = 0, v_page_stride = 0; // elements
};

struct AttentionKernel;

/// Which sequences of a call of few queries are one of its parts (PlanByRows): those that `whole` serves, or the others.
struct SequencesOfRows {
    const AttentionKernel *decoding = nullptr, *whole = nullptr; // nullptr: the part is all
    bool are_whole = false;
};

struct AttentionCall {
    gyre_layout layout = GYRE_BSHD;
    Heads q, k, v, out;
    PageTable pages;
    Lse lse;

    float scale = 1, softcap = 0;
    gyre_alignment alignment = GYRE_BOTTOM_RIGHT;
    int64_t left = -1, right = -1; // of the window, causal included; -1: unbounded

    Broadcast bias, mask;
    const float *sinks = nullptr, *alibi = nullptr; // [num_heads]
    const int32_t *seqused_k = nullptr, *cu_seqlens_q = nullptr, *cu_seqlens_k = nullptr;
    bool lengths_move_queries =
        true;                      // false in causal linear attention, where query i is key i whatever seqused_k says
    bool takes_narrow_keys = true; // of 16 bits where queries are f32; false in gradients and linear attention
    bool has_used_keys = false, has_cu_seqlens_q = false; // also where their data are not known yet
    int64_t sequences = 0;
    bool value_blocks = false;    // see gyre_value_order
    bool may_be_in_blocks = true; // of the same context, calls with value_blocks, which have the bits of those without
    bool packed_keys = false;     // keys follow each other in one batch entry: thd without pages

    Rotation rope, value_rope; // off, or on
    bool rotate_keys = false, rotate_values = false;
    bool same_angles = false; // value_rope's are rope's
    Positions q_positions, k_positions;
    MaskSpans spans;                      // of the mask
    const KeyRange *key_ranges = nullptr; // [sequences]; NULL: the mask, if there is one, is read for every score
    bool by_key_range = false;            // this part of the call is the sequences whose ranges exist; without a mask
    SequencesOfRows of_rows;
    const char *score = nullptr; // name of the score function; NULL: none
    Dropout dropout;

    /// How many sequences have to be looked at to know the lengths of all: without lists they are alike, and may be any number.
    int64_t lengths() const { return has_lengths() ? sequences : sequences > 0 ? 1 : 0; }
    bool has_lengths() const { return has_used_keys || has_cu_seqlens_q; }
    /// Scores are more than products. Sinks are not: they join a row's sum at its end.
    bool general() const { return bias.data || mask.data || alibi || softcap > 0 || score; }
    /// General by nothing else.
    bool alibi_alone() const { return alibi && !(bias.data || mask.data || softcap > 0 || score); }
    bool cap_alone() const { return softcap > 0 && !(bias.data || mask.data || alibi || score); }
    /// Keys and values are read as rows that the caller has stored, and not rotated before.
    bool is_in_rows() const { return !(rotate_keys || rotate_values || value_blocks); }
    Sequence sequence(int64_t index) const;
    /// What the first key that a window shows a sequence is rounded to: keys whose random words are drawn together, and in bf16 blocks of
    /// values where a context has kernels for them, because values in rows give the same bits.
    int64_t first_key_unit() const {
        if (q.dtype == GYRE_BF16 && may_be_in_blocks) return GYRE_VALUE_BLOCK;
        return dropout.on ? Dropout::keys_of_draw : 1;
    }
    /// The most keys that some sequence of at most so many queries sees.
    int64_t most_keys_seen(int64_t queries) const {
        if (!is_x86 || left < 0 || right < 0) return k.seqlen;
        return std::min(k.seqlen, queries + left + right + first_key_unit() - 1);
    }
    /// False if the sequence belongs to the other part of the call.
    bool has(int64_t index) const {
        return (!key_ranges || key_ranges[index].exists == by_key_range) &&
               (!is_x86 || !of_rows.whole || has_rows(index));
    }
    /// Keys of a sequence that exist: its k_len, unless lengths leave queries where they are.
    int64_t existing_keys(int64_t index) const { return seqused_k ? seqused_k[index] : sequence(index).k_len; }
    /// pos_q of row 0 among the keys, for causal, window and ALiBi.
    int64_t shift(const Sequence &s) const { return alignment == GYRE_TOP_LEFT ? 0 : s.k_len - s.q_len; }
    /// Query heads that share a key head; 0: there are no key heads.
    int64_t sharing() const { return k.heads > 0 ? q.heads / k.heads : 0; }
    /// Rows a key head of a sequence with so many queries; 0 likewise.
    int64_t rows(int64_t queries) const { return queries * sharing(); }
    /// Features of a key, or of a value if these are more.
    int64_t most_features() const { return std::max(q.dim, v.dim); }
    bool empty() const { return q.empty() || v.dim == 0; }

private:
    bool has_rows(int64_t index) const; // whether the sequence is one of of_rows
};

/// Checks every argument. With `need_data` false data pointers may be NULL and values behind them are not read. `with_out`
/// false: out is not looked at. `read_lists` false: nor is what lists, positions and tables hold, which then is on a device.
gyre_status check_attention(const gyre_attention_args &args, bool need_data, AttentionCall *call, bool with_out = true,
                            bool read_lists = true);

} // namespace gyre
