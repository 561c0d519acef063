/* export/perfetto_shared.c - packets, texts and tracks, which all parts of a Perfetto trace have.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "perfetto.h"
#include "shown_names.h"

enum { PERFETTO_NEEDS_TABLES = 2 };

void perfetto_time(struct perfetto *x, int64_t time)
{
    jsp_proto_u64(&x->packet, PERFETTO_TIME, time > 0 ? (uint64_t)time : 0);
}

void perfetto_end(struct perfetto *x)
{
    jsp_proto_u64(&x->packet, PERFETTO_SEQUENCE, 1);
    jsp_proto_u64(&x->packet, PERFETTO_FLAGS, PERFETTO_NEEDS_TABLES);
    int err = jsp_proto_put(x->e->out, PERFETTO_PACKET, &x->packet);
    if (x->error == 0)
        x->error = err;
}

void perfetto_text(struct perfetto *x, struct jsp_proto *m, uint32_t field,
                   struct jsp_read_text text)
{
    if (text.len == 0)
        return;
    jsp_sink_init(&x->names, jsp_bytes_write, &x->text.bytes);
    jsp_shown_plain_bytes(&x->names, text, 0);
    if (x->text.error == 0)
        x->text.error = jsp_sink_flush(&x->names);
    jsp_proto_nest(m, field, &x->text);
}

int perfetto_compare(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

uint64_t perfetto_process(const struct perfetto *x, int32_t pid)
{
    const int32_t *at = bsearch(&pid, x->pids, x->n_pids, sizeof pid, perfetto_compare);
    return perfetto_id(PERFETTO_OF_PROCESS, at ? (uint32_t)(at - x->pids) : 0);
}

void perfetto_track(struct perfetto *x, uint64_t id, uint64_t parent, struct jsp_read_text name)
{
    jsp_proto_u64(&x->inner, 1, id);
    jsp_proto_u64(&x->inner, 5, parent);
    perfetto_text(x, &x->inner, 2, name);
    jsp_proto_nest(&x->packet, PERFETTO_TRACK, &x->inner);
    perfetto_end(x);
}
