/* unit/vmstack_test.c - src/sigsafe/vmstack.c: the three forms of a VM stack, and what
 * of a broken one is believed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/vmstack.h"

#include <pthread.h>
#include <stdlib.h>

#include "sigsafe/regs.h"
#include "test.h"

enum { BYTES = 1 << 20, SLOTS = 1 << 15, MAX = 8 };

static struct jsp_arena arena;
static alignas(8) unsigned char bytes[BYTES];
static _Atomic uint64_t slots[SLOTS];
static struct jsp_names names;
static struct jsp_vmstack vm;
static jsprof_thread own;
static jsprof_frame array[MAX], walked[MAX];
static alignas(8) unsigned char memory[sizeof(struct jsp_record) +
                                       (MAX + 1) * sizeof(struct jsp_rec_frame)];
static struct jsp_record *const record = (void *)memory;
static ucontext_t context;

/* A stack pointer below all that the caller has on the stack. */
static __attribute__((noinline)) uintptr_t below(void)
{
    return (uintptr_t)__builtin_frame_address(0);
}

static void begin(void)
{
    struct jsp_arena_memory there = { bytes, BYTES, slots, SLOTS };
    memset((void *)slots, 0, sizeof slots);
    memset(&names, 0, sizeof names);
    memset(&vm, 0, sizeof vm);
    memset(memory, 0, sizeof memory);
    jsp_arena_init(&arena, &there);
    jsp_names_init(&names, &arena);
    own = (jsprof_thread){ .frames = array, .capacity = MAX };
    jsp_vmstack_init(&vm, &own, MAX, walked);
    /* Not getcontext: musl has none. */
#if defined(__x86_64__)
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)below();
#else
    context.uc_mcontext.sp = below();
#endif
}

/* Take the sample and show it as "outer>inner", runs in their order. */
static const char *taken(void)
{
    static char text[1024];
    size_t at = 0;
    text[0] = 0;
    struct jsp_where where = { .ucontext = &context, .sp = jsp_regs_sp(&context) };
    jsp_vmstack_read(&vm, &names, &where, record);
    for (uint32_t i = 0; i < jsp_record_frames(record); i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? ">" : "",
                               jsp_arena_label(&arena, record->frames[i].id)->text);
    return text;
}

static uint64_t bad(void)
{
    return jsp_counted(&vm.n_bad);
}

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

TEST(array_at_its_capacity_is_whole_and_one_more_is_cut)
{
    begin();
    for (int i = 0; i < MAX; i++)
        jsprof_push(&own, i ? "x" : "root", NULL, 0);
    CHECK_STR(taken(), "root>x>x>x>x>x>x>x");
    CHECK_EQ(record->cut, 0);
    jsprof_push(&own, "y", NULL, 0);
    jsprof_line(&own, 7); /* of no frame that is there */
    CHECK_STR(taken(), "root>x>x>x>x>x>x>x");
    CHECK_EQ(record->cut, 1);
    CHECK_EQ(jsp_counted(&vm.n_cut), 1);
    CHECK_EQ(array[MAX - 1].line, 0);
}

TEST(garbage_depth_reads_no_frame_that_is_not_there)
{
    begin();
    jsprof_push(&own, "root", NULL, 0);
    for (int i = 1; i < MAX; i++)
        jsprof_push(&own, "x", NULL, 0);
    own.depth = UINT32_MAX;
    CHECK_STR(taken(), "root>x>x>x>x>x>x>x");
    CHECK_EQ(record->cut, UINT32_MAX - MAX);
}

/* -- (a), links --------------------------------------------------------------- */

static struct jsprof_function functions[3] = {
    { .serial = 1, .text = (char[]){ "f0" }, .len = 2 },
    { .serial = 2, .text = (char[]){ "f1" }, .len = 2 },
    { .serial = 3, .text = (char[]){ "f2" }, .len = 2 },
};

static void know_the_stack(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
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
    begin();
    know_the_stack();
    for (int i = 0; i < 3; i++)
        jsprof_link_enter(&own, &links[i], &functions[i]);
    links[1].line = 5;
    CHECK_STR(taken(), "f0>f1>f2");
    CHECK_EQ(record->frames[1].line, 5);
    CHECK_EQ(record->frames[1].sp, (uintptr_t)&links[1]);
    jsprof_link_leave(&own, &links[1]); /* two at once, as after longjmp */
    CHECK_STR(taken(), "f0");
    CHECK_EQ(bad(), 0);
}

