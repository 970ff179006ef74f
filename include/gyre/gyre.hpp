/// @file
/// Gyre from C++17: views, ownership and exceptions over gyre.h, which says what every argument means. Header-only.
///
///     std::vector<float> q(1 * 128 * 8 * 64), k(q), v(q), out(q);
///     gyre::Context context;                                    // all cores, the best target
///     gyre::Rope rope;                                          // theta 10000, half pairing, the whole head
///     gyre::AttentionArgs args;
///     args.q = gyre::view(q, {1, 128, 8, 64});                  // bshd: [batch, seqlen, heads, head_dim]
///     args.k = gyre::view(k, {1, 128, 8, 64});
///     args.v = gyre::view(v, {1, 128, 8, 64});
///     args.out = gyre::view(out, {1, 128, 8, 64});
///     args.causal = 1;
///     args.rope = &rope;                                        // rotate queries and keys
///     args.value_rope = &rope;                                  // and values, undone on the output: RoPER
///     gyre::attention(context, args);                           // throws gyre::Error
///
/// Argument structures are the C ones with their defaults filled in; what they point to must outlive the call.
#ifndef GYRE_GYRE_HPP
#define GYRE_GYRE_HPP

#include "arguments.hpp"
#include "context.hpp"
#include "error.hpp"
#include "gyre.h"
#include "linked.hpp"
#include "operations.hpp"
#include "view.hpp"

#endif
