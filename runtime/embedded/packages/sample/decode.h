/* The sample of every package. */
#ifndef DECODE_H
#define DECODE_H

#ifdef __cplusplus
extern "C" {
#endif

/** Decodes 12 tokens with a rotary cache, once with positions from 0 on and once from 100,000 on. RoPE and RoPER know distances alone,
 *  so the results must agree. 0: they do. */
int decode_twice(void);

#ifdef __cplusplus
}
#endif
#endif
