/* sigsafe/ehframe.h - the records of an .eh_frame: who can be unwound, by which program.
 *
 * Bytes come from other people's linkers, or from a fuzzer: a record that makes no
 * sense is refused and counted, the next one is read.
 *
 * src/image reads whole sections by it, the handler a single record (see live.h).
 *
 *                        SIGPROF handler   any thread
 *   jsp_ehframe_begin           -              yes
 *   jsp_ehframe_next            -              yes
 *   jsp_ehframe_extent          -              yes
 *   jsp_ehframe_pair           yes             yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_EHFRAME_H
#define JSP_SIGSAFE_EHFRAME_H

#include "cursor.h"

struct jsp_ehframe_section {
    const uint8_t *bytes; /* borrowed */
    size_t n;
    uint64_t addr;        /* of bytes[0] in the process, what pointers in it count from */
};

/* What functions have in common. */
struct jsp_ehframe_cie {
    uint64_t offset;
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra_reg;
    uint8_t encoding;     /* of the addresses in its FDEs */
    bool has_augmentation;
    bool is_signal;
    bool is_good;
    struct jsp_cursor program;
};

/* One function, or a piece of one. */
struct jsp_ehframe_fde {
    uint64_t start, length;
    const struct jsp_ehframe_cie *cie; /* good until the next record is read */
    struct jsp_cursor program;
};

enum { JSP_EHFRAME_CIES = 64 };

struct jsp_ehframe {
    struct jsp_ehframe_section section;
    size_t at;           /* of the next record */
    uint64_t n_refused;  /* records that could not be read */
    struct jsp_ehframe_cie cies[JSP_EHFRAME_CIES]; /* by offset, the last ones read */
};

void jsp_ehframe_begin(struct jsp_ehframe *e, const struct jsp_ehframe_section *section);

/* The next FDE that makes sense. False: there is none. */
bool jsp_ehframe_next(struct jsp_ehframe *e, struct jsp_ehframe_fde *fde);

/* Read a section that is one CIE and one FDE, in this order, which the caller takes for
 * that CIE's. False: they make no sense. */
bool jsp_ehframe_pair(const struct jsp_ehframe_section *section, struct jsp_ehframe_cie *cie,
                      struct jsp_ehframe_fde *fde);

/* How many bytes from `bytes` on are whole records, the terminator included; *whole
 * says whether the terminator was met. For a section whose size nobody tells. */
size_t jsp_ehframe_extent(const uint8_t *bytes, size_t n, bool *whole);

#endif
