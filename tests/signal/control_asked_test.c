/* control_asked_test.c - the control socket: recordings that ask for tasks, long turns and
 * allocations, half a request, and a host that has no descriptor left.
 *
 * SPDX-License-Identifier: MIT
 */
#include "control.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "analyze/tasks.h"
#include "sigsafe/room.h"

/* What a capture has of turns. */
struct asked {
    uint32_t n_turns, n_quick; /* those below the limit */
    uint64_t lost_quick;
};

/* Record until the worker has worked for a while in turns, and read the capture. */
static struct asked record_turns(const struct worker *w, const char *how)
{
    struct asked found = { 0 };
    struct jsp_tasks t;
    char answer[1024];
    struct host h = { .fd = memfd_create("capture", MFD_CLOEXEC) };
    int peer = record_begin(how, h.fd);
    worker_wait(w, 4 * (STALL_MS + STALL_EVERY));
    peer_send(peer, "jsprof 1 stop\n", -1);
    CHECK(peer_read(peer, answer, sizeof answer, NULL));
    CHECK(begins(answer, "done "));
    CHECK_EQ(number(answer, " expirations="),
             number(answer, " kept=") + number(answer, " lost=") + number(answer, " quick="));
    close(peer);
    if (host_load(&h)) {
        if (CHECK_EQ(jsp_tasks_read(&t, &h.profile), 0)) {
            found.n_turns = t.n_turns;
            for (uint32_t i = 0; i < t.n_turns; i++)
                found.n_quick += t.turns[i].duration <= STALL_MS / 2 * INT64_C(1000000);
            jsp_tasks_free(&t);
        }
        if (CHECK_EQ(h.profile.account.n_threads, 1))
            found.lost_quick = h.profile.account.threads[0].lost[JSP_LOST_QUICK];
        jsp_profile_free(&h.profile);
        jsp_read_close(&h.read);
    }
    close(h.fd);
    return found;
}

TEST(stall_mode_is_for_the_recording_that_asks_for_it)
{
    struct worker w;
    char how[64];
    if (!worker_begin(&w))
        return;
    atomic_store(&worker_has_turns, true);
    worker_wait(&w, 2 * STALL_MS);
    snprintf(how, sizeof how, "stall_us=%d", STALL_MS / 2 * 1000);
    for (int round = 0; round < 2; round++) {
        struct asked all = record_turns(&w, "tasks=1");
        CHECK(all.n_turns > STALL_EVERY);
        CHECK(all.n_quick > STALL_EVERY / 2);
        CHECK_EQ(all.lost_quick, 0);
        struct asked stalls = record_turns(&w, how);
        CHECK(stalls.n_turns > 0);
        CHECK_EQ(stalls.n_quick, 0);
        CHECK(stalls.lost_quick > 0);
    }
    atomic_store(&worker_has_turns, false);
    worker_end(&w);
}

TEST(host_that_reports_none_of_it_says_so)
{
    static const char no_turns[] =
        "error 61 the program has reported no tasks and no turns of a loop\n";
    struct worker w;
    int fd = memfd_create("capture", MFD_CLOEXEC);
    if (!worker_begin(&w))
        return;
    CHECK(begins(peer_ask("jsprof 1 record ms=100 stall_us=16000\n", fd), no_turns));
    CHECK(begins(peer_ask("jsprof 1 record ms=100 tasks=1\n", fd), no_turns));
    CHECK(begins(peer_ask("jsprof 1 record ms=100 alloc=1\n", fd),
                 "error 95 the process samples no allocations: "));
    CHECK(begins(peer_ask("jsprof 1 record stall_us=0\n", fd), "error 22 "));
    CHECK(begins(peer_ask("jsprof 1 record stall_us=3600000001\n", fd), "error 22 "));
    CHECK_EQ(lseek(fd, 0, SEEK_END), 0); /* a refusal writes nothing */
    record_once(&w, "looker=1");
    close(fd);
    worker_end(&w);
}

/* -- Calls --------------------------------------------------------------------------------- */

static uint32_t modes_of(jsprof *p)
{
    jsprof_calls calls = { .size = sizeof calls };
    CHECK_EQ(jsprof_calls_snapshot(p, &calls), 0);
    uint32_t modes = calls.modes;
    jsprof_calls_free(&calls);
    return modes;
}

