/* control_test.c - src/control, src/session/retarget.c: recordings of a session by peers that
 * come, go, die and lie.
 *
 * SPDX-License-Identifier: MIT
 */
#include "control.h"

#include <dirent.h>
#include <fcntl.h>

/* -- Recordings -------------------------------------------------------------------- */

TEST(dormant_session_is_recorded_again_and_again)
{
    struct worker w;
    if (!worker_begin(&w))
        return;
    record_once(&w, "hz=1000 looker=1");
    record_once(&w, "hz=500");
    record_once(&w, "clock=wall looker=1");
    record_once(&w, "compact=1 looker=1");
    record_once(&w, "clock=wall");
    CHECK(jsprof_path(w.prof, NULL) == NULL);
    worker_end(&w);
    CHECK_EQ(peer_open(), -ENOENT); /* the socket goes with the last session */
}

TEST(info_names_process_and_session)
{
    struct worker w;
    char line[64];
    if (!worker_begin(&w))
        return;
    const char *answer = peer_ask("jsprof 1 info\n", -1);
    snprintf(line, sizeof line, "jsprof 1\npid %d\n", (int)getpid());
    CHECK(begins(answer, line));
    CHECK(strstr(answer, "state=ready threads=1 ") != NULL);
    CHECK(strstr(answer, " vm=a%20test ") != NULL);
    CHECK_EQ(jsprof_vm_set(w.prof, "another one, whose name is longer than that"), 0);
    CHECK(strstr(peer_ask("jsprof 1 info\n", -1),
                 " vm=another%20one,%20whose%20name%20is%20long ") != NULL);
    CHECK_EQ(jsprof_vm_set(w.prof, NULL), -EINVAL);
    CHECK_EQ(jsprof_stop(w.prof), 0);
    CHECK(strstr(peer_ask("jsprof 1 info\n", -1), "state=stopped") != NULL);
    CHECK(begins(peer_ask("jsprof 1 record\n", 1), "error "));
    worker_end(&w);
}

TEST(recorder_that_dies_ends_its_recording)
{
    struct worker w;
    int fd = memfd_create("capture", MFD_CLOEXEC);
    if (!worker_begin(&w))
        return;
    int first = record_begin("", fd);
    close(first);
    const char *info;
    do
        info = peer_ask("jsprof 1 info\n", -1);
    while (strstr(info, "state=recording"));
    CHECK(strstr(info, "state=ready") != NULL);
    record_once(&w, "");
    close(fd);
    worker_end(&w);
}

TEST(host_that_closes_completes_the_capture)
{
    struct worker w;
    char answer[1024];
    int fd = memfd_create("capture", MFD_CLOEXEC);
    if (!worker_begin(&w))
        return;
    int first = record_begin("looker=1", fd);
    worker_wait(&w, WORK_MS);
    worker_end(&w);
    CHECK(peer_read(first, answer, sizeof answer, NULL));
    CHECK(begins(answer, "done "));
    check_capture(fd, answer);
    close(first);
    close(fd);
}

TEST(once_ends_when_each_thread_has_a_sample)
{
    struct worker w;
    int fd = memfd_create("capture", MFD_CLOEXEC);
    if (!worker_begin(&w))
        return;
    const char *answer = peer_ask("jsprof 1 record ms=20000 once=1 clock=wall looker=1\n", fd);
    CHECK(begins(answer, "ok\ndone "));
    CHECK(number(answer, " samples=") > 0);
    CHECK(number(answer, " expirations=") < 10000);
    close(fd);
    worker_end(&w);
}

/* -- What can not be -------------------------------------------------------------- */

TEST(full_disk_and_wrong_descriptors_are_reported_and_harm_nobody)
{
    struct worker w;
    if (!worker_begin(&w))
        return;
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC), null = open("/dev/null", O_RDONLY);
    CHECK(begins(peer_ask("jsprof 1 record ms=100\n", full), "ok\nerror 28 "));
    CHECK(begins(peer_ask("jsprof 1 record ms=100\n", null), "error 9 "));
    CHECK(begins(peer_ask("jsprof 1 record ms=100\n", -1), "error 9 "));
    CHECK(begins(peer_ask("jsprof 1 record session=99\n", 1), "error 2 "));
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    close(ends[0]);
    CHECK(begins(peer_ask("jsprof 1 record ms=100\n", ends[1]), "ok\nerror 32 "));
    close(ends[1]);
    record_once(&w, "looker=1");
    close(full);
    close(null);
    worker_end(&w);
}

