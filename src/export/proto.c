/* export/proto.c - messages of the protocol-buffer encoding.
 *
 * SPDX-License-Identifier: MIT
 */
#include "proto.h"

enum { PROTO_VARINT = 0, PROTO_FIXED = 1, PROTO_BYTES = 2, PROTO_NUMBER = 10 };

static size_t proto_number(char out[PROTO_NUMBER], uint64_t n)
{
    size_t used = 0;
    for (; n >= 0x80; n >>= 7)
        out[used++] = (char)(n | 0x80);
    out[used++] = (char)n;
    return used;
}

static void proto_append(struct jsp_proto *m, const void *bytes, size_t n)
{
    if (m->error == 0)
        m->error = jsp_bytes_write(&m->bytes, bytes, n);
}

void jsp_proto_free(struct jsp_proto *m)
{
    jsp_bytes_free(&m->bytes);
    m->error = 0;
}

void jsp_proto_item(struct jsp_proto *m, uint64_t n)
{
    char number[PROTO_NUMBER];
    proto_append(m, number, proto_number(number, n));
}

void jsp_proto_u64(struct jsp_proto *m, uint32_t field, uint64_t n)
{
    if (n == 0)
        return;
    jsp_proto_item(m, field << 3 | PROTO_VARINT);
    jsp_proto_item(m, n);
}

void jsp_proto_fixed(struct jsp_proto *m, uint32_t field, uint64_t bits)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
    jsp_proto_item(m, field << 3 | PROTO_FIXED);
    proto_append(m, bytes, sizeof bytes);
}

void jsp_proto_nest(struct jsp_proto *m, uint32_t field, struct jsp_proto *inner)
{
    if (m->error == 0)
        m->error = inner->error;
    jsp_proto_item(m, field << 3 | PROTO_BYTES);
    jsp_proto_item(m, inner->bytes.n);
    if (inner->bytes.n)
        proto_append(m, inner->bytes.at, inner->bytes.n);
    inner->bytes.n = 0;
}

int jsp_proto_put(struct jsp_sink *out, uint32_t field, struct jsp_proto *m)
{
    char number[PROTO_NUMBER];
    jsp_sink_put(out, number, proto_number(number, field << 3 | PROTO_BYTES));
    jsp_sink_put(out, number, proto_number(number, m->bytes.n));
    if (m->bytes.n)
        jsp_sink_put(out, m->bytes.at, m->bytes.n);
    m->bytes.n = 0;
    return m->error;
}
