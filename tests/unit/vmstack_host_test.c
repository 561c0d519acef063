/* unit/vmstack_host_test.c - src/sigsafe/vmstack.c: the host's own array, by offsets or a
 * callback, a walker, and all forms together.
 *
 * SPDX-License-Identifier: MIT
 */
#include "vmstack.h"

#include <sys/mman.h>

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

static void begin_host(void)
{
    begin();
    vm.host = by_offsets();
    old_entries = old;
}

/* A sample at this depth shows these frames, and so many cut. */
static void shows(int32_t depth, const char *frames, uint32_t cut)
{
    old_depth = depth;
    if (!CHECK_STR(taken(), frames) || !CHECK_EQ(record->cut, cut))
        printf("# at depth %d\n", (int)depth);
}

TEST(old_style_array_is_read_by_its_offsets)
{
    begin_host();
    CHECK_EQ(jsp_vmstack_check(&vm.host), 0);
    shows(0, "", 0);
    shows(3, "main>run>call", 0);
    CHECK_EQ(record->n[JSP_RUN_HOST], 3);
    CHECK_EQ(record->frames[1].sp, 900); /* it has none of its own */
    CHECK_EQ(record->frames[2].sp, 700);
    CHECK_EQ(record->frames[2].line, 3);
}

TEST(host_depth_beyond_its_array_is_cut_and_one_that_no_host_can_have_is_bad)
{
    begin_host();
    shows(5, "main>run>call>leaf>?", 1);
    shows(4 + (1 << 24), "main>run>call>leaf>?", 1 << 24);
    CHECK_EQ(bad(), 0);
    shows(-1, "", 0);
    CHECK_EQ(bad(), 1);
    shows(INT32_MIN, "", 0);
    shows(5 + (1 << 24), "", 0);
    shows(INT32_MAX, "", 0);
    CHECK_EQ(bad(), 4);
}

/* Every other entry has an address. */
TEST(host_stack_deeper_than_a_sample_keeps_its_leaf_where_it_is)
{
    struct old_entry deep[20];
    for (uintptr_t i = 0; i < 20; i++)
        deep[i] = (struct old_entry){ i ? i < 11 ? "x" : "leaf" : "root", 0, (uint32_t)i,
                                      (void *)(i % 2 ? 0 : 9000 - i) };
    begin_host();
    vm.host.limit = 20;
    old_entries = deep;
    shows(8, "root>x>x>x>x>x>x>x", 0);
    shows(12, "root>x>x>x>x>x>...>x>leaf", 4);
    CHECK_EQ(record->frames[MAX].line, 11);
    CHECK_EQ(record->frames[MAX - 1].sp, 9000 - 10);
    old_depth = 13; /* the first of the innermost two has no address of its own */
    taken();
    CHECK_EQ(record->frames[MAX - 1].line, 11);
    CHECK_EQ(record->frames[MAX - 1].sp, 9000 - 10);
}

TEST(capacity_is_read_anew_in_every_sample)
{
    begin_host();
    vm.host.limit = 0;
    vm.host.capacity = &old_capacity;
    old_capacity = 2;
    shows(4, "main>run>?", 2);
    old_capacity = 4;
    shows(4, "main>run>call>leaf", 0);
    old_capacity = 0;
    shows(4, "?", 4);
}

TEST(depth_of_eight_bytes_is_read_as_such)
{
    begin_host();
    vm.host.depth = &wide_depth;
    vm.host.depth_bytes = 8;
    wide_depth = 2;
    CHECK_STR(taken(), "main>run");
    wide_depth = (1ull << 32) + 4; /* its lower half alone would look fine */
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 1);
    wide_depth = (uint64_t)-1;
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 2);
    record->cut = UINT32_MAX - 2;
    jsp_record_cut(record, 3);
    CHECK_EQ(record->cut, UINT32_MAX);
}

TEST(array_that_moves_is_found_where_it_is)
{
    struct old_entry moved[4];
    begin_host();
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
}

TEST(entry_without_a_label_is_named_so_and_counted)
{
    struct old_entry holes[2] = { { "main", 0, 1, NULL }, { NULL, 0, 2, NULL } };
    begin_host();
    old_entries = holes;
    old_depth = 2;
    CHECK_STR(taken(), "main>[no name]");
    CHECK_EQ(jsp_counted(&names.n_bad), 1);
}

