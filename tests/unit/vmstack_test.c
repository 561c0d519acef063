/* unit/vmstack_test.c - src/sigsafe/vmstack.c, links.c: our own array and links, and what of broken
 * ones is believed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "vmstack.h"

/* -- (a), the array ----------------------------------------------------------- */

TEST(array_is_read_outermost_first)
{
    begin();
    CHECK_STR(taken(), "");
    jsprof_push(&own, "a", NULL, 1);
    jsprof_push(&own, "b", "f", 2);
    CHECK_STR(taken(), "a>b (f)");
    CHECK_EQ(record->n[JSP_RUN_ARRAY], 2);
    CHECK_EQ(record->frames[1].line, 2);
    jsprof_line(&own, 9);
    taken();
    CHECK_EQ(record->frames[1].line, 9);
    jsprof_pop(&own);
    CHECK_STR(taken(), "a");
}

TEST(function_that_takes_a_slot_over_has_nothing_of_the_one_before)
{
    begin();
    jsprof_enter(&own, &functions[0]);
    jsprof_line(&own, 7);
    jsprof_pc(&own, 8);
    jsprof_tail_call(&own, &functions[1]);
    CHECK_STR(taken(), "f1");
    CHECK_EQ(record->frames[0].line, 0);
    CHECK_EQ(record->frames[0].pc, 0);
    array[0].kind |= JSPROF_FRAME_ENTRY; /* as a host marks an entry of the array */
    taken();
    CHECK(record->frames[0].entry != 0);
    jsprof_leave(&own);
    jsprof_enter(&own, &functions[2]);
    CHECK_STR(taken(), "f2");
    CHECK_EQ(record->frames[0].entry, 0);
}

TEST(array_at_its_capacity_is_whole_and_one_more_is_cut)
{
    begin();
    for (int i = 0; i < MAX; i++)
        jsprof_push(&own, i ? "x" : "root", NULL, 0);
    CHECK_STR(taken(), "root>x>x>x>x>x>x>x");
    CHECK_EQ(record->cut, 0);
    jsprof_push(&own, "y", NULL, 0);
    jsprof_line(&own, 7); /* of no frame that is there */
    CHECK_STR(taken(), "root>x>x>x>x>x>x>x>?");
    CHECK_EQ(record->cut, 1);
    CHECK_EQ(jsp_counted(&vm.n_cut), 1);
    CHECK_EQ(array[MAX - 1].line, 0);
}

/* The array has room for more than a sample. */
TEST(array_deeper_than_a_sample_keeps_its_leaf)
{
    begin();
    own.capacity = MAX + 8;
    for (int i = 0; i < MAX + 2; i++)
        jsprof_push(&own, i ? "x" : "root", NULL, 0);
    jsprof_push(&own, "leaf", NULL, 0);
    jsprof_line(&own, 7);
    CHECK_STR(taken(), "root>x>x>x>x>x>...>x>leaf");
    CHECK_EQ(record->frames[MAX].line, 7);
    CHECK_EQ(record->cut, 3);
    for (int i = 0; i < 6; i++)
        jsprof_push(&own, "y", NULL, 0);
    CHECK_STR(taken(), "root>x>x>x>x>x>x>x>?"); /* y is not in the array */
    CHECK_EQ(record->cut, 9);
}

TEST(garbage_depth_reads_no_frame_that_is_not_there)
{
    begin();
    jsprof_push(&own, "root", NULL, 0);
    for (int i = 1; i < MAX; i++)
        jsprof_push(&own, "x", NULL, 0);
    own.depth = UINT32_MAX;
    CHECK_STR(taken(), "root>x>x>x>x>x>x>x>?");
    CHECK_EQ(record->cut, UINT32_MAX - MAX);
}

/* -- (a), links --------------------------------------------------------------- */

/* Begin with a stack whose bounds are known. */
static void begin_links(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    begin();
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    vm.stack_low = (uintptr_t)low;
    vm.stack_high = (uintptr_t)low + size;
}

