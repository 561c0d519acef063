/* unit/options_test.c - src/session/options.c: each option from text, its limits, and what is
 * explained where a text is refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jsprof.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "session/options.h"
#include "test.h"

static jsprof_options options;

static int set(const char *name, const char *value)
{
    return jsprof_options_set(&options, name, value);
}

static void begin(void)
{
    options = (jsprof_options){ .size = sizeof options };
}

/* Refused, without a change, and with this explanation. */
static void refused(const char *name, const char *value, const char *why)
{
    jsprof_options before = options;
    char text[512];
    int err = set(name, value);
    CHECK_EQ(err, -EINVAL);
    CHECK(memcmp(&before, &options, sizeof options) == 0);
    CHECK_STR(jsprof_error_text(err, text, sizeof text), why);
}

static const struct {
    const char *name;
    size_t offset;
    uint32_t low, high;
} numbers[] = {
    { "hz", offsetof(jsprof_options, hz), 1, 10000 },
    { "max_depth", offsetof(jsprof_options, max_depth), 1, 1000 },
    { "ring_bytes", offsetof(jsprof_options, ring_bytes), 16384, 1073741824 },
    { "label_bytes", offsetof(jsprof_options, label_bytes), 4096, 8388608 },
    { "signo", offsetof(jsprof_options, signo), 1, _NSIG - 1 },
};

static void takes(size_t i, uint32_t value)
{
    char text[16];
    uint32_t got;
    snprintf(text, sizeof text, "%u", value);
    CHECK_EQ(set(numbers[i].name, text), 0);
    memcpy(&got, (char *)&options + numbers[i].offset, sizeof got);
    CHECK_EQ(got, value);
}

static void leaves(size_t i, const char *text)
{
    char why[200];
    snprintf(why, sizeof why, "%s=%s: a whole number from %u to %u is allowed",
             numbers[i].name, text, numbers[i].low, numbers[i].high);
    refused(numbers[i].name, text, why);
}

TEST(number_is_taken_up_to_its_limits_and_not_past_them)
{
    begin();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[16];
        takes(i, numbers[i].low);
        takes(i, numbers[i].high);
        snprintf(text, sizeof text, "%u", numbers[i].low - 1);
        leaves(i, text);
        snprintf(text, sizeof text, "%u", numbers[i].high + 1);
        leaves(i, text);
    }
}

TEST(what_is_no_whole_decimal_number_is_refused)
{
    static const char *const texts[] = { "", " 1", "1 ", "+1", "-1", "1.0", "1e3", "0x10", "x",
                                         "4294967297", "18446744073709551617",
                                         "99999999999999999999999999" };
    begin();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++)
            leaves(i, texts[j]);
    takes(0, 5);
    CHECK_EQ(set("hz", "0007"), 0);
    CHECK_EQ(options.hz, 7);
}

TEST(clock_is_one_of_its_words)
{
    begin();
    CHECK_EQ(set("clock", "wall"), 0);
    CHECK_EQ(options.clock, JSPROF_CLOCK_WALL);
    refused("clock", "sun", "clock=sun: cpu or wall is allowed");
    refused("clock", "", "clock=: cpu or wall is allowed");
    refused("clock", "CPU", "clock=CPU: cpu or wall is allowed");
    CHECK_EQ(set("clock", "cpu"), 0);
    CHECK_EQ(options.clock, JSPROF_CLOCK_CPU);
    CHECK_EQ(options.flags & JSPROF_LOOKER, 0);
    refused("clock", "wall,cpu", "clock=wall,cpu: cpu or wall is allowed");
    CHECK_EQ(set("clock", "cpu,wall"), 0);
    CHECK_EQ(options.clock, JSPROF_CLOCK_WALL);
    CHECK_EQ(options.flags & JSPROF_PERF, JSPROF_PERF);
}

TEST(source_is_one_of_its_words)
{
    begin();
    CHECK_EQ(set("source", "looker"), 0);
    CHECK_EQ(options.flags, JSPROF_LOOKER);
    refused("source", "tick", "source=tick: auto, perf, looker or timer is allowed");
    CHECK_EQ(options.flags, JSPROF_LOOKER);
    CHECK_EQ(set("JSPROF_SOURCE", "timer"), 0);
    CHECK_EQ(options.flags, JSPROF_TIMER);
    CHECK_EQ(set("JSPROF_CLOCK", "cpu,wall"), 0);
    CHECK_EQ(options.flags, JSPROF_PERF);
    CHECK_EQ(set("source", "auto"), 0);
    CHECK_EQ(options.flags, 0);
    CHECK_EQ(set("source", "perf"), 0);
    CHECK_EQ(options.flags, JSPROF_PERF);
    CHECK_EQ(set("JSPROF_SOURCE", "timer"), 0);
    CHECK_EQ(set("--profile-stalls", "16ms"), 0);
    CHECK_EQ(options.stalls, 16000000);
    CHECK_EQ(set("JSPROF_STALLS", "3600s"), 0);
    CHECK_EQ(set("stalls", "3601s"), -EINVAL);
    CHECK_EQ(set("stalls", "0ms"), -EINVAL);
    CHECK_EQ(set("stalls", "16"), -EINVAL);
    CHECK_EQ(set("stalls", "ms"), -EINVAL);
    CHECK_EQ(set("stalls", "99999999999999999999ms"), -EINVAL);
    CHECK_EQ(options.stalls, UINT64_C(3600000000000));
    CHECK_EQ(options.flags, JSPROF_TIMER);
}

