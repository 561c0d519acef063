/* paths_test.c - where a capture goes, and what is there already.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <fcntl.h>
#include <sys/stat.h>

static char directory[] = "/tmp/jsprof-paths-XXXXXX", path[128];

static off_t bytes_at(const char *file)
{
    struct stat st;
    return stat(file, &st) == 0 ? st.st_size : -1;
}

static void put_aside(void)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    static const char precious[100000];
    CHECK_EQ(write(fd, precious, sizeof precious), (ssize_t)sizeof precious);
    close(fd);
}

TEST(open_that_fails_leaves_the_old_capture_alone)
{
    jsprof_options options = { .size = sizeof options, .path = path, .flags = JSPROF_PERF_MAP };
    char map[64];
    jsprof *prof;
    snprintf(path, sizeof path, "%s/old.syscap", directory);
    snprintf(map, sizeof map, "/tmp/perf-%d.map", (int)getpid());
    put_aside();
    CHECK_EQ(symlink(path, map), 0);
    CHECK_EQ(jsprof_open(&prof, &options), -ELOOP);
    CHECK_EQ(bytes_at(path), 100000);
    unlink(map);
    options.flags = 0;
    if (CHECK_EQ(jsprof_open(&prof, &options), 0)) /* now the new one takes its place */
        CHECK_EQ(jsprof_close(prof), 0);
    CHECK(bytes_at(path) > 0 && bytes_at(path) < 100000);
    unlink(path);
}

TEST(jitdump_lies_beside_a_capture_in_a_directory_named_by_pid)
{
    jsprof_options options = { .size = sizeof options, .flags = JSPROF_JITDUMP };
    char inside[64], pattern[64], dump[128];
    jsprof *prof;
    snprintf(inside, sizeof inside, "%s/%%-%d", directory, (int)getpid());
    snprintf(pattern, sizeof pattern, "%s/%%%%-%%p/new.syscap", directory);
    snprintf(path, sizeof path, "%s/new.syscap", inside);
    snprintf(dump, sizeof dump, "%s/jit-%d.dump", inside, (int)getpid());
    options.path = pattern;
    CHECK_EQ(mkdir(inside, 0700), 0);
    if (CHECK_EQ(jsprof_open(&prof, &options), 0))
        CHECK_EQ(jsprof_close(prof), 0);
    CHECK(bytes_at(path) > 0);
    CHECK(bytes_at(dump) > 0);
    unlink(path);
    unlink(dump);
    rmdir(inside);
}

TEST(flag_that_this_version_does_not_know_is_refused)
{
    jsprof_options options = { .size = sizeof options, .path = "/dev/null", .flags = 1u << 30 };
    jsprof *prof;
    CHECK_EQ(jsprof_open(&prof, &options), -EINVAL);
}

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    RUN(open_that_fails_leaves_the_old_capture_alone);
    RUN(jitdump_lies_beside_a_capture_in_a_directory_named_by_pid);
    RUN(flag_that_this_version_does_not_know_is_refused);
    rmdir(directory);
    return DONE();
}
