/* The parts of the demo. Each returns the number of failures, and prints a line for each thing it tried. */
#ifndef GYRE_DEMO_H
#define GYRE_DEMO_H

int try_rotary(void);     /* against golden vectors, back again in place, and at far positions */
int try_rotary_q15(void); /* likewise in fixed point */
int try_quantize(void);   /* by scales that are known */
int try_decoding(void);   /* prefill, then token by token with a cache, in f32 and f16 */
int try_shapes(void);
int try_places(void); /* any alignment to elements, any memory before */
int try_default_scale(void);
int try_unseen(void);    /* values that not every row of a task sees */
int try_ring(void);      /* a sliding window over a cache that is a ring */
int try_merge(void);     /* attention over some of the keys, and over the rest */
int try_arguments(void); /* wrong arguments: a status, and nothing written */

#endif