TEST(links_beyond_the_room_lose_their_leaves)
{
    static jsprof_link links[MAX + 3];
    begin();
    know_the_stack();
    for (int i = 0; i < MAX + 3; i++)
        jsprof_link_enter(&own, &links[i], &functions[i ? i < MAX ? 1 : 2 : 0]);
    CHECK_STR(taken(), "f0>f1>f1>f1>f1>f1>f1>f1");
    CHECK_EQ(record->cut, 3);
}

TEST(links_in_a_circle_come_to_an_end_and_are_not_shown)
{
    static jsprof_link a, b;
    begin();
    know_the_stack();
    a = (jsprof_link){ &b, &functions[0], 0, 0 };
    b = (jsprof_link){ &a, &functions[1], 0, 0 };
    own.top = &a;
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 1);
}

TEST(link_below_the_stack_pointer_is_dead)
{
    jsprof_link alive;
    begin();
    know_the_stack();
    jsprof_link_enter(&own, &alive, &functions[0]);
    CHECK_STR(taken(), "f0");
    uintptr_t below = jsp_regs_sp(&context) - JSP_RED_ZONE;
    own.top = (jsprof_link *)((below - sizeof(jsprof_link)) & ~(uintptr_t)7);
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 1);
    own.top = (jsprof_link *)((uintptr_t)&alive + 1); /* nothing stands at an odd address */
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 2);
}

TEST(link_that_points_far_down_or_at_itself_is_not_followed)
{
    jsprof_link links[1000];
    begin();
    know_the_stack();
    links[0] = (jsprof_link){ &links[0], &functions[0], 0, 0 };
    own.top = &links[0];
    CHECK_STR(taken(), "");
    links[999] = (jsprof_link){ &links[0], &functions[0], 0, 0 };
    links[0].up = NULL;
    own.top = &links[999];
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 2);
}

/* Compilers put the locals of a C function in any order, those of what was inlined, too. */
TEST(links_of_one_c_function_are_shown_in_either_order)
{
    jsprof_link links[3];
    begin();
    know_the_stack();
    jsprof_link_enter(&own, &links[1], &functions[0]);
    jsprof_link_enter(&own, &links[2], &functions[1]);
    jsprof_link_enter(&own, &links[0], &functions[2]);
    CHECK_STR(taken(), "f0>f1>f2");
    CHECK_EQ(bad(), 0);
}

/* -- (b), by offsets ---------------------------------------------------------- */

struct old_entry { /* of an old-style host */
    const char *label;
    uint32_t flags;
    uint32_t line;
    void *address;
};

static struct old_entry old[4] = {
    { "main", 0, 1, (void *)900 }, { "run", 0, 2, NULL },
    { "call", 0, 3, (void *)700 }, { "leaf", 0, 4, (void *)600 },
};
static struct old_entry *old_entries = old;
static int32_t old_depth;
static uint32_t old_capacity = 4;
static uint64_t wide_depth;

static jsprof_stack by_offsets(void)
{
    return (jsprof_stack){
        .size = sizeof(jsprof_stack), .depth = &old_depth, .depth_bytes = 4,
        .entries = &old_entries, .stride = sizeof(struct old_entry), .limit = 4,
        .label_offset = offsetof(struct old_entry, label),
        .detail_offset = JSPROF_NO_FIELD,
        .sp_offset = offsetof(struct old_entry, address),
        .line_offset = offsetof(struct old_entry, line), .pc_offset = JSPROF_NO_FIELD,
    };
}

TEST(old_style_array_is_read_by_its_offsets)
{
    begin();
    vm.host = by_offsets();
    CHECK_EQ(jsp_vmstack_check(&vm.host), 0);
    old_depth = 0;
    CHECK_STR(taken(), "");
    old_depth = 3;
    CHECK_STR(taken(), "main>run>call");
    CHECK_EQ(record->n[JSP_RUN_HOST], 3);
    CHECK_EQ(record->frames[1].sp, 900); /* it has none of its own */
    CHECK_EQ(record->frames[2].sp, 700);
    CHECK_EQ(record->frames[2].line, 3);
}

TEST(host_depth_beyond_its_array_is_cut_and_below_zero_is_bad)
{
    begin();
    vm.host = by_offsets();
    old_depth = 5;
    CHECK_STR(taken(), "main>run>call>leaf");
    CHECK_EQ(record->cut, 1);
    old_depth = -1;
    CHECK_STR(taken(), "");
    CHECK_EQ(record->cut, 0);
    CHECK_EQ(bad(), 1);
    old_depth = INT32_MIN;
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 2);
}

