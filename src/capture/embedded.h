/* capture/embedded.h - writes and reads the records of the embedded jsprof/ files.
 *
 * For each kind of record one function puts it at `to`, where the caller has room for it,
 * and returns its size; another gets it from [*at, end), moves *at after it, and returns
 * false for bytes that are no such record. docs/capture.md describes the bytes, which are
 * the same in either byte order. pack.h and read_records.h do the same for jsprof/stacks.
 * Nothing here allocates or waits.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_EMBEDDED_H
#define JSP_CAPTURE_EMBEDDED_H

#include "read.h"
#include "varint.h"
#include "wire.h"

/* jsprof/samples and jsprof/pcs: a block for samples from ordinal `first` has `count` records. */
enum { JSP_EMBEDDED_BLOCK = 1 + 2 * JSP_VARINT_MAX }; /* largest size */
size_t jsp_embedded_block_put(uint8_t *to, uint64_t first, uint64_t count);
bool jsp_embedded_block_get(const uint8_t **at, const uint8_t *end, uint64_t *first,
                            uint64_t *count);

/* jsprof/samples: the weight of one sample. */
struct jsp_weight {
    uint64_t weight; /* timer expirations */
    uint64_t cpu_ns;
    uint64_t cut;         /* frames missing at the leaf */
    uint32_t n_lines;
    uint32_t lines_bytes;
    const uint8_t *lines; /* n_lines varints, leaf first; the caller of put appends them */
    bool known;           /* weight and cpu_ns come from the file */
};
enum { JSP_EMBEDDED_WEIGHT = 4 * JSP_VARINT_MAX }; /* largest size, without lines */
size_t jsp_embedded_weight_put(uint8_t *to, const struct jsp_weight *weight);
bool jsp_embedded_weight_get(const uint8_t **at, const uint8_t *end, struct jsp_weight *out);

/* jsprof/pcs: the rows of one sample. `skip` samples before it have no record. */
struct jsp_embedded_pcs {
    uint64_t skip;
    uint32_t n;
    const uint8_t *rows; /* n varints, each a row + 1, leaf first */
};
size_t jsp_embedded_pcs_put(uint8_t *to, uint64_t skip, const uint32_t *rows, uint32_t n);
bool jsp_embedded_pcs_get(const uint8_t **at, const uint8_t *end, struct jsp_embedded_pcs *out);

/* jsprof/frames: the kind of a tagged address; jsprof/loops: the code of a loop. */
enum { JSP_EMBEDDED_PAIR = 2 * JSP_VARINT_MAX }; /* largest size */
size_t jsp_embedded_kind_put(uint8_t *to, uint32_t id, uint64_t kind);
bool jsp_embedded_kind_get(const uint8_t **at, const uint8_t *end, uint32_t *id, uint64_t *kind);
size_t jsp_embedded_loop_put(uint8_t *to, const uint64_t range[2]);
bool jsp_embedded_loop_get(const uint8_t **at, const uint8_t *end, uint64_t range[2]);

/* jsprof/listings: the head of a record; `count` rows follow one of JSP_WIRE_LISTING_ROWS. */
struct jsp_embedded_listing {
    uint8_t tag;                /* JSP_WIRE_LISTING... */
    uint32_t number;
    uint32_t first, count;      /* of rows; JSP_WIRE_LISTING: `count` rows will follow */
    struct jsp_read_text name;  /* of JSP_WIRE_LISTING */
};
enum { JSP_EMBEDDED_LISTING = 1 + 3 * JSP_VARINT_MAX }; /* largest size, without name */
size_t jsp_embedded_listing_put(uint8_t *to, const struct jsp_embedded_listing *listing);
bool jsp_embedded_listing_get(const uint8_t **at, const uint8_t *end,
                              struct jsp_embedded_listing *out);

struct jsp_embedded_row {
    uint64_t pc;
    uint32_t line;
    bool ends;              /* it never continues with the next row */
    uint32_t n_targets;
    const uint64_t *targets; /* for put; get sets instead: */
    const uint8_t *packed;   /* n_targets varints */
    struct jsp_read_text text;
};
size_t jsp_embedded_row_put(uint8_t *to, const struct jsp_embedded_row *row);
bool jsp_embedded_row_get(const uint8_t **at, const uint8_t *end, struct jsp_embedded_row *out);

/* jsprof/calls: any record. Figures of a row: calls, self, total, self_bytes, total_bytes. */
struct jsp_embedded_call {
    enum jsp_wire_calls tag;
    union {
        struct {
            uint32_t id, kind, line;
            struct jsp_read_text name, file;
        } function;
        struct {
            uint64_t id, figures[5];
        } row;
        struct {
            uint64_t caller, callee, calls, total;
        } edge;
        struct {
            uint64_t time, modes;
        } mode;
        uint64_t fields[JSP_WIRE_COMMIT_FIELDS];
    };
};
size_t jsp_embedded_call_put(uint8_t *to, const struct jsp_embedded_call *record);
bool jsp_embedded_call_get(const uint8_t **at, const uint8_t *end,
                           struct jsp_embedded_call *out);

#endif
