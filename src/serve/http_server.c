/* serve/http_server.c - `jsprof serve`: profiles of all processes of this machine over HTTP.
 *
 * This process reads the heads of requests and does nothing else, so nobody can hold it up: a
 * silent connection is closed after ten seconds, and the oldest one makes place for a new one. Each
 * answer comes from a child, which may wait for a recording or for a slow client.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"
#include "cli/command.h"
#include "cli/open.h"
#include "remote.h"

enum {
    SERVER_PEERS = 32,
    SERVER_CHILDREN = 16,
    SERVER_BACKLOG = 64,
    SERVER_PATIENCE_MS = 10000,
    SERVER_TOKEN = 128,
    SERVER_FIRST_FD = 3 /* of systemd's */
};

static const char server_help[] =
    "usage: jsprof serve [OPTION]...\n"
    "\n"
    "Answers HTTP requests with profiles of all processes of this user that listen:\n"
    "go tool pprof, Parca and Alloy ask for /debug/pprof/profile?seconds=N, and\n"
    "/debug/pprof/ lists everything. Samples have the labels pid, host and vm. Who\n"
    "asks needs the token, as a bearer or as ?token=... See also jsprof ps.\n"
    "\n"
    "  --listen ADDRESS:PORT   default 127.0.0.1:4680; another machine needs --host\n"
    "  --unix PATH             a socket of this user instead, without a token\n"
    "  --token-file FILE       with the token as its first line (default: a new one)\n"
    "  --no-token              none: any user of this machine can ask\n"
    "  --host NAME             by which name requests may come, besides localhost\n"
    "\n"
    "If systemd passes a socket, this is the one.\n";

struct server_peer {
    int fd; /* -1: free */
    size_t n;
    int64_t until;
    char bytes[HTTP_MOST];
};

struct server {
    const char *command, *listen, *path, *token_file, *host;
    bool has_no_token, is_unix;
    char token[SERVER_TOKEN]; /* "": none is needed */
    int fd;
    uint32_t children;
    struct server_peer peers[SERVER_PEERS];
};

static int64_t server_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* -- The socket ------------------------------------------------------------------- */

/* Read "127.0.0.1:4680", "[::1]:4680". */
static bool server_address(const char *text, struct sockaddr_storage *at, socklen_t *len)
{
    struct sockaddr_in *v4 = (void *)at;
    struct sockaddr_in6 *v6 = (void *)at;
    char word[64];
    const char *colon = strrchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : 0;
    char *end;
    long port = colon ? strtol(colon + 1, &end, 10) : -1;
    if (!n || n >= sizeof word || port < 0 || port > UINT16_MAX || end == colon + 1 || *end)
        return false;
    bool is_v6 = text[0] == '[' && text[n - 1] == ']';
    memcpy(word, text + is_v6, n - 2 * is_v6);
    word[n - 2 * is_v6] = 0;
    memset(at, 0, sizeof *at);
    *len = is_v6 ? sizeof *v6 : sizeof *v4;
    if (is_v6) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)port);
        return inet_pton(AF_INET6, word, &v6->sin6_addr) == 1;
    }
    v4->sin_family = AF_INET;
    v4->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, word, &v4->sin_addr) == 1;
}

static bool server_is_loopback(const struct sockaddr_storage *at)
{
    const struct sockaddr_in *v4 = (const void *)at;
    const struct sockaddr_in6 *v6 = (const void *)at;
    return at->ss_family == AF_INET ? ntohl(v4->sin_addr.s_addr) >> 24 == 127
                                    : IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static int server_bind(struct server *s, const struct sockaddr *at, socklen_t len,
                       const char *name)
{
    int on = 1;
    s->fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd >= 0 && !s->is_unix)
        setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (s->fd < 0 || bind(s->fd, at, len) < 0 || listen(s->fd, SERVER_BACKLOG) < 0)
        return cli_fail(name, "%s", strerror(errno));
    return CLI_OK;
}

/* A socket that nobody listens on any more is in the way. */
static int server_unix(struct server *s)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    struct stat is;
    if (strlen(s->path) >= sizeof at.sun_path)
        return cli_usage(s->command, "--unix has more than %zu bytes", sizeof at.sun_path - 1);
    strcpy(at.sun_path, s->path);
    s->is_unix = true;
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (lstat(s->path, &is) == 0 && S_ISSOCK(is.st_mode) &&
        connect(probe, (struct sockaddr *)&at, sizeof at) < 0 && errno == ECONNREFUSED)
        unlink(s->path);
    close(probe);
    mode_t mask = umask(0177);
    int status = server_bind(s, (struct sockaddr *)&at, sizeof at, s->path);
    umask(mask);
    if (status == CLI_OK)
        printf("jsprof serves %s\n", s->path);
    return status;
}

