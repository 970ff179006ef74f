/* Findings in words. */
#include "finding.h"

static gyre_embedded_mistake in_words(finding f) {
#define GYRE_EMBEDDED_NAME(name) #name,
    static const char *const arguments[] = {GYRE_EMBEDDED_ARGUMENTS(GYRE_EMBEDDED_NAME)};
#undef GYRE_EMBEDDED_NAME
#define GYRE_EMBEDDED_TEXT(name, status, text) text,
    static const char *const problems[] = {GYRE_EMBEDDED_PROBLEMS(GYRE_EMBEDDED_TEXT)};
#undef GYRE_EMBEDDED_TEXT
    gyre_embedded_mistake mistake = {NULL, NULL};
    if (f.problem == is_none) return mistake;
    mistake.argument = arguments[f.argument];
    mistake.problem = problems[f.problem];
    return mistake;
}

gyre_embedded_mistake gyre_embedded_rotary_mistake(const gyre_embedded_rotary_args *args) {
    return in_words(gyre_embedded_check_rotary(args));
}

gyre_embedded_mistake gyre_embedded_attention_mistake(const gyre_embedded_attention_args *args) {
    return in_words(gyre_embedded_check_attention(args));
}
