/* cli/demangle.h - readable names of C++ functions, by the machine's C++ library.
 *
 * The tool is not linked with one: it is loaded when the first such name turns up, and
 * where there is none the names stay as they are. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_DEMANGLE_H
#define JSP_CLI_DEMANGLE_H

/* To be freed; NULL: it has no other form. */
char *cli_demangle(const char *name);

#endif
