/* unit/vmstack_fibers_test.c - src/sigsafe/vmstack.c: the host's own arrays with an end pointer
 * in place of a counter, one array for each coroutine, and names that callbacks compute.
 *
 * SPDX-License-Identifier: MIT
 */
#include "vmstack.h"

#include <sys/mman.h>

struct entry {
    const char *name, *file;
    uint32_t line, defined;
    void *sp;
};

/* What hosts such as mruby have for each coroutine. */
struct fiber {
    struct fiber *resumer;
    struct entry *base, *last; /* outermost and innermost entry */
    uint32_t depth, room;
};

static struct entry first[4] = {
    { "main", "a.x", 1, 0, (void *)900 }, { "run", "a.x", 2, 0, NULL },
    { "call", "a.x", 3, 0, (void *)700 }, { "leaf", "a.x", 4, 0, (void *)600 },
};
static struct entry second[2] = { { "each", "b.x", 5, 0, NULL }, { "block", "b.x", 6, 0, NULL } };
static struct entry *base = first, *last;
static struct fiber root = { NULL, first, first + 1, 2, 4 };
static struct fiber inner = { &root, second, second + 1, 2, 2 };
static struct fiber *running;

static jsprof_stack fields(void)
{
    return (jsprof_stack){
        .size = sizeof(jsprof_stack), .stride = sizeof(struct entry),
        .label_offset = offsetof(struct entry, name), .detail_offset = JSPROF_NO_FIELD,
        .sp_offset = offsetof(struct entry, sp), .line_offset = offsetof(struct entry, line),
        .pc_offset = JSPROF_NO_FIELD,
    };
}

static void by_end(uint32_t is_last)
{
    begin();
    vm.host = fields();
    vm.host.entries = &base;
    vm.host.end = &last;
    vm.host.end_is_last = is_last;
    base = first;
    CHECK_EQ(jsp_vmstack_check(&vm.host), 0);
}

TEST(end_pointer_takes_the_place_of_a_counter)
{
    by_end(1);
    last = first + 2;
    CHECK_STR(taken(), "main>run>call");
    CHECK_EQ(record->frames[1].sp, 900);
    CHECK_EQ(record->frames[2].line, 3);
    last = NULL;
    CHECK_STR(taken(), "");
    by_end(0);
    last = first + 2;
    CHECK_STR(taken(), "main>run");
    last = first;
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 0);
    vm.host.limit = 1;
    last = first + 3;
    CHECK_STR(taken(), "main>?");
    CHECK_EQ(record->cut, 2);
}

TEST(end_pointer_into_another_array_is_bad)
{
    by_end(1);
    base = first + 1;
    last = first;
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 1);
    base = first;
    last = (struct entry *)(void *)((char *)(first + 1) + 1);
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 2);
    base = NULL; /* no array yet */
    CHECK_STR(taken(), "");
    CHECK_EQ(bad(), 2);
}

static void by_fibers(bool has_end)
{
    begin();
    vm.host = fields();
    vm.host.context = &running;
    vm.host.entries_at = offsetof(struct fiber, base);
    vm.host.end_at = has_end ? (int32_t)offsetof(struct fiber, last) : JSPROF_NO_FIELD;
    vm.host.depth_at = has_end ? JSPROF_NO_FIELD : (int32_t)offsetof(struct fiber, depth);
    vm.host.depth_bytes = has_end ? 0 : 4;
    vm.host.capacity_at = offsetof(struct fiber, room);
    vm.host.resumer_at = offsetof(struct fiber, resumer);
    vm.host.end_is_last = 1;
    CHECK_EQ(jsp_vmstack_check(&vm.host), 0);
}

TEST(frames_of_the_resumers_are_further_out)
{
    for (int has_end = 0; has_end < 2; has_end++) {
        by_fibers(has_end);
        running = NULL;
        CHECK_STR(taken(), "");
        running = &root;
        CHECK_STR(taken(), "main>run");
        running = &inner;
        CHECK_STR(taken(), "main>run>each>block");
        CHECK_EQ(record->frames[3].line, 6);
        CHECK_EQ(bad(), 0);
    }
}