TEST(capacity_is_read_anew_in_every_sample)
{
    begin();
    vm.host = by_offsets();
    vm.host.limit = 0;
    vm.host.capacity = &old_capacity;
    old_depth = 4;
    old_capacity = 2;
    CHECK_STR(taken(), "main>run");
    CHECK_EQ(record->cut, 2);
    old_capacity = 4;
    CHECK_STR(taken(), "main>run>call>leaf");
    old_capacity = 0;
    CHECK_STR(taken(), "");
    CHECK_EQ(record->cut, 4);
    old_capacity = 4;
}

TEST(depth_of_eight_bytes_is_read_as_such)
{
    begin();
    vm.host = by_offsets();
    vm.host.depth = &wide_depth;
    vm.host.depth_bytes = 8;
    wide_depth = 2;
    CHECK_STR(taken(), "main>run");
    wide_depth = (1ull << 32) + 4; /* its lower half alone would look fine */
    CHECK_STR(taken(), "main>run>call>leaf");
    CHECK_EQ(record->cut, UINT32_MAX);
    wide_depth = (uint64_t)-1;
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 1);
}

TEST(array_that_moves_is_found_where_it_is)
{
    struct old_entry moved[4];
    begin();
    vm.host = by_offsets();
    old_depth = 1;
    CHECK_STR(taken(), "main");
    memcpy(moved, old, sizeof moved);
    moved[0].label = "moved";
    old_entries = moved;
    CHECK_STR(taken(), "moved");
    old_entries = NULL;
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 1);
    old_depth = 0;
    CHECK_STR(taken(), ""); /* no array, no depth: nothing wrong */
    CHECK_EQ(bad(), 1);
    old_entries = old;
}

TEST(entry_without_a_label_is_named_so_and_counted)
{
    struct old_entry holes[2] = { { "main", 0, 1, NULL }, { NULL, 0, 2, NULL } };
    begin();
    vm.host = by_offsets();
    old_entries = holes;
    old_depth = 2;
    CHECK_STR(taken(), "main>[no name]");
    CHECK_EQ(jsp_counted(&names.n_bad), 1);
    old_entries = old;
}

TEST(descriptions_that_can_not_be_read_are_refused)
{
    jsprof_stack s = by_offsets();
    s.depth = NULL;
    CHECK_EQ(jsp_vmstack_check(&s), -EINVAL);
    s = by_offsets();
    s.entries = NULL;
    CHECK_EQ(jsp_vmstack_check(&s), -EINVAL);
    s = by_offsets();
    s.stride = 0;
    CHECK_EQ(jsp_vmstack_check(&s), -EINVAL);
    for (uint32_t width = 0; width < 10; width++) {
        s = by_offsets();
        s.depth_bytes = width;
        CHECK_EQ(jsp_vmstack_check(&s), width == 4 || width == 8 ? 0 : -EINVAL);
    }
    s = by_offsets();
    s.label_offset = JSPROF_NO_FIELD;
    CHECK_EQ(jsp_vmstack_check(&s), -EINVAL);
    s.detail_offset = 0;
    CHECK_EQ(jsp_vmstack_check(&s), 0);
}

/* -- (b), by a callback -------------------------------------------------------- */

/* Flags: 1 a stack address only, 2 unreadable. */
static int decode_sigsafe(void *host, const void *entry, jsprof_frame *out)
{
    const struct old_entry *e = entry;
    ++*(int *)host;
    if (e->flags == 2)
        return -1;
    out->label = e->label;
    out->sp = (uintptr_t)e->address;
    return e->flags == 0;
}

TEST(callback_may_skip_an_entry_and_keep_its_stack_address)
{
    struct old_entry mixed[4] = {
        { "main", 0, 0, NULL }, { NULL, 1, 0, (void *)800 },
        { "run", 0, 0, NULL }, { "broken", 2, 0, NULL },
    };
    int calls = 0;
    begin();
    vm.host = by_offsets();
    vm.host.decode_sigsafe = decode_sigsafe;
    vm.host.host = &calls;
    old_entries = mixed;
    old_depth = 4;
    CHECK_STR(taken(), "main>run");
    CHECK_EQ(calls, 4);
    CHECK_EQ(record->frames[0].sp, 0);
    CHECK_EQ(record->frames[1].sp, 800);
    CHECK_EQ(bad(), 1);
    old_entries = old;
}

/* -- (c), and all together ------------------------------------------------------ */

static uint32_t walk_told;

static uint32_t walk_sigsafe(void *host, const void *ucontext, jsprof_frame *out,
                             uint32_t max)
{
    CHECK(host == &walk_told && ucontext == &context);
    for (uint32_t i = 0; i < max && i < walk_told; i++)
        out[i] = (jsprof_frame){ .label = i ? "outer" : "inner", .sp = 100 + i };
    return walk_told;
}

