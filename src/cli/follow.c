/* cli/follow.c - see follow.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "follow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/wire.h"
#include "followed.h"
#include "pager.h"
#include "serve/remote.h"
#include "serve/screen.h"

enum { FOLLOW_POLL_MS = 200, FOLLOW_AGAIN = 3 };

static const double follow_least = 1;    /* seconds between two answers */
static const double follow_factor = 9;   /* and so many times what the last one took */
static const double follow_patience = 2; /* seconds without a change before asking for writers */

/* What one child has printed. */
struct follow_text {
    char *at; /* owned */
    size_t len;
};

struct follow {
    const struct cli_command *command;
    struct cli_arguments *arguments;
    int (*end)(int status);
    struct follow_text out, err, said; /* `said` is the newest of err that was shown */
    struct cli_follows *read; /* what the newest answer was made of; the child writes it */
    bool is_live, has_shown;
    double took; /* seconds of the newest answer */
};

/* -- The child ----------------------------------------------------------------------- */

/* Answer into two files. The terminal keeps its say on colours and widths. */
static _Noreturn void follow_child(struct follow *f, int out, int err)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (signal(SIGHUP, SIG_DFL) == SIG_IGN) /* nohup */
        signal(SIGHUP, SIG_IGN);
    if (isatty(STDOUT_FILENO))
        cli_terminal_set(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
        _exit(CLI_FAILED);
    int status = f->end(f->command->run(f->arguments));
    fflush(stderr);
    _exit(status);
}

/* -- Answers --------------------------------------------------------------------------- */

static double follow_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Read a whole file in memory. Return 0 or a negative errno. */
static int follow_take(struct follow_text *t, int fd)
{
    struct stat is;
    ssize_t got = 1;
    free(t->at);
    *t = (struct follow_text){ 0 };
    if (fstat(fd, &is) < 0)
        return -errno;
    t->at = malloc((size_t)is.st_size + 1);
    if (!t->at)
        return -ENOMEM;
    while (got > 0 && t->len < (size_t)is.st_size) {
        got = pread(fd, t->at + t->len, (size_t)is.st_size - t->len, (off_t)t->len);
        t->len += got > 0 ? (size_t)got : 0;
    }
    return got < 0 ? -errno : 0;
}

/* Wait for the child. A signal that ends us ends it first. */
static int follow_wait(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno == EINTR && remote_is_caught())
            kill(child, SIGKILL);
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    /* The capture was cut while it was mapped, or we ended the child. */
    if (WTERMSIG(status) == SIGBUS || remote_is_caught())
        return FOLLOW_AGAIN;
    return cli_fail("--follow", "the reading process ended by signal %d", WTERMSIG(status));
}

/* Make an answer, in `out` and `err`. Return the exit status of the child, or FOLLOW_AGAIN. */
static int follow_answer(struct follow *f)
{
    double began = follow_now();
    int out = remote_file(f->arguments->command);
    int err = out < 0 ? -1 : remote_file(f->arguments->command), status = CLI_FAILED;
    f->read->n = 0;
    fflush(stdout);
    pid_t child = err < 0 ? -1 : fork();
    if (child == 0)
        follow_child(f, out, err);
    if (child > 0)
        status = follow_wait(child);
    else if (err >= 0)
        cli_fail("--follow", "%s", strerror(errno));
    int failed = child > 0 ? follow_take(&f->out, out) : 0;
    if (child > 0 && !failed)
        failed = follow_take(&f->err, err);
    if (failed)
        status = cli_fail("--follow", "%s", strerror(-failed));
    close(out);
    close(err);
    f->took = follow_now() - began;
    return status;
}

/* -- What is shown ----------------------------------------------------------------------- */

/* Print what the command complains about, unless it did before. */
static void follow_complain(struct follow *f)
{
    if (f->err.len == f->said.len && (!f->err.len || !memcmp(f->err.at, f->said.at, f->err.len)))
        return;
    fflush(stdout);
    fwrite(f->err.at, 1, f->err.len, stderr);
    free(f->said.at);
    f->said = f->err;
    f->err = (struct follow_text){ 0 };
}

