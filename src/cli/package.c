/* cli/package.c - see package.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "package.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Return true if a line of the file is `path` without its first `skip` bytes, or all of it. */
static bool package_has(const char *list, const char *path, size_t skip)
{
    char *line = NULL;
    size_t room = 0;
    bool has = false;
    FILE *f = fopen(list, "re");
    for (ssize_t n; f && !has && (n = getline(&line, &room, f)) > 0;) {
        line[n - 1] = line[n - 1] == '\n' ? 0 : line[n - 1];
        has = strcmp(line, path) == 0 || strcmp(line, path + skip) == 0;
    }
    free(line);
    if (f)
        fclose(f);
    return has;
}

/* Return the length of the package's name in the name of a list, or 0 if it is none. */
static size_t package_name(const char *list)
{
    static const char known[] = "abcdefghijklmnopqrstuvwxyz0123456789+.-";
    size_t len = strlen(list), tail = sizeof ".list" - 1;
    if (len <= tail || strcmp(list + len - tail, ".list") != 0)
        return 0;
    size_t n = strcspn(list, ":");
    n = n < len - tail ? n : len - tail;
    return strspn(list, known) >= n && n + sizeof "-dbgsym" <= CLI_PACKAGE ? n : 0;
}

bool cli_package_of_symbols(char out[CLI_PACKAGE], const char *lists, const char *path)
{
    /* Where /lib is a link to /usr/lib, lists may have the file below either. */
    size_t skip = strncmp(path, "/usr/", 5) == 0 ? 4 : 0;
    bool found = false;
    DIR *folder = opendir(lists);
    for (struct dirent *e; folder && !found && (e = readdir(folder));) {
        char list[PATH_MAX];
        size_t n = package_name(e->d_name);
        int len = snprintf(list, sizeof list, "%s/%s", lists, e->d_name);
        found = n && len > 0 && (size_t)len < sizeof list && package_has(list, path, skip);
        if (found) /* the C library's package had symbols before there were -dbgsym packages */
            snprintf(out, CLI_PACKAGE, "%.*s-%s", (int)n, e->d_name,
                     n == 5 && memcmp(e->d_name, "libc6", n) == 0 ? "dbg" : "dbgsym");
    }
    if (folder)
        closedir(folder);
    return found;
}
