/// What a block of threads does about its shared memory, as statements of Halide's IR: barriers.h places them, and a printer
/// prints each of them as it stands.
#pragma once
#include <Halide.h>

namespace gyre::cuda {

/// A statement that the device alone has, by its name.
Halide::Internal::Stmt statement_of(const char *name, const std::vector<Halide::Expr> &arguments = {});

/// All copies that were begun since the last such statement become one group.
Halide::Internal::Stmt commit_copies();
constexpr char commit_call[] = "gyre_copies_commit";

/// The thread waits until all groups of its copies have arrived but the last `later`.
Halide::Internal::Stmt wait_for_copies(int later);
constexpr char wait_call[] = "gyre_copies_wait";

/// What the thread has written to shared memory may be read by a warpgroup's product, after the next barrier.
Halide::Internal::Stmt fence_copies();
constexpr char fence_call[] = "gyre_fence_async_proxy";

/// All threads of the block wait for each other. This is Halide's own barrier.
Halide::Internal::Stmt wait_for_threads();
bool is_barrier(const Halide::Internal::Stmt &s);

/// The store as an asynchronous copy of the 16 bytes, or of the word, that it loads. `aligned`: they are known to be so, else the copy asks.
Halide::Internal::Stmt as_copy(const Halide::Internal::Store *store, bool aligned);
constexpr char copied_value[] = "gyre_copied";

/// What a copy loads, as as_copy() was given it, and whether that is aligned; nullptr: the store is no copy.
struct Copy {
    const Halide::Internal::Load *from;
    bool aligned;
};
Copy read_copy(const Halide::Internal::Store *store);

/// Statements without branches, in their order, but all of their copies last. No read of memory passes a copy: so what copies need
/// to know of where they are from, say entries of a table of pages, is read before the first of them, and once.
Halide::Internal::Stmt with_copies_last(const std::vector<Halide::Internal::Stmt> &statements);

} // namespace gyre::cuda