TEST(calls_are_counted_on_request_as_far_as_the_host_allows_it)
{
    jsprof_options options = { .size = sizeof options, .flags = JSPROF_CONTROL };
    jsprof *p;
    if (!CHECK_EQ(jsprof_open(&p, &options), 0))
        return;
    CHECK_STR(peer_ask("jsprof 1 calls modes=3\n", -1), "ok\n"); /* unless it says otherwise */
    CHECK_EQ(modes_of(p), 3);
    CHECK_EQ(jsprof_calls_allow(p, 0), 0);
    CHECK(begins(peer_ask("jsprof 1 calls modes=3\n", -1), "error 95 it counts calls only "));
    CHECK_EQ(modes_of(p), 3); /* a refusal changes nothing */
    CHECK_STR(peer_ask("jsprof 1 calls modes=0\n", -1), "ok\n");
    CHECK_EQ(modes_of(p), 0);
    CHECK_EQ(jsprof_calls_allow(p, JSPROF_CALLS_COUNT | JSPROF_CALLS_EDGES), 0);
    CHECK_STR(peer_ask("jsprof 1 calls modes=3\n", -1), "ok\n");
    CHECK_EQ(modes_of(p), JSPROF_CALLS_COUNT);
    CHECK_EQ(jsprof_calls_set(p, JSPROF_CALLS_TIME), 0); /* the host itself may */
    CHECK_EQ(modes_of(p), JSPROF_CALLS_TIME);
    CHECK_EQ(jsprof_calls_allow(p, 16), -EINVAL);
    CHECK_EQ(jsprof_calls_allow(NULL, 0), -EINVAL);
    CHECK_EQ(jsprof_close(p), 0);
}

/* -- Peers and hosts without patience --------------------------------------------------- */

TEST(half_a_request_is_waited_for_and_then_no_more)
{
    jsprof_options options = { .size = sizeof options, .flags = JSPROF_CONTROL };
    char answer[64];
    jsprof *p;
    if (!CHECK_EQ(jsprof_open(&p, &options), 0))
        return;
    int peers[7]; /* one place stays */
    for (int i = 0; i < 7; i++) {
        peers[i] = peer_open();
        peer_send(peers[i], "jsprof 1 rec", -1);
    }
    CHECK(begins(peer_ask("jsprof 1 info\n", -1), "jsprof 1\n"));
    peer_send(peers[0], "ord alloc=7\n", -1); /* the other half */
    CHECK(peer_read(peers[0], answer, sizeof answer, NULL));
    CHECK(begins(answer, "error 22 "));
    for (int i = 1; i < 7; i++) {
        CHECK(peer_read(peers[i], answer, sizeof answer, NULL));
        CHECK_STR(answer, "");
    }
    for (int i = 0; i < 7; i++)
        close(peers[i]);
    CHECK_EQ(jsprof_close(p), 0);
}