static uint32_t descriptors(void)
{
    uint32_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

TEST(hostile_peers_are_refused_and_others_served)
{
    static const char *const lines[] = {
        "\n", "jsprof\n", "jsprof 2 info\n", "jsprof 1\n", "jsprof 1 destroy\n",
        "jsprof 1 record hz=0\n", "jsprof 1 record hz=99999\n", "jsprof 1 record ms=-1\n",
        "jsprof 1 record ms=99999999999\n", "jsprof 1 record clock=sundial\n",
        "jsprof 1 calls modes=16\n", "jsprof 1 record looker=2\n", "GET / HTTP/1.1\n",
    };
    struct worker w;
    char big[2048];
    int silent[4];
    if (!worker_begin(&w))
        return;
    uint32_t before = descriptors();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!CHECK(begins(peer_ask(lines[i], 1), "error ")))
            printf("# to %s", lines[i]);
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    CHECK_STR(peer_ask(big, -1), ""); /* no line ends in so many bytes */
    for (int i = 0; i < 4; i++) {
        silent[i] = peer_open();
        peer_send(silent[i], "jsprof 1 rec", 1);
    }
    CHECK(begins(peer_ask("jsprof 1 info\n", -1), "jsprof 1\n"));
    for (int i = 0; i < 4; i++)
        close(silent[i]);
    for (int i = 0; i < 40; i++) { /* more than it takes at once */
        int peer = peer_open();
        if (peer >= 0)
            close(peer);
    }
    for (int i = 0; i < 200 && descriptors() > before; i++)
        CHECK(strlen(peer_ask("jsprof 1 info\n", -1)) < 4096);
    CHECK(descriptors() <= before);
    record_once(&w, "looker=1");
    worker_end(&w);
}

/* -- Sessions ---------------------------------------------------------------------- */

TEST(session_with_a_file_says_no_and_where_the_file_is)
{
    char path[] = "/tmp/control_test.XXXXXX", want[128];
    int file = mkstemp(path);
    jsprof *p;
    jsprof_options options = { .size = sizeof options, .path = path, .flags = JSPROF_CONTROL };
    if (!CHECK_EQ(jsprof_open(&p, &options), 0))
        return;
    CHECK_EQ(jsprof_start(p), 0);
    snprintf(want, sizeof want, "error 16 the process records itself into %s\n", path);
    CHECK(begins(peer_ask("jsprof 1 record\n", file), want));
    CHECK(strstr(peer_ask("jsprof 1 info\n", -1), "state=file") != NULL);
    CHECK_EQ(jsprof_close(p), 0);
    unlink(path);
    close(file);
}

static void *open_and_close(void *unused)
{
    jsprof_options options = { .size = sizeof options, .flags = JSPROF_CONTROL };
    (void)unused;
    for (int i = 0; i < 200; i++) {
        jsprof *p;
        if (jsprof_open(&p, &options) < 0)
            return (void *)1;
        jsprof_close(p);
    }
    return NULL;
}

TEST(sessions_join_and_leave_at_once)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, open_and_close, NULL);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        CHECK(failed == NULL);
    }
    CHECK_EQ(peer_open(), -ENOENT);
}

TEST(marks_and_counters_begin_anew_in_each_file)
{
    struct worker w;
    if (!worker_begin(&w))
        return;
    int counter = jsprof_counter(w.prof, "group", "queue", "jobs", JSPROF_COUNTER_WHOLE);
    CHECK(counter > 0);
    for (int i = 0; i < 20000; i++) /* more than the queue holds: nobody wants them */
        if (!CHECK_EQ(jsprof_mark(w.prof, 0, "group", "early", "not recorded"), 0))
            break;
    CHECK_EQ(jsprof_counter_set(w.prof, counter, 42), 0);
    for (int round = 0; round < 2; round++) {
        int fd = memfd_create("capture", MFD_CLOEXEC);
        int first = record_begin("looker=1", fd);
        CHECK_EQ(jsprof_mark(w.prof, 0, "group", "now", ""), 0);
        worker_wait(&w, WORK_MS);
        record_end(first, fd);
        struct host h = { .fd = fd };
        if (host_load(&h)) {
            struct jsp_read_cursor walk;
            struct jsp_read_frame f;
            uint32_t marks = 0, values = 0, definitions = 0;
            jsp_read_start(&walk, &h.read, NULL);
            while (jsp_read_next(&walk, &f)) {
                marks += f.type == JSP_WIRE_MARK;
                values += f.type == JSP_WIRE_CTRSET;
                definitions += f.type == JSP_WIRE_CTRDEF;
            }
            CHECK_EQ(marks, 1);
            CHECK_EQ(values, 1);
            CHECK_EQ(definitions, 1);
            jsp_profile_free(&h.profile);
            jsp_read_close(&h.read);
        }
        close(fd);
    }
    worker_end(&w);
}

static void cases(void)
{
    RUN_ALL();
}

int main(void)
{
    return control_in_folder(cases);
}
