/* unit/file_test.c - src/session/file.c: the name that a capture gets where its own is in use.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session/file.h"

#include <stdlib.h>
#include <unistd.h>

#include "test.h"

static char folder[] = "/tmp/jsprof_file.XXXXXX", path[sizeof folder + 32];

static int open_again(struct jsp_file *f)
{
    struct jsp_file_ask ask = { .pattern = path };
    return jsp_file_open(f, &ask);
}

/* A child that executes another program leaves an empty file, with a name of its own. */
TEST(empty_file_beside_a_capture_is_taken_and_one_with_content_is_not)
{
    static struct jsp_file first, other, same, last;
    char beside[sizeof path + 32];
    snprintf(path, sizeof path, "%s/a.syscap", folder);
    snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
    CHECK_EQ(open_again(&first), 0);
    CHECK(!first.is_other);
    CHECK_EQ(open_again(&other), 0);
    CHECK(other.is_other);
    CHECK_STR(other.name, beside);
    close(other.fd);
    CHECK_EQ(open_again(&same), 0);
    CHECK_STR(same.name, beside);
    CHECK_EQ(write(same.fd, "x", 1), 1);
    close(same.fd);
    CHECK_EQ(open_again(&last), 0);
    snprintf(beside, sizeof beside, "%s.%d.2", path, (int)getpid());
    CHECK_STR(last.name, beside);
    jsp_file_abandon(&last);
    jsp_file_abandon(&first);
    unlink(same.name);
    CHECK_EQ(rmdir(folder), 0);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    RUN_ALL();
    return DONE();
}
