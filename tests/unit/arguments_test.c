/* arguments_test.c - what the public functions refuse: one past each bound, a call without a
 * session, half of a description. At the bounds they work, and a refusal changes nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/host.h"

#include <fcntl.h>

static int open_options(jsprof_options o)
{
    static jsprof *const none = (jsprof *)8;
    jsprof *p = none;
    o.flags |= JSPROF_USE_FD;
    o.fd = memfd_create("capture", MFD_CLOEXEC);
    int err = jsprof_open(&p, &o);
    CHECK(err ? p == none : p != none);
    if (!err)
        CHECK_EQ(jsprof_close(p), 0);
    close(o.fd);
    return err;
}

#define OPEN(...) open_options((jsprof_options){ .size = sizeof(jsprof_options), __VA_ARGS__ })

TEST(option_at_its_bound_is_taken_and_one_past_it_is_refused)
{
    CHECK_EQ(OPEN(.hz = 1), 0);
    CHECK_EQ(OPEN(.hz = 10000), 0);
    CHECK_EQ(OPEN(.hz = 10001), -EINVAL);
    CHECK_EQ(OPEN(.max_depth = 1), 0);
    CHECK_EQ(OPEN(.max_depth = 1000), 0);
    CHECK_EQ(OPEN(.max_depth = 1001), -EINVAL);
    CHECK_EQ(OPEN(.ring_bytes = 16 << 10), 0);
    CHECK_EQ(OPEN(.ring_bytes = (16 << 10) - 1), -EINVAL);
    CHECK_EQ(OPEN(.ring_bytes = 1 << 30), 0);
    CHECK_EQ(OPEN(.ring_bytes = (1 << 30) + 1), -EINVAL);
    CHECK_EQ(OPEN(.label_bytes = 4 << 10), 0);
    CHECK_EQ(OPEN(.label_bytes = (4 << 10) - 1), -EINVAL);
    CHECK_EQ(OPEN(.label_bytes = 8 << 20), 0);
    CHECK_EQ(OPEN(.label_bytes = (8 << 20) + 8), -EINVAL);
    CHECK_EQ(OPEN(.clock = JSPROF_CLOCK_WALL), 0);
    CHECK_EQ(OPEN(.clock = JSPROF_CLOCK_WALL + 1), -EINVAL);
    CHECK_EQ(OPEN(.clock = -1), -EINVAL);
    CHECK_EQ(OPEN(.signo = SIGRTMAX), 0);
    CHECK_EQ(OPEN(.signo = SIGRTMAX + 1), -EINVAL);
    CHECK_EQ(OPEN(.signo = -1), -EINVAL);
    CHECK_EQ(OPEN(.flags = JSPROF_NO_NATIVE), 0);
    CHECK_EQ(OPEN(.flags = 1u << 31), -EINVAL);
}

/* A host that was compiled with the first version's header. */
TEST(options_and_stats_of_an_older_header_are_taken_and_of_a_newer_one_are_not)
{
    struct host h = { 0 };
    jsprof_stats stats = { .size = offsetof(jsprof_stats, stop_end), .marks_lost = 77 };
    CHECK_EQ(open_options((jsprof_options){ .size = offsetof(jsprof_options, on_drain) }), 0);
    CHECK_EQ(open_options((jsprof_options){ .size = sizeof(jsprof_options) + 1 }), -EINVAL);
    CHECK_EQ(open_options((jsprof_options){ .size = 8 }), -EINVAL);
    if (!host_open(&h, 1000, JSPROF_CLOCK_CPU))
        return;
    CHECK_EQ(jsprof_stats_get(h.prof, &stats), 0);
    CHECK_EQ(stats.marks_lost, 77); /* beyond what it knows nothing is written */
    stats.size = sizeof stats + 1;
    CHECK_EQ(jsprof_stats_get(h.prof, &stats), -EINVAL);
    stats.size = 0;
    CHECK_EQ(jsprof_stats_get(h.prof, &stats), -EINVAL);
    host_finish(&h);
}

