/// Parts of the checks that linear attention and its gradients share.
#pragma once
#include "core/overlap.h"
#include "linear/call.h"

#include <initializer_list>

namespace gyre {

/// All of the forward call but what it writes, or but the states that it leaves.
gyre_status check_linear_inputs(const gyre_linear_attention_args &args, bool need_data, bool with_out, LinearCall *call,
                                bool read_lists = true);

/// Two tensors of a state, both or neither. After q, k, v and the sequences.
gyre_status view_state(const gyre_tensor *kv, const char *kv_name, const gyre_tensor *k, const char *k_name,
                       const AttentionCall &call, bool need_data, LinearState *state);

struct Named {
    const Heads *view;
    const char *name;
};

/// What is written has memory of its own, apart from the others. Views without data count as absent.
gyre_status check_apart(const Named &written, std::initializer_list<Named> others);

/// Lists and tables of the forward call share no memory with what is written.
gyre_status check_lists_apart(const gyre_linear_attention_args &args, std::initializer_list<Written> written);

} // namespace gyre