/* Links on a heap, as a coroutine's stack is. */
TEST(links_are_turned_around)
{
    static jsprof_link links[3];
    begin_links();
    for (int i = 0; i < 3; i++)
        jsprof_link_enter(&own, &links[i], &functions[i]);
    links[1].line = 5;
    CHECK_STR(taken(), "f0>f1>f2");
    CHECK_EQ(record->frames[1].line, 5);
    CHECK_EQ(record->frames[1].sp, (uintptr_t)&links[1]);
    CHECK_EQ(record->frames[1].gap, 0);
    jsprof_link_leave(&own, &links[1]); /* two at once, as after longjmp */
    CHECK_STR(taken(), "f0");
    CHECK_EQ(bad(), 0);
}

TEST(links_deeper_than_a_sample_keep_roots_and_leaf)
{
    static jsprof_link links[MAX + 3];
    begin_links();
    for (int i = 0; i < MAX + 3; i++)
        jsprof_link_enter(&own, &links[i], &functions[i ? i < MAX + 2 ? 1 : 2 : 0]);
    CHECK_STR(taken(), "f0>f1>f1>f1>f1>f1>...>f1>f2");
    CHECK_EQ(record->frames[MAX].sp, (uintptr_t)&links[MAX + 2]);
    CHECK_EQ(record->cut, 3);
}

/* Leave a link behind that is whole, and so far down that no later call reaches it. */
static __attribute__((noinline)) void leave_below(void)
{
    _Alignas(jsprof_link) volatile char frame[65536];
    frame[sizeof frame - 1] = 1;
    jsprof_link_enter(&own, (jsprof_link *)(uintptr_t)frame, &functions[1]);
}

TEST(link_below_the_stack_pointer_is_dead)
{
    jsprof_link alive;
    begin_links();
    jsprof_link_enter(&own, &alive, &functions[0]);
    CHECK_STR(taken(), "f0");
    leave_below();
    CHECK((uintptr_t)own.top < jsp_regs_sp(&context) - JSP_RED_ZONE);
    CHECK_STR(taken(), "f0"); /* to which the dead one leads */
    CHECK_EQ(bad(), 1);
    own.top = (jsprof_link *)((uintptr_t)&alive + 1); /* nothing stands at an odd address */
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 2);
}

TEST(link_that_points_far_down_or_leads_to_itself_is_not_followed)
{
    static jsprof_link a, b;
    jsprof_link links[1000];
    begin_links();
    links[0] = (jsprof_link){ &links[0], &functions[0], 0, 0 };
    own.top = &links[0];
    CHECK_STR(taken(), "");
    links[999] = (jsprof_link){ &links[0], &functions[0], 0, 0 };
    links[0].up = NULL;
    own.top = &links[999];
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 2);
    a = (jsprof_link){ &b, &functions[0], 0, 0 }; /* a circle elsewhere */
    b = (jsprof_link){ &a, &functions[1], 0, 0 };
    own.top = &a;
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 3);
}

/* Compilers put the locals of a C function in any order, those of what was inlined, too. */
TEST(links_of_one_c_function_are_shown_in_either_order)
{
    jsprof_link links[3];
    begin_links();
    jsprof_link_enter(&own, &links[1], &functions[0]);
    jsprof_link_enter(&own, &links[2], &functions[1]);
    jsprof_link_enter(&own, &links[0], &functions[2]);
    CHECK_STR(taken(), "f0>f1>f2");
    CHECK_EQ(bad(), 0);
}

/* jsprof_link_leave takes `up` from the dead frame; until it does, so do we, with care. */
TEST(links_that_longjmp_left_lead_to_those_that_are_still_there)
{
    jsprof_link links[100], *dead = links, *alive = &links[99];
    begin_links();
    *alive = (jsprof_link){ NULL, &functions[0], 0, 0 };
    dead[1] = (jsprof_link){ alive, &functions[1], 0, 0 };
    dead[0] = (jsprof_link){ &dead[1], &functions[2], 0, 0 };
    own.top = &dead[0];
    where_sp = (uintptr_t)&links[50] + JSP_RED_ZONE;
    CHECK_STR(taken(), "f0");
    CHECK_EQ(bad(), 1);
    dead[1].up = NULL; /* overwritten: nothing further out is known */
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 2);
    where_sp = 0;
}

