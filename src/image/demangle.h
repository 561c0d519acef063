/* image/demangle.h - readable names of C++ functions, by the process's own demangler.
 *
 * A program with C++ in it has __cxa_demangle; one without needs none, and we link
 * against no C++ library. It is looked for once, by the thread that opens, because
 * dlsym takes the loader's lock and nobody else of ours may wait for that.
 *
 *                        who starts a session   drain thread
 *   jsp_demangle_find             yes                -
 *   jsp_demangle                  yes               yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_DEMANGLE_H
#define JSP_IMAGE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* __cxa_demangle's contract: a malloc'd name, or NULL. */
typedef char *jsp_demangle_fn(const char *name, char *to, size_t *size, int *status);

/* The process's demangler, or NULL. */
jsp_demangle_fn *jsp_demangle_find(void);

/* A copy of `name` in `size` bytes, demangled if `demangle` (may be NULL) can; what
 * does not fit is cut and ends in "...". False: it is as it was. */
bool jsp_demangle(jsp_demangle_fn *demangle, const char *name, char *out, size_t size);

#endif