TEST(array_of_a_resumer_that_lacks_its_innermost_entries_is_cut)
{
    by_fibers(false);
    running = &inner;
    root.depth = 7; /* of 4 */
    CHECK_STR(taken(), "main>run>call>leaf>each>block");
    CHECK_EQ(record->cut, 3);
    inner.depth = 3; /* of 2 */
    CHECK_STR(taken(), "main>run>call>leaf>each>block>?");
    CHECK_EQ(record->cut, 4);
    root.depth = inner.depth = 2;
}

TEST(coroutines_that_do_not_fit_keep_the_outermost_and_the_innermost_frames)
{
    static struct fiber many[3];
    static struct entry entries[3][4];
    static const char *const names_of[3] = { "a", "b", "c" };
    for (uint32_t i = 0; i < 3; i++) {
        many[i] = (struct fiber){ i ? &many[i - 1] : NULL, entries[i], &entries[i][3], 4, 4 };
        for (uint32_t k = 0; k < 4; k++)
            entries[i][k] = (struct entry){ names_of[i], NULL, k, 0,
                                            (void *)(uintptr_t)(k % 2 ? 0 : 900 - 10 * i - k) };
    }
    by_fibers(true);
    running = &many[2];
    CHECK_STR(taken(), "a>a>a>a>b>b>...>c>c"); /* 12 frames; room for 8 */
    CHECK_EQ(record->cut, 4);
    CHECK_EQ(record->frames[MAX].line, 3);
    CHECK_EQ(record->frames[MAX].sp, 900 - 20 - 2);
    many[2].last = &entries[2][0]; /* the innermost two belong to two coroutines */
    CHECK_STR(taken(), "a>a>a>a>b>b>...>b>c");
    CHECK_EQ(record->frames[MAX - 1].sp, 900 - 10 - 2); /* has no address of its own */
    CHECK_EQ(record->frames[MAX].sp, 900 - 20);
}

TEST(circle_of_coroutines_ends)
{
    by_fibers(true);
    running = &inner;
    root.resumer = &inner;
    taken();
    CHECK_EQ(bad(), 1);
    CHECK_EQ(record->n[JSP_RUN_HOST], MAX + 1);
    root.resumer = NULL;
}

TEST(descriptions_with_two_ends_or_none_are_refused)
{
    jsprof_stack bad[5];
    by_end(1);
    bad[0] = bad[1] = vm.host;
    bad[0].depth = &root.depth;
    bad[0].depth_bytes = 4;
    bad[1].end = NULL;
    by_fibers(true);
    bad[2] = bad[3] = bad[4] = vm.host;
    bad[2].depth_at = 0;
    bad[3].end_at = JSPROF_NO_FIELD;
    bad[4].entries_at = JSPROF_NO_FIELD;
    for (int i = 0; i < 5; i++)
        if (!CHECK_EQ(jsp_vmstack_check(&bad[i]), -EINVAL))
            printf("# description %d\n", i);
}

/* -- Names ------------------------------------------------------------------------- */

TEST(functions_of_one_name_are_kept_apart_by_the_line_of_their_definition)
{
    for (uint32_t i = 0; i < 4; i++)
        first[i].name = "lambda";
    first[0].defined = 10;
    first[1].defined = 4294967295u;
    first[2].defined = 10;
    first[3].defined = 0;
    by_end(1);
    vm.host.detail_offset = offsetof(struct entry, file);
    vm.host.defined_offset = offsetof(struct entry, defined);
    vm.host.kind = JSPROF_JOIN_PAREN;
    last = first + 3;
    CHECK_STR(taken(), "lambda (a.x:10)>lambda (a.x:4294967295)>lambda (a.x:10)>lambda (a.x)");
    CHECK_EQ(record->frames[0].id, record->frames[2].id);
    CHECK_EQ(record->frames[0].pc, 0);
    CHECK_STR(taken(), "lambda (a.x:10)>lambda (a.x:4294967295)>lambda (a.x:10)>lambda (a.x)");
    vm.host.detail_offset = JSPROF_NO_FIELD; /* no file, no line */
    CHECK_STR(taken(), "lambda>lambda>lambda>lambda");
}

