/* session/alone/callable_names.h - the names of all C library functions that we call.
 *
 * A library that is loaded before the C library may replace any of them: an allocator,
 * fakeroot, a preload that counts writes. It may hold a lock of its own when it is
 * interrupted. So callable.c looks up where each name leads in this process.
 * tests/check/callable.sh proves on the object files that the list is complete.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_ALONE_CALLABLE_NAMES_H
#define JSP_SESSION_ALONE_CALLABLE_NAMES_H

/* Ends with NULL. */
extern const char *const jsp_callable_names[];

#endif