static void follow_block(struct follow *f)
{
    if (f->out.len && f->has_shown)
        putchar('\n');
    f->has_shown |= f->out.len > 0;
    fwrite(f->out.at, 1, f->out.len, stdout);
    fflush(stdout);
    follow_complain(f);
}

/* Print the first lines that fit. Return how many do not. */
static int follow_lines(const struct follow_text *t, int room)
{
    int more = 0;
    for (size_t at = 0, len; at < t->len; at += len) {
        const char *end = memchr(t->at + at, '\n', t->len - at);
        len = end ? (size_t)(end - t->at) + 1 - at : t->len - at;
        if (room-- > 0)
            fwrite(t->at + at, 1, len, stdout);
        else
            more++;
    }
    return more;
}

static void follow_draw(const struct follow *f)
{
    struct cli_style style = cli_style_get();
    char line[PATH_MAX + 128], bytes[CLI_NUMBER];
    const struct cli_followed *c = &f->read->at[f->read->n - 1];
    screen_begin();
    int more = follow_lines(f->out.len ? &f->out : &f->err, screen_rows() - 1);
    int used = more ? snprintf(line, sizeof line, "%d more line%s (--limit); ", more,
                               cli_s((uint64_t)more)) : 0;
    snprintf(line + used, sizeof line - (size_t)used, "%s: %s%s; q ends", c->path,
             cli_bytes(bytes, c->size), c->is_closed ? "" : ", growing");
    cli_colour(&style, CLI_DIM);
    cli_name(&style, cli_span(line), style.columns);
    cli_colour(&style, CLI_PLAIN);
    screen_end();
}

/* -- The captures ------------------------------------------------------------------------- */

enum follow_state { FOLLOW_SAME, FOLLOW_CLOSED, FOLLOW_CHANGED, FOLLOW_CUT, FOLLOW_OTHER,
                    FOLLOW_REMOVED };

/* Return what has become of a capture since it was read. */
static enum follow_state follow_look(const struct cli_followed *c)
{
    struct stat is;
    int64_t end = 0; /* in any byte order: not 0 if it is closed */
    int fd = open(c->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &is) < 0) {
        if (fd >= 0)
            close(fd);
        return FOLLOW_REMOVED;
    }
    bool is_closed = pread(fd, &end, sizeof end, offsetof(struct jsp_wire_header, end_time)) ==
                         (ssize_t)sizeof end && end;
    close(fd);
    if (is.st_dev != c->dev || is.st_ino != c->ino)
        return FOLLOW_OTHER;
    if ((uint64_t)is.st_size < c->size)
        return FOLLOW_CUT;
    if ((uint64_t)is.st_size != c->size || is_closed != c->is_closed)
        return FOLLOW_CHANGED;
    return is_closed ? FOLLOW_CLOSED : FOLLOW_SAME;
}

/* Return true if surely nobody has the file open for writing: the kernel grants a lease. It may
 * refuse one for other reasons, as on a network's file system. */
