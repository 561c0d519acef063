/* capture/read_embedded.c - reads the records of the embedded files: see embedded.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "embedded.h"

/* The fast way: most numbers have one byte or two. */
static inline bool embedded_number(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    const uint8_t *p = *at;
    if (end - p > 1 && !(p[0] & p[1] & 0x80)) {
        bool is_short = p[0] < 0x80;
        *out = is_short ? p[0] : (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
        *at = p + (is_short ? 1 : 2);
        return true;
    }
    return jsp_read_varint(at, end, out);
}

static bool embedded_numbers(const uint8_t **at, const uint8_t *end, uint64_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!embedded_number(at, end, &out[i]))
            return false;
    return true;
}

static bool embedded_u32(const uint8_t **at, const uint8_t *end, uint32_t *out)
{
    uint64_t value;
    if (!embedded_number(at, end, &value) || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool embedded_text(const uint8_t **at, const uint8_t *end, struct jsp_read_text *out)
{
    uint64_t len;
    if (!embedded_number(at, end, &len) || len > (uint64_t)(end - *at))
        return false;
    *out = (struct jsp_read_text){ (const char *)*at, (uint32_t)len };
    *at += len;
    return true;
}

/* Step over n varints, eight bytes at a time: each has one byte below 0x80, its last. */
static bool embedded_skip(const uint8_t **at, const uint8_t *end, uint64_t n)
{
    while (n >= 8 && end - *at >= 8) {
        uint64_t word;
        memcpy(&word, *at, sizeof word);
        n -= (uint64_t)__builtin_popcountll(~word & 0x8080808080808080u);
        *at += 8;
    }
    while (n > 0 && *at < end)
        n -= *(*at)++ < 0x80;
    return n == 0;
}

bool jsp_embedded_block_get(const uint8_t **at, const uint8_t *end, uint64_t *first,
                            uint64_t *count)
{
    return *at < end && *(*at)++ == JSP_WIRE_BLOCK && embedded_number(at, end, first) &&
           embedded_number(at, end, count);
}

bool jsp_embedded_weight_get(const uint8_t **at, const uint8_t *end, struct jsp_weight *out)
{
    uint64_t n_lines;
    if (!embedded_number(at, end, &out->weight) || !embedded_number(at, end, &out->cpu_ns) ||
        !embedded_number(at, end, &out->cut) || !embedded_number(at, end, &n_lines) ||
        n_lines > JSP_WIRE_MAX_ADDRS)
        return false;
    out->lines = *at;
    if (!embedded_skip(at, end, n_lines))
        return false;
    out->lines_bytes = (uint32_t)(*at - out->lines);
    out->n_lines = (uint32_t)n_lines;
    out->known = true;
    return true;
}

bool jsp_embedded_pcs_get(const uint8_t **at, const uint8_t *end, struct jsp_embedded_pcs *out)
{
    uint64_t n, row;
    if (!embedded_number(at, end, &out->skip) || !embedded_number(at, end, &n) ||
        n > JSP_WIRE_MAX_ADDRS)
        return false;
    out->n = (uint32_t)n;
    out->rows = *at;
    for (uint64_t i = 0; i < n; i++)
        if (!embedded_number(at, end, &row))
            return false;
    return true;
}

bool jsp_embedded_state_get(const uint8_t **at, const uint8_t *end, struct jsp_read_state *out)
{
    uint64_t state;
    *out = (struct jsp_read_state){ 0 };
    if (!embedded_number(at, end, &state) || state >= JSP_N_STATES)
        return false;
    out->state = (enum jsp_state)state;
    if (out->state == JSP_STATE_HOST)
        return embedded_u32(at, end, &out->name);
    return out->state != JSP_STATE_ASLEEP ||
           (embedded_number(at, end, &out->call) && embedded_number(at, end, &out->descriptor) &&
            embedded_number(at, end, &out->asleep_ns));
}

bool jsp_embedded_call_name_get(const uint8_t **at, const uint8_t *end, uint64_t *number,
                                struct jsp_read_text *name)
{
    return *at < end && *(*at)++ == JSP_WIRE_STATES_CALL && embedded_number(at, end, number) &&
           embedded_text(at, end, name);
}

bool jsp_embedded_kind_get(const uint8_t **at, const uint8_t *end, uint32_t *id, uint64_t *kind)
{
    return embedded_u32(at, end, id) && embedded_number(at, end, kind);
}

bool jsp_embedded_loop_get(const uint8_t **at, const uint8_t *end, uint64_t range[2])
{
    return embedded_numbers(at, end, range, 2);
}

bool jsp_embedded_listing_get(const uint8_t **at, const uint8_t *end,
                              struct jsp_embedded_listing *out)
{
    *out = (struct jsp_embedded_listing){ 0 };
    if (*at == end)
        return false;
    out->tag = *(*at)++;
    if (out->tag < JSP_WIRE_LISTING || out->tag > JSP_WIRE_LISTING_OTHER)
        return false;
    return embedded_u32(at, end, &out->number) &&
           (out->tag != JSP_WIRE_LISTING_ROWS || embedded_u32(at, end, &out->first)) &&
           (out->tag == JSP_WIRE_LISTING_OTHER || embedded_u32(at, end, &out->count)) &&
           (out->tag != JSP_WIRE_LISTING || embedded_text(at, end, &out->name));
}

bool jsp_embedded_row_get(const uint8_t **at, const uint8_t *end, struct jsp_embedded_row *out)
{
    uint64_t ends, n, target;
    *out = (struct jsp_embedded_row){ 0 };
    if (!embedded_number(at, end, &out->pc) || !embedded_u32(at, end, &out->line) ||
        !embedded_number(at, end, &ends) || ends > 1 || !embedded_number(at, end, &n) ||
        n > (uint64_t)(end - *at))
        return false;
    out->ends = ends;
    out->n_targets = (uint32_t)n;
    out->packed = *at;
    for (uint64_t i = 0; i < n; i++)
        if (!embedded_number(at, end, &target))
            return false;
    return embedded_text(at, end, &out->text);
}

static bool embedded_function(const uint8_t **at, const uint8_t *end,
                              struct jsp_embedded_call *out)
{
    return embedded_u32(at, end, &out->function.id) &&
           embedded_u32(at, end, &out->function.kind) &&
           embedded_u32(at, end, &out->function.line) &&
           embedded_text(at, end, &out->function.name) &&
           embedded_text(at, end, &out->function.file);
}

/* Skip fields of a newer writer; fields that an older one lacks are 0. */
static bool embedded_commit(const uint8_t **at, const uint8_t *end,
                            struct jsp_embedded_call *out)
{
    uint64_t n, skipped;
    if (!embedded_number(at, end, &n) || n > (uint64_t)(end - *at))
        return false;
    memset(out->fields, 0, sizeof out->fields);
    for (uint64_t i = 0; i < n; i++)
        if (!embedded_number(at, end, i < JSP_WIRE_COMMIT_FIELDS ? &out->fields[i] : &skipped))
            return false;
    return true;
}

bool jsp_embedded_call_get(const uint8_t **at, const uint8_t *end, struct jsp_embedded_call *out)
{
    if (*at == end)
        return false;
    out->tag = *(*at)++;
    switch (out->tag) {
    case JSP_WIRE_CALLS_FUNCTION:
        return embedded_function(at, end, out);
    case JSP_WIRE_CALLS_ROW:
        return embedded_number(at, end, &out->row.id) &&
               embedded_numbers(at, end, out->row.figures, 5);
    case JSP_WIRE_CALLS_EDGE:
        return embedded_number(at, end, &out->edge.caller) &&
               embedded_number(at, end, &out->edge.callee) &&
               embedded_number(at, end, &out->edge.calls) &&
               embedded_number(at, end, &out->edge.total);
    case JSP_WIRE_CALLS_MODE:
        return embedded_number(at, end, &out->mode.time) &&
               embedded_number(at, end, &out->mode.modes);
    case JSP_WIRE_CALLS_COMMIT:
        return embedded_commit(at, end, out);
    }
    return false;
}

/* -- jsprof/losses ----------------------------------------------------------- */

static int embedded_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if ((c | 32) >= 'a' && (c | 32) <= 'f')
        return (c | 32) - 'a' + 10;
    return -1;
}

/* Decode percent escapes, cut to the field, and add a NUL. */
static void embedded_decode(char *out, size_t size, const char *at, const char *end)
{
    size_t n = 0;
    while (at < end && n + 1 < size) {
        int high = *at == '%' && end - at > 2 ? embedded_hex(at[1]) : -1;
        int low = high >= 0 ? embedded_hex(at[2]) : -1;
        out[n++] = low >= 0 ? (char)(high << 4 | low) : *at;
        at += low >= 0 ? 3 : 1;
    }
    out[n] = 0;
}

static bool embedded_decimal(const char *at, const char *end, uint64_t *out)
{
    bool minus = at < end && *at == '-';
    uint64_t n = 0;
    at += minus;
    if (at == end || end - at > 19)
        return false;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9')
            return false;
        n = n * 10 + (uint64_t)(*at - '0');
    }
    *out = minus ? 0 - n : n;
    return true;
}