static uint32_t walk_defined(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    (void)host, (void)ucontext, (void)max;
    out[0] = (jsprof_frame){ .label = "C", .detail = "m", .pc = 77ull << 32 | 5,
                             .kind = JSPROF_JOIN_DOT | JSPROF_FRAME_DEFINED };
    return 1;
}

TEST(frame_with_the_line_of_its_definition_keeps_its_pc)
{
    begin();
    vm.walk_sigsafe = walk_defined;
    CHECK_STR(taken(), "C.m:77");
    CHECK_EQ(record->frames[0].pc, 5);
}

static int n_refused;

/* Compute a name for each entry. */
static int decode_numbered(void *host, const void *entry, jsprof_frame *out)
{
    const struct entry *e = entry;
    size_t room = *(const size_t *)host;
    char *text = jsp_vmstack_scratch(&vm, room);
    n_refused += !text;
    if (text)
        snprintf(text, room, "n%u", (unsigned)e->line);
    out->label = text ? text : "none";
    return 1;
}

TEST(callbacks_have_memory_for_names_until_the_sample_ends)
{
    size_t each = 3;
    by_end(1);
    vm.host.decode_sigsafe = decode_numbered;
    vm.host.host = &each;
    last = first + 3;
    for (int i = 0; i < 2; i++) /* the same memory in each sample */
        CHECK_STR(taken(), "n1>n2>n3>n4");
    first[0].line = 9;
    CHECK_STR(taken(), "n9>n2>n3>n4");
    first[0].line = 1;
    each = JSP_VMSTACK_SCRATCH / 4;
    CHECK_STR(taken(), "n1>n2>n3>n4");
    CHECK_EQ(n_refused, 0);
    each = JSP_VMSTACK_SCRATCH / 2 - 7; /* rounded up: two fit */
    CHECK_STR(taken(), "n1>n2>none>none");
    CHECK_EQ(n_refused, 2);
    CHECK(jsp_vmstack_scratch(&vm, 1) == NULL); /* no sample is being taken */
}

static unsigned n_read, n_bad_reads;

/* Follow the entry's pointer, which leads to a page that is gone where the line is 2. */
static int decode_with_care(void *host, const void *entry, jsprof_frame *out)
{
    const struct entry *e = entry;
    const char *gone = host;
    char name[8];
    bool is_old = e->line == 2;
    if (!jsp_vmstack_peek(&vm, name, is_old ? gone : e->name, 3)) {
        n_bad_reads++;
        return -1;
    }
    n_read++;
    out->label = &"\0a\0b\0c\0d"[2 * e->line - 1];
    return 1;
}

static void *gone_page(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page, 4096);
    return page;
}

TEST(callbacks_read_memory_that_may_be_gone)
{
    char byte;
    by_end(1);
    vm.host.decode_sigsafe = decode_with_care;
    vm.host.host = gone_page();
    last = first + 3;
    CHECK_STR(taken(), "a>c>d");
    CHECK_EQ(n_read, 3);
    CHECK_EQ(n_bad_reads, 1);
    CHECK_EQ(jsp_counted(&vm.n_bad), 1);
    CHECK(!jsp_vmstack_peek(&vm, &byte, first, 1)); /* no sample is being taken */
    vm.is_reading = true;
    CHECK(!jsp_vmstack_peek(&vm, &byte, first, SIZE_MAX)); /* past the end of memory */
    CHECK(jsp_vmstack_peek(&vm, &byte, NULL, 0));
}

TEST(array_that_is_gone_is_bad_and_its_entries_are_not_read)
{
    begin();
    vm.host = fields();
    vm.host.entries = &base;
    vm.host.depth = &root.depth;
    vm.host.depth_bytes = 4;
    base = gone_page();
    CHECK_STR(taken(), "");
    CHECK_EQ(jsp_counted(&vm.n_bad), 2);
    base = first;
}

TEST(coroutine_that_is_gone_ends_the_chain)
{
    by_fibers(true);
    root.resumer = gone_page();
    running = &inner;
    CHECK_STR(taken(), "lambda>lambda>each>block");
    CHECK_EQ(jsp_counted(&vm.n_bad), 1);
    root.resumer = NULL;
}

TEST_MAIN()
