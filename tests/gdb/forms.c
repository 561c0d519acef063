/* forms.c - a host whose threads each give their stack in one form, and then rest. It opens a
 * session that only describes. Arguments: "abort", to leave a core file; "deep", for one stack of
 * 60 frames of both kinds.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jsprof.h"

#define CHECK(call)                                  \
    do {                                             \
        if ((call) < 0) {                            \
            fprintf(stderr, "%s failed\n", #call);   \
            exit(1);                                 \
        }                                            \
    } while (0)

static jsprof *session;
static pthread_barrier_t ready;

__attribute__((noinline)) void forms_ready(int code)
{
    __asm__ volatile("" : : "r"(code) : "memory");
}

/* All threads but the first end here. */
static __attribute__((noinline)) void rest(void)
{
    pthread_barrier_wait(&ready);
    for (;;)
        pause();
}

static jsprof_thread *attach(const char *name)
{
    jsprof_thread *t;
    CHECK(jsprof_thread_attach(session, name, &t));
    return t;
}

static jsprof_function *function(const char *name, const char *file, uint32_t line)
{
    jsprof_function *f;
    CHECK(jsprof_function_new(&f, name, file, line, JSPROF_KIND_VM));
    return f;
}

/* -- Form (a) ----------------------------------------------------------------------- */

static __attribute__((noinline)) void run_linked(jsprof_thread *t, int depth, void (*then)(void))
{
    char name[32];
    jsprof_link link;
    snprintf(name, sizeof name, "linked%d", depth);
    jsprof_link_enter(t, &link, function(name, "linked.vm", 10u * (unsigned)depth));
    link.line = 10u * (unsigned)depth + 5;
    if (depth > 1)
        run_linked(t, depth - 1, then);
    else
        then();
    jsprof_link_leave(t, &link);
}

static void *linked(void *unused)
{
    run_linked(attach("linked"), 3, rest);
    return unused;
}

static void *array(void *unused)
{
    static const jsprof_code_line rows[] = { { 1, 41 }, { 5, 42 }, { 9, 43 } };
    jsprof_thread *t = attach("array");
    jsprof_function *by_pc = function("by_pc", "array.vm", 40);
    CHECK(jsprof_function_lines(by_pc, rows, 3));
    jsprof_push(t, "outer", "array.vm", 7);
    jsprof_enter(t, by_pc);
    jsprof_pc(t, 6);
    rest();
    return unused;
}

/* -- Form (b) ----------------------------------------------------------------------- */

struct entry {
    const char *name, *file;
    uint64_t pc;
    uint32_t line, defined;
};

static struct entry entries[] = {
    { "first", "host.vm", 100, 3, 1 }, { "second", "host.vm", 200, 5, 4 },
    { "third", NULL, 300, 8, 0 },
};

#define BY_OFFSETS                                                                \
    .size = sizeof(jsprof_stack), .stride = sizeof(struct entry),                 \
    .label_offset = offsetof(struct entry, name),                                 \
    .detail_offset = offsetof(struct entry, file),                                \
    .sp_offset = JSPROF_NO_FIELD, .line_offset = offsetof(struct entry, line),    \
    .pc_offset = offsetof(struct entry, pc), .kind = JSPROF_JOIN_PAREN,           \
    .defined_offset = offsetof(struct entry, defined)

static void *by_depth(void *unused)
{
    static uint64_t depth = 3;
    static const struct entry *first = entries;
    static const jsprof_stack stack = { BY_OFFSETS, .depth = &depth, .depth_bytes = 8,
                                        .entries = &first };
    CHECK(jsprof_thread_set_stack(attach("depth"), &stack));
    rest();
    return unused;
}

static void *by_end(void *unused)
{
    static const struct entry *first = entries, *last = &entries[1];
    static const jsprof_stack stack = { BY_OFFSETS, .end = &last, .end_is_last = 1,
                                        .entries = &first };
    CHECK(jsprof_thread_set_stack(attach("end"), &stack));
    rest();
    return unused;
}

struct fiber {
    struct fiber *resumer;
    const struct entry *entries;
    uint32_t depth;
};

static void *by_context(void *unused)
{
    static struct fiber outer = { NULL, entries, 2 }, inner = { &outer, entries + 2, 1 };
    static struct fiber *running = &inner;
    static const jsprof_stack stack = {
        BY_OFFSETS, .context = &running, .depth_bytes = 4,
        .depth_at = offsetof(struct fiber, depth),
        .entries_at = offsetof(struct fiber, entries), .end_at = JSPROF_NO_FIELD,
        .capacity_at = JSPROF_NO_FIELD, .resumer_at = offsetof(struct fiber, resumer),
    };
    CHECK(jsprof_thread_set_stack(attach("context"), &stack));
    rest();
    return unused;
}

/* -- Form (c), which only a table and a Python file of its own could read ------------- */

static uint32_t no_walk(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    (void)host, (void)ucontext, (void)out, (void)max;
    return 0;
}

static void *walked(void *unused)
{
    CHECK(jsprof_thread_set_walker(attach("walked"), no_walk, NULL));
    rest();
    return unused;
}

static void *stranger(void *unused)
{
    rest();
    return unused;
}

static void *(*const forms[])(void *) = {
    linked, array, by_depth, by_end, by_context, walked, stranger,
};
enum { FORMS = sizeof forms / sizeof *forms };

static int argument_abort;

static void all_ready(void)
{
    if (!argument_abort)
        forms_ready(1);
    else
        abort();
}

int main(int argc, char **argv)
{
    jsprof_options options = { .size = sizeof options, .flags = JSPROF_DESCRIBE };
    pthread_t thread;
    argument_abort = argc > 1 && strcmp(argv[1], "abort") == 0;
    CHECK(jsprof_open(&session, &options));
    if (jsprof_start(session) != -EINVAL)
        return 2;
    if (argc > 1 && strcmp(argv[1], "deep") == 0) {
        CHECK(jsprof_interpreter_add(session, (const void *)run_linked, 0));
        run_linked(attach("main"), 30, all_ready);
        return 0;
    }
    pthread_barrier_init(&ready, NULL, FORMS + 1);
    for (int i = 0; i < FORMS; i++)
        pthread_create(&thread, NULL, forms[i], NULL);
    pthread_barrier_wait(&ready);
    run_linked(attach("main"), 2, all_ready);
    return 0;
}
