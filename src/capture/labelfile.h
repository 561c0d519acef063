/* capture/labelfile.h - writes and reads the records of jsprof/labels, apart from its blocks.
 *
 * As in embedded.h, put returns the size that it wrote, and get returns false for bytes that are
 * no record. docs/capture.md describes the bytes. Nothing here allocates or waits.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_LABELFILE_H
#define JSP_CAPTURE_LABELFILE_H

#include "read.h"
#include "varint.h"
#include "wire.h"

enum { JSP_LABELS_TRACE = 16 + 8 }; /* bytes of both ids */

struct jsp_labels_record {
    enum jsp_wire_labels tag;
    uint64_t number; /* of a set or a trace, from 1; of a task that of its labels */
    uint64_t other;  /* of a trace the set; 0: none. Of a task its number */
    struct {
        uint32_t n;
        const uint8_t *at, *end; /* n pairs, for jsp_labels_pair_get; put appends them */
    } set;
    const uint8_t *trace; /* JSP_LABELS_TRACE bytes; all 0: none, whatever its task has */
};

/* One key and its value. */
struct jsp_labels_pair {
    struct jsp_read_text key, value;
    bool has_value; /* false: it has none here, whatever its task has */
};

enum { JSP_LABELS_RECORD = 1 + 3 * JSP_VARINT_MAX + JSP_LABELS_TRACE };

/* Write a record to `to`, which has room for JSP_LABELS_RECORD bytes and those of the pairs.
 * Return its length. */
size_t jsp_labels_record_put(uint8_t *to, const struct jsp_labels_record *r);

/* Read a record and move *at after it. Return false if it is malformed. */
bool jsp_labels_record_get(const uint8_t **at, const uint8_t *end,
                           struct jsp_labels_record *out);

/* Write a pair to `to`, which has room for two numbers and the texts. Return its length. */
size_t jsp_labels_pair_put(uint8_t *to, const struct jsp_labels_pair *pair);

/* Read a pair, whose texts are borrowed. Return false if it is malformed. */
bool jsp_labels_pair_get(const uint8_t **at, const uint8_t *end, struct jsp_labels_pair *out);

#endif
