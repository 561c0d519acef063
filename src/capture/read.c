/* capture/read.c - reads frames, one after the other, each completely inside the file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "read.h"

#include "read_stacks.h"
#include "wire.h"

enum { READ_AHEAD = 2048 }; /* bytes; a prefetch past the end does nothing */

void jsp_read_count(struct jsp_read_defects *d, enum jsp_read_cause why, uint64_t offset)
{
    if (!d)
        return;
    if (d->count[why]++ == 0)
        d->first[why] = offset;
}

const char *jsp_read_cause_text(enum jsp_read_cause why)
{
    static const char *const text[JSP_READ_N_CAUSES] = {
        [JSP_READ_CUT] = "frame cut by the end of the file",
        [JSP_READ_LENGTH] = "impossible frame length: the rest is unreadable",
        [JSP_READ_TYPE] = "frame of unknown type, skipped",
        [JSP_READ_SHORT] = "frame too short for its type, skipped",
        [JSP_READ_ADDRS] = "sample with more addresses than it has room for, skipped",
        [JSP_READ_VALUES] = "more counters than there is room for, those cut",
        [JSP_READ_EMPTY] = "sample without an address, skipped",
        [JSP_READ_STRING] = "text without an end, taken up to its frame's end",
        [JSP_READ_NAMES] = "list of names shorter than it says",
        [JSP_READ_CHUNK] = "file chunk longer than its frame, skipped",
        [JSP_READ_RECORD] = "malformed record in an embedded jsprof/ file, skipped",
        [JSP_READ_SYMBOLS] = "malformed entry in __symbols__, skipped",
        [JSP_READ_STACKS] = "malformed record in jsprof/stacks, the rest of it skipped",
        [JSP_READ_LOST] = "sample in jsprof/stacks whose stack is lost, skipped",
        [JSP_READ_MEMORY] = "no memory for the stacks of a chunk, its samples skipped",
        [JSP_READ_SUM] = "sample of more time than there can be, taken as one of weight 1",
    };
    return text[why];
}

void jsp_read_start(struct jsp_read_cursor *c, const struct jsp_read *r,
                    struct jsp_read_defects *defects)
{
    c->capture = r;
    c->defects = defects;
    c->offset = sizeof(struct jsp_wire_header);
    c->block = NULL;
}

static bool read_stop(struct jsp_read_cursor *c, enum jsp_read_cause why)
{
    jsp_read_count(c->defects, why, c->offset);
    c->offset = c->capture->size;
    return false;
}

bool jsp_read_raw(struct jsp_read_cursor *c, struct jsp_read_frame *out)
{
    const struct jsp_read *r = c->capture;
    while (c->offset < r->size) {
        uint64_t left = r->size - c->offset;
        const uint8_t *at = r->bytes + c->offset;
        if (left < sizeof(struct jsp_wire_frame))
            return read_stop(c, JSP_READ_CUT);
        uint32_t len = jsp_read_u16(r, at);
        if (len < sizeof(struct jsp_wire_frame) || len % JSP_WIRE_ALIGN)
            return read_stop(c, JSP_READ_LENGTH);
        if (len > left)
            return read_stop(c, JSP_READ_CUT);
        /* The next header's address is known only now, so no processor prefetches it by
         * itself. */
        __builtin_prefetch(at + READ_AHEAD);
        out->at = at;
        out->offset = c->offset;
        out->len = len;
        out->type = at[offsetof(struct jsp_wire_frame, type)];
        c->offset += len;
        if (out->type < JSP_WIRE_TIMESTAMP || out->type > JSP_WIRE_OVERLAY) {
            jsp_read_count(c->defects, JSP_READ_TYPE, out->offset);
            continue;
        }
        out->cpu = (int16_t)jsp_read_u16(r, at + offsetof(struct jsp_wire_frame, cpu));
        out->pid = (int32_t)jsp_read_u32(r, at + offsetof(struct jsp_wire_frame, pid));
        out->time = (int64_t)jsp_read_u64(r, at + offsetof(struct jsp_wire_frame, time));
        out->packed.node = 0;
        return true;
    }
    return false;
}

bool jsp_read_varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint64_t byte = *(*at)++;
        if (shift == 63 && byte > 1)
            return false;
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *out = value;
            return true;
        }
    }
    return false;
}
