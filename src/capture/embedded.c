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

size_t jsp_embedded_state_put(uint8_t *to, const struct jsp_read_state *s)
{
    uint64_t asleep[] = { s->state, s->call, s->descriptor, s->asleep_ns };
    if (s->state == JSP_STATE_ASLEEP)
        return embedded_numbers(to, asleep, 4);
    return embedded_numbers(to, (uint64_t[]){ s->state, s->name },
                            s->state == JSP_STATE_HOST ? 2 : 1);
}

size_t jsp_embedded_call_name_put(uint8_t *to, uint64_t number, struct jsp_read_text name)
{
    to[0] = JSP_WIRE_STATES_CALL;
    size_t n = 1 + jsp_varint_put(to + 1, number);
    return n + embedded_text(to + n, name);
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

/* -- jsprof/losses ----------------------------------------------------------- */

#define FIELD(of, field, type) { #field, offsetof(struct jsp_account_##of, field), type, 0 }
#define COUNT(of, field) FIELD(of, field, JSP_FIELD_COUNT)
#define TEXT(of, field)                                                                       \
    { #field, offsetof(struct jsp_account_##of, field), JSP_FIELD_TEXT,                        \
      sizeof((struct jsp_account_##of *)0)->field }
#define LOSS(CAUSE, cause, asked, name, meaning)                                               \
    { "lost_" #cause, offsetof(struct jsp_account_thread, lost[JSP_LOST_##CAUSE]),              \
      JSP_FIELD_COUNT, 0 },
#define CLOCK(CLOCK, key, unit, name, meaning)                                                 \
    { unit, offsetof(struct jsp_account_thread, clock_ns[JSP_CLOCK_##CLOCK]), JSP_FIELD_COUNT, 0 },
#define END { NULL, 0, JSP_FIELD_COUNT, 0 }

static const struct jsp_embedded_field embedded_session[] = {
    TEXT(session, state), COUNT(session, time), COUNT(session, hz), TEXT(session, clock),
    COUNT(session, samples), COUNT(session, labels), COUNT(session, label_bytes),
    COUNT(session, labels_lost), COUNT(session, labels_cut), COUNT(session, marks_lost),
    COUNT(session, addresses_missed), FIELD(session, allocs_lost, JSP_FIELD_RARE),
    FIELD(session, forks, JSP_FIELD_RARE), FIELD(session, tasks_unwritten, JSP_FIELD_RARE),
    FIELD(session, tags_unwritten, JSP_FIELD_RARE), FIELD(session, tags_bad, JSP_FIELD_RARE),
    FIELD(session, tags_stray, JSP_FIELD_RARE),
    FIELD(session, write_error, JSP_FIELD_SIGNED), END
};
static const struct jsp_embedded_field embedded_thread[] = {
    COUNT(thread, id), FIELD(thread, tid, JSP_FIELD_NARROW), TEXT(thread, name), END
};
static const struct jsp_embedded_field embedded_total[] = {
    TEXT(total, state), COUNT(total, time), FIELD(total, write_error, JSP_FIELD_SIGNED), END
};
static const struct jsp_embedded_field embedded_counts[] = {
    COUNT(thread, expirations), COUNT(thread, kept), COUNT(thread, samples), JSP_LOSSES(LOSS)
    COUNT(thread, frames_cut), COUNT(thread, frames_bad), COUNT(thread, underflows),
    COUNT(thread, stop_end), COUNT(thread, stop_full), COUNT(thread, stop_no_table),
    COUNT(thread, stop_stack), COUNT(thread, stop_unreadable), COUNT(thread, stop_rule),
    COUNT(thread, handler_ns), FIELD(thread, alloc_bytes, JSP_FIELD_RARE),
    FIELD(thread, alloc_lost, JSP_FIELD_RARE), FIELD(thread, alloc_untold, JSP_FIELD_RARE),
    FIELD(thread, tags_full, JSP_FIELD_RARE), FIELD(thread, tags_cut, JSP_FIELD_RARE),
    FIELD(thread, tags_foreign, JSP_FIELD_RARE), FIELD(thread, tags_unmatched, JSP_FIELD_RARE), END
};
static const struct jsp_embedded_field embedded_tasks[] = {
    FIELD(thread, tasks_lost, JSP_FIELD_RARE), FIELD(thread, tasks_unmatched, JSP_FIELD_RARE),
    FIELD(thread, tasks_left, JSP_FIELD_RARE), FIELD(thread, tasks_deep, JSP_FIELD_RARE),
    FIELD(thread, tasks_foreign, JSP_FIELD_RARE), END
};
static const struct jsp_embedded_field embedded_clocks[] = { JSP_CLOCKS(CLOCK) END };

#define BASE(of) offsetof(struct jsp_embedded_account, of)
const struct jsp_embedded_line jsp_embedded_lines[] = {
    [JSP_ACCOUNT_SESSION] = { "session", { { embedded_session, BASE(session) } } },
    [JSP_ACCOUNT_THREAD] = { "thread", { { embedded_thread, BASE(thread) },
                                         { embedded_counts, BASE(thread) },
                                         { embedded_tasks, BASE(thread) },
                                         { embedded_clocks, BASE(thread) } } },
    [JSP_ACCOUNT_TOTAL] = { "total", { { embedded_total, BASE(total) },
                                       { embedded_counts, BASE(total.sum) } } },
};

/* Percent-encode the characters that would end a value. */
static size_t embedded_encode(char *to, const char *text)
{
    static const char hex[] = "0123456789ABCDEF";
    char *begin = to;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool is_plain = c > ' ' && c != '%' && c != 0x7F;
        *to++ = is_plain ? (char)c : '%';
        if (!is_plain) {
            *to++ = hex[c >> 4];
            *to++ = hex[c & 15];
        }
    }
    return (size_t)(to - begin);
}

static size_t embedded_key(char *to, const char *key)
{
    size_t n = strlen(key);
    to[0] = ' ';
    memcpy(to + 1, key, n);
    to[n + 1] = '=';
    return n + 2;
}

static size_t embedded_decimal(char *to, uint64_t value)
{
    char digits[20];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    for (size_t i = 0; i < n; i++)
        to[i] = digits[n - 1 - i];
    return n;
}

static size_t embedded_field(char *to, const struct jsp_embedded_field *f, const char *at)
{
    int64_t value = 0;
    int32_t narrow;
    if (f->type == JSP_FIELD_TEXT) {
        size_t n = embedded_key(to, f->key);
        return n + embedded_encode(to + n, at);
    }
    if (f->type == JSP_FIELD_NARROW) {
        memcpy(&narrow, at, sizeof narrow);
        value = narrow;
    } else {
        memcpy(&value, at, sizeof value);
    }
    if (f->type == JSP_FIELD_RARE && !value)
        return 0;
    size_t n = embedded_key(to, f->key);
    bool is_negative = f->type != JSP_FIELD_COUNT && f->type != JSP_FIELD_RARE && value < 0;
    if (is_negative)
        to[n++] = '-';
    return n + embedded_decimal(to + n, is_negative ? -(uint64_t)value : (uint64_t)value);
}

size_t jsp_embedded_account_put(char *to, const struct jsp_embedded_account *record)
{
    const struct jsp_embedded_line *line = &jsp_embedded_lines[record->tag];
    size_t n = strlen(line->word);
    memcpy(to, line->word, n);
    for (int i = 0; line->parts[i].fields; i++)
        for (const struct jsp_embedded_field *f = line->parts[i].fields; f->key; f++)
            n += embedded_field(to + n, f,
                                (const char *)record + line->parts[i].base + f->offset);
    to[n++] = '\n';
    return n;
}

static void embedded_add(struct jsp_account_thread *sum, const struct jsp_account_thread *t,
                         const struct jsp_embedded_field *f)
{
    for (; f->key; f++) {
        uint64_t all, one;
        memcpy(&all, (const char *)sum + f->offset, sizeof all);
        memcpy(&one, (const char *)t + f->offset, sizeof one);
        all += one;
        memcpy((char *)sum + f->offset, &all, sizeof all);
    }
}

void jsp_embedded_account_add(struct jsp_account_thread *sum, const struct jsp_account_thread *t)
{
    embedded_add(sum, t, embedded_counts);
    embedded_add(sum, t, embedded_tasks);
    embedded_add(sum, t, embedded_clocks);
}
