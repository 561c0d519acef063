/* stack.h - each sample of a capture as a list of names, for tests that know what every
 * stack must have been. VM frames have the names that the capture gives them. Native
 * frames are looked up in the test's own functions, each of which is in a section
 * of its own, and not in the capture's symbols, which other tests check.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_STACK_H
#define JSP_TEST_STACK_H

#include "host.h"

#include "capture/wire.h"

/* A function whose address range is known: STACK_PLACED(f) before its definition,
 * STACK_KNOWN(f) in the table. */
#define STACK_PLACED(name) __attribute__((noinline, used, section("at_" #name)))
#define STACK_DECLARE(name) extern const char __start_at_##name[], __stop_at_##name[]
#define STACK_KNOWN(name) { #name, __start_at_##name, __stop_at_##name }

enum { STACK_DEPTH = 1024, STACK_IDS = 1 << 20 };

struct stack_known {
    const char *name;
    const char *start, *end;
};

struct stack {
    uint64_t time_ns;
    int32_t tid;
    uint32_t n;
    const char *names[STACK_DEPTH]; /* outermost first; a native that is not known: "?" */
    uint64_t addrs[STACK_DEPTH];
};

struct stack_reader {
    const struct stack_known *known;
    uint32_t n_known;
    void (*see)(const struct stack *stack, void *arg);
    void *arg;
};

static inline void stack_learn(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                               char **labels)
{
    struct jsp_read_names names;
    struct jsp_read_text text;
    uint64_t addr;
    if (!jsp_read_names(c, f, &names))
        return;
    while (jsp_read_name(c, f, &names, &addr, &text))
        if (!labels[addr % STACK_IDS])
            labels[addr % STACK_IDS] = strndup(text.at, text.len);
}

static inline const char *stack_name(const struct stack_reader *r, char **labels, uint64_t addr)
{
    if ((addr & JSP_WIRE_JIT_TAG) == JSP_WIRE_JIT_TAG)
        return labels[addr % STACK_IDS] ? labels[addr % STACK_IDS] : "nameless";
    for (uint32_t i = 0; i < r->n_known; i++)
        if (addr >= (uintptr_t)r->known[i].start && addr < (uintptr_t)r->known[i].end)
            return r->known[i].name;
    return "?";
}

/* Show every sample of the host's capture, but for those of a thread without a processor. Return
 * how many there are. */
static inline uint64_t stack_each(const struct host *h, const struct stack_reader *r)
{
    static struct stack stack;
    char **labels = calloc(STACK_IDS, sizeof *labels);
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    struct jsp_read_sample s;
    uint64_t n = 0;
    jsp_read_start(&c, &h->read, NULL);
    while (labels && jsp_read_next(&c, &f)) {
        if (f.type == JSP_WIRE_JITMAP)
            stack_learn(&c, &f, labels);
        if (f.type != JSP_WIRE_SAMPLE || !jsp_read_sample(&c, &f, &s))
            continue;
        stack.time_ns = (uint64_t)f.time;
        stack.tid = s.tid;
        stack.n = s.n_addrs < STACK_DEPTH ? s.n_addrs : STACK_DEPTH;
        for (uint32_t i = 0; i < stack.n; i++) {
            stack.addrs[stack.n - 1 - i] = jsp_read_u64(&h->read, s.addrs + 8 * i);
            stack.names[stack.n - 1 - i] = stack_name(r, labels, stack.addrs[stack.n - 1 - i]);
        }
        if (stack.n && strcmp(stack.names[stack.n - 1], JSP_STATE_WAITING_FRAME) == 0)
            continue; /* a part of the sample before it */
        r->see(&stack, r->arg);
        n++;
    }
    for (uint32_t i = 0; labels && i < STACK_IDS; i++)
        free(labels[i]);
    free(labels);
    return n;
}

/* Run this on a thread whose stack lies right below the alternate signal stack that it is
 * given, or right above it; its checks are the only ones meanwhile. */
static inline void stack_run_beside(void *(*body)(void *alternate), bool is_above)
{
    const size_t own = 1 << 20, other = 1 << 16, all = own + other;
    char *at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, is_above ? at + other : at, own);
    int err = pthread_create(&thread, &attr, body, is_above ? at : at + own);
    if (!err)
        pthread_join(thread, NULL);
    CHECK_EQ(err, 0);
    pthread_attr_destroy(&attr);
    munmap(at, all);
}

/* How a program's stacks compare with the one way in which it calls. */
struct stack_chain {
    const char *const *calls; /* outermost first; ends with NULL */
    uint64_t n_whole;         /* samples with all of them */
    uint64_t n_wrong;         /* something missing, or in another order */
    uint64_t n_native_leaf;   /* of the whole ones: inside of the last, in code not known */
};

static inline void stack_show(const char *what, const struct stack *stack)
{
    printf("# %s:", what);
    for (uint32_t i = 0; i < stack->n; i++)
        if (stack->names[i][0] == '?')
            printf(" ?%llx", (unsigned long long)stack->addrs[i]);
        else
            printf(" %s,", stack->names[i]);
    puts("");
}

/* For stack_reader.see: but for unknown natives, it must be a beginning of the chain. */
static inline void stack_check_chain(const struct stack *stack, void *arg)
{
    struct stack_chain *chain = arg;
    uint32_t at = 0;
    bool wrong = false;
    for (uint32_t i = 0; i < stack->n && !wrong; i++) {
        if (strcmp(stack->names[i], "?") == 0)
            continue;
        wrong = !chain->calls[at] || strcmp(stack->names[i], chain->calls[at]) != 0;
        at++;
    }
    if (wrong && chain->n_wrong++ < 3 && !HOST_LATE)
        stack_show("wrong", stack);
    if (wrong || chain->calls[at])
        return;
    chain->n_whole++;
    chain->n_native_leaf += strcmp(stack->names[stack->n - 1], "?") == 0;
}

#endif
