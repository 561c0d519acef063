/* session/labels.c - see labels.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "labels.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "capture/taskfile.h"

enum { LABELS_KNOWN_MOST = JSP_LABELS_SLOTS / 4 * 3 };

/* -- The file --------------------------------------------------------------- */

static void labels_write_records(struct jsp_labels *l, struct jsp_writer *w)
{
    if (l->records_used &&
        jsp_writer_chunk(w, JSP_WIRE_FILE_LABELS, l->records, l->records_used) == 0)
        l->records_used = 0;
}

static void labels_write_samples(struct jsp_labels *l, struct jsp_writer *w)
{
    struct jsp_writer_block block = { JSP_WIRE_FILE_LABELS, l->sample_first, l->n_samples,
                                      l->samples, l->samples_used };
    if (!l->n_samples || jsp_writer_block(w, &block))
        return;
    l->n_samples = l->samples_used = 0;
    l->sample_number = 0;
}

void jsp_labels_write(struct jsp_labels *l, struct jsp_writer *w)
{
    labels_write_records(l, w);
    labels_write_samples(l, w);
}

/* Add a record. Return false if there is no room. */
static bool labels_record(struct jsp_labels *l, struct jsp_writer *w,
                          const struct jsp_labels_record *r)
{
    size_t most = JSP_LABELS_RECORD + (size_t)(r->set.end - r->set.at);
    if (l->records_used + most > sizeof l->records)
        labels_write_records(l, w);
    if (l->records_used + most > sizeof l->records) {
        l->n_lost++;
        return false;
    }
    l->records_used += (uint32_t)jsp_labels_record_put(l->records + l->records_used, r);
    l->has_any = true;
    return true;
}

/* -- Numbers ---------------------------------------------------------------- */

/* Return the place of what is known by these bytes, or a free one. The table is never full. */
static struct jsp_labels_known *labels_find(struct jsp_labels *l, const uint8_t *bytes, size_t n)
{
    if (l->n_known >= LABELS_KNOWN_MOST || l->text_used + n > sizeof l->text) {
        memset(l->known, 0, sizeof l->known);
        l->n_known = l->text_used = 0;
    }
    for (uint64_t at = jsp_hash_bytes(0, bytes, n) >> 16;; at++) {
        struct jsp_labels_known *k = &l->known[at % JSP_LABELS_SLOTS];
        if (!k->number || (k->n == n && memcmp(l->text + k->at, bytes, n) == 0))
            return k;
    }
}

static void labels_know(struct jsp_labels *l, struct jsp_labels_known *k, const uint8_t *bytes,
                        size_t n)
{
    *k = (struct jsp_labels_known){ ++l->last, l->text_used, (uint32_t)n };
    memcpy(l->text + l->text_used, bytes, n);
    l->text_used += (uint32_t)n;
    l->n_known++;
}

/* Return the number of `count` pairs, which are at set + 1 and end at `end`; 0: no room. */
static uint64_t labels_set(struct jsp_labels *l, struct jsp_writer *w, uint32_t count,
                           const uint8_t *end)
{
    size_t n = (size_t)(end - l->set);
    l->set[0] = JSP_WIRE_LABELS_SET;
    struct jsp_labels_known *k = labels_find(l, l->set, n);
    if (k->number)
        return k->number;
    const struct jsp_labels_record r = { .tag = JSP_WIRE_LABELS_SET, .number = l->last + 1,
                                         .set = { count, l->set + 1, end } };
    if (!labels_record(l, w, &r))
        return 0;
    labels_know(l, k, l->set, n);
    return k->number;
}

static uint64_t labels_trace(struct jsp_labels *l, struct jsp_writer *w, uint64_t set,
                             const uint8_t *trace)
{
    static const uint8_t none[JSP_LABELS_TRACE];
    uint8_t bytes[1 + sizeof set + JSP_LABELS_TRACE] = { JSP_WIRE_LABELS_TRACE };
    trace = trace ? trace : none;
    memcpy(bytes + 1, &set, sizeof set);
    memcpy(bytes + 1 + sizeof set, trace, JSP_LABELS_TRACE);
    struct jsp_labels_known *k = labels_find(l, bytes, sizeof bytes);
    if (k->number)
        return k->number;
    const struct jsp_labels_record r = { .tag = JSP_WIRE_LABELS_TRACE, .number = l->last + 1,
                                         .other = set, .trace = trace };
    if (!labels_record(l, w, &r))
        return set;
    labels_know(l, k, bytes, sizeof bytes);
    return k->number;
}

/* -- Sets ------------------------------------------------------------------- */

