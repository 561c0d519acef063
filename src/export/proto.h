/* export/proto.h - messages of the protocol-buffer encoding.
 *
 * A message is built in memory, because its length comes first. Fields that are 0 are
 * omitted, which means the same. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_PROTO_H
#define JSP_EXPORT_PROTO_H

#include "sink.h"

struct jsp_proto {
    struct jsp_bytes bytes;
    int error; /* the first one */
};

/* Free the message. */
void jsp_proto_free(struct jsp_proto *m);

/* Add a number; signed numbers are passed as their two's complement. */
void jsp_proto_u64(struct jsp_proto *m, uint32_t field, uint64_t n);

/* Add eight bytes, such as a double; also if they are 0. */
void jsp_proto_fixed(struct jsp_proto *m, uint32_t field, uint64_t bits);

/* Add one number of a packed list, without a field. */
void jsp_proto_item(struct jsp_proto *m, uint64_t n);

/* Add a message or a list as a field, and empty `inner`. */
void jsp_proto_nest(struct jsp_proto *m, uint32_t field, struct jsp_proto *inner);

/* Write a field of the outermost message. Return m's error, if any. */
int jsp_proto_put(struct jsp_sink *out, uint32_t field, struct jsp_proto *m);

#endif