TEST(flag_is_set_and_taken_back_and_leaves_the_others)
{
    static const struct {
        const char *name;
        uint32_t flag;
    } flags[] = {
        { "chain", JSPROF_CHAIN },         { "nofollow", JSPROF_NOFOLLOW },
        { "no_native", JSPROF_NO_NATIVE }, { "perf_map", JSPROF_PERF_MAP },
        { "jitdump", JSPROF_JITDUMP },     { "compact", JSPROF_COMPACT },
        { "no_thread", JSPROF_NO_THREAD }, { "children", JSPROF_CHILDREN },
    };
    uint32_t all = 0;
    begin();
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        CHECK_EQ(set(flags[i].name, "1"), 0);
        CHECK_EQ(options.flags, all |= flags[i].flag);
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        CHECK_EQ(set(flags[i].name, "0"), 0);
        CHECK_EQ(options.flags, all &= ~flags[i].flag);
        CHECK_EQ(set(flags[i].name, "0"), 0);
    }
    refused("compact", "2", "compact=2: 0 or 1 is allowed");
    refused("compact", "", "compact=: 0 or 1 is allowed");
    refused("compact", "10", "compact=10: 0 or 1 is allowed");
    refused("compact", "yes", "compact=yes: 0 or 1 is allowed");
}

TEST(path_is_borrowed)
{
    static const char path[] = "x.cap";
    begin();
    CHECK_EQ(set("path", path), 0);
    CHECK(options.path == path);
    refused("path", "", "path=: a file name is needed");
}

TEST(names_are_found_as_variables_and_command_lines_have_them)
{
    static const char *const names[] = { "max_depth", "MAX_DEPTH", "max-depth", "Max-Depth",
                                         "JSPROF_MAX_DEPTH", "--profile-max-depth" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        begin();
        CHECK_EQ(set(names[i], "17"), 0);
        CHECK_EQ(options.max_depth, 17);
    }
    refused("JSPROF_HZ", "0", "JSPROF_HZ=0: a whole number from 1 to 10000 is allowed");
    refused("--profile-clock", "x", "--profile-clock=x: cpu or wall is allowed");
}

TEST(unknown_name_is_refused_with_the_names_there_are)
{
    static const char *const names[] = { "", "h", "hzz", "JSPROF_", "--profile-", "--hz",
                                         "use_fd", "fd", "size", "flags", "xhz", "hz=1",
                                         "max_dept", "JSPROF_USE_FD" };
    begin();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char why[512];
        snprintf(why, sizeof why,
                 "%s: no such option; there are path, clock, source, stalls, "
                 "continuous, segment, keep, hz, max_depth, ring_bytes, label_bytes, signo, "
                 "alloc, segment_s, keep_s, keep_mib, chain, nofollow, no_native, perf_map, "
                 "jitdump, compact, no_thread, children, sched, control, gdb_jit", names[i]);
        refused(names[i], "1", why);
    }
}

TEST(long_texts_are_cut_in_the_explanation)
{
    char *text = malloc(100001), why[300], want[300];
    if (!CHECK(text != NULL))
        return;
    memset(text, 'x', 100000);
    text[100000] = 0;
    begin();
    CHECK_EQ(set("clock", text), -EINVAL);
    snprintf(want, sizeof want, "clock=%.100s: cpu or wall is allowed", text);
    CHECK_STR(jsprof_error_text(-EINVAL, why, sizeof why), want);
    CHECK_EQ(set(text, "1"), -EINVAL);
    free(text);
}

TEST(options_of_an_older_header_are_set_and_of_a_newer_one_are_not)
{
    begin();
    options.size = offsetof(jsprof_options, on_drain);
    CHECK_EQ(set("hz", "10"), 0);
    CHECK_EQ(options.hz, 10);
    options.size = offsetof(jsprof_options, fd);
    CHECK_EQ(set("hz", "11"), -EINVAL);
    options.size = sizeof options + 1;
    CHECK_EQ(set("hz", "11"), -EINVAL);
    options.size = 0;
    CHECK_EQ(set("hz", "11"), -EINVAL);
    CHECK_EQ(options.hz, 10);
    begin();
    CHECK_EQ(jsprof_options_set(NULL, "hz", "11"), -EINVAL);
    CHECK_EQ(set(NULL, "11"), -EINVAL);
    CHECK_EQ(set("hz", NULL), -EINVAL);
}

TEST(rate_is_chosen_for_a_continuous_recording_alone_and_a_given_one_stays)
{
    begin();
    CHECK_EQ(jsp_options_complete(&options), 0);
    CHECK_EQ(options.hz, 1000);
    options.continuous = "/tmp";
    options.hz = 7;
    options.ring_bytes = 65536;
    CHECK_EQ(jsp_options_complete(&options), 0);
    CHECK_EQ(options.hz, 7);
    CHECK_EQ(options.ring_bytes, 65536);
    options.hz = 0;
    CHECK_EQ(jsp_options_complete(&options), 0);
    CHECK_EQ(options.hz, 19);
}

TEST(errno_stays)
{
    begin();
    errno = 77;
    set("hz", "99999999999999999999999999");
    set("nothing", "1");
    CHECK_EQ(errno, 77);
}

TEST_MAIN()
