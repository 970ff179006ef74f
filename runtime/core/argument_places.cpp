#include "core/asked_inputs.h"
#include "core/contract.h"
#include "core/kernel_words.h"

namespace gyre {

ArgumentPlaces find_places(const gyre_kernel &kernel, const ArgumentRow *rows, size_t count) {
    ArgumentPlaces places;
    KernelWords words(kernel);
    uint8_t next = 1;
    for (size_t i = 0; i < count; i++) {
        places.of[i] = ArgumentPlaces::spare;
        if (!words.has(rows[i])) continue;
        places.of[i] = next;
        if (rows[i].kind == ArgumentRow::score_inputs) {
            const ScoreInputs asked = parse_score_inputs(words.value("score_inputs"));
            next = static_cast<uint8_t>(next + (asked.end() - asked.begin()));
        } else {
            next++;
            places.required.add(i);
        }
    }
    return places;
}

} // namespace gyre
