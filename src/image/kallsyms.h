/* image/kallsyms.h - names of kernel addresses, where the kernel shows them.
 *
 * /proc/kallsyms is some ten megabytes of text, so it is not kept: one pass over it looks
 * up a whole batch of addresses. Outside the handler only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_KALLSYMS_H
#define JSP_IMAGE_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct jsp_kallsyms_name {
    uint64_t addr;  /* the address to look up; the fields below are the result */
    uint64_t begin; /* start of the function; 0: unknown */
    uint64_t end;   /* start of the next function; UINT64_MAX: there is none */
    char *name;     /* owned by the caller */
    char *module;   /* owned by the caller; NULL: the kernel itself */
};

/* Look up the entries of `list`, which is sorted by address and otherwise zero. Return 0,
 * the errno of opening the file, or -EACCES if the kernel shows only zeros. */
int jsp_kallsyms_read(struct jsp_kallsyms_name *list, size_t n);

/* Do the same with any stream of such lines. */
int jsp_kallsyms_scan(FILE *in, struct jsp_kallsyms_name *list, size_t n);

/* Free the names and modules of the list, but not the list. */
void jsp_kallsyms_free(struct jsp_kallsyms_name *list, size_t n);

#endif
