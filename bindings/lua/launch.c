/* launch.c - jsprof-lua: find the program of the requested Lua version, and execute it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The default is the first of these that is installed. */
static const char *const launch_versions[] = { "5.5", "5.4", "5.3", "5.2", "5.1", "jit" };
enum { LAUNCH_VERSIONS = 6, LAUNCH_USAGE = 2 };

/* Execute PROGRAM followed by the version, from this program's folder. */
static int launch_path(char *to, size_t size, const char *version)
{
    ssize_t n = readlink("/proc/self/exe", to, size);
    if (n <= 0 || (size_t)n + strlen(version) >= size)
        return -1;
    memcpy(to + n, version, strlen(version) + 1);
    return 0;
}

static int launch_run(const char *version, char **argv)
{
    char path[PATH_MAX];
    if (launch_path(path, sizeof path, version) == 0)
        execv(path, argv);
    return errno;
}

/* Take "--version X" or "--version=X" out of argv. Return NULL if it is missing. */
static const char *launch_take(char **argv)
{
    const char *version = NULL;
    int n = 0;
    if (argv[1] && strncmp(argv[1], "--version=", 10) == 0) {
        version = argv[1] + 10;
        n = 1;
    } else if (argv[1] && strcmp(argv[1], "--version") == 0) {
        version = argv[2] ? argv[2] : "";
        n = argv[2] ? 2 : 1;
    }
    for (char **at = argv + 1; n && (at[0] = at[n]); at++)
        continue;
    return version;
}

int main(int argc, char **argv)
{
    const char *version = launch_take(argv);
    (void)argc;
    for (int i = 0; i < LAUNCH_VERSIONS; i++) {
        if (version && strcmp(version, launch_versions[i]) != 0)
            continue;
        int err = launch_run(launch_versions[i], argv);
        if (version || err != ENOENT) {
            fprintf(stderr, "jsprof-lua: Lua %s: %s\n", launch_versions[i],
                    err == ENOENT ? "it was not built (the package was missing)"
                                  : strerror(err));
            return 1;
        }
    }
    if (version)
        fprintf(stderr, "jsprof-lua: --version is 5.1, 5.2, 5.3, 5.4, 5.5 or jit, not '%s'\n",
                version);
    else
        fprintf(stderr, "jsprof-lua: it was built for no Lua version\n");
    return version ? LAUNCH_USAGE : 1;
}
