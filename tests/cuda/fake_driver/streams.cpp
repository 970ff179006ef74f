// Streams, captures, graphs and events of the driver without a device.
#include "state.h"

#include <chrono>
#include <map>
#include <utility>

namespace gyre::fake_cuda {
namespace {

/// The context of each stream that was created here; others are of any.
std::map<void *, const Context *> &streams() {
    static std::map<void *, const Context *> all;
    return all;
}

struct Event {
    std::chrono::steady_clock::time_point time;
};
bool capturing = false;
enum CaptureMode { global, thread_local_mode, relaxed };
int captures_as = global;
thread_local int own_mode [[gnu::tls_model("initial-exec")]] = global;

} // namespace

bool may_do_at_once() {
    const bool may = !capturing || captures_as == relaxed || own_mode == relaxed;
    if (!may) capturing = false;
    return may;
}

bool is_of_context(void *stream, const Context *context) {
    const auto created = streams().find(stream);
    return created == streams().end() || created->second == context;
}

extern "C" {

Result cuThreadExchangeStreamCaptureMode(int *mode) { return std::swap(*mode, own_mode), success; }

// Streams do what they are told at once, also while they are captured: a graph is what has run, and its replay does nothing.
Result cuStreamCreate(void **stream, unsigned) {
    if (!current_context()) return invalid_context;
    const std::lock_guard<std::mutex> lock(mutex);
    *stream = new char;
    streams()[*stream] = current_context();
    return success;
}
Result cuStreamSynchronize(void *) { return capturing ? invalid_value : success; }
Result cuStreamBeginCapture_v2(void *, int mode) {
    if (capturing) return invalid_value;
    captures_as = mode;
    return capturing = true, success;
}
Result cuStreamEndCapture(void *, void **graph) {
    if (!capturing) return invalid_value;
    capturing = false;
    return *graph = &capturing, success;
}
Result cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) {
    return *executable = graph, success;
}
Result cuGraphLaunch(void *, void *) { return success; }

Result cuEventCreate(Event **event, unsigned) { return *event = new Event, success; }
Result cuEventRecord(Event *event, void *) { return event->time = std::chrono::steady_clock::now(), success; }
Result cuEventSynchronize(Event *) { return success; }
Result cuEventElapsedTime(float *milliseconds, const Event *begin, const Event *end) {
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
    return success;
}
Result cuEventDestroy_v2(Event *event) { return delete event, success; }
}

} // namespace gyre::fake_cuda
