/* image/demangle.h - readable names of C++ functions, by the process's own demangler.
 *
 * A program with C++ in it has __cxa_demangle; a program without C++ needs none, and we
 * link against no C++ library. The thread that opens a session looks for it once, because
 * dlsym takes the loader's lock and no other thread of ours may wait for that.
 *
 *                        opening thread   drain thread
 *   jsp_demangle_find          yes             -
 *   jsp_demangle               yes            yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_DEMANGLE_H
#define JSP_IMAGE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* The contract of __cxa_demangle: it returns a malloc'd name, or NULL. */
typedef char *jsp_demangle_fn(const char *name, char *to, size_t *size, int *status);

/* Return the process's demangler, or NULL. */
jsp_demangle_fn *jsp_demangle_find(void);

/* Copy `name` to `out`, demangled if `demangle` (may be NULL) can do it. A name that does
 * not fit in `size` bytes is cut and ends in "...". Return true if it was demangled. */
bool jsp_demangle(jsp_demangle_fn *demangle, const char *name, char *out, size_t size);

#endif
