/// What this program takes of the system through operator new, aligned_alloc() and pthread_create(), and how a test has it
/// refused.
#pragma once

namespace gyre::test::resources {

/// Lets the allocation fail that is the nth from now on, from 0; negative: none.
void fail_allocation(long nth);
bool allocation_failed();

/// Lets no thread be created any more, or again.
void refuse_threads(bool refuse);

/// Blocks of operator new that have not been deleted.
long live_blocks();

} // namespace gyre::test::resources