TEST(link_in_memory_that_is_gone_is_not_read)
{
    jsprof_link alive;
    begin_links();
    jsprof_link *gone = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    gone[0] = (jsprof_link){ NULL, &functions[1], 0, 0 };
    alive = (jsprof_link){ gone, &functions[0], 0, 0 };
    own.top = &alive;
    CHECK_STR(taken(), "f1>f0");
    munmap(gone, 8192);
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 1);
    own.top = (jsprof_link *)(uintptr_t)0x4141414141414140;
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 2);
}

/* What a dead link leads to may be any variables of the host's: readable, and not zero. */
TEST(link_that_names_what_is_no_function_is_not_shown)
{
    struct { char bytes[sizeof(struct jsprof_function)]; } other;
    struct jsprof_function moved = functions[0];
    jsprof_link link = { NULL, (const jsprof_function *)(void *)&other, 0, 0 };
    memset(&other, 0x48, sizeof other);
    begin_links();
    own.top = &link;
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 1);
    link.function = &moved; /* the bytes of one, elsewhere */
    CHECK_STR(taken(), "");
    link.function = (const jsprof_function *)(uintptr_t)0x4141414141414140; /* overwritten */
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 3);
    link.function = &functions[0];
    CHECK_STR(taken(), "f0");
}

static _Atomic bool is_turning;

/* No business of TSan's: the library reads what another one writes, and is to bear it. */
static __attribute__((no_sanitize_thread)) void *turn(void *of)
{
    jsprof_link *links = of;
    struct jsprof_link *volatile *up = &links[0].up, *is_short = links[0].up;
    while (atomic_load(&is_turning)) {
        *up = &links[1];
        *up = is_short;
    }
    return NULL;
}

/* As the handler's own frames do with links that lie below the stack pointer. */
TEST(dead_link_that_is_overwritten_while_it_is_read_leaves_no_frame_half_written)
{
    enum { N = 100, SHOWN = 3 };
    alignas(4096) jsprof_link links[N]; /* on the page of the stack pointer: plain loads */
    int n_shown[SHOWN + 1] = { 0 };
    pthread_t other;
    begin_links();
    jsp_memread_init(&mem, vm.stack_low, vm.stack_high, getpid());
    vm.max_depth = SHOWN;
    links[N - 1] = (jsprof_link){ NULL, &functions[0], 0, 0 };
    for (int i = N - 1; i-- > 0;)
        links[i] = (jsprof_link){ &links[i + 1], &functions[1], 0, 0 };
    links[N - 3].up = NULL; /* the long way: all but two; the short one: those two */
    links[0].up = &links[N - 2];
    own.top = &links[0];
    where_sp = (uintptr_t)&links[1] + JSP_RED_ZONE;
    atomic_store(&is_turning, true);
    pthread_create(&other, NULL, turn, links);
    uint64_t i = 0;
    for (; i < 1000000 && !(n_shown[0] > 9 && n_shown[2] && n_shown[SHOWN]); i++) {
        for (int k = 0; k < SHOWN; k++)
            record->frames[k].id = vm.deeper_id; /* of an earlier sample */
        CHECK(!strchr(taken(), '?'));
        n_shown[record->n[JSP_RUN_LINKS] < SHOWN ? record->n[JSP_RUN_LINKS] : SHOWN]++;
    }
    atomic_store(&is_turning, false);
    pthread_join(other, NULL);
    where_sp = 0;
    CHECK_EQ(bad(), i);
    if (!n_shown[2] || !n_shown[SHOWN])
        SKIP("needs two threads that run at a time");
}

/* Functions that are never remembered, as they take one place: each link is a question. */
TEST(links_that_took_many_questions_to_count_are_all_shown)
{
    enum { DEEP = 3000, APART = JSP_VMSTACK_KNOWN * 16 };
    static jsprof_link links[DEEP];
    static alignas(16) char far[APART + sizeof functions[0]];
    struct jsprof_function *even = (void *)far, *odd = (void *)(far + APART);
    *even = functions[0];
    *odd = functions[1];
    begin_links();
    even->seal = jsp_function_seal(even, even->serial);
    odd->seal = jsp_function_seal(odd, odd->serial);
    for (int i = 0; i < DEEP; i++)
        jsprof_link_enter(&own, &links[i], i % 2 ? odd : even);
    CHECK_STR(taken(), "f0>f1>f0>f1>f0>f1>...>f0>f1");
    CHECK_EQ(bad(), 0);
}

TEST_MAIN()
