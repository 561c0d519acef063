/* capture/embedded.c - writes the records of the embedded files: see embedded.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "embedded.h"

static size_t embedded_numbers(uint8_t *to, const uint64_t *values, size_t n)
{
    uint8_t *begin = to;
    for (size_t i = 0; i < n; i++)
        to += jsp_varint_put(to, values[i]);
    return (size_t)(to - begin);
}

static size_t embedded_text(uint8_t *to, struct jsp_read_text text)
{
    size_t n = jsp_varint_put(to, text.len);
    if (text.len)
        memcpy(to + n, text.at, text.len);
    return n + text.len;
}

size_t jsp_embedded_block_put(uint8_t *to, uint64_t first, uint64_t count)
{
    to[0] = JSP_WIRE_BLOCK;
    return 1 + embedded_numbers(to + 1, (uint64_t[]){ first, count }, 2);
}

size_t jsp_embedded_weight_put(uint8_t *to, const struct jsp_weight *w)
{
    return embedded_numbers(to, (uint64_t[]){ w->weight, w->cpu_ns, w->cut, w->n_lines }, 4);
}

size_t jsp_embedded_pcs_put(uint8_t *to, uint64_t skip, const uint32_t *rows, uint32_t n)
{
    uint8_t *begin = to;
    to += jsp_varint_put(to, skip);
    to += jsp_varint_put(to, n);
    for (uint32_t i = 0; i < n; i++)
        to += jsp_varint_put(to, rows[i]);
    return (size_t)(to - begin);
}

size_t jsp_embedded_kind_put(uint8_t *to, uint32_t id, uint64_t kind)
{
    return embedded_numbers(to, (uint64_t[]){ id, kind }, 2);
}

size_t jsp_embedded_loop_put(uint8_t *to, const uint64_t range[2])
{
    return embedded_numbers(to, range, 2);
}

size_t jsp_embedded_listing_put(uint8_t *to, const struct jsp_embedded_listing *l)
{
    size_t n = 1;
    to[0] = l->tag;
    n += jsp_varint_put(to + n, l->number);
    if (l->tag == JSP_WIRE_LISTING_ROWS)
        n += jsp_varint_put(to + n, l->first);
    if (l->tag != JSP_WIRE_LISTING_OTHER)
        n += jsp_varint_put(to + n, l->count);
    if (l->tag == JSP_WIRE_LISTING)
        n += embedded_text(to + n, l->name);
    return n;
}

size_t jsp_embedded_row_put(uint8_t *to, const struct jsp_embedded_row *row)
{
    uint64_t head[] = { row->pc, row->line, row->ends, row->n_targets };
    size_t n = embedded_numbers(to, head, 4);
    n += embedded_numbers(to + n, row->targets, row->n_targets);
    return n + embedded_text(to + n, row->text);
}

static size_t embedded_function(uint8_t *to, const struct jsp_embedded_call *c)
{
    size_t n = embedded_numbers(
        to, (uint64_t[]){ c->function.id, c->function.kind, c->function.line }, 3);
    n += embedded_text(to + n, c->function.name);
    return n + embedded_text(to + n, c->function.file);
}

static size_t embedded_commit(uint8_t *to, const struct jsp_embedded_call *c)
{
    size_t n = jsp_varint_put(to, JSP_WIRE_COMMIT_FIELDS);
    return n + embedded_numbers(to + n, c->fields, JSP_WIRE_COMMIT_FIELDS);
}

size_t jsp_embedded_call_put(uint8_t *to, const struct jsp_embedded_call *c)
{
    *to++ = (uint8_t)c->tag;
    switch (c->tag) {
    case JSP_WIRE_CALLS_FUNCTION:
        return 1 + embedded_function(to, c);
    case JSP_WIRE_CALLS_ROW: {
        size_t n = jsp_varint_put(to, c->row.id);
        return 1 + n + embedded_numbers(to + n, c->row.figures, 5);
    }
    case JSP_WIRE_CALLS_EDGE:
        return 1 + embedded_numbers(to, (uint64_t[]){ c->edge.caller, c->edge.callee,
                                                      c->edge.calls, c->edge.total }, 4);
    case JSP_WIRE_CALLS_MODE:
        return 1 + embedded_numbers(to, (uint64_t[]){ c->mode.time, c->mode.modes }, 2);
    case JSP_WIRE_CALLS_COMMIT:
        return 1 + embedded_commit(to, c);
    }
    return 0;
}