static bool embedded_set(char *into, const struct jsp_embedded_field *f, const char *value,
                         const char *end)
{
    uint64_t number;
    if (f->type == JSP_FIELD_TEXT) {
        embedded_decode(into, f->size, value, end);
        return true;
    }
    if (!embedded_decimal(value, end, &number))
        return false;
    int32_t narrow = (int32_t)(uint32_t)number;
    if (f->type == JSP_FIELD_NARROW)
        memcpy(into, &narrow, sizeof narrow);
    else
        memcpy(into, &number, sizeof number);
    return true;
}

/* Read one word "key=value". */
static bool embedded_word(struct jsp_embedded_account *out, const char *at, const char *end)
{
    const struct jsp_embedded_line *line = &jsp_embedded_lines[out->tag];
    const char *equal = memchr(at, '=', (size_t)(end - at));
    if (!equal)
        return false;
    for (int i = 0; line->parts[i].fields; i++)
        for (const struct jsp_embedded_field *f = line->parts[i].fields; f->key; f++)
            if (strlen(f->key) == (size_t)(equal - at) &&
                memcmp(f->key, at, (size_t)(equal - at)) == 0)
                return embedded_set((char *)out + line->parts[i].base + f->offset, f,
                                    equal + 1, end);
    return true;
}

static bool embedded_words(struct jsp_embedded_account *out, const char *at, const char *end)
{
    while (at < end) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        const char *stop = space ? space : end;
        if (stop > at && !embedded_word(out, at, stop))
            return false;
        at = stop + 1;
    }
    return true;
}

bool jsp_embedded_account_get(const uint8_t **at, const uint8_t *end,
                              struct jsp_embedded_account *out)
{
    const char *from = (const char *)*at;
    const char *stop = memchr(from, '\n', (size_t)(end - *at));
    *at = stop ? (const uint8_t *)stop + 1 : end;
    for (int tag = JSP_ACCOUNT_SESSION; stop && tag <= JSP_ACCOUNT_TOTAL; tag++) {
        size_t n = strlen(jsp_embedded_lines[tag].word);
        if ((size_t)(stop - from) <= n + 1 || from[n] != ' ' ||
            memcmp(from, jsp_embedded_lines[tag].word, n) != 0)
            continue;
        memset(out, 0, sizeof *out);
        out->tag = (enum jsp_account_tag)tag;
        if (tag == JSP_ACCOUNT_SESSION)
            out->session.present = true;
        else if (tag == JSP_ACCOUNT_TOTAL)
            out->total.present = true;
        return embedded_words(out, from + n + 1, stop);
    }
    return false;
}
