/* described_test.c - what a capture says of its program: the command line and the name, exactly
 * as they are, also where /proc can not be read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/host.h"

#include <sys/prctl.h>
#include <sys/resource.h>

static char command[4096]; /* of this process, its arguments with a space between */

static bool recorded(struct host *h)
{
    return host_open(h, 1000, JSPROF_CLOCK_CPU) && host_close(h);
}

static void check_command(const struct host *h, const char *want)
{
    char got[4096];
    struct jsp_read_text text = jsp_profile_command(&h->profile, getpid());
    snprintf(got, sizeof got, "%.*s", (int)text.len, text.at);
    CHECK_STR(got, want);
}

TEST(capture_has_the_command_line_with_its_arguments_and_the_name)
{
    struct host h = { 0 };
    prctl(PR_SET_NAME, "two words");
    if (recorded(&h)) {
        check_command(&h, command);
        CHECK_STR(h.profile.host, "two words");
    }
    host_free(&h);
}

/* What lay on the stack before must not get into the file. */
__attribute__((noinline)) static void leave_something_on_the_stack(void)
{
    char something[32768];
    memset(something, 'x', sizeof something);
    __asm__ volatile("" : : "r"(something) : "memory");
}

TEST(program_without_a_free_descriptor_is_named_all_the_same)
{
    struct rlimit limit, none;
    struct host h = { 0 };
    if (!CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0))
        return;
    h = (struct host){ .fd = memfd_create("capture", MFD_CLOEXEC) };
    jsprof_options options = host_options(1000, JSPROF_CLOCK_CPU);
    options.flags |= JSPROF_USE_FD | JSPROF_NO_NATIVE;
    options.fd = h.fd;
    none = limit;
    none.rlim_cur = (rlim_t)h.fd + 2; /* the session's own copy is the last one */
    setrlimit(RLIMIT_NOFILE, &none);
    leave_something_on_the_stack();
    int err = jsprof_open(&h.prof, &options);
    setrlimit(RLIMIT_NOFILE, &limit);
    if (CHECK_EQ(err, 0) && host_close(&h)) {
        check_command(&h, program_invocation_name);
        CHECK_STR(h.profile.host, program_invocation_short_name);
    }
    host_free(&h);
}

int main(int argc, char **argv)
{
    const char *under = getenv("RUN_UNDER");
    if (argc == 1 && !(under && *under))
        execl("/proc/self/exe", argv[0], "an argument", "", "last", (char *)NULL);
    for (int i = 0; i < argc; i++)
        snprintf(command + strlen(command), sizeof command - strlen(command), "%s%s",
                 i ? " " : "", argv[i]);
    RUN_ALL();
    return DONE();
}