static int server_tcp(struct server *s)
{
    struct sockaddr_storage at;
    socklen_t len;
    if (!server_address(s->listen, &at, &len))
        return cli_usage(s->command, "--listen wants ADDRESS:PORT, not \"%s\"", s->listen);
    if (!server_is_loopback(&at) && (!s->host || s->has_no_token))
        return cli_usage(s->command, "%s can be reached from other machines: this needs a token "
                         "and --host", s->listen);
    int status = server_bind(s, (struct sockaddr *)&at, len, s->listen);
    if (status == CLI_OK && getsockname(s->fd, (struct sockaddr *)&at, &len) == 0)
        printf("jsprof serves http://%.*s:%u/debug/pprof/%s%s\n",
               (int)(strrchr(s->listen, ':') - s->listen), s->listen,
               ntohs(((struct sockaddr_in *)(void *)&at)->sin_port),
               !s->token_file && *s->token ? "?token=" : "", s->token_file ? "" : s->token);
    return status;
}

/* Return true if systemd passes a socket, which is then ours. */
static bool server_passed(struct server *s)
{
    const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
    int domain = 0;
    socklen_t len = sizeof domain;
    if (!pid || !n || atol(pid) != getpid() || atoi(n) != 1 ||
        getsockopt(SERVER_FIRST_FD, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0)
        return false;
    s->fd = SERVER_FIRST_FD;
    s->is_unix = domain == AF_UNIX;
    fcntl(s->fd, F_SETFD, FD_CLOEXEC);
    fcntl(s->fd, F_SETFL, fcntl(s->fd, F_GETFL) | O_NONBLOCK);
    printf("jsprof serves the socket that systemd passes\n");
    return true;
}

static int server_token(struct server *s)
{
    uint64_t random[2];
    if (s->has_no_token || s->path)
        return CLI_OK;
    if (!s->token_file) {
        if (getrandom(random, sizeof random, 0) != sizeof random)
            return cli_fail(s->command, "no random numbers: %s", strerror(errno));
        snprintf(s->token, sizeof s->token, "%016llx%016llx", (unsigned long long)random[0],
                 (unsigned long long)random[1]);
        return CLI_OK;
    }
    FILE *f = fopen(s->token_file, "re");
    bool is_read = f && fgets(s->token, sizeof s->token, f);
    int err = errno;
    size_t n = strcspn(s->token, "\r\n");
    bool is_long = is_read && !s->token[n] && getc(f) != EOF;
    if (f)
        fclose(f);
    s->token[n] = 0;
    if (is_long)
        return cli_fail(s->token_file, "the token has more than %d bytes", SERVER_TOKEN - 1);
    if (!is_read && !f)
        return cli_fail(s->token_file, "%s", strerror(err));
    return strlen(s->token) < 8 ? cli_fail(s->token_file, "the token has less than 8 bytes")
                                : CLI_OK;
}

/* -- Requests -------------------------------------------------------------------------- */

static void server_close(struct server_peer *p)
{
    close(p->fd);
    p->fd = -1;
}

/* Send an answer of one line as far as the client takes it now: nobody may hold this process up, or
 * end it. */
static void server_refuse(const struct server_peer *p, int status, const char *text)
{
    char out[HTTP_HEAD + HTTP_WORD];
    size_t n = (size_t)http_head(out, &(struct http_answer){
        .status = status, .type = "text/plain; charset=utf-8", .n = strlen(text) + 1 });
    n += (size_t)snprintf(out + n, sizeof out - n, "%s\n", text);
    (void)!send(p->fd, out, n, MSG_NOSIGNAL | MSG_DONTWAIT); /* it is closed in any case */
}

/* Answer in a child, with the signals as they were. */
static void server_fork(struct server *s, struct server_peer *p, const struct http_request *r,
                        const sigset_t *signals)
{
    pid_t child = s->children < SERVER_CHILDREN ? fork() : -1;
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        if (signal(SIGHUP, SIG_DFL) == SIG_IGN) /* nohup */
            signal(SIGHUP, SIG_IGN);
        sigprocmask(SIG_SETMASK, signals, NULL);
        close(s->fd);
        for (int i = 0; i < SERVER_PEERS; i++)
            if (&s->peers[i] != p && s->peers[i].fd >= 0)
                close(s->peers[i].fd);
        answer_request(r, p->fd);
    }
    s->children += child > 0;
    if (child < 0)
        server_refuse(p, 503, "too many requests at a time");
}

/* Which status does a whole request have? */
static int server_may(const struct server *s, const struct http_request *r)
{
    if (!s->is_unix && !http_is_local(r, s->host))
        return 403;
    return *s->token && !http_is_token(r->token, s->token) ? 401 : 200;
}

