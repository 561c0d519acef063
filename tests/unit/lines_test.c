/* lines_test.c - frames that give a pc only: the drain finds their lines, in links, array
 * entries, the frames of a walker and compiled code.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/host.h"

static struct host h;
static jsprof_thread *me;

static const jsprof_code_line rows[] = { { 10, 100 }, { 20, 200 }, { 30, 300 } };

static jsprof_function *function(const char *name)
{
    jsprof_function *f = NULL;
    CHECK_EQ(jsprof_function_new(&f, name, NULL, 0, JSPROF_KIND_VM), 0);
    CHECK_EQ(jsprof_function_lines(f, rows, 3), 0);
    return f;
}

/* Return the samples in which a frame of this name has this line. */
static uint64_t samples_at(const char *name, uint32_t line)
{
    static struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
    uint64_t samples = 0;
    for (uint32_t s = 0; s < h.profile.n_stacks; s++) {
        int n = jsp_profile_frames(&h.profile, s, frames), at = 0;
        while (at < n && (frames[at].line != line ||
                          strcmp(h.profile.functions[frames[at].function].name, name) != 0))
            at++;
        samples += at < n ? h.profile.stacks[s].samples : 0;
    }
    return samples;
}

static const jsprof_function *walked;

static uint32_t walk_sigsafe(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    (void)host, (void)ucontext;
    if (max)
        out[0] = (jsprof_frame){ .function = walked, .pc = 30 };
    return 1;
}

TEST(frames_with_a_pc_get_their_lines_from_the_drain)
{
    jsprof_function *in_link = function("link"), *in_array = function("array");
    jsprof_function *own = function("own"), *freed = function("freed");
    jsprof_link link;
    walked = function("walked");
    if (!host_begin_with(&h, host_options(1000, JSPROF_CLOCK_WALL), &me))
        return;
    jsprof_thread_pause(me);
    CHECK_EQ(jsprof_thread_set_walker(me, walk_sigsafe, NULL), 0);
    jsprof_link_enter(me, &link, in_link);
    jsprof_enter(me, in_array);
    jsprof_enter(me, own);
    jsprof_enter(me, freed);
    jsprof_pc(me, 30);
    me->frames[0].pc = 25;
    me->frames[1].pc = 10;
    me->frames[1].line = 5; /* a line of the host's own counts */
    link.pc = 19;
    jsprof_thread_resume(me);
    host_sampled(&h, 10);
    link.pc = 20;
    host_sampled(&h, 10);
    jsprof_leave_to(me, 0);
    jsprof_link_leave(me, &link);
    jsprof_thread_pause(me);
    jsprof_function_free(freed); /* before the drain has read all samples */
    if (host_close(&h)) {
        uint64_t first = samples_at("link", 100), second = samples_at("link", 200);
        CHECK(first > 0);
        CHECK(second > 0);
        CHECK_EQ(samples_at("array", 200), first + second);
        CHECK_EQ(samples_at("own", 5), first + second);
        CHECK_EQ(samples_at("freed", 300), first + second);
        CHECK(samples_at("walked", 300) >= first + second);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    jsprof_function_free(in_link);
    jsprof_function_free(in_array);
    jsprof_function_free(own);
}

TEST_MAIN()
