/* Attention and rotary are interrupted again and again by a handler that calls the same kernels, and others, with a workspace of its own:
 * both have the bits that they have alone. */
#include <gyre/embedded_kernels.h>

#include "../boards/board.h"
#include "../demo/inputs.h"
#include "../demo/report.h"

enum { DIM = 64, PAIRS = DIM / 2, TOKENS = 5, KEYS = 40, HEADS = 3, CALLS = 240, ROW = HEADS * DIM };

/** What a level of interrupts computes with. */
typedef struct work {
    float q[TOKENS][HEADS][DIM], k[KEYS][DIM], v[KEYS][DIM], rotated[TOKENS][HEADS][DIM], out[TOKENS][HEADS][DIM];
    float expected_rotated[TOKENS][HEADS][DIM], expected[TOKENS][HEADS][DIM];
    int8_t k8[KEYS][DIM], v8[KEYS][DIM];
    float k_scales[KEYS], v_scales[KEYS];
    unsigned char workspace[GYRE_ATTENTION_F32_D64_WORKSPACE + GYRE_ATTENTION_F32_I8_D64_WORKSPACE];
    int is_i8;
} work;

static work below, above;
static float angles[TOKENS][2][PAIRS];
static volatile int interrupts, wrong_above;

static int rotate(work *w) {
    gyre_embedded_rotary_args args = gyre_embedded_rotary_defaults();
    args.kernel = &gyre_rotary_f32_half;
    args.tokens = TOKENS;
    args.heads = HEADS;
    args.head_dim = DIM;
    args.rotary_dim = DIM;
    args.angles = angles;
    args.x = w->q;
    args.out = w->rotated;
    return gyre_embedded_rotary(&args);
}

static int attend(work *w) {
    gyre_embedded_attention_args args = gyre_embedded_attention_defaults();
    args.kernel = w->is_i8 ? &gyre_attention_f32_i8_d64 : &gyre_attention_f32_d64;
    args.q = w->q;
    args.k = w->is_i8 ? (const void *)w->k8 : w->k;
    args.v = w->is_i8 ? (const void *)w->v8 : w->v;
    args.k_scales = w->is_i8 ? w->k_scales : NULL;
    args.v_scales = w->is_i8 ? w->v_scales : NULL;
    args.out = w->out;
    args.tokens = TOKENS;
    args.keys = KEYS;
    args.num_heads = HEADS;
    args.num_kv_heads = 1;
    args.head_dim = DIM;
    args.causal = 1;
    args.workspace = w->workspace;
    args.workspace_size = sizeof w->workspace;
    return gyre_embedded_attention(&args);
}

/** Both calls, with results that held something else; whether one fails or differs. */
static int is_wrong(work *w) {
    for (int32_t i = 0; i < TOKENS * ROW; i++) (&w->rotated[0][0][0])[i] = (&w->out[0][0][0])[i] = -7;
    int bad = rotate(w) | attend(w);
    for (int32_t i = 0; i < TOKENS * ROW; i++) {
        bad |= (&w->rotated[0][0][0])[i] != (&w->expected_rotated[0][0][0])[i];
        bad |= (&w->out[0][0][0])[i] != (&w->expected[0][0][0])[i];
    }
    return bad;
}

static int prepare(work *w, uint32_t seed, int is_i8) {
    w->is_i8 = is_i8;
    fill(&w->q[0][0][0], TENSOR_Q, seed, TOKENS * ROW);
    fill(&w->k[0][0], TENSOR_K, seed, KEYS * DIM);
    fill(&w->v[0][0], TENSOR_V, seed, KEYS * DIM);
    int bad = gyre_embedded_quantize(&w->k[0][0], KEYS, DIM, &w->k8[0][0], w->k_scales);
    bad |= gyre_embedded_quantize(&w->v[0][0], KEYS, DIM, &w->v8[0][0], w->v_scales);
    bad |= rotate(w) | attend(w);
    for (int32_t i = 0; i < TOKENS * ROW; i++) {
        (&w->expected_rotated[0][0][0])[i] = (&w->rotated[0][0][0])[i];
        (&w->expected[0][0][0])[i] = (&w->out[0][0][0])[i];
    }
    return bad;
}

static void interrupt(void) {
    interrupts = interrupts + 1;
    wrong_above = wrong_above + is_wrong(&above);
}

int demo(void) {
    static uint64_t frequencies[PAIRS];
    int bad = gyre_embedded_frequencies(10000, DIM, frequencies);
    bad |= gyre_embedded_angles(frequencies, PAIRS, 7, TOKENS, 1, &angles[0][0][0]);
    bad |= prepare(&below, 0, 0) | prepare(&above, 1000, 1);
    int failures = report("calls that nothing interrupts", bad == 0), wrong_below = 0;
    board_interrupt_every(2000003, interrupt); /* instructions: more than the handler takes */
    for (int call = 0; call < CALLS; call++) wrong_below += is_wrong(&below);
    board_interrupt_every(0, NULL);
    report_number("  interrupts", (uint32_t)interrupts);
    failures += report("  several of them", interrupts >= 4);
    failures += report("calls that are interrupted have the same bits", wrong_below == 0);
    failures += report("calls of the handler have the same bits", wrong_above == 0);
    return failures != 0;
}
