/// Calls of gyre_linear_attention() and gyre_linear_attention_backward() with their tensors, checked on every target against
/// the oracle.
///
///     LinearCase c(AttentionShape().lengths(65, 65).dims(64));
///     c.args.causal = 1;
///     c.check();
#pragma once
#include "attention_case.h"
#include "oracle_linear.h"

namespace gyre::test {

class LinearCase : public Keeper {
public:
    /// `sequences`: of thd; else the batch.
    explicit LinearCase(const AttentionShape &shape, uint64_t seed = 1, int64_t sequences = 0);

    /// States before, of what some keys left; and states after.
    void give_states(uint64_t seed = 9);
    void want_states();

    /// RoPE with a factor; `positions`: drawn for the queries of each batch entry, and once for the keys of all.
    void rotate(gyre_pairing pairing, int32_t rotary_dim, bool positions);

    /// Poisons what is written and runs the call. Every memory but that must be left as it was.
    gyre_status run(gyre_context *context);

    /// Runs on every target, compares with the oracle, which reads the inputs as they are stored.
    void check(int32_t threads = 1);

    /// Checks on every device instead, of which there must be one.
    void check_on_devices();

    std::string describe() const;

    AttentionShape shape;
    Tensor q, k, v, out, kv_state, k_state, kv_state_out, k_state_out;
    gyre_linear_attention_args args;

private:
    gyre_tensor state_views_[4];

    gyre_status run_on_device(gyre_context *context);
    void check_against(const OracleLinear &expected, gyre_context *context);
};

/// |error| within what relative errors of f32 arithmetic and of angles may come to, and half the spacing of the type.
void check_numbers(const char *name, const std::vector<double> &got, const OracleNumbers &expected, gyre_dtype dtype,
                   double relative);

} // namespace gyre::test
