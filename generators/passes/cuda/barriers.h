/// Where the threads of a block wait: for each other, and for what they copy into shared memory. A pass over one kernel.
///
/// It expects a kernel that has warp tiles, as Halide leaves it: with a barrier after each thing that threads compute. Afterwards
///   - a store of 16 dense bytes from elsewhere into shared memory is an asynchronous copy, and so is one of a word into a ring;
///   - a barrier stands only where shared memory was touched since the one before, and waits for copies, too;
///   - a loop whose producers fill a ring of slots (staged_loop.h) has them filled turns ahead, with one barrier a turn. Turns that
///     leave out what is under a condition known before them (conditional_nests.h) go through a loop of their own inside it.
/// Copies and barriers are the statements of copies.h, ranges and inner loops these:
#pragma once
#include "copies.h"
#include "copying_warps.h"
#include "fragments.h"

#include <set>

namespace gyre::cuda {

/// `aligned`: buffers of device memory whose copies need not ask whether they are aligned to 16 bytes. `fenced`: what is copied ahead is
/// read by products of warpgroups, so that who has copied it fences it before the barrier. `copying`: further warps fill rings, if any.
Halide::Internal::Stmt place_barriers(const Halide::Internal::Stmt &kernel, const Fragments &fragments,
                                      const std::set<std::string> &aligned, bool fenced = false,
                                      const CopyingWarps &copying = {});

/// Whether a loop has a turn `turn`: {turn, end}. The condition under which that turn's shared memory is filled.
constexpr char has_turn[] = "gyre_has_turn";

/// The condition of a statement that ends a staged loop's turn: {the loop's variable, end, condition}. While there is a next turn, and
/// the condition, of the next turn, does not hold, the loop goes to that turn and does what is under the condition.
constexpr char next_turns[] = "gyre_next_turns";

/// What the body of a staged loop begins with: the loop is not to be unrolled. Nothing else is done there.
constexpr char staged_turn[] = "gyre_staged_turn";
bool is_staged(const Halide::Internal::For *loop);

} // namespace gyre::cuda
