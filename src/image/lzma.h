/* image/lzma.h - the LZMA decoder of xz.c.
 *
 * The names of the parts are those of the LZMA specification. Each decoded symbol makes
 * at least one byte of output, so the size of the output bounds the work. Only xz.c
 * includes this. Outside the handler only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_LZMA_H
#define JSP_IMAGE_LZMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JSP_LZMA_STATES = 12,
    JSP_LZMA_POSITIONS = 16,    /* 1 << pb at most */
    JSP_LZMA_LITERALS = 0x300 << 4, /* lc + lp is at most 4 */
    JSP_LZMA_REPS = 4,
    JSP_LZMA_SPECIAL = 128,
};

struct jsp_lzma_length {
    uint16_t choice[2];
    uint16_t low[JSP_LZMA_POSITIONS][8];
    uint16_t middle[JSP_LZMA_POSITIONS][8];
    uint16_t high[256];
};

/* Probabilities that a bit is 0, in 1/2048. All members are of this type. */
struct jsp_lzma_model {
    uint16_t is_match[JSP_LZMA_STATES][JSP_LZMA_POSITIONS];
    uint16_t is_rep[JSP_LZMA_STATES];
    uint16_t is_not_rep0[JSP_LZMA_STATES];
    uint16_t is_not_rep1[JSP_LZMA_STATES];
    uint16_t is_not_rep2[JSP_LZMA_STATES];
    uint16_t is_long_rep0[JSP_LZMA_STATES][JSP_LZMA_POSITIONS];
    uint16_t slot[4][64];
    uint16_t special[JSP_LZMA_SPECIAL];
    uint16_t align[16];
    struct jsp_lzma_length match, rep;
    uint16_t literal[JSP_LZMA_LITERALS];
};

struct jsp_lzma {
    struct jsp_lzma_model model;
    uint8_t *out;  /* borrowed: the whole output, which is the dictionary too */
    size_t n_out;
    size_t at;     /* bytes written */
    size_t first;  /* the dictionary begins here */
    const uint8_t *in; /* borrowed: the chunk */
    size_t n_in;
    uint32_t range;
    uint32_t code;
    unsigned state;
    uint32_t rep[JSP_LZMA_REPS]; /* distances of the last matches, less 1 */
    unsigned lc, lp, pb;
    bool is_ready; /* properties are known and the model is initialised */

    /* Always:  first <= at <= n_out; lc + lp <= 4; pb <= 4; state < JSP_LZMA_STATES */
};

/* Begin to decode into `out`; `l` is all zeros. */
void jsp_lzma_begin(struct jsp_lzma *l, uint8_t *out, size_t n_out);

/* Begin a new dictionary. */
void jsp_lzma_forget(struct jsp_lzma *l);

/* Take lc, lp and pb from their common byte. Return false if they are not possible. */
bool jsp_lzma_properties(struct jsp_lzma *l, uint8_t byte);

/* Begin a new model. */
void jsp_lzma_reset(struct jsp_lzma *l);

/* Append bytes as they are; the output must have room. */
void jsp_lzma_store(struct jsp_lzma *l, const uint8_t *bytes, size_t n);

/* Decode a chunk of `packed` bytes, which makes `size` bytes; the output must have room.
 * Return false if the chunk is damaged. */
bool jsp_lzma_decode(struct jsp_lzma *l, const uint8_t *in, size_t packed, size_t size);

#endif
