/* Two libraries of kernels in one process: each is asked, alone and together, and says the same.
 *
 *     with_runtime first_kernels,second_kernels         the libraries that must be linked, and no other
 */
#include <gyre/gyre.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { tokens = 37, heads = 2, largest_dim = 20 };

static float q[tokens * heads * largest_dim], k[tokens * heads * largest_dim], v[tokens * heads * largest_dim];

static int fail(const char *what) {
    printf("%s: %s\n", what, gyre_last_error());
    return 1;
}

static gyre_attention_args arguments(int dim, float *out) {
    const int64_t shape[4] = {1, tokens, heads, dim};
    gyre_attention_args args = gyre_attention_defaults();
    args.q = gyre_tensor_dense(q, GYRE_F32, 4, shape);
    args.k = gyre_tensor_dense(k, GYRE_F32, 4, shape);
    args.v = gyre_tensor_dense(v, GYRE_F32, 4, shape);
    args.out = gyre_tensor_dense(out, GYRE_F32, 4, shape);
    args.causal = 1;
    return args;
}

/* out of causal attention, plainly: the largest difference from `got`. */
static double difference(int dim, const float *got) {
    double worst = 0;
    int h, i, j, d;
    for (h = 0; h < heads; h++)
        for (i = 0; i < tokens; i++) {
            double sum = 0, out[largest_dim] = {0};
            for (j = 0; j <= i; j++) {
                double score = 0;
                for (d = 0; d < dim; d++)
                    score += (double)q[(i * heads + h) * dim + d] * (double)k[(j * heads + h) * dim + d];
                score = exp(score / sqrt((double)dim));
                sum += score;
                for (d = 0; d < dim; d++) out[d] += score * (double)v[(j * heads + h) * dim + d];
            }
            for (d = 0; d < dim; d++) {
                const double error = fabs(out[d] / sum - (double)got[(i * heads + h) * dim + d]);
                if (!(error <= worst)) worst = error;
            }
        }
    return worst;
}

/* Runs causal attention with the kernels of one library; NULL: of all. 0: its result is right and `expected` made it.
 */
static int check(const char *library, int dim, const char *expected) {
    static float out[tokens * heads * largest_dim];
    gyre_context_options options = gyre_context_defaults();
    gyre_context *context;
    gyre_attention_args args = arguments(dim, out);
    int wrong;
    options.library = library;
    if (gyre_context_create(&options, &context) != GYRE_OK) return fail("context");
    memset(out, 0, sizeof out);
    if (gyre_attention(context, &args) != GYRE_OK) return fail("attention");
    printf("%s of %s\n", gyre_selected_kernel(context), gyre_selected_library(context));
    wrong = strcmp(gyre_selected_library(context), expected) != 0 || !(difference(dim, out) < 1e-6);
    gyre_context_destroy(context);
    return wrong ? fail("wrong library or wrong result") : 0;
}

/* A mask that hides nothing comes to a range of keys, which the kernel without a mask takes: what finds ranges is linked, since
 * second_kernels has kernels that take masks. */
static int check_mask(void) {
    static float out[tokens * heads * largest_dim];
    static unsigned char visible[tokens * tokens];
    const int64_t shape[4] = {1, 1, tokens, tokens};
    const gyre_tensor mask = gyre_tensor_dense(memset(visible, 1, sizeof visible), GYRE_BOOL, 4, shape);
    gyre_context *context;
    gyre_attention_args args = arguments(16, out);
    int wrong;
    args.mask = &mask;
    if (gyre_context_create(NULL, &context) != GYRE_OK) return fail("context");
    if (gyre_attention(context, &args) != GYRE_OK) return fail("attention with a mask");
    printf("%s, with a mask\n", gyre_selected_kernel(context));
    wrong = strncmp(gyre_selected_kernel(context), "attention_general_", 18) == 0 || !(difference(16, out) < 1e-6);
    gyre_context_destroy(context);
    return wrong ? fail("wrong kernel or wrong result with a mask") : 0;
}

int main(int argc, char **argv) {
    gyre_kernel_info kernel;
    int i;
    for (i = 0; i < tokens * heads * largest_dim; i++) {
        q[i] = (float)sin(i * 0.7);
        k[i] = (float)cos(i * 1.3);
        v[i] = (float)sin(i * 2.1 + 1);
    }
    for (i = 0; gyre_kernel_at(i, &kernel); i++)
        if (argc != 2 || !strstr(argv[1], kernel.library)) return printf("linked: %s\n", kernel.library), 1;
    if (check("first_kernels", 16, "first_kernels") || check("second_kernels", 16, "second_kernels") || check_mask())
        return 1;
    /* 20 features: only the second library has a kernel that takes them, if gyre's own are not there. */
    return check("second_kernels", 20, "second_kernels");
}
