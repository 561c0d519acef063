/* replaced_test.c - captures that another program cuts, removes, moves or writes to while
 * they are written: stop and close say so, and nothing is put after a hole.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <fcntl.h>
#include <sys/stat.h>

static struct host h;
static jsprof_thread *me;

static char directory[] = "/tmp/jsprof-replaced-XXXXXX", path[128], other[128];

static off_t bytes_at(const char *file)
{
    struct stat st;
    return stat(file, &st) == 0 ? st.st_size : -1;
}

/* A session on `path`, or on `fd`, of which something is in the file. */
static bool begin(int fd)
{
    jsprof_options options = host_options(1000, JSPROF_CLOCK_WALL);
    h = (struct host){ .fd = fd };
    options.path = path;
    options.fd = fd;
    options.flags |= fd < 0 ? 0 : (uint32_t)JSPROF_USE_FD;
    if (!CHECK_EQ(jsprof_open(&h.prof, &options), 0) ||
        !CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0) ||
        !CHECK_EQ(jsprof_start(h.prof), 0))
        return false;
    host_sampled(&h, 10);
    return CHECK_EQ(jsprof_flush(h.prof), 0) && CHECK(bytes_at(path) > 1000);
}

/* The recording ends: flush, stop and close return -ESTALE, and later samples are lost. */
static void check_ends(void)
{
    CHECK_EQ(jsprof_flush(h.prof), -ESTALE);
    do {
        host_burn_ms(1);
        host_stats(&h);
    } while (!h.stats.lost_write);
    CHECK_EQ(jsprof_stop(h.prof), -ESTALE);
    host_stats(&h);
    CHECK_EQ(h.stats.write_error, -ESTALE);
    CHECK_EQ(jsprof_close(h.prof), -ESTALE);
}

/* The recording ends with -ESTALE, and the file keeps its size. Remove it. */
static void check_stays(int fd)
{
    off_t before = bytes_at(path);
    check_ends();
    CHECK_EQ(bytes_at(path), before);
    close(fd);
    unlink(path);
}

/* As logrotate's copytruncate does, or `: >file`. */
TEST(capture_that_is_cut_gets_no_hole_and_close_says_so)
{
    if (!begin(-1))
        return;
    CHECK_EQ(truncate(path, 0), 0);
    check_ends();
    CHECK_EQ(bytes_at(path), 0);
    unlink(path);
}

TEST(capture_that_is_cut_in_append_mode_is_noticed)
{
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    CHECK_EQ(write(fd, "a log", 5), 5);
    if (!begin(fd))
        return;
    CHECK_EQ(truncate(path, 0), 0);
    check_ends();
    CHECK_EQ(bytes_at(path), 0);
    close(fd);
    unlink(path);
}

TEST(log_that_two_append_to_is_told_as_one_that_is_no_capture)
{
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (!begin(fd))
        return;
    CHECK_EQ(write(fd, "a line\n", 7), 7);
    check_stays(fd);
}

TEST(host_that_moves_the_place_of_its_descriptor_is_told)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (!begin(fd))
        return;
    CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
    check_stays(fd);
}

TEST(capture_that_is_removed_or_replaced_is_told)
{
    if (!begin(-1))
        return;
    int fd = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK_EQ(write(fd, "another", 7), 7);
    close(fd);
    CHECK_EQ(rename(other, path), 0);
    check_ends();
    CHECK_EQ(bytes_at(path), 7);
    unlink(path);
}

TEST(capture_that_is_moved_is_whole_under_its_new_name)
{
    if (!begin(-1))
        return;
    CHECK_EQ(rename(path, other), 0);
    h.fd = open(other, O_RDONLY | O_CLOEXEC);
    host_sampled(&h, 10);
    host_finish(&h);
    unlink(other);
}

/* A host that gives a file without a name, or takes the name away, knows what it does. */
TEST(file_of_the_hosts_may_lose_its_name)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (!begin(fd))
        return;
    unlink(path);
    host_sampled(&h, 10);
    host_finish(&h);
}

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    snprintf(path, sizeof path, "%s/x.cap", directory);
    snprintf(other, sizeof other, "%s/other.cap", directory);
    RUN_ALL();
    rmdir(directory);
    return DONE();
}
