/* image/kallsyms.h - names for addresses of the kernel, where it shows them.
 *
 * /proc/kallsyms is some ten megabytes of text, so it is not kept: one pass over it
 * answers a whole batch of addresses. Outside the handler only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_KALLSYMS_H
#define JSP_IMAGE_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct jsp_kallsyms_name {
    uint64_t addr;  /* asked for; the rest is the answer */
    uint64_t begin; /* 0: nothing is known */
    uint64_t end;   /* where the next function begins; UINT64_MAX: none does */
    char *name;     /* owned by the caller */
    char *module;   /* owned by the caller; NULL: the kernel itself */
};

/* Answer `list`, sorted by address and otherwise zero. An errno of opening, or
 * -EACCES where the kernel shows only zeros. */
int jsp_kallsyms_read(struct jsp_kallsyms_name *list, size_t n);

/* The same from any stream of such lines. */
int jsp_kallsyms_scan(FILE *in, struct jsp_kallsyms_name *list, size_t n);

void jsp_kallsyms_free(struct jsp_kallsyms_name *list, size_t n);

#endif