/* Take all descriptors up to `limit`. Return how many. */
static int take_descriptors(int *to, int limit)
{
    int n = 0;
    while (n < limit && (to[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    return n;
}

/* Return how often the other threads of this process have gone to sleep: the listener. */
static long other_naps(void)
{
    struct rusage all, own;
    getrusage(RUSAGE_SELF, &all);
    getrusage(RUSAGE_THREAD, &own);
    return all.ru_nvcsw - own.ru_nvcsw;
}

TEST(host_without_descriptors_waits_without_spinning)
{
    enum { LIMIT = 64, NAPS = 5 };
    struct rlimit old, low;
    int go[2], taken[LIMIT];
    jsprof_options options = { .size = sizeof options, .flags = JSPROF_CONTROL };
    jsprof *p;
    char name[JSP_CONTROL_NAME];
    snprintf(name, sizeof name, "%d.sock", (int)getpid());
    CHECK_EQ(pipe(go), 0);
    fflush(stdout);
    pid_t child = fork(); /* before there is a socket to inherit */
    if (child == 0) {
        char answer[256], byte;
        alarm(60);
        int peer = read(go[0], &byte, 1) == 1 ? peer_open_name(name) : -1;
        peer_send(peer, "jsprof 1 info\n", -1);
        _exit(!peer_read(peer, answer, sizeof answer, NULL) || !begins(answer, "jsprof 1\n"));
    }
    if (!CHECK_EQ(jsprof_open(&p, &options), 0))
        return;
    getrlimit(RLIMIT_NOFILE, &old);
    low = (struct rlimit){ LIMIT, old.rlim_max };
    setrlimit(RLIMIT_NOFILE, &low);
    int n = take_descriptors(taken, LIMIT);
    CHECK_EQ(write(go[1], "x", 1), 1);
    for (long before = other_naps(); other_naps() < before + NAPS;) /* one that spins does not */
        poll(NULL, 0, 10);
    while (n > 0)
        close(taken[--n]);
    setrlimit(RLIMIT_NOFILE, &old);
    CHECK_EQ(host_child_status(child), 0);
    close(go[0]);
    close(go[1]);
    CHECK_EQ(jsprof_close(p), 0);
}

enum { HOSTS_FILES = 32, HOST_SECONDS = 60, ALL_FILES = 256 };

/* Close all, open files under the same numbers, and end the session. Return how many files were
 * touched. */
static int close_all_and_end(struct worker *w)
{
    struct stat st;
    int files[HOSTS_FILES], bad = 0;
    for (int fd = 3; fd < ALL_FILES; fd++)
        close(fd);
    for (int i = 0; i < HOSTS_FILES; i++)
        files[i] = memfd_create("the host's", MFD_CLOEXEC);
    worker_end(w);
    for (int i = 0; i < HOSTS_FILES; i++)
        bad += fstat(files[i], &st) < 0 || st.st_size != 0;
    return bad;
}

TEST(host_that_closes_all_descriptors_keeps_its_own)
{
    if (HOST_LATE) {
        SKIP("the thread sanitizer reports descriptors that another thread uses");
        return;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct worker w;
        alarm(HOST_SECONDS); /* it must not wait for ever */
        bool begun = worker_begin(&w);
        int peer = begun ? peer_open() : -1, bad = begun ? close_all_and_end(&w) : 1;
        (void)peer; /* closed with the others */
        _exit(bad ? 1 : 0);
    }
    CHECK_EQ(host_child_status(child), 0);
    char name[JSP_CONTROL_NAME];
    snprintf(name, sizeof name, "%d.sock", (int)child);
    int at = jsp_control_folder_open(folder);
    unlinkat(at, name, 0); /* the host could not remove it */
    close(at);
}

/* Run `host` in a child, which must end with status 0. The socket it leaves is removed. */
static void check_host(void (*host)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(HOST_SECONDS); /* it must not wait for ever */
        host();
        _exit(3);
    }
    CHECK_EQ(host_child_status(child), 0);
    char name[JSP_CONTROL_NAME];
    snprintf(name, sizeof name, "%d.sock", (int)child);
    int at = jsp_control_folder_open(folder);
    unlinkat(at, name, 0);
    close(at);
}

static void host_without_descriptors(void)
{
    struct rlimit none = { 3, 3 };
    struct worker w;
    char answer[1024];
    int fd = memfd_create("capture", MFD_CLOEXEC);
    if (!worker_begin(&w))
        _exit(1);
    int peer = record_begin("looker=1", fd);
    worker_wait(&w, 20);
    setrlimit(RLIMIT_NOFILE, &none);
    peer_send(peer, "jsprof 1 stop\n", -1);
    if (!peer_read(peer, answer, sizeof answer, NULL) || !begins(answer, "done "))
        _exit(2);
    worker_end(&w);
    _exit(test_bad != 0);
}

TEST(recording_that_ends_when_no_file_can_be_opened_leaves_a_session_that_can_be_closed)
{
    check_host(host_without_descriptors);
}

/* It sees no /dev/null from then on. */
static void host_that_changes_its_root(void)
{
    struct worker w;
    char answer[1024], root[JSP_CONTROL_PATH];
    int fd = memfd_create("capture", MFD_CLOEXEC);
    snprintf(root, sizeof root, "%s", folder);
    if (!worker_begin(&w))
        _exit(1);
    int peer = record_begin("looker=1", fd), other = peer_open();
    worker_wait(&w, 20);
    if (chroot(root) < 0 || chdir("/") < 0)
        _exit(2);
    peer_send(peer, "jsprof 1 stop\n", -1);
    if (!peer_read(peer, answer, sizeof answer, NULL) || !begins(answer, "done "))
        _exit(2);
    CHECK_EQ(jsprof_flush(w.prof), 0);
    peer_send(other, "jsprof 1 record ms=50\n", fd); /* and another one */
    if (!peer_read(other, answer, sizeof answer, NULL) || !begins(answer, "ok\n"))
        _exit(2);
    worker_end(&w);
    _exit(test_bad != 0);
}

TEST(host_that_calls_chroot_while_it_is_recorded_closes_without_an_error)
{
    if (geteuid() != 0)
        SKIP("only root may call chroot");
    else
        check_host(host_that_changes_its_root);
}

static void *record_without_main(void *worker)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    for (bool is_gone = false; !is_gone; poll(NULL, 0, 1)) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = read(fd, text, sizeof text - 1);
        close(fd);
        text[n > 0 ? n : 0] = 0;
        is_gone = strstr(text, ") Z ");
    }
    for (int round = 0; round < 2; round++)
        record_once(worker, round ? "looker=1 clock=wall" : "looker=1");
    worker_end(worker);
    fflush(stdout);
    _exit(test_bad != 0);
}

static void host_whose_main_thread_ends(void)
{
    static struct worker w; /* the thread uses it when this stack is gone */
    pthread_t thread;
    if (!worker_begin(&w) || pthread_create(&thread, NULL, record_without_main, &w))
        _exit(1);
    pthread_exit(NULL);
}

TEST(host_whose_main_thread_has_ended_is_recorded)
{
    check_host(host_whose_main_thread_ends);
}

static void cases(void)
{
    RUN_ALL();
}

int main(void)
{
    return control_in_folder(cases);
}
