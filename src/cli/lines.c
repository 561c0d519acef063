/* cli/lines.c - file and line of native code, from a tool such as addr2line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    LINES_PATIENCE_MS = 60000, /* without output; a tool may download files */
    LINES_MOST = 1 << 28,      /* bytes of answers */
    LINES_CHUNK = 1 << 16,
};

struct lines_answer {
    char *text; /* owned */
    size_t n, room;
};

/* Use only absolute paths. A tool in the current directory is not the machine's. */
int cli_lines_find(struct cli_lines_tool *tool)
{
    static const char *const names[] = { "eu-addr2line", "llvm-symbolizer", "addr2line" };
    const char *path = getenv("PATH");
    for (int i = 0; path && i < 3; i++)
        for (const char *at = path; *at; at += strspn(at, ":")) {
            int len = (int)strcspn(at, ":");
            int n = snprintf(tool->path, sizeof tool->path, "%.*s/%s", len, at, names[i]);
            tool->name = names[i];
            if (*at == '/' && n < (int)sizeof tool->path && access(tool->path, X_OK) == 0)
                return 0;
            at += len;
        }
    return -ENOENT;
}

/* Write all addresses to a file first, so that the tool never waits for us while we wait for
 * it. */
static int lines_questions(const struct cli_lines_batch *b)
{
    FILE *file = tmpfile();
    for (uint32_t i = 0; file && i < b->n; i++)
        fprintf(file, "0x%" PRIx64 "\n", b->addresses[i]);
    int fd = -1, err = ENOMEM;
    if (file && fflush(file) == 0 && !ferror(file))
        fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        err = errno;
    if (file)
        fclose(file);
    if (fd < 0)
        return -err;
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Start the tool. It reads one end and writes to the other; its standard error is dropped. */
static int lines_spawn(const struct cli_lines_tool *tool, const char *file,
                       const int ends[2], pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    bool is_llvm = strcmp(tool->name, "llvm-symbolizer") == 0;
    const char *llvm[7] = { tool->name, "--output-style=GNU", "--functions=none",
                            "--no-inlines", "-e", file };
    const char *gnu[7] = { tool->name, "-e", file };
    char *words[7];
    memcpy(words, is_llvm ? llvm : gnu, sizeof words);
    int err = posix_spawn_file_actions_init(&actions);
    if (err)
        return -err;
    err = posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    if (!err)
        err = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (!err)
        err = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                               O_WRONLY, 0);
    if (!err)
        err = posix_spawn(pid, tool->path, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -err;
}

static int lines_read(int fd, struct lines_answer *a)
{
    struct pollfd wait = { fd, POLLIN, 0 };
    ssize_t got = 1;
    while (got != 0) {
        if (a->room - a->n <= LINES_CHUNK) {
            size_t room = 2 * a->room + 2 * LINES_CHUNK;
            char *more = room <= LINES_MOST ? realloc(a->text, room) : NULL;
            if (!more)
                return -ENOMEM;
            a->text = more;
            a->room = room;
        }
        int ready = poll(&wait, 1, LINES_PATIENCE_MS);
        if (ready == 0)
            return -ETIMEDOUT;
        got = ready < 0 ? -1 : read(fd, a->text + a->n, LINES_CHUNK);
        if (got < 0 && errno != EINTR)
            return -errno;
        a->n += got > 0 ? (size_t)got : 0;
    }
    a->text[a->n] = 0;
    return 0;
}

static int lines_run(const struct cli_lines_tool *tool, const struct cli_lines_batch *b,
                     int in, struct lines_answer *a)
{
    int ends[2], status = 0;
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    int err = lines_spawn(tool, b->file, (int[2]){ in, ends[1] }, &pid);
    close(ends[1]);
    if (!err) {
        err = lines_read(ends[0], a);
        if (err)
            kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
        /* The tool succeeded if it wrote one line for each address. */
        uint32_t n = 0;
        for (size_t i = 0; !err && i < a->n; i++)
            n += a->text[i] == '\n';
        if (!err && (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || n != b->n))
            err = -EBADMSG;
    }
    close(ends[0]);
    return err;
}

int cli_lines_ask(const struct cli_lines_tool *tool, const struct cli_lines_batch *batch,
                  char **text)
{
    struct lines_answer a = { 0 };
    int in = lines_questions(batch);
    if (in < 0)
        return in;
    int err = lines_run(tool, batch, in, &a);
    close(in);
    if (err)
        free(a.text);
    else
        *text = a.text;
    return err;
}

/* Cut off the last colon and return the number after it; -1: there is none. */
static int64_t lines_number(char *answer)
{
    char *colon = strrchr(answer, ':'), *end;
    if (!colon || colon[1] < '0' || colon[1] > '9')
        return -1;
    errno = 0;
    unsigned long n = strtoul(colon + 1, &end, 10);
    if (*end || errno || n > UINT32_MAX)
        return -1;
    *colon = 0;
    return (int64_t)n;
}

uint32_t cli_lines_split(char *answer)
{
    char *remark = strstr(answer, " (discriminator ");
    if (remark)
        *remark = 0;
    int64_t last = lines_number(answer);
    int64_t line = last < 0 ? -1 : lines_number(answer);
    if (line < 0)
        line = last; /* no column */
    return line <= 0 || !*answer || strncmp(answer, "??", 2) == 0 ? 0 : (uint32_t)line;
}
