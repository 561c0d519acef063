/* pipes_test.c - captures onto blocking pipes, sockets and terminals that nobody reads: stop and
 * close come back when the header says, and the host's descriptor stays as it was.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>

enum { ENOUGH_S = 240 }; /* a call that takes longer never returns */

/* Both ends of something; in blocking mode. Not 0: it can not be had here. */
typedef int (*make_fn)(int ends[2]);

static int make_pipe(int ends[2])
{
    return pipe2(ends, O_CLOEXEC);
}

static int make_socket(int ends[2])
{
    int room = 1 << 16; /* some machines give megabytes */
    int err = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
    return err ? err : setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
}

static int make_terminal(int ends[2])
{
    struct termios raw;
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[0] < 0 || grantpt(ends[0]) < 0 || unlockpt(ends[0]) < 0)
        return -1;
    ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[1] < 0 || tcgetattr(ends[1], &raw) < 0)
        return -1;
    cfmakeraw(&raw);
    return tcsetattr(ends[1], TCSANOW, &raw);
}

/* One that can not be opened anew: by its mode, for somebody without privileges. */
static int make_closed_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) < 0 || fchmod(ends[1], 0) < 0)
        return -1;
    return geteuid() == 0 ? seteuid(65534) : 0;
}

static jsprof *open_deep(int fd, jsprof_thread **me)
{
    jsprof_options options = host_options(10000, JSPROF_CLOCK_WALL);
    jsprof *prof = NULL;
    options.flags |= JSPROF_USE_FD;
    options.fd = fd;
    if (jsprof_open(&prof, &options) != 0 || jsprof_thread_attach(prof, "main", me) != 0)
        return NULL;
    for (int i = 0; i < 400; i++)
        jsprof_push(*me, "deep", NULL, 0);
    return jsprof_start(prof) == 0 ? prof : NULL;
}

/* More than the system keeps for the reader. Always other names, for compact samples. */
static void fill(jsprof *prof, jsprof_thread *me)
{
    static char names[4000][64];
    jsprof_stats stats = { .size = sizeof stats };
    for (int i = 0; i < 4000 && stats.lost_write == 0; i++) {
        snprintf(names[i], sizeof names[i], "a function with a long name, number %d", i);
        jsprof_push(me, names[i], NULL, 0);
        host_burn_ms(1);
        jsprof_pop(me);
        jsprof_stats_get(prof, &stats);
        if (i > 300 && jsprof_flush(prof) == -EAGAIN)
            break;
    }
}

static int stop_and_close(make_fn make)
{
    jsprof_thread *me;
    int ends[2];
    alarm(ENOUGH_S);
    if (make(ends) != 0)
        return 77;
    int flags = fcntl(ends[1], F_GETFL);
    jsprof *prof = open_deep(ends[1], &me);
    if (!prof)
        return 1;
    fill(prof, me);
    if (jsprof_stop(prof) != -EAGAIN)
        return 2;
    if (jsprof_close(prof) != -EAGAIN)
        return 3;
    return fcntl(ends[1], F_GETFL) == flags ? 0 : 4;
}

static const make_fn makes[] = { make_pipe, make_closed_pipe, make_socket, make_terminal };
enum { MAKES = sizeof makes / sizeof *makes };
static pid_t children[MAKES];

/* All at once: what they do is to wait. */
static void begin_all(void)
{
    fflush(stdout);
    for (int i = 0; i < MAKES; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(stop_and_close(makes[i]));
    }
}

static void comes_back(int which)
{
    int status = 0;
    if (!CHECK_EQ(waitpid(children[which], &status, 0), children[which]))
        return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        SKIP("can not be had here");
    else
        CHECK_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), 0);
}

TEST_OF(stop_comes_back_from_a_blocking_pipe_that_nobody_reads, comes_back(0))
TEST_OF(stop_comes_back_from_a_pipe_that_can_not_be_opened_anew, comes_back(1))
TEST_OF(stop_comes_back_from_a_socket_whose_peer_does_not_read, comes_back(2))
TEST_OF(stop_comes_back_from_a_terminal_that_shows_nothing, comes_back(3))

int main(void)
{
    begin_all();
    RUN_ALL();
    return DONE();
}
