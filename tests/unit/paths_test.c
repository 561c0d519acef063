/* paths_test.c - the path of a capture, and files that are there already.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/host.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

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

/* Opens a path of n bytes that begins and ends so. */
static void refuse_long(size_t n, const char *begin, const char *end)
{
    static char text[2 * PATH_MAX];
    jsprof_options options = { .size = sizeof options, .path = text };
    char why[256];
    jsprof *prof;
    memset(text, 'n', n);
    memcpy(text, begin, strlen(begin));
    strcpy(text + n - strlen(end), end);
    int err = jsprof_open(&prof, &options);
    CHECK_EQ(err, -ENAMETOOLONG);
    CHECK_STR(jsprof_error_text(err, why, sizeof why), jsprof_strerror(err));
}

TEST(path_that_is_too_long_is_refused_in_one_sentence)
{
    refuse_long(PATH_MAX + 100, "/tmp/", "");
    refuse_long(PATH_MAX + 100, "", "");
    refuse_long(PATH_MAX - 10, "/tmp/", "%p");
    refuse_long(PATH_MAX - 10, "", "%p");
    refuse_long(PATH_MAX - 1, "", "%p");
}

TEST(second_recording_of_a_program_writes_over_its_first)
{
    jsprof_options options = { .size = sizeof options, .path = path };
    bool is_other = true;
    jsprof *prof;
    snprintf(path, sizeof path, "%s/again.syscap", directory);
    for (int i = 0; i < 2; i++) {
        if (!CHECK_EQ(jsprof_open(&prof, &options), 0))
            return;
        CHECK_STR(jsprof_path(prof, &is_other), path);
        CHECK(!is_other);
        CHECK_EQ(jsprof_close(prof), 0);
    }
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

/* What open answers with `there` made under the name `name`. */
static int open_over(const char *name, int (*plant)(const char *name), uint32_t flags)
{
    jsprof_options options = { .size = sizeof options, .flags = flags,
                               .path = flags ? "/dev/null" : NULL };
    jsprof *prof;
    alarm(240); /* a pipe that nobody reads must not be waited for */
    if (!CHECK_EQ(plant(name), 0))
        return 0;
    int err = jsprof_open(&prof, &options);
    if (!err) {
        jsprof_code code = { .size = sizeof code, .start = &prof, .length = 1, .name = "code" };
        for (int i = 0; i < 5000; i++) /* more than a pipe takes */
            jsprof_code_add(prof, &code);
        jsprof_close(prof);
    }
    unlink(name);
    alarm(0);
    return err;
}

static int plant_pipe(const char *name)
{
    return mkfifo(name, 0666);
}

static int plant_read_pipe(const char *name)
{
    static int reader;
    close(reader ? reader : -1);
    if (mkfifo(name, 0666) < 0)
        return -1;
    reader = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return reader < 0 ? -1 : 0;
}

static int plant_link(const char *name)
{
    return symlink(path, name);
}

static int plant_second_name(const char *name)
{
    return link(path, name);
}

static int plant_others(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    int err = fd < 0 || fchmod(fd, 0666) < 0 || fchown(fd, 65534, 65534) < 0 ? -1 : 0;
    close(fd);
    return err;
}

static void refuse_all(const char *name, uint32_t flags)
{
    put_aside();
    CHECK_EQ(open_over(name, plant_pipe, flags), -EEXIST);
    CHECK_EQ(open_over(name, plant_read_pipe, flags), -EEXIST);
    CHECK_EQ(open_over(name, plant_link, flags), -ELOOP);
    CHECK_EQ(open_over(name, plant_second_name, flags), -EEXIST);
    /* The root of a user namespace may have nobody to give a file to. */
    bool may_give = geteuid() == 0 && chown(path, 65534, 65534) == 0;
    int err = may_give ? open_over(name, plant_others, flags) : -EEXIST;
    CHECK(err == -EEXIST || err == -EACCES); /* with fs.protected_regular the kernel says so */
    CHECK_EQ(bytes_at(path), 100000);
    unlink(path);
}

/* Again and again, where memory is short. */
static int open_what_can_not_be_emptied(void)
{
    enum { TIMES = 600, BYTES = 1 << 30 };
    struct rlimit limit = { BYTES, BYTES };
    jsprof_options options = { .size = sizeof options, .path = path };
    jsprof *prof;
    int fd = memfd_create("sealed", MFD_ALLOW_SEALING);
    if (write(fd, "precious", 8) != 8 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
        return 77;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!HOST_SANITIZED)
        setrlimit(RLIMIT_AS, &limit);
    for (int i = 0; i < TIMES; i++)
        if (jsprof_open(&prof, &options) != -EPERM)
            return 1;
    return bytes_at(path) == 8 && fcntl(fd, F_GETFD) >= 0 ? 0 : 2;
}

TEST(file_that_can_not_be_emptied_is_refused_and_nothing_is_kept_of_it)
{
    pid_t child = fork();
    if (child == 0)
        _exit(open_what_can_not_be_emptied());
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        SKIP("needs a kernel with sealed files");
    else
        CHECK_EQ(status, 0);
}

TEST(what_others_planted_under_the_default_path_is_not_written_to)
{
    char name[64];
    if (!CHECK_EQ(chmod(directory, 01777), 0) || !CHECK_EQ(chdir(directory), 0))
        return;
    snprintf(path, sizeof path, "%s/precious", directory);
    snprintf(name, sizeof name, "jsprof-%d.syscap", (int)getpid());
    refuse_all(name, 0);
    CHECK_EQ(chdir("/"), 0);
}

TEST(pipe_or_file_planted_as_perf_map_is_refused_and_nobody_waits_for_it)
{
    char name[64];
    snprintf(path, sizeof path, "%s/precious", directory);
    snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
    refuse_all(name, JSPROF_PERF_MAP);
}

TEST(second_session_does_not_cut_the_perf_map_of_the_first)
{
    jsprof_options options = { .size = sizeof options, .path = "/dev/null",
                               .flags = JSPROF_PERF_MAP };
    jsprof_code code = { .size = sizeof code, .start = &options, .length = 1, .name = "code" };
    char name[64];
    jsprof *first, *second;
    snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
    if (!CHECK_EQ(jsprof_open(&first, &options), 0))
        return;
    CHECK_EQ(jsprof_code_add(first, &code), 0);
    off_t before = bytes_at(name);
    CHECK(before > 0);
    CHECK_EQ(jsprof_open(&second, &options), -ETXTBSY);
    CHECK_EQ(bytes_at(name), before);
    CHECK_EQ(jsprof_close(first), 0);
    if (CHECK_EQ(jsprof_open(&second, &options), 0)) /* it is free again */
        CHECK_EQ(jsprof_close(second), 0);
    unlink(name);
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
    RUN_ALL();
    rmdir(directory);
    return DONE();
}
