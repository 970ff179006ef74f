/* The scale of calls that give none, for every head size: what a kernel that records it is called with. */
#include <gyre/embedded.h>

#include "demo.h"
#include "inputs.h"
#include "report.h"

enum { MOST_DIM = 512 };

static const float known_scale = 0.34375f;     /* by which the scale is found among the arguments */
static const float log2_e = 1.44269504088896f; /* kernels take powers of two */
static float row[MOST_DIM], result[MOST_DIM];
static unsigned char workspace[1024]; /* of calls whose kernel needs none */
static int place;                     /* of the scale among the arguments; -1: not known yet */
static float found;

static float argument(void **arguments, int i) {
    float value; /* byte by byte: arguments are of several types, and there may be no <string.h> */
    for (size_t byte = 0; byte < sizeof value; byte++)
        ((unsigned char *)&value)[byte] = ((const unsigned char *)arguments[i])[byte];
    return value;
}

static int record(void **arguments) {
    if (place < 0)
        for (place = 0; argument(arguments, place) != known_scale * log2_e;) place++;
    found = argument(arguments, place) / log2_e;
    return 0;
}

static int call(const gyre_embedded_attention_kernel *kernel, float scale) {
    gyre_embedded_attention_args args = gyre_embedded_attention_defaults();
    args.kernel = kernel;
    args.q = row;
    args.k = row;
    args.v = row;
    args.out = result;
    args.tokens = 1;
    args.keys = 1;
    args.num_heads = 1;
    args.num_kv_heads = 1;
    args.head_dim = kernel->head_dim;
    args.scale = scale;
    args.workspace = workspace;
    args.workspace_size = sizeof workspace;
    return gyre_embedded_attention(&args) == GYRE_EMBEDDED_OK;
}

int try_default_scale(void) {
    gyre_embedded_attention_kernel kernel = {.dtype = GYRE_EMBEDDED_F32,
                                             .cache_dtype = GYRE_EMBEDDED_F32,
                                             .head_dim = 1,
                                             .task_rows = 1,
                                             .key_block = 16,
                                             .call = record};
    float error = 0;
    place = -1;
    int called = call(&kernel, known_scale);
    for (int32_t dim = 1; dim <= MOST_DIM && called; dim++) {
        kernel.head_dim = dim;
        called = call(&kernel, 0);
        error = larger(distance(found * found * (float)dim, 1), error);
    }
    return report_error("1 / sqrt(head_dim) for every head size, squared", called ? error : 1, 1e-6f);
}
