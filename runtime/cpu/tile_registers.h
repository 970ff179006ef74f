/// The system's permission to use tile registers (Intel AMX), on x86-64.
#pragma once

namespace gyre {

/// True if the system saves tile registers for a process that asks for it. Linux does from 5.16 on.
bool tiles_supported();

/// Asks the system to save tile registers; without its permission their first use is a fatal signal. It is given to the
/// whole process, threads that exist already included, once and for good. Refused by policy, or where a thread's alternate
/// signal stack is too small to hold the tiles.
bool request_tiles();

} // namespace gyre