TEST(descriptions_that_can_not_be_read_are_refused)
{
    jsprof_stack s = by_offsets(), bad[3] = { s, s, s };
    bad[0].depth = NULL;
    bad[1].entries = NULL;
    bad[2].stride = 0;
    for (int i = 0; i < 3; i++)
        CHECK_EQ(jsp_vmstack_check(&bad[i]), -EINVAL);
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
    begin_host();
    vm.host.decode_sigsafe = decode_sigsafe;
    vm.host.host = &calls;
    old_entries = mixed;
    old_depth = 4;
    CHECK_STR(taken(), "main>run");
    CHECK_EQ(calls, 4);
    CHECK_EQ(record->frames[0].sp, 0);
    CHECK_EQ(record->frames[1].sp, 800);
    CHECK_EQ(bad(), 1);
}

/* -- (b), read by another thread ------------------------------------------------ */

/* From now on nothing is loaded plainly. Return false where the kernel does not copy, as qemu-user,
 * where the looker walks no sleeper. */
static bool read_from_outside(void)
{
    static uint8_t room[64];
    jsp_memread_foreign(&mem, (uintptr_t)room, room, sizeof room);
    if (mem.probes)
        puts("# no process_vm_readv");
    CHECK(mem.is_foreign);
    return !mem.probes;
}

TEST(another_thread_reads_the_same_array)
{
    begin_host();
    if (!read_from_outside())
        return;
    shows(3, "main>run>call", 0);
    CHECK_EQ(record->frames[1].sp, 900);
    CHECK_EQ(record->frames[2].sp, 700);
    CHECK_EQ(record->frames[2].line, 3);
    shows(5, "main>run>call>leaf>?", 1);
    CHECK_EQ(bad(), 0);
    shows(-1, "", 0);
    CHECK_EQ(bad(), 1);
}

TEST(array_that_is_gone_gives_another_thread_no_frames)
{
    struct old_entry *gone = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *odd = (char *)gone + 6; /* its word lies across two */
    begin_host();
    if (!read_from_outside())
        return;
    memcpy(gone, old, sizeof old);
    old_entries = gone;
    old_depth = 2;
    CHECK_STR(taken(), "main>run");
    munmap(gone, 4096);
    CHECK_STR(taken(), "");
    CHECK(bad() >= 2);
    old_entries = old;
    vm.host.depth = odd;
    CHECK_STR(taken(), "");
}

/* Its callback may load what is gone. */
TEST(another_thread_does_not_call_the_decoder)
{
    begin_host();
    if (!read_from_outside())
        return;
    vm.host.decode_sigsafe = (jsprof_decode_sigsafe_fn)(void *)1;
    old_depth = 3;
    CHECK_STR(taken(), "");
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
    CHECK_STR(taken(), "...>outer>outer>outer>outer>outer>outer>outer>inner");
    CHECK_EQ(record->n[JSP_RUN_WALKER], MAX + 1);
    CHECK_EQ(record->frames[0].sp, record->frames[1].sp);
    CHECK_EQ(record->cut, 1);
    with_walker(UINT32_MAX);
    taken();
    CHECK_EQ(record->n[JSP_RUN_WALKER], MAX + 1);
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
    CHECK_STR(taken(), "f0>x>x>x>main>run>...>outer>inner");
    CHECK_EQ(record->cut, MAX - 2);
    CHECK_EQ(record->n[JSP_RUN_LINKS], 1);
    CHECK_EQ(record->n[JSP_RUN_ARRAY], 3);
    CHECK_EQ(record->n[JSP_RUN_HOST], 2);
    CHECK_EQ(record->n[JSP_RUN_WALKER], 3);
    for (int i = 0; i < MAX; i++)
        jsprof_push(&own, "x", NULL, 0);
    CHECK_STR(taken(), "f0>x>x>x>x>x>?>...>run>...>inner"); /* some room for each */
    CHECK_EQ(record->cut, 4 + 2 + MAX);
}

TEST_MAIN()