static void with_walker(uint32_t told)
{
    begin();
    walk_told = told;
    vm.walk_sigsafe = walk_sigsafe;
    vm.walk_host = &walk_told;
}

TEST(walker_tells_innermost_first)
{
    with_walker(3);
    CHECK_STR(taken(), "outer>outer>inner");
    CHECK_EQ(record->n[JSP_RUN_WALKER], 3);
    with_walker(0);
    CHECK_STR(taken(), "");
}

TEST(walker_with_more_frames_than_room_is_cut)
{
    with_walker(MAX);
    taken();
    CHECK_EQ(record->n[JSP_RUN_WALKER], MAX);
    CHECK_EQ(record->cut, 0);
    with_walker(MAX + 1);
    taken();
    CHECK_EQ(record->n[JSP_RUN_WALKER], MAX);
    CHECK_EQ(record->cut, 1);
    with_walker(UINT32_MAX);
    taken();
    CHECK_EQ(record->n[JSP_RUN_WALKER], MAX);
    CHECK_EQ(record->cut, UINT32_MAX - MAX);
}

static uint32_t walk_with_callers_sigsafe(void *host, const void *ucontext,
                                          jsprof_frame *out, uint32_t max)
{
    (void)host;
    (void)ucontext;
    CHECK(max >= 4);
    out[0] = (jsprof_frame){ .label = "inner", .sp = 100 };
    out[1] = (jsprof_frame){ .pc = 7, .sp = 200, .kind = JSPROF_FRAME_CALLER };
    out[2] = (jsprof_frame){ .label = "outer", .sp = 300 };
    out[3] = (jsprof_frame){ .pc = 8, .sp = 400, .kind = JSPROF_FRAME_CALLER };
    return 4;
}

TEST(callers_in_c_are_no_frames_but_kept_for_the_unwinder)
{
    with_walker(0);
    vm.walk_sigsafe = walk_with_callers_sigsafe;
    CHECK_STR(taken(), "outer>inner");
    CHECK_EQ(vm.n_callers, 2);
    CHECK(walked[0].pc == 7 && walked[1].pc == 8);
    vm.walk_sigsafe = NULL;
    taken();
    CHECK_EQ(vm.n_callers, 0);
}

TEST(all_forms_share_the_room)
{
    jsprof_link link;
    with_walker(MAX);
    vm.host = by_offsets();
    old_depth = 2;
    jsprof_link_enter(&own, &link, &functions[0]);
    for (int i = 0; i < 3; i++)
        jsprof_push(&own, "x", NULL, 0);
    CHECK_STR(taken(), "f0>x>x>x>main>run>outer>inner");
    CHECK_EQ(record->cut, MAX - 2);
    CHECK_EQ(record->n[JSP_RUN_LINKS], 1);
    CHECK_EQ(record->n[JSP_RUN_ARRAY], 3);
    CHECK_EQ(record->n[JSP_RUN_HOST], 2);
    CHECK_EQ(record->n[JSP_RUN_WALKER], 2);
    for (int i = 0; i < MAX; i++)
        jsprof_push(&own, "x", NULL, 0);
    CHECK_STR(taken(), "f0>x>x>x>x>x>x>x"); /* no room is left for the others */
    CHECK_EQ(record->cut, 4 + 2 + MAX);
}

int main(void)
{
    RUN(array_is_read_outermost_first);
    RUN(array_at_its_capacity_is_whole_and_one_more_is_cut);
    RUN(garbage_depth_reads_no_frame_that_is_not_there);
    RUN(links_are_turned_around);
    RUN(links_beyond_the_room_lose_their_leaves);
    RUN(links_in_a_circle_come_to_an_end_and_are_not_shown);
    RUN(link_below_the_stack_pointer_is_dead);
    RUN(link_that_points_far_down_or_at_itself_is_not_followed);
    RUN(links_of_one_c_function_are_shown_in_either_order);
    RUN(old_style_array_is_read_by_its_offsets);
    RUN(host_depth_beyond_its_array_is_cut_and_below_zero_is_bad);
    RUN(capacity_is_read_anew_in_every_sample);
    RUN(depth_of_eight_bytes_is_read_as_such);
    RUN(array_that_moves_is_found_where_it_is);
    RUN(entry_without_a_label_is_named_so_and_counted);
    RUN(descriptions_that_can_not_be_read_are_refused);
    RUN(callback_may_skip_an_entry_and_keep_its_stack_address);
    RUN(walker_tells_innermost_first);
    RUN(walker_with_more_frames_than_room_is_cut);
    RUN(callers_in_c_are_no_frames_but_kept_for_the_unwinder);
    RUN(all_forms_share_the_room);
    return DONE();
}
