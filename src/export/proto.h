/* export/proto.h - messages of the protocol-buffer encoding.
 *
 * SPDX-License-Identifier: MIT
 *
 * A message is built in memory, since its length stands before it. Fields that are 0
 * are left out, as that is what their absence means. One thread.
 */
#ifndef JSP_EXPORT_PROTO_H
#define JSP_EXPORT_PROTO_H

#include "export/sink.h"

struct jsp_proto {
    struct jsp_bytes bytes;
    int error; /* the first one */
};

void jsp_proto_free(struct jsp_proto *m);

/* A number; signed ones go in as their two's complement. */
void jsp_proto_u64(struct jsp_proto *m, uint32_t field, uint64_t n);

/* One of a packed list: without its field. */
void jsp_proto_item(struct jsp_proto *m, uint64_t n);

/* A message or a list as a field of another; the inner one is empty then. */
void jsp_proto_nest(struct jsp_proto *m, uint32_t field, struct jsp_proto *inner);

/* The same on its way out: a field of the outermost message. Returns m's error, if any. */
int jsp_proto_put(struct jsp_sink *out, uint32_t field, struct jsp_proto *m);

#endif
