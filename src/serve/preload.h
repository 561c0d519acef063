/* serve/preload.h - which programs our preloaded library can sample.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_PRELOAD_H
#define JSP_SERVE_PRELOAD_H

#include <stdbool.h>

/* What the file of a program shows. `why` is NULL if a preloaded library works in it: such a file
 * uses the dynamic linker and the processor of this command, and runs with no other user's
 * rights. */
struct preload_look {
    const char *why;    /* why not, as the end of a sentence; constant */
    bool has_ours;      /* it has our library, and so obeys JSPROF */
    bool has_gjs;       /* it is linked with libgjs */
};

/* Look at the file of a program. *out says why preloading can not work, or what the program
 * has. */
void preload_look(const char *path, struct preload_look *out);

#endif
