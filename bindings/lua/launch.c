/* launch.c - jsprof-lua: find the program of the requested Lua version, and execute it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LAUNCH_MOST = 16, LAUNCH_USAGE = 2 };

/* The versions that the binding knows: PUC Lua from the oldest to the newest, then LuaJIT. */
static const char *launch_versions[LAUNCH_MOST];
static int launch_n;

/* Execute PROGRAM followed by the version, from this program's folder. */
static int launch_run(const char *version, char **argv)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    if (n > 0 && (size_t)n + strlen(version) < sizeof path) {
        memcpy(path + n, version, strlen(version) + 1);
        execv(path, argv);
    }
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

static int launch_refuse(const char *version)
{
    fprintf(stderr, "jsprof-lua: --version is ");
    for (int i = 0; i < launch_n; i++)
        fprintf(stderr, "%s%s", i == 0 ? "" : i < launch_n - 1 ? ", " : " or ", launch_versions[i]);
    fprintf(stderr, ", not '%s'\n", version);
    return LAUNCH_USAGE;
}

int main(int argc, char **argv)
{
    const char *version = launch_take(argv);
    (void)argc;
    static char known[] = JSPROF_LUA_KNOWN;
    for (char *v = strtok(known, "|"); v && launch_n < LAUNCH_MOST; v = strtok(NULL, "|"))
        launch_versions[launch_n++] = v;
    /* The newest PUC Lua is first, LuaJIT last. */
    for (int i = 0; i < launch_n; i++) {
        const char *choice = launch_versions[i < launch_n - 1 ? launch_n - 2 - i : i];
        if (version && strcmp(version, choice) != 0)
            continue;
        int err = launch_run(choice, argv);
        if (version || err != ENOENT) {
            fprintf(stderr, "jsprof-lua: Lua %s: %s\n", choice,
                    err == ENOENT ? "it was not built (the package was missing)"
                                  : strerror(err));
            return 1;
        }
    }
    if (version)
        return launch_refuse(version);
    fprintf(stderr, "jsprof-lua: it was built for no Lua version\n");
    return 1;
}
