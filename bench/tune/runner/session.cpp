#include "session.h"

#include "events.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

namespace gyre::tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double shortest_turn =
    1e-3; // seconds; shorter calls are repeated, since clocks and neighbours have their grain

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// One thread is timed by the processor time that it gets, which does not count what other programs took in between;
/// several by the clock on the wall.
double now(bool one_thread) {
    timespec time{};
    clock_gettime(one_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// Seconds of a call, the mean of several.
double time_calls(Workload &workload, const Library &library, std::size_t first, std::int64_t calls) {
    const bool one_thread = gyre_context_threads(library.context()) == 1;
    const double begin = now(one_thread);
    for (std::int64_t i = 0; i < calls; i++)
        if (workload.run(library.context(), first + std::size_t(i)) != GYRE_OK)
            throw Failure(library.role() + ": " + gyre_last_error());
    return (now(one_thread) - begin) / double(calls);
}

} // namespace

double median_ratio(const std::vector<double> &own, const std::vector<double> &other) {
    std::vector<double> ratios(own.size());
    for (std::size_t i = 0; i < own.size(); i++) ratios[i] = own[i] / other[i];
    const auto middle = ratios.begin() + std::ptrdiff_t(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    return *middle;
}

Session run_session(Workload &workload, const std::deque<Library> &libraries, const SessionOptions &options,
                    const std::function<double()> &sample_peak) {
    const std::size_t count = libraries.size(), last = count - 1;
    Session session;
    session.seconds.resize(count);

    for (const Library &library : libraries)
        if (workload.prepare(library.context()) != GYRE_OK) throw Failure(library.role() + ": " + gyre_last_error());

    // The first call of each maps its memory; the second is a first impression.
    std::vector<double> impression(count);
    for (std::size_t i = 0; i < count; i++) {
        const double first = time_calls(workload, libraries[i], 0, 1);
        libraries[i].check_selected();
        const bool slow = options.hopeless > 0 && i == last && first > 2 * options.hopeless * impression[0];
        impression[i] = slow ? first : std::min(first, time_calls(workload, libraries[i], 0, 1));
    }
    if (options.hopeless > 0 && impression[last] > options.hopeless * impression[0]) {
        for (std::size_t i = 0; i < count; i++) session.seconds[i] = {impression[i]};
        session.cut = true;
        return session;
    }

    session.calls_per_round = std::int64_t(std::ceil(shortest_turn / std::max(impression[0], 1e-9)));
    const Clock::time_point begin = Clock::now();
    for (std::int64_t round = 0; round < options.most_rounds; round++) {
        if (round >= options.fewest_rounds) {
            if (options.cut > 0 && median_ratio(session.seconds[last], session.seconds[0]) > options.cut) {
                session.cut = true;
                break;
            }
            if (since(begin) > options.seconds) break;
        }
        if (sample_peak) session.peaks.push_back(sample_peak());
        for (std::size_t turn = 0; turn < count; turn++) { // nobody always comes first, or always after the same other
            const std::size_t place = (std::size_t(round) / 2 + turn) % count, i = round % 2 ? last - place : place;
            session.seconds[i].push_back(time_calls(
                workload, libraries[i], std::size_t(round * session.calls_per_round), session.calls_per_round));
        }
    }
    return session;
}

} // namespace gyre::tune
