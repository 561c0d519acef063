/* serve/client.c - see client.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "client.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "control/request.h"
#include "control/socket.h"

enum { CLIENT_MOST_SESSIONS = 1000, CLIENT_ASK_MS = 1000,
       CLIENT_EACH_MS = 4 }; /* more for each process that is asked */

/* -- A conversation --------------------------------------------------------------- */

static int64_t client_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Send all of a line, with the descriptor beside its first bytes. */
static int client_send(int to, const char *line, int fd)
{
    char text[JSP_CONTROL_LINE];
    union { /* aligned for the header */
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { .bytes = { 0 } };
    int n = snprintf(text, sizeof text, "%s\n", line);
    struct iovec from = { text, (size_t)n };
    struct msghdr message = { .msg_iov = &from, .msg_iovlen = 1 };
    if (n >= (int)sizeof text)
        return -E2BIG;
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof fd),
                                         .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
        memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    }
    /* a line is far smaller than the socket's buffer, and is taken whole */
    ssize_t sent = sendmsg(to, &message, MSG_NOSIGNAL);
    return sent < 0 ? -errno : sent < n ? -EAGAIN : 0;
}

static int client_open(const struct serve_process *process, int64_t until)
{
    int folder = jsp_control_folder_open(process->folder);
    if (folder < 0)
        return folder;
    int fd;
    while ((fd = jsp_control_connect(folder, process->name)) == -EAGAIN &&
           client_now_ms() < until) /* its queue is full of others */
        poll(NULL, 0, 1);
    close(folder);
    return fd;
}

/* Try it until then, at least once. */
static int client_begin(struct serve_talk *talk, const struct serve_process *process,
                        const char *line, int fd, int64_t until)
{
    talk->n = 0;
    talk->fd = client_open(process, until);
    if (talk->fd < 0)
        return talk->fd;
    int err = client_send(talk->fd, line, fd);
    if (err)
        serve_end(talk);
    return err;
}

int serve_begin(struct serve_talk *talk, const struct serve_process *process, const char *line,
                int fd)
{
    return client_begin(talk, process, line, fd, client_now_ms() + CLIENT_ASK_MS);
}

int serve_send(const struct serve_talk *talk, const char *line)
{
    return client_send(talk->fd, line, -1);
}

void serve_end(struct serve_talk *talk)
{
    if (talk->fd >= 0)
        close(talk->fd);
    talk->fd = -1;
}

/* Take the first line out of the buffer. */
static bool client_take(struct serve_talk *talk, char line[SERVE_LINE])
{
    const char *end = memchr(talk->bytes, '\n', talk->n);
    if (!end)
        return false;
    uint32_t n = (uint32_t)(end - talk->bytes);
    memcpy(line, talk->bytes, n);
    line[n] = 0;
    talk->n -= n + 1;
    memmove(talk->bytes, end + 1, talk->n);
    return true;
}

int serve_line(struct serve_talk *talk, char line[SERVE_LINE], int ms)
{
    int64_t until = client_now_ms() + ms;
    while (!client_take(talk, line)) {
        int64_t left = until - client_now_ms();
        struct pollfd wait = { .fd = talk->fd, .events = POLLIN };
        if (talk->n == sizeof talk->bytes)
            return -EPROTO;
        int n = poll(&wait, 1, ms < 0 ? -1 : left > 0 ? (int)left : 0);
        if (n < 0)
            return -errno;
        if (n == 0)
            return -ETIME;
        ssize_t got = recv(talk->fd, talk->bytes + talk->n, sizeof talk->bytes - talk->n, 0);
        if (got <= 0)
            return got < 0 && errno != ECONNRESET ? -errno : 0;
        talk->n += (uint32_t)got;
    }
    return 1;
}

/* -- Answers ---------------------------------------------------------------------- */

const char *serve_error(const char *line)
{
    if (strncmp(line, "error ", 6) != 0)
        return NULL;
    const char *text = strchr(line + 6, ' ');
    return text ? text + 1 : line + 6;
}

/* Return the value of "key=value", which ends at a space, or NULL. */
static const char *client_value(const char *line, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = line; (at = strstr(at, key)) != NULL; at++)
        if ((at == line || at[-1] == ' ') && at[n] == '=')
            return at + n + 1;
    return NULL;
}

uint64_t serve_number(const char *line, const char *key)
{
    const char *value = client_value(line, key);
    return value ? strtoull(value, NULL, 10) : 0;
}

static int client_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Copy a word, with %XX as one byte. */
static void client_word(char *to, size_t size, const char *from)
{
    size_t n = 0;
    while (from && *from && *from != ' ' && n + 1 < size) {
        int high = *from == '%' ? client_digit(from[1]) : -1;
        int low = high >= 0 ? client_digit(from[2]) : -1;
        to[n++] = low >= 0 ? (char)(high << 4 | low) : *from;
        from += low >= 0 ? 3 : 1;
    }
    to[n] = 0;
}

static int client_session(struct serve_process *p, const char *line)
{
    struct serve_session *s = realloc(p->sessions, (p->n_sessions + 1) * sizeof *s);
    if (!s)
        return -ENOMEM;
    p->sessions = s;
    s += p->n_sessions++;
    memset(s, 0, sizeof *s);
    s->number = (uint32_t)strtoul(line, NULL, 10);
    s->threads = (uint32_t)serve_number(line, "threads");
    s->hz = (uint32_t)serve_number(line, "hz");
    client_word(s->state, sizeof s->state, client_value(line, "state"));
    client_word(s->clock, sizeof s->clock, client_value(line, "clock"));
    client_word(s->vm, sizeof s->vm, client_value(line, "vm"));
    client_word(s->path, sizeof s->path, client_value(line, "path"));
    return 0;
}