static bool follow_has_no_writer(const struct cli_followed *c)
{
    int fd = open(c->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool has_none = fd >= 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
    if (has_none)
        fcntl(fd, F_SETLEASE, F_UNLCK);
    if (fd >= 0)
        close(fd);
    return has_none;
}

/* Tell the user what happened to a capture besides that it grew. */
static void follow_tell(const struct follow *f, const struct cli_followed *c,
                        enum follow_state state)
{
    static const char *const what[] = {
        [FOLLOW_SAME] = "its writer has gone without completing it",
        [FOLLOW_CUT] = "was cut: reading it anew",
        [FOLLOW_OTHER] = "another file has this name: reading that one",
        [FOLLOW_REMOVED] = "was removed",
    };
    if (!f->is_live)
        cli_fail(c->path, "%s", what[state]);
}

/* What is known of all captures. */
struct follow_sight {
    bool is_changed;
    bool is_over; /* nothing more will come */
    bool is_gone; /* a capture was removed */
};

static struct follow_sight follow_look_all(const struct follow *f, bool is_due, bool is_late)
{
    struct follow_sight seen = { .is_over = true };
    for (uint32_t i = 0; i < f->read->n; i++) {
        const struct cli_followed *c = &f->read->at[i];
        enum follow_state state = follow_look(c);
        bool is_left = state == FOLLOW_SAME && is_late && follow_has_no_writer(c);
        seen.is_over &= state == FOLLOW_CLOSED || is_left;
        seen.is_gone |= state == FOLLOW_REMOVED;
        seen.is_changed |= state == FOLLOW_CHANGED || state == FOLLOW_CUT || state == FOLLOW_OTHER;
        if (is_left || (state == FOLLOW_REMOVED && is_late) ||
            (is_due && (state == FOLLOW_CUT || state == FOLLOW_OTHER)))
            follow_tell(f, c, state);
    }
    return seen;
}

/* Wait until there is more to read, from `due` on. Return CLI_OK if nothing more will come,
 * CLI_FAILED if a capture is gone, or FOLLOW_AGAIN. */
static int follow_more(const struct follow *f, double due)
{
    double quiet = follow_now();
    while (!remote_is_caught()) {
        int key = screen_key(FOLLOW_POLL_MS, -1);
        double now = follow_now();
        bool is_late = now - quiet > follow_patience;
        if (key == 'q' || key == SCREEN_ESCAPE)
            break;
        struct follow_sight seen = follow_look_all(f, now >= due, is_late);
        if (seen.is_over || (seen.is_gone && is_late))
            return seen.is_gone ? CLI_FAILED : CLI_OK;
        if (seen.is_changed && now >= due)
            return FOLLOW_AGAIN;
        if (is_late) /* ask for writers now and then; a file may be renamed just now */
            quiet = now;
    }
    return CLI_OK;
}

/* Give the terminal back with the whole newest answer. */
static void follow_leave(struct follow *f)
{
    if (!f->is_live)
        return;
    screen_close();
    follow_block(f);
}

/* Return true if an answer can not be followed: a wrong option, or no capture that can be read
 * again. It is shown. */
static bool follow_is_wrong(struct follow *f, int *status)
{
    if (*status == FOLLOW_AGAIN || (*status != CLI_USAGE && f->read->n && !f->read->is_full))
        return false;
    follow_block(f);
    if (f->read->is_full)
        *status = cli_usage(f->arguments->command, "--follow: more than %d captures",
                            CLI_FOLLOWED);
    return true;
}

static int follow_loop(struct follow *f)
{
    int status, more;
    for (bool is_first = true;; is_first = false) {
        status = follow_answer(f);
        if (remote_is_caught())
            return CLI_OK;
        if (follow_is_wrong(f, &status))
            return status;
        bool is_over = status != FOLLOW_AGAIN && follow_look_all(f, false, false).is_over;
        if (is_first && !is_over)
            f->is_live = screen_open();
        if (status != FOLLOW_AGAIN && f->is_live)
            follow_draw(f);
        else if (status != FOLLOW_AGAIN)
            follow_block(f);
        double wait = follow_factor * f->took;
        more = is_over ? status
                       : follow_more(f, follow_now() + (wait > follow_least ? wait : follow_least));
        if (more != FOLLOW_AGAIN || ferror(stdout))
            return more ? more : remote_is_caught() ? CLI_OK : status;
    }
}

int cli_follow(const struct cli_command *c, struct cli_arguments *a, int (*end)(int status))
{
    struct follow f = { .command = c, .arguments = a, .end = end };
    for (int i = 0; i < a->n_words; i++)
        if (strcmp(a->words[i], "-") == 0)
            return cli_usage(a->command, "--follow wants files by name, not -");
    f.read = cli_followed_start();
    if (!f.read)
        return cli_fail("--follow", "%s", strerror(ENOMEM));
    remote_catch();
    signal(SIGIO, SIG_IGN); /* somebody opens a file on which we have a lease */
    int status = follow_loop(&f);
    follow_leave(&f);
    free(f.out.at);
    free(f.err.at);
    free(f.said.at);
    return status;
}
