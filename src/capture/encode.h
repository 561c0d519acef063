/* capture/encode.h - an encoder of one frame of a .syscap, in either byte order.
 *
 * The live writer, marks, merge and recode all make their frames here; read_body.c
 * decodes them. The caller lends the memory, so nothing here allocates, locks or waits,
 * and a signal handler may call it. Data that do not fit are cut, which `is_cut` reports:
 * merge keeps such a frame, the writer refuses it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_ENCODE_H
#define JSP_CAPTURE_ENCODE_H

#include "read.h"
#include "wire.h"

struct jsp_encode {
    uint8_t *at; /* borrowed; where the frame begins */
    size_t room; /* bytes that the frame may take */
    size_t used;
    bool swap;   /* write the other byte order than this machine's */
    bool is_cut; /* a part of this frame had no room */
};

struct jsp_encode_head {
    int64_t time;
    int32_t pid;
    int16_t cpu; /* -1: unknown */
    uint8_t type;
};

/* Write the header. `room` becomes what a frame can use of it: a multiple of
 * JSP_WIRE_ALIGN, and at most JSP_WIRE_MAX_FRAME bytes. */
void jsp_encode_begin(struct jsp_encode *e, const struct jsp_encode_head *head);

/* Fill the frame up to JSP_WIRE_ALIGN, store its length, and return it. */
size_t jsp_encode_end(struct jsp_encode *e);

/* Append bytes to the body. */
void jsp_encode_put(struct jsp_encode *e, const void *bytes, size_t n);

/* Append a number of 16 bits. */
void jsp_encode_u16(struct jsp_encode *e, uint16_t v);

/* Append a number of 32 bits. */
void jsp_encode_u32(struct jsp_encode *e, uint32_t v);

/* Append a number of 64 bits. */
void jsp_encode_u64(struct jsp_encode *e, uint64_t v);

/* Append `n` numbers of 64 bits. */
void jsp_encode_u64s(struct jsp_encode *e, const uint64_t *v, size_t n);

/* Append a text and a 0. */
void jsp_encode_text(struct jsp_encode *e, struct jsp_read_text text);

/* Append a text to a field of `width` bytes, which is filled up with zeros. */
void jsp_encode_field(struct jsp_encode *e, struct jsp_read_text text, size_t width);

/* Return room for n bytes that the caller fills, or NULL if there is none; the frame is
 * then cut. */
void *jsp_encode_room(struct jsp_encode *e, size_t n);

/* Write a body. read.h has a reader of the same name for each. */

/* Encode all but the addresses: the caller appends n_addrs of them, leaf first. */
void jsp_encode_sample(struct jsp_encode *e, int32_t tid, uint32_t n_addrs);
struct jsp_encode_allocation {
    uint64_t block;
    int64_t size;
    int32_t tid;
    uint32_t n_addrs;
};

/* Encode all but the addresses of an allocation, as jsp_encode_sample does. */
void jsp_encode_allocation(struct jsp_encode *e, const struct jsp_encode_allocation *a);

/* Encode a MAP. */
void jsp_encode_map(struct jsp_encode *e, const struct jsp_read_map *map);

/* Encode a FORK. */
void jsp_encode_fork(struct jsp_encode *e, int32_t child);

/* Encode a MARK. */
void jsp_encode_mark(struct jsp_encode *e, const struct jsp_read_mark *mark);

/* Encode a METADATA. */
void jsp_encode_metadata(struct jsp_encode *e, const struct jsp_read_pair *pair);

/* Encode a LOG: domain and message. */
void jsp_encode_log(struct jsp_encode *e, uint16_t severity, const struct jsp_read_pair *pair);

/* Begin to encode a JITMAP, without names. */
void jsp_encode_names(struct jsp_encode *e);

/* Append one name to the JITMAP. */
void jsp_encode_name(struct jsp_encode *e, uint64_t addr, struct jsp_read_text name);

/* Encode a CTRDEF of one counter. Ids have 24 bits. */
void jsp_encode_counter(struct jsp_encode *e, const struct jsp_read_counter *counter);

/* Encode a CTRSET of one value. Ids have 24 bits. */
void jsp_encode_value(struct jsp_encode *e, uint32_t id, uint64_t bits);

struct jsp_encode_chunk {
    const char *path;
    size_t len; /* of its data, which the caller appends; at most JSP_WIRE_MAX_CHUNK */
    bool is_last;
};

/* Encode all but the data of a FILE_CHUNK. */
void jsp_encode_chunk(struct jsp_encode *e, const struct jsp_encode_chunk *chunk);

/* Return a text that ends in NUL, with its length. */
static inline struct jsp_read_text jsp_encode_string(const char *text)
{
    return (struct jsp_read_text){ text, (uint32_t)strlen(text) };
}

#endif
