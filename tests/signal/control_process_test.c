/* control_process_test.c - the control socket of hosts that fork and execute, and its files.
 *
 * SPDX-License-Identifier: MIT
 */
#include "control.h"

#include <fcntl.h>
#include <sys/stat.h>

/* -- Processes and files --------------------------------------------------------- */

static int child_looks(void)
{
    struct stat st;
    struct worker w;
    uint32_t sockets = 0;
    for (int fd = 3; fd < 1000; fd++)
        sockets += fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
    if (sockets)
        return 1;
    if (peer_open() != -ENOENT) /* nobody listens by its number */
        return 2;
    if (HOST_LATE) /* the thread sanitizer allows no threads here */
        return 0;
    if (!worker_begin(&w)) /* it may begin a session of its own */
        return 3;
    if (!begins(peer_ask("jsprof 1 info\n", -1), "jsprof 1\n"))
        return 4;
    worker_end(&w);
    return 0;
}

TEST(child_of_a_fork_has_no_listener)
{
    struct worker w;
    int fd = memfd_create("capture", MFD_CLOEXEC);
    if (!worker_begin(&w))
        return;
    int first = record_begin("looker=1", fd);
    int peer = peer_open(); /* the client's own, which the child has as well */
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        close(first);
        close(peer);
        _exit(child_looks());
    }
    CHECK_EQ(host_child_status(child), 0);
    close(peer);
    worker_wait(&w, WORK_MS);
    record_end(first, fd);
    close(fd);
    worker_end(&w);
}

enum { RACE_FORKS = 300 };

/* Each fork meets a connection that is just being accepted. */
TEST(child_has_no_connection_that_came_beside_the_fork)
{
    struct worker w;
    uint32_t kept = 0;
    if (!worker_begin(&w))
        return;
    fflush(stdout);
    for (int i = 0; i < RACE_FORKS; i++) {
        int peer = peer_open();
        for (volatile int spin = 0; spin < i * 100; spin = spin + 1)
            continue;
        pid_t child = fork();
        if (child == 0) {
            struct stat st;
            close(peer);
            for (int fd = 3; fd < 64; fd++)
                if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
                    _exit(1);
            _exit(0);
        }
        kept += host_child_status(child) != 0;
        close(peer);
    }
    CHECK_EQ(kept, 0);
    worker_end(&w);
}

/* Send a request with a file, and fork a moment later. Return true if the child has the file
 * besides the client's own descriptor of it. */
static bool child_has_file(const char *request, uint32_t turns)
{
    struct stat mine, st;
    char answer[1024];
    int file = memfd_create("capture", MFD_CLOEXEC), peer = peer_open();
    CHECK_EQ(fstat(file, &mine), 0);
    peer_send(peer, request, file);
    for (volatile uint32_t spin = 0; spin < turns; spin = spin + 1)
        continue;
    pid_t child = fork();
    if (child == 0) {
        close(peer);
        close(file);
        for (int fd = 3; fd < 64; fd++)
            if (fstat(fd, &st) == 0 && st.st_dev == mine.st_dev && st.st_ino == mine.st_ino)
                _exit(1);
        _exit(0);
    }
    bool has = host_child_status(child) != 0;
    CHECK(peer_read(peer, answer, sizeof answer, "\n")); /* so the recording has begun or not */
    peer_send(peer, "jsprof 1 stop\n", -1);
    CHECK(peer_read(peer, answer, sizeof answer, NULL));
    close(peer);
    close(file);
    return has;
}

TEST(child_has_no_file_that_came_beside_the_fork)
{
    struct worker w;
    uint32_t came = 0, recorded = 0;
    if (!worker_begin(&w))
        return;
    fflush(stdout);
    for (uint32_t i = 0; i < RACE_FORKS; i++) {
        came += child_has_file("jsprof 1 record session=99\n", i * 50);
        recorded += child_has_file("jsprof 1 record ms=0\n", i * 200);
    }
    printf("# in %u of %d and in %u of %d\n", (unsigned)came, RACE_FORKS, (unsigned)recorded,
           RACE_FORKS);
    CHECK_EQ(came, 0);
    CHECK_EQ(recorded, 0);
    worker_end(&w);
}

TEST(executed_program_gets_no_descriptor)
{
    struct stat st;
    struct worker w;
    if (!worker_begin(&w))
        return;
    uint32_t sockets = 0;
    for (int fd = 3; fd < 1000; fd++)
        if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode)) {
            sockets++;
            CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        }
    CHECK(sockets > 0);
    worker_end(&w);
}

TEST(stale_socket_of_an_earlier_process_is_replaced)
{
    char name[JSP_CONTROL_NAME];
    struct jsp_control_place stale;
    struct worker w;
    mkdir(folder, 0700);
    CHECK_EQ(jsp_control_listen(&stale, getenv("XDG_RUNTIME_DIR")), 0);
    strcpy(name, stale.name);
    jsp_control_leave_place(&stale); /* its file stays, as after a kill */
    CHECK_EQ(peer_open(), -ECONNREFUSED);
    if (!worker_begin(&w))
        return;
    CHECK(begins(peer_ask("jsprof 1 info\n", -1), "jsprof 1\n"));
    worker_end(&w);
}

TEST(socket_of_another_process_of_this_number_stays)
{
    struct jsp_control_place other;
    struct worker w;
    CHECK_EQ(jsp_control_listen(&other, getenv("XDG_RUNTIME_DIR")), 0);
    if (!worker_begin(&w))
        return;
    char name[JSP_CONTROL_NAME];
    snprintf(name, sizeof name, "%d.2.sock", (int)getpid());
    int fd = peer_open_name(name);
    CHECK(fd >= 0);
    close(fd);
    worker_end(&w);
    CHECK_EQ(peer_open_name(name), -ENOENT);
    jsp_control_unlisten(&other);
}

TEST(folder_that_others_may_enter_is_not_used)
{
    struct stat st;
    mkdir(folder, 0700);
    CHECK_EQ(chmod(folder, 0750), 0);
    CHECK_EQ(jsp_control_folder_open(folder), -EPERM);
    CHECK_EQ(chmod(folder, 0700), 0);
    int fd = jsp_control_folder_open(folder);
    CHECK(fd >= 0);
    struct jsp_control_place place;
    CHECK_EQ(jsp_control_listen(&place, getenv("XDG_RUNTIME_DIR")), 0);
    CHECK_EQ(fstatat(fd, place.name, &st, 0), 0);
    CHECK_EQ(st.st_mode & 07777, 0600);
    jsp_control_unlisten(&place);
    close(fd);
}

static void cases(void)
{
    RUN_ALL();
}

int main(void)
{
    return control_in_folder(cases);
}