/* Copy a text; each run of bytes that are not UTF-8 becomes U+FFFD. */
static struct jsp_read_text labels_text(uint8_t *to, const uint8_t *from, size_t n,
                                        uint32_t *n_bad)
{
    uint8_t *begin = to;
    bool is_bad = false;
    for (size_t used; n; from += used, n -= used) {
        bool is_replaced = jsp_utf8_next(from, n, &used) == JSP_UTF8_REPLACEMENT &&
                           !(used == 3 && from[0] == 0xEF);
        memcpy(to, is_replaced ? (const uint8_t *)"\xEF\xBF\xBD" : from, is_replaced ? 3 : used);
        to += is_replaced ? 3 : used;
        is_bad |= is_replaced;
    }
    *n_bad += is_bad;
    return (struct jsp_read_text){ (const char *)begin, (uint32_t)(to - begin) };
}

static bool labels_same_key(const struct jsp_tag *a, const struct jsp_tag *b)
{
    return a->n_key == b->n_key && memcmp(a->key, b->key, a->n_key) == 0;
}

static bool labels_is_before(const struct jsp_tag *a, const struct jsp_tag *b)
{
    int order = memcmp(a->key, b->key, a->n_key < b->n_key ? a->n_key : b->n_key);
    return order ? order < 0 : a->n_key < b->n_key;
}

/* Put the entry at its place by key, or over the one that it covers. */
static uint32_t labels_sort(struct jsp_tag *sorted, uint32_t n, const struct jsp_tag *tag)
{
    uint32_t at = n;
    while (at && labels_is_before(tag, &sorted[at - 1]))
        at--;
    if (at && labels_same_key(tag, &sorted[at - 1])) {
        sorted[at - 1] = *tag;
        return n;
    }
    memmove(&sorted[at + 1], &sorted[at], (n - at) * sizeof *sorted);
    sorted[at] = *tag;
    return n + 1;
}

uint64_t jsp_labels_of(struct jsp_labels *l, struct jsp_writer *w, const uint8_t *tags, size_t n)
{
    struct jsp_tag *sorted = l->sorted, tag;
    const uint8_t *end = tags + n;
    uint32_t count = 0, first, n_bad = 0;
    uint64_t last = l->last;
    while (count < JSP_LABELS_ENTRIES && jsp_tag_next(&tags, end, &tag))
        count = labels_sort(sorted, count, &tag);
    first = count && !sorted[0].n_key; /* the trace */
    uint8_t *to = l->set + 1, *text = l->plain;
    for (uint32_t i = first; i < count; i++) {
        struct jsp_labels_pair pair = { .has_value = sorted[i].value };
        pair.key = labels_text(text, sorted[i].key, sorted[i].n_key, &n_bad);
        pair.value = labels_text(text + pair.key.len, sorted[i].value, sorted[i].n_value, &n_bad);
        to += jsp_labels_pair_put(to, &pair);
    }
    uint64_t set = count > first ? labels_set(l, w, count - first, to) : 0;
    l->n_bad += l->last != last ? n_bad : 0;
    return first ? labels_trace(l, w, set, sorted[0].value) : set;
}

void jsp_labels_task(struct jsp_labels *l, struct jsp_writer *w, uint64_t task,
                     const uint8_t *tags, size_t n)
{
    const struct jsp_labels_record r = { .tag = JSP_WIRE_LABELS_TASK, .other = task,
                                         .number = jsp_labels_of(l, w, tags, n) };
    if (r.number)
        labels_record(l, w, &r);
}

/* -- Samples ---------------------------------------------------------------- */

bool jsp_labels_has_room(struct jsp_labels *l, struct jsp_writer *w)
{
    if (l->samples_used + JSP_VARINT_MAX > sizeof l->samples)
        labels_write_samples(l, w);
    return l->samples_used + JSP_VARINT_MAX <= sizeof l->samples;
}

void jsp_labels_put(struct jsp_labels *l, uint64_t number, uint64_t ordinal)
{
    if (!l->n_samples && !number)
        return; /* a sample before the block has none either */
    if (!l->n_samples++)
        l->sample_first = ordinal;
    l->samples_used +=
        (uint32_t)jsp_running_put(l->samples + l->samples_used, &l->sample_number, number);
    l->has_any = true;
}

void jsp_labels_renew(struct jsp_labels *l)
{
    if (l->n_known) /* untouched pages take no memory */
        memset(l->known, 0, sizeof l->known);
    l->last = l->n_lost = l->n_bad = 0;
    l->n_known = l->text_used = l->records_used = 0;
    l->n_samples = l->samples_used = 0;
    l->sample_number = 0;
    l->has_any = false;
}
