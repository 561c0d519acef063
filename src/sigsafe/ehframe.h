/* sigsafe/ehframe.h - a reader of .eh_frame: which code can be unwound, by which program.
 *
 * The bytes come from other people's linkers, or from a fuzzer. A record that makes no
 * sense is refused and counted; then the next one is read.
 *
 * src/image reads whole sections with it, the handler a single record (see live.h).
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
    /* address of bytes[0] in the process, to which its pointers are relative */
    uint64_t addr;
};

/* The fields that several functions share. */
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

/* One function, or a part of one. */
struct jsp_ehframe_fde {
    uint64_t start, length;
    const struct jsp_ehframe_cie *cie; /* valid until the next record is read */
    struct jsp_cursor program;
};

enum { JSP_EHFRAME_CIES = 64 };

struct jsp_ehframe {
    struct jsp_ehframe_section section;
    size_t at;           /* of the next record */
    uint64_t n_refused;  /* records that could not be read */
    struct jsp_ehframe_cie cies[JSP_EHFRAME_CIES]; /* the CIEs read last, by offset */
};

/* Begin to read this section, which is borrowed, at its first record. */
void jsp_ehframe_begin(struct jsp_ehframe *e, const struct jsp_ehframe_section *section);

/* Read the next FDE that makes sense. Return false if there is none. */
bool jsp_ehframe_next(struct jsp_ehframe *e, struct jsp_ehframe_fde *fde);

/* Read a section that consists of one CIE and one FDE, in this order; the FDE is taken to
 * belong to that CIE. Return false if they make no sense. */
bool jsp_ehframe_pair(const struct jsp_ehframe_section *section, struct jsp_ehframe_cie *cie,
                      struct jsp_ehframe_fde *fde);

/* Return how many of the n bytes are whole records, including the terminator. Set *whole
 * if there is a terminator. This serves sections of unknown size. */
size_t jsp_ehframe_extent(const uint8_t *bytes, size_t n, bool *whole);

#endif
