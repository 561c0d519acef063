/* unit/keep_test.c - src/session/keep.c: the names of a continuous recording's files, and which of
 * them are removed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

enum { FILES = JSP_KEEP_FILES + 3, LOCKED = 2, LARGE = 10 };

static char base[] = "/tmp/keep_test.XXXXXX";
static struct jsp_keep k;

static const char *name_of(uint32_t number)
{
    static char name[JSP_KEEP_NAME];
    snprintf(name, sizeof name, "a_b.c-%d-%llu-%06u.cap", (int)getpid(),
             (unsigned long long)k.begin_s, number);
    return name;
}

static bool is_there(const char *name)
{
    return access(name, F_OK) == 0;
}

/* Make a file of this size, last written so many seconds after 1970. */
static void make_file(const char *name, off_t bytes, time_t written)
{
    const struct timespec times[] = { { written, 0 }, { written, 0 } };
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    CHECK(ftruncate(fd, bytes) == 0 && futimens(fd, times) == 0);
    close(fd);
}

TEST(files_have_numbers_and_the_oldest_and_the_sum_go)
{
    static const char *const stay[] = { "b-1-5-000001.cap", "a_b.c-1-5-1.ca", "a_b.c-1-5.cap",
                                        "a_b.c-1-5-x.cap", "a_b.c-1-5-000002.cap" };
    const struct jsp_keep_ask ask = { "in", base, 60, 3600, 1 };
    int locked = -1;
    program_invocation_short_name = (char *)(uintptr_t)"a-b.c";
    CHECK(jsp_keep_init(&k, &ask) == 0 && chdir(k.folder) == 0);
    CHECK(k.file_ns == 150000000000 && k.segment_ns == 60000000000 && k.file_bytes == 1 << 17);
    for (uint32_t i = 1; i <= FILES; i++) {
        int fd = jsp_keep_next(&k);
        CHECK(fd >= 0 && k.number == i && is_there(name_of(i)));
        if (i == LOCKED)
            locked = fd;
        else
            close(fd);
    }
    struct jsp_keep again = k, other = k; /* in a container another process has the same pid */
    again.number = FILES - 2;
    close(jsp_keep_next(&again));
    CHECK(again.number == FILES + 1 && again.begin_s == k.begin_s && is_there(name_of(FILES + 1)));
    other.number = 0;
    close(jsp_keep_next(&other));
    CHECK(other.number == 1 && other.begin_s == k.begin_s + 1);
    for (size_t i = 0; i < 5; i++)
        make_file(stay[i], 1, i < 4 ? 1 : 4102444800);
    make_file("a_b.c-1-5-000001.cap", 1, 1);
    jsp_keep_clean(&k);
    for (size_t i = 0; i < 5; i++)
        CHECK(is_there(stay[i]));
    CHECK(!is_there("a_b.c-1-5-000001.cap"));
    for (uint32_t i = 1; i <= FILES; i++)
        CHECK_EQ(is_there(name_of(i)), i != FILES - JSP_KEEP_FILES - 2);
    close(locked);
    jsp_keep_clean(&k);
    CHECK(!is_there(name_of(LOCKED)));
    make_file(name_of(LARGE), 1 << 20, 4102444800);
    jsp_keep_clean(&k);
    for (uint32_t i = 1; i <= FILES; i++)
        CHECK_EQ(is_there(name_of(i)), i > LARGE);
    CHECK(is_there(stay[4]));
}

TEST(folder_that_is_a_file_or_too_long_is_refused)
{
    char longest[PATH_MAX];
    struct jsp_keep_ask ask = { "b-1-5-000001.cap", NULL, 60, 3600, 1 };
    struct jsp_keep none;
    CHECK_EQ(jsp_keep_init(&none, &ask), -ENOTDIR);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    ask.folder = program_invocation_short_name = longest;
    CHECK_EQ(jsp_keep_init(&none, &ask), -ENAMETOOLONG);
    CHECK_EQ(strlen(none.program), JSP_KEEP_PROGRAM - 1);
}

int main(void)
{
    if (!mkdtemp(base))
        return 1;
    RUN_ALL();
    return system("cd .. && rm -r \"$PWD\"") || DONE();
}
