/// A plug-in that has the library within it.
#include <gyre/gyre.h>

extern "C" __attribute__((visibility("default"))) gyre_status plug_in_attention(const gyre_attention_args *args) {
    return gyre_attention(nullptr, args);
}
