/* cli/outfile.c - the file that a command writes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "followed.h"
#include "open.h"
#include "options.h"

enum { OUTFILE_PIPE = 1 << 20 }; /* bytes, the most that any user may have */

static const int outfile_signals[] = { SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ };
enum { OUTFILE_N_SIGNALS = sizeof outfile_signals / sizeof *outfile_signals };

/* The temporary file that a signal removes. ORDER: volatile is enough, because the only
 * reader is a handler of this thread. The path is complete before this points to it, and is
 * freed only after this is NULL again. */
static const char *volatile outfile_aside;

/* Handlers are set to go off once, so raising the signal again ends the process. */
static void outfile_interrupted(int signo)
{
    const char *aside = outfile_aside;
    if (aside)
        unlink(aside);
    raise(signo);
}

static int outfile_write(void *context, const void *bytes, size_t n)
{
    const struct cli_outfile *o = context;
    const char *at = bytes;
    while (n > 0) {
        ssize_t done = write(o->fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -errno;
        at += done;
        n -= (size_t)done;
    }
    return 0;
}

/* Give the new file the permissions of the file that it replaces. */
static int outfile_mode(int fd, const struct stat *old, bool is_new)
{
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(fd, is_new ? 0666 & ~mask : old->st_mode & 07777) < 0)
        return -errno;
    if (!is_new && (old->st_uid != geteuid() || old->st_gid != getegid()) &&
        fchown(fd, old->st_uid, old->st_gid) < 0 && errno != EPERM)
        return -errno;
    return 0;
}

/* Write to "dir/.name.XXXXXX" beside "dir/name". */
static int outfile_start_aside(struct cli_outfile *o, const char *path,
                               const struct stat *old, bool is_new)
{
    /* Replace the target of a symbolic link, not the link. */
    o->target = is_new ? strdup(path) : realpath(path, NULL);
    if (!o->target)
        return -errno;
    const char *slash = strrchr(o->target, '/'), *name = slash ? slash + 1 : o->target;
    if (asprintf(&o->aside, "%.*s.%s.XXXXXX", (int)(name - o->target), o->target, name) < 0) {
        o->aside = NULL;
        return -ENOMEM;
    }
    o->fd = mkostemp(o->aside, O_CLOEXEC);
    if (o->fd < 0)
        return -errno;
    outfile_aside = o->aside;
    for (int i = 0; i < OUTFILE_N_SIGNALS; i++) {
        struct sigaction before, mine = { .sa_handler = outfile_interrupted,
                                          .sa_flags = (int)SA_RESETHAND };
        sigaction(outfile_signals[i], NULL, &before);
        if (before.sa_handler != SIG_IGN)
            sigaction(outfile_signals[i], &mine, NULL);
    }
    return outfile_mode(o->fd, old, is_new);
}

static int outfile_start(struct cli_outfile *o, const char *path)
{
    struct stat old;
    if (strcmp(path, "-") == 0) {
        o->fd = STDOUT_FILENO;
        fcntl(o->fd, F_SETPIPE_SZ, OUTFILE_PIPE); /* fails where it is no pipe, which does
                                                   * no harm */
        return 0;
    }
    bool is_new = stat(path, &old) < 0;
    if (is_new && errno != ENOENT)
        return -errno;
    if (!is_new && S_ISREG(old.st_mode) && access(path, W_OK) < 0)
        return -errno;
    if (is_new || S_ISREG(old.st_mode))
        return outfile_start_aside(o, path, &old, is_new);
    o->fd = open(path, O_WRONLY | O_CLOEXEC);
    return o->fd < 0 ? -errno : 0;
}

static void outfile_free(struct cli_outfile *o)
{
    outfile_aside = NULL;
    free(o->target);
    free(o->aside);
    o->target = o->aside = NULL;
}

/* Find the regular file of a path; of "-" it is that of the descriptor. */
static bool outfile_is_regular(const char *path, int standard, struct stat *out)
{
    int err = strcmp(path, "-") == 0 ? fstat(standard, out) : stat(path, out);
    return err == 0 && S_ISREG(out->st_mode);
}

int cli_outfile_spares(const char *output, const char *const *inputs, int n)
{
    struct stat out, in;
    if (strcmp(output, "-") == 0 && cli_followed_is_on())
        return cli_usage(NULL, "--follow writes the output again and again: name a file with -o");
    if (!outfile_is_regular(output, STDOUT_FILENO, &out))
        return CLI_OK;
    for (int i = 0; i < n; i++)
        if (outfile_is_regular(inputs[i], STDIN_FILENO, &in) && in.st_dev == out.st_dev &&
            in.st_ino == out.st_ino)
            return cli_fail(strcmp(inputs[i], "-") == 0 ? "standard input" : inputs[i],
                            "is also the output: nothing is written");
    return CLI_OK;
}

int cli_outfile_open(struct cli_outfile *o, const char *path)
{
    o->label = strcmp(path, "-") == 0 ? "standard output" : path;
    o->target = o->aside = NULL;
    o->fd = -1;
    jsp_sink_init(&o->sink, outfile_write, o);
    fflush(stdout);
    int err = outfile_start(o, path);
    if (err == 0)
        return CLI_OK;
    if (o->fd >= 0 && o->aside)
        unlink(o->aside);
    if (o->fd >= 0)
        close(o->fd);
    outfile_free(o);
    return cli_fail(o->label, "%s", strerror(-err));
}

int cli_outfile_close(struct cli_outfile *o, int status)
{
    int err = status == CLI_OK ? jsp_sink_flush(&o->sink) : 0;
    if (o->fd != STDOUT_FILENO && close(o->fd) < 0 && err == 0)
        err = -errno;
    bool is_whole = status == CLI_OK && err == 0;
    if (is_whole && o->aside && rename(o->aside, o->target) < 0)
        err = -errno;
    if (o->aside && (!is_whole || err < 0))
        unlink(o->aside);
    outfile_free(o);
    if (err < 0 && err != -EPIPE)
        return cli_fail(o->label, "%s", strerror(-err));
    return status;
}
