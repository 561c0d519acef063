/* analyze/roots.h - the same program in two folders.
 *
 * Functions of two profiles are the same if their names are, and a name has the path of a file.
 * Where a file is only in one profile, and a file of the same name with a function of the same
 * name only in the other, both paths lose the part before what they share. Two folders that fit
 * equally well are both left alone. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_ROOTS_H
#define JSP_ANALYZE_ROOTS_H

#include "profile.h"

enum { JSP_ROOTS_MOST = 8 };

struct jsp_root { /* the folders of a part of the program, "/a/v1/" and "/a/v2/" */
    char *of[2];  /* owned; "" is for relative paths */
    uint32_t n_functions; /* that were found in both */
};

struct jsp_roots {
    struct jsp_root list[JSP_ROOTS_MOST];
    uint32_t n;
};

/* Find the folders, and cut them off the names of the functions that both profiles know. Resolve
 * the stacks before. Return 0 or -ENOMEM. */
int jsp_roots_strip(struct jsp_roots *r, struct jsp_profile *const of[2]);

/* Free the folders. */
void jsp_roots_free(struct jsp_roots *r);

#endif