static void server_receive(struct server *s, struct server_peer *p, const sigset_t *signals)
{
    struct http_request request;
    ssize_t got = recv(p->fd, p->bytes + p->n, sizeof p->bytes - p->n, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got > 0)
        p->n += (size_t)got;
    int status = got > 0 ? http_read(&request, p->bytes, p->n) : -1;
    if (status == 0)
        return;
    if (status == 200)
        status = server_may(s, &request);
    if (status == 200)
        server_fork(s, p, &request, signals);
    else if (status > 0)
        server_refuse(p, status, status == 401   ? "the token is missing, or another one"
                                 : status == 403 ? "by this name nobody may ask: see --host"
                                                 : http_reason(status));
    server_close(p);
}

static void server_accept(struct server *s)
{
    struct server_peer *p = s->peers;
    int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    for (int i = 1; i < SERVER_PEERS && p->fd >= 0; i++)
        if (s->peers[i].fd < 0 || s->peers[i].until < p->until)
            p = &s->peers[i];
    if (p->fd >= 0)
        server_close(p);
    p->fd = fd;
    p->n = 0;
    p->until = server_now_ms() + SERVER_PATIENCE_MS;
}

static void server_reap(struct server *s)
{
    while (s->children && waitpid(-1, NULL, WNOHANG) > 0)
        s->children--;
}

/* Handle what has happened since the last time; wait for it. */
static void server_turn(struct server *s, const sigset_t *signals)
{
    struct pollfd wait[SERVER_PEERS + 1];
    int64_t first = INT64_MAX, now = server_now_ms();
    for (int i = 0; i < SERVER_PEERS; i++) {
        wait[i] = (struct pollfd){ .fd = s->peers[i].fd, .events = POLLIN };
        if (s->peers[i].fd >= 0 && s->peers[i].until < first)
            first = s->peers[i].until;
    }
    wait[SERVER_PEERS] = (struct pollfd){ .fd = s->fd, .events = POLLIN };
    int64_t left = first < now ? 0 : first - now + 1;
    struct timespec t = { .tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000 };
    int n = ppoll(wait, SERVER_PEERS + 1, first == INT64_MAX ? NULL : &t, signals);
    server_reap(s);
    for (int i = 0; i < SERVER_PEERS; i++) {
        if (n > 0 && s->peers[i].fd >= 0 && wait[i].revents)
            server_receive(s, &s->peers[i], signals);
        if (s->peers[i].fd >= 0 && s->peers[i].until < server_now_ms())
            server_close(&s->peers[i]);
    }
    if (n > 0 && wait[SERVER_PEERS].revents)
        server_accept(s);
}

static void server_child(int signo)
{
    (void)signo; /* it ends a wait */
}

static void server_loop(struct server *s)
{
    struct sigaction action = { .sa_handler = server_child };
    sigset_t block, before;
    for (int i = 0; i < SERVER_PEERS; i++)
        s->peers[i].fd = -1;
    sigaction(SIGCHLD, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a limit of the size of files then gets an answer, in one line */
    remote_catch();
    sigemptyset(&block);
    sigaddset(&block, SIGCHLD);
    sigaddset(&block, SIGINT);
    sigaddset(&block, SIGTERM);
    sigaddset(&block, SIGHUP);
    sigprocmask(SIG_BLOCK, &block, &before);
    while (!remote_is_caught())
        server_turn(s, &before);
}

static int server_run(struct cli_arguments *a)
{
    static struct server s; /* the peers' requests */
    s = (struct server){ .command = a->command, .fd = -1 };
    const struct cli_option options[] = {
        { "listen", NULL, &s.listen, NULL },     { "unix", NULL, &s.path, NULL },
        { "token-file", NULL, &s.token_file, NULL },
        { "no-token", &s.has_no_token, NULL, NULL }, { "host", NULL, &s.host, NULL }, { 0 },
    };
    if (cli_options(a, options))
        return CLI_USAGE;
    if (a->n_files)
        return cli_usage(a->command, "\"%s\": it takes no file", a->files[0]);
    if (s.path && (s.listen || s.token_file))
        return cli_usage(a->command, "--unix has no address and no token");
    if (s.has_no_token && s.token_file)
        return cli_usage(a->command, "--token-file and --no-token exclude each other");
    s.listen = s.listen ? s.listen : "127.0.0.1:4680";
    int status = server_token(&s);
    if (status == CLI_OK && !server_passed(&s))
        status = s.path ? server_unix(&s) : server_tcp(&s);
    if (status == CLI_OK) {
        fflush(stdout);
        server_loop(&s);
    }
    if (s.fd >= 0)
        close(s.fd);
    if (s.path && status == CLI_OK)
        unlink(s.path);
    return status;
}

const struct cli_command cli_serve_fleet = {
    .name = "serve",
    .summary = "profiles of all processes that listen, over HTTP",
    .help = server_help,
    .run = server_run,
    .is_for_files = true,
};
