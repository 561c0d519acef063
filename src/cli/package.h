/* cli/package.h - which package has the debug symbols of a file, by dpkg's lists.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_PACKAGE_H
#define JSP_CLI_PACKAGE_H

#include <stdbool.h>

/* The folder of dpkg's lists: PACKAGE.list or PACKAGE:MACHINE.list has the files of a package. */
#define CLI_PACKAGE_LISTS "/var/lib/dpkg/info"

enum { CLI_PACKAGE = 96 }; /* bytes that hold a name */

/* Write the name of the package with the debug symbols of this file, which Debian and Ubuntu derive
 * from the name of the package that installed it. Return false if no list has the file. */
bool cli_package_of_symbols(char out[CLI_PACKAGE], const char *lists, const char *path);

#endif
