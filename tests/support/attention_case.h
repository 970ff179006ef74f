/// One call of gyre_attention() with its tensors, checked on every target against the oracle.
///
///     AttentionCase c(AttentionShape().lengths(17, 65).dims(64));
///     c.args.causal = 1;
///     c.args.bias = c.hold(bias);
///     c.check();
#pragma once
#include "keeper.h"
#include "oracle_attention.h"
#include "tensor.h"

#include <gyre/gyre.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gyre::test {

/// Extents of a call, named as they are set: AttentionShape().lengths(17, 65).head_counts(8, 2).dims(64).
struct AttentionShape {
    int64_t batch = 1, seqlen_q = 1, seqlen_kv = 1, heads = 1, kv_heads = 1, head_dim = 64, v_head_dim = 64;
    gyre_layout layout = GYRE_BSHD;
    Placement placement;             // of q, k, v and out
    gyre_dtype dtype = GYRE_F32;     // likewise
    gyre_dtype key_dtype = GYRE_F32; // of k and v

    AttentionShape &batches(int64_t count) { return batch = count, *this; }
    /// thd: batch stays 1, and these count all tokens.
    AttentionShape &lengths(int64_t of_q, int64_t of_kv) { return seqlen_q = of_q, seqlen_kv = of_kv, *this; }
    AttentionShape &head_counts(int64_t of_q, int64_t of_kv) { return heads = of_q, kv_heads = of_kv, *this; }
    AttentionShape &dims(int64_t of_qk, int64_t of_v = 0) {
        return head_dim = of_qk, v_head_dim = of_v ? of_v : of_qk, *this;
    }
    AttentionShape &of(gyre_dtype type) { return dtype = key_dtype = type, *this; }
    AttentionShape &keys_of(gyre_dtype type) { return key_dtype = type, *this; } // after of()
    AttentionShape &in(gyre_layout chosen, Placement where = {}) { return layout = chosen, placement = where, *this; }
};

class OnDevice;

class AttentionCase : public Keeper {
public:
    explicit AttentionCase(const AttentionShape &shape, uint64_t seed = 1);
    /// Poisons out and lse and runs the call. Every memory but theirs must be left as it was.
    gyre_status run(gyre_context *context);

    /// Runs on every target, compares with the oracle, which reads the inputs as they are stored, by attention_allowance().
    void check(double tolerance = 0);

    /// Checks on every device instead, of which there must be one. `as`: what runs, which computes the same as args.
    void check_on_devices(const gyre_attention_args *as = nullptr);

    /// Runs on every target, with two threads, once more with the output in the queries' memory: the same bits, and nothing around them.
    void check_in_place();

    /// Runs on every target, with each of these numbers of threads: the same bits.
    void check_threads(const std::vector<int32_t> &numbers);

    /// Runs on every target, compares the output alone with `expected`, as bshd.
    void check_output(const Dense &expected, double tolerance);

    /// The arguments with all tensors on a device, but for a score function's.
    gyre_attention_args views(OnDevice &device);

    Dense output() const { return Dense(out.view(), args.layout); }
    std::string describe() const;

    AttentionShape shape;
    Tensor q, k, v, out, lse;
    gyre_attention_args args;
    OracleScore oracle_score;      // what args.score names, by its definition
    double roundings_of_score = 8; // see Arithmetic

private:
    gyre_tensor lse_view_;

    gyre_status run_on_device(gyre_context *context);
    void check_against(const OracleAttention &expected, double tolerance, gyre_context *context);
};

} // namespace gyre::test
