/* session/labels.h - the labels of samples on their way into jsprof/labels.
 *
 * A set of labels gets a number when a sample or a task first has it, and so does a trace together
 * with its set. What is known is kept in a table; a full one begins anew, and the sets in it then
 * get other numbers. Used by the owner of the output.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_LABELS_H
#define JSP_SESSION_LABELS_H

#include "capture/labelfile.h"
#include "capture/writer.h"
#include "sigsafe/tags.h"

enum {
    JSP_LABELS_SLOTS = 1 << 11,
    JSP_LABELS_TEXT = 1 << 16,    /* bytes of what the table knows */
    JSP_LABELS_RECORDS = 1 << 14, /* bytes of records in one chunk */
    JSP_LABELS_SAMPLES = 1 << 12, /* the same of a block */
    /* A thread's labels, if each byte of them becomes a replacement character. */
    JSP_LABELS_MOST = 3 * JSP_TAGS_BYTES,
    JSP_LABELS_ENTRIES = JSP_TAGS_BYTES / JSP_TAGS_HEAD,
};

struct jsp_labels_known {
    uint64_t number; /* 0: free */
    uint32_t at, n;  /* in text */
};

struct jsp_labels {
    uint64_t last;   /* number given out */
    uint64_t n_lost; /* sets that the file could not take */
    uint64_t n_bad;  /* texts that were not UTF-8 */
    bool has_any;    /* a part of the file was made */

    uint64_t sample_first, sample_number; /* of the block */
    uint32_t n_samples, samples_used;
    uint32_t records_used;
    uint32_t n_known, text_used;
    struct jsp_tag sorted[JSP_LABELS_ENTRIES]; /* of the set that is being looked for */
    uint8_t plain[JSP_LABELS_MOST];   /* one pair of it */
    uint8_t set[1 + JSP_LABELS_MOST]; /* all of them, as in the file */
    uint8_t samples[JSP_LABELS_SAMPLES];
    uint8_t records[JSP_LABELS_RECORDS];
    struct jsp_labels_known known[JSP_LABELS_SLOTS];
    uint8_t text[JSP_LABELS_TEXT];
};

/* Return the number of a record's labels, as jsp_tags_take stored them; 0: none. A new one is
 * written first; without room for it the sample has none, which is counted. */
uint64_t jsp_labels_of(struct jsp_labels *l, struct jsp_writer *w, const uint8_t *tags, size_t n);

/* Write the labels under which a task was made. */
void jsp_labels_task(struct jsp_labels *l, struct jsp_writer *w, uint64_t task,
                     const uint8_t *tags, size_t n);

/* Return true if there is room for the labels of one sample. Write the block first if not. */
bool jsp_labels_has_room(struct jsp_labels *l, struct jsp_writer *w);

/* Add the labels of sample number `ordinal`, the one after the last call's. There must be
 * room. */
void jsp_labels_put(struct jsp_labels *l, uint64_t number, uint64_t ordinal);

/* Append both as chunks. Without room they stay. */
void jsp_labels_write(struct jsp_labels *l, struct jsp_writer *w);

/* Forget everything: another file begins. */
void jsp_labels_renew(struct jsp_labels *l);

#endif