/* Take one line of the answer. Return 1 at its end. */
static int client_info(struct serve_process *p, const char *line)
{
    char word[16];
    if (serve_error(line))
        return -EPROTO;
    if (strcmp(line, "end") == 0)
        return 1;
    if (sscanf(line, "%15s", word) != 1 || p->n_sessions == CLIENT_MOST_SESSIONS)
        return -EPROTO;
    const char *rest = line + strlen(word);
    rest += *rest == ' ';
    if (strcmp(word, "pid") == 0)
        p->own_pid = (pid_t)strtol(rest, NULL, 10);
    else if (strcmp(word, "since") == 0)
        p->since = strtoll(rest, NULL, 10);
    else if (strcmp(word, "version") == 0)
        client_word(p->version, sizeof p->version, rest);
    else if (strcmp(word, "host") == 0)
        client_word(p->host, sizeof p->host, rest);
    else if (strcmp(word, "session") == 0)
        return client_session(p, rest);
    return 0;
}

/* Ask a process for its name and sessions. Return 0 or a negative errno. */
static int client_ask(struct serve_process *p, int64_t until)
{
    struct serve_talk talk;
    int err = client_begin(&talk, p, "jsprof 1 info", -1, until);
    pid_t pid = 0;
    if (!err && !jsp_control_may(talk.fd, &pid)) {
        err = -EPERM;
        serve_end(&talk);
    }
    p->is_elsewhere = !err && !pid; /* it has no number here but its own */
    if (pid > 0)
        p->pid = pid;
    p->fd = talk.fd;
    return err;
}

/* Take its answer, which is there at `until` or not at all: processes that hang take that time
 * together, not each. Return 0 or a negative errno. */
static int client_hear(struct serve_process *p, int64_t until)
{
    char line[SERVE_LINE];
    struct serve_talk talk = { .fd = p->fd };
    int err = 0;
    while (!err) {
        int64_t left = until - client_now_ms();
        err = serve_line(&talk, line, left > 0 ? (int)left : 0);
        err = err == 1 ? client_info(p, line) : err == 0 ? -EPROTO : err;
    }
    serve_end(&talk);
    p->fd = -1;
    return err == 1 ? 0 : err;
}

/* -- All processes ------------------------------------------------------------------ */

static int client_add(struct serve_list *list, const struct serve_process *p)
{
    struct serve_process *more = realloc(list->at, (list->n + 1) * sizeof *more);
    if (!more)
        return -ENOMEM;
    list->at = more;
    list->at[list->n++] = *p;
    return 0;
}

static bool client_is_socket(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && n < 64 && name[0] >= '0' && name[0] <= '9' &&
           strcmp(name + n - 5, ".sock") == 0;
}

/* A folder of sockets. */
struct client_folder {
    const char *path;
    int fd;
    int64_t until; /* those that are full of others are tried until then, all of them together */
};

/* Ask the process of one socket. */
static int client_meet(struct serve_list *out, const struct client_folder *f, const char *name)
{
    struct serve_process p = { .own_pid = (pid_t)strtol(name, NULL, 10) };
    snprintf(p.folder, sizeof p.folder, "%s", f->path);
    snprintf(p.name, sizeof p.name, "%s", name);
    p.pid = p.own_pid;
    p.err = client_ask(&p, f->until);
    if (p.err == -ECONNREFUSED)
        unlinkat(f->fd, name, 0); /* its process is gone */
    int err = p.err == -ECONNREFUSED || p.err == -ENOENT ? 0 : client_add(out, &p);
    if (err && p.fd >= 0)
        close(p.fd);
    return err;
}

static int client_folder(struct serve_list *out, const char *folder, int64_t until)
{
    const struct dirent *entry;
    const struct client_folder f = { folder, jsp_control_folder_open(folder), until };
    DIR *dir = f.fd < 0 ? NULL : fdopendir(f.fd);
    int err = 0;
    if (!dir)
        return 0;
    while (!err && (entry = readdir(dir)) != NULL)
        if (client_is_socket(entry->d_name))
            err = client_meet(out, &f, entry->d_name);
    closedir(dir);
    return err;
}

static int client_compare(const void *a, const void *b)
{
    const struct serve_process *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* All are asked before the first answer is read, which takes a socket each; who records them needs
 * a file each as well. Have as many descriptors as the system lets us. */
static void client_room(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

int serve_find(struct serve_list *out)
{
    char folder[JSP_CONTROL_PATH];
    int err = 0;
    client_room();
    *out = (struct serve_list){ .at = NULL };
    int64_t until = client_now_ms() + CLIENT_ASK_MS;
    for (int i = 0; !err && i < JSP_CONTROL_FOLDERS; i++)
        if (jsp_control_folder(folder, i, getenv("XDG_RUNTIME_DIR")))
            err = client_folder(out, folder, until);
    until = client_now_ms() + CLIENT_ASK_MS + (int64_t)out->n * CLIENT_EACH_MS;
    for (uint32_t i = 0; i < out->n; i++)
        if (out->at[i].fd >= 0)
            out->at[i].err = client_hear(&out->at[i], until);
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, client_compare);
    return err;
}

void serve_free(struct serve_list *list)
{
    for (uint32_t i = 0; i < list->n; i++)
        free(list->at[i].sessions);
    free(list->at);
    *list = (struct serve_list){ .at = NULL };
}

const struct serve_process *serve_process(const struct serve_list *list, pid_t pid,
                                          bool *several)
{
    const struct serve_process *elsewhere = NULL;
    *several = false;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct serve_process *p = &list->at[i];
        if (p->pid != pid)
            continue;
        if (!p->is_elsewhere) {
            *several = false;
            return p;
        }
        *several = elsewhere;
        elsewhere = p;
    }
    return *several ? NULL : elsewhere;
}