TEST(calls_without_a_session_or_a_thread_are_refused_or_do_nothing)
{
    static const char byte;
    jsprof_stats stats = { .size = sizeof stats };
    jsprof_code code = { .size = sizeof code, .start = &byte, .length = 1, .name = "f" };
    jsprof_listing listing = { .size = sizeof listing };
    jsprof_thread *t;
    CHECK_EQ(jsprof_open(NULL, NULL), -EINVAL);
    CHECK_EQ(jsprof_start(NULL), -EINVAL);
    CHECK_EQ(jsprof_stop(NULL), -EINVAL);
    CHECK_EQ(jsprof_flush(NULL), -EINVAL);
    CHECK_EQ(jsprof_close(NULL), 0);
    CHECK_EQ(jsprof_start_from_env(NULL), -EINVAL);
    CHECK_EQ(jsprof_vm_set(NULL, "a test"), -EINVAL);
    CHECK_EQ(jsprof_stats_get(NULL, &stats), -EINVAL);
    CHECK_EQ(jsprof_thread_attach(NULL, "t", &t), -EINVAL);
    CHECK_EQ(jsprof_thread_detach(NULL), 0);
    CHECK_EQ(jsprof_thread_set_stack(NULL, NULL), -EINVAL);
    CHECK_EQ(jsprof_thread_set_walker(NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(jsprof_code_add(NULL, &code), -EINVAL);
    CHECK_EQ(jsprof_code_remove(NULL, &byte), -EINVAL);
    CHECK_EQ(jsprof_code_move(NULL, &byte, &byte), -EINVAL);
    CHECK_EQ(jsprof_listing_add(NULL, &listing), -EINVAL);
    CHECK_EQ(jsprof_interpreter_add(NULL, &byte, 1), -EINVAL);
    CHECK_EQ(jsprof_interpreter_hide(NULL, &byte, 1), -EINVAL);
    CHECK_EQ(jsprof_symbol_add(NULL, &byte, "f"), -EINVAL);
    CHECK_EQ(jsprof_counter(NULL, "g", "n", NULL, JSPROF_COUNTER_WHOLE), -EINVAL);
    CHECK_EQ(jsprof_counter_set(NULL, 1, 1), -EINVAL);
    jsprof_thread_pause(NULL);
    jsprof_thread_resume(NULL);
    jsprof_stack_switch(NULL, NULL);
    jsprof_stack_forget(NULL, NULL);
    jsprof_calls_free(NULL);
    jsprof_function_free(NULL);
    CHECK(!jsprof_callable(NULL));
}

TEST(function_without_a_name_or_of_no_kind_is_not_made)
{
    jsprof_function *f = NULL;
    CHECK_EQ(jsprof_function_new(NULL, "f", NULL, 0, JSPROF_KIND_VM), -EINVAL);
    CHECK_EQ(jsprof_function_new(&f, NULL, NULL, 0, JSPROF_KIND_VM), -EINVAL);
    CHECK_EQ(jsprof_function_new(&f, "", "f.js", 1, JSPROF_KIND_VM), -EINVAL);
    CHECK_EQ(jsprof_function_new(&f, "f", NULL, 0, JSPROF_KIND_SYNTH + 1), -EINVAL);
    CHECK(!f);
    CHECK_EQ(jsprof_function_new(&f, "f", NULL, 0, JSPROF_KIND_SYNTH), 0);
    jsprof_function_free(f);
}

static int add(jsprof *p, jsprof_code code)
{
    static const char bytes[64];
    code.start = code.start ? code.start : bytes;
    return jsprof_code_add(p, &code);
}

#define ADD(...) add(h.prof, (jsprof_code){ .size = sizeof(jsprof_code), __VA_ARGS__ })

TEST(code_and_ranges_that_are_half_described_are_refused)
{
    static const char bytes[64];
    struct host h = { 0 };
    jsprof_code nowhere = { .size = sizeof nowhere, .length = 64, .name = "f" };
    jsprof_listing listing = { .size = sizeof listing };
    if (!host_open(&h, 1000, JSPROF_CLOCK_CPU))
        return;
    CHECK_EQ(jsprof_code_add(h.prof, NULL), -EINVAL);
    CHECK_EQ(jsprof_code_add(h.prof, &nowhere), -EINVAL);
    CHECK_EQ(ADD(.length = 0, .name = "f"), -EINVAL);
    CHECK_EQ(ADD(.length = 64), -EINVAL);
    CHECK_EQ(ADD(.length = 64, .name = "f", .n_lines = 1), -EINVAL);
    CHECK_EQ(ADD(.length = 64, .name = "f", .n_rows = 1), -EINVAL);
    CHECK_EQ(ADD(.length = 64, .name = "f", .n_pcs = 1), -EINVAL);
    nowhere.start = bytes;
    nowhere.size--;
    CHECK_EQ(jsprof_code_add(h.prof, &nowhere), -EINVAL);
    CHECK_EQ(jsprof_code_remove(h.prof, bytes), -ENOENT); /* none of these is there */
    CHECK_EQ(ADD(.start = bytes, .length = 64, .name = "f"), 0);
    CHECK_EQ(jsprof_code_move(h.prof, bytes, NULL), -EINVAL);
    CHECK_EQ(jsprof_code_remove(h.prof, bytes), 0);
    CHECK_EQ(jsprof_listing_add(h.prof, NULL), -EINVAL);
    CHECK_EQ(jsprof_listing_add(h.prof, &listing), -EINVAL);
    CHECK_EQ(jsprof_interpreter_add(h.prof, NULL, 64), -EINVAL);
    CHECK_EQ(jsprof_interpreter_add(h.prof, bytes, 0), -ENOENT); /* no code */
    CHECK_EQ(jsprof_interpreter_hide(h.prof, NULL, 64), -EINVAL);
    CHECK_EQ(jsprof_interpreter_hide(h.prof, bytes, 0), -ENOENT);
    CHECK_EQ(jsprof_symbol_add(h.prof, NULL, "f"), -EINVAL);
    CHECK_EQ(jsprof_symbol_add(h.prof, bytes, NULL), -EINVAL);
    CHECK_EQ(jsprof_symbol_add(h.prof, bytes, ""), -EINVAL);
    CHECK_EQ(jsprof_counter(h.prof, "g", "n", NULL, JSPROF_COUNTER_REAL + 1), -EINVAL);
    host_finish(&h);
}

TEST(thread_or_stack_that_is_half_described_is_refused)
{
    struct host h = { 0 };
    jsprof_thread *me;
    jsprof_stack stack = { .size = sizeof stack - 1 };
    if (!host_open(&h, 1000, JSPROF_CLOCK_CPU))
        return;
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", NULL), -EINVAL);
    CHECK_EQ(jsprof_thread_attach(h.prof, NULL, &me), 0); /* its name is optional */
    CHECK_EQ(jsprof_thread_set_stack(me, &stack), -EINVAL);
    CHECK_EQ(jsprof_thread_set_stack(me, NULL), 0);
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_finish(&h);
}

/* As `jsprof info` shows it: 4,095 bytes, and each argument apart from the next. */
TEST(long_command_line_is_cut_where_its_room_ends)
{
    static char line[1 << 16];
    struct host h = { 0 };
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, line, sizeof line - 1);
    close(fd);
    for (ssize_t i = 0; i + 1 < n; i++)
        if (!line[i])
            line[i] = ' ';
    if (!CHECK(n > 4095) || !host_open(&h, 1000, JSPROF_CLOCK_CPU))
        return;
    if (host_close(&h)) {
        struct jsp_read_text command = jsp_profile_command(&h.profile, getpid());
        CHECK_EQ(command.len, 4095);
        CHECK_EQ(memcmp(command.at, line, 4095), 0);
    }
    host_free(&h);
}

int main(int argc, char **argv)
{
    static char words[6][1000];
    if (argc == 1) { /* once more, with a long command line */
        char *args[] = { argv[0], words[0], words[1], words[2], words[3], words[4], NULL };
        for (int i = 0; i < 5; i++)
            memset(words[i], 'a' + i, sizeof words[i] - 1);
        execv("/proc/self/exe", args);
        return 1;
    }
    RUN_ALL();
    return DONE();
}
