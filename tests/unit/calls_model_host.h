/* calls_model_host.h - the random host of calls_model_test: it makes calls in every form, on
 * several stacks, and reports each event to the library and to the model.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CALLS_MODEL_HOST_H
#define CALLS_MODEL_HOST_H

#include <stdint.h>

#include "calls_model.h"
#include "session/session.h"
#include "test.h"

enum { FUNCTIONS = 8 };

static jsprof *prof;
static jsprof_thread *me;
static jsprof_function *functions[FUNCTIONS];
static struct model model;
static uint64_t now_ticks;
static uint64_t random_state = 88172645463325252u;

static uint32_t below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % n;
}

/* -- Its stacks, as memory lies -------------------------------------------------- */

/* One level of a stack. Inner levels have lower addresses. */
enum host_form { HOST_ARRAY, HOST_LINK, HOST_KEY };

struct host_entry {
    enum host_form form;
    jsprof_link link;
};

struct host_stack {
    jsprof_cstack c;
    struct host_entry room[MODEL_DEPTH]; /* entry i is room[MODEL_DEPTH - 1 - i] */
};

static struct host_stack host_stacks[MODEL_STACKS];

static struct host_entry *entry_at(int stack, uint32_t i)
{
    return &host_stacks[stack].room[MODEL_DEPTH - 1 - i];
}

/* Any address may be a key, such as an odd one. */
static const void *key_of(const struct host_entry *e)
{
    return (const char *)e + 1;
}

static struct model_stack *running(void)
{
    return &model.stacks[model.running];
}

static uint32_t id_of(int f)
{
    return f < 0 ? JSP_FUNCTION_NONE : functions[f]->index;
}

static const jsprof_function *function_of(int f)
{
    return f < 0 ? NULL : functions[f];
}

static int any_function(void)
{
    return (int)below(FUNCTIONS + 1) - 1;
}

static void tick(int event)
{
    uint64_t step = below(16) ? below(1000) : 0;
    now_ticks = below(500) ? now_ticks + step : now_ticks - step / 2;
    model_event(&model, now_ticks, event);
}

/* -- Its events ----------------------------------------------------------------- */

static void do_enter(void)
{
    struct model_stack *s = running();
    int f = any_function();
    if (s->n == MODEL_DEPTH)
        return;
    struct host_entry *e = entry_at(model.running, s->n);
    e->form = (enum host_form)below(3);
    tick(0);
    model_push(&model, id_of(f));
    s->at[s->n - 1].is_keyed = e->form == HOST_KEY;
    if (e->form == HOST_LINK) {
        jsprof_link_enter(me, &e->link, function_of(f));
        return;
    }
    if (e->form == HOST_KEY) {
        jsprof_call_enter(me, function_of(f), key_of(e));
        return;
    }
    if (below(2))
        jsprof_enter(me, function_of(f));
    else
        jsprof_section_begin(me, function_of(f));
    me->frames[me->depth - 1].sp = (uintptr_t)e;
}

/* Array entries below entry i of the running stack, on all of its levels. */
static uint32_t depth_below(uint32_t i)
{
    uint32_t depth = 0;
    for (int s = model.running; s >= 0; s = model.stacks[s].resumer)
        for (uint32_t k = 0; k < (s == model.running ? i : model.stacks[s].n); k++)
            depth += entry_at(s, k)->form == HOST_ARRAY;
    return depth;
}

/* Return the link that is innermost when entries [i, n) of the running stack are gone: what
 * longjmp does to links. */
static jsprof_link *top_below(uint32_t i)
{
    jsprof_link *top = me->top;
    for (uint32_t k = running()->n; k-- > i;)
        top = entry_at(model.running, k)->form == HOST_LINK ? top->up : top;
    return top;
}

/* Return the number of counted entries inside entry i. */
static uint32_t known_inside(uint32_t i)
{
    const struct model_stack *s = running();
    uint32_t n = 0;
    while (++i < s->n)
        n += s->at[i].known;
    return n;
}

/* Leave a call by its key. A plain leave counts the calls inside it, which were not left. */
static void leave_key(uint32_t i)
{
    struct model_stack *s = running();
    struct host_entry *e = entry_at(model.running, i);
    bool is_through = below(2);
    tick(1);
    if (model_needs_stack(&model))
        model.underflows += !s->at[i].known + (is_through ? 0 : known_inside(i));
    if (is_through)
        jsprof_call_leave_through(me, key_of(e));
    else
        jsprof_call_leave(me, key_of(e));
    me->top = top_below(i);
    s->n = i;
    me->depth = depth_below(i);
}

/* Leave entry i of the running stack, and all entries inside it. If i is not known, it is the
 * innermost entry, or no entry further out is known. */
static void leave_entry(uint32_t i)
{
    struct model_stack *s = running();
    struct host_entry *e = entry_at(model.running, i);
    bool single = i + 1 == s->n;
    if (e->form == HOST_KEY) {
        leave_key(i);
        return;
    }
    if (e->form == HOST_LINK) {
        tick(1);
        if (model_needs_stack(&model))
            model.underflows += !s->at[i].known;
        s->n = i;
        jsprof_link_leave(me, &e->link);
        me->depth = depth_below(i);
        return;
    }
    jsprof_link *top = top_below(i);
    tick(1);
    if (single && below(2))
        jsprof_leave(me);
    else
        jsprof_leave_to(me, depth_below(i));
    me->top = top;
    s->n = i;
}

/* Longjmp into the frame of a known link or key, which stays. */
static void do_unwind(void)
{
    struct model_stack *s = running();
    uint32_t i = s->n ? below(s->n) : 0;
    struct host_entry *e = entry_at(model.running, i);
    if (!s->n || !s->at[i].known || e->form == HOST_ARRAY ||
        (e->form == HOST_LINK && me->top == &e->link))
        return;
    jsprof_link *top = top_below(i + 1);
    tick(1);
    if (e->form == HOST_KEY) {
        jsprof_call_unwind_to(me, key_of(e));
        me->top = top;
    } else {
        jsprof_link_unwind_to(me, &e->link);
    }
    s->n = i + 1;
    me->depth = depth_below(i + 1);
}

/* Longjmp to where the running stack has no link. */
static void do_unwind_all(void)
{
    struct model_stack *s = running();
    uint32_t i = 0;
    while (i < s->n && entry_at(model.running, i)->form != HOST_LINK)
        i++;
    if (model.running || i == s->n || !s->at[i].known)
        return;
    tick(1);
    s->n = i;
    jsprof_link_unwind_to(me, NULL);
    me->depth = depth_below(i);
}

static void do_leave(void)
{
    struct model_stack *s = running();
    if (!s->n)
        return;
    uint32_t i = s->n - 1;
    if (!below(6)) /* longjmp, but not out of an unknown entry, nor over one */
        while (i && s->at[i - 1].known && below(3))
            i--;
    leave_entry(i);
}

static void do_tail(void)
{
    struct model_stack *s = running();
    int f = any_function();
    if (!s->n || (!s->at[s->n - 1].known && model_needs_stack(&model)))
        return;
    struct host_entry *e = entry_at(model.running, s->n - 1);
    tick(0);
    s->n--;
    model_push(&model, id_of(f));
    s->at[s->n - 1].is_keyed = e->form == HOST_KEY;
    if (e->form == HOST_LINK)
        jsprof_link_tail_call(me, &e->link, function_of(f));
    else if (e->form == HOST_KEY)
        jsprof_call_tail(me, function_of(f), key_of(e));
    else
        jsprof_tail_call(me, function_of(f));
}

static void do_alloc(void)
{
    uint64_t bytes = below(4096);
    if (model.modes & MODEL_ALLOC)
        model_pass(&model, 0, bytes);
    jsprof_alloc(me, bytes);
}

/* Leave a call that was never entered. */
static void do_odd_leave(void)
{
    static jsprof_link stray;
    stray.up = me->top;
    if (model.modes & ~(uint32_t)MODEL_COUNT) {
        model_event(&model, now_ticks, 1);
        model.underflows++;
    }
    if (below(2))
        jsprof_link_leave(me, &stray);
    else
        jsprof_call_leave(me, &stray);
}

static void do_modes(void)
{
    uint32_t modes = below(3) ? below(16) : below(2) ? MODEL_COUNT | MODEL_TIME : 15;
    uint64_t at = now_ticks;
    if (modes != model.modes) /* new modes have costs of their own: none */
        memset(model.cost, 0, sizeof model.cost);
    model_modes(&model, modes, at);
    CHECK_EQ(jsprof_calls_set(prof, modes), 0);
}

/* -- Coroutines ------------------------------------------------------------------ */

static bool on_chain(int stack)
{
    int s = model.running;
    while (s >= 0 && s != stack)
        s = model.stacks[s].resumer;
    return s >= 0;
}

/* Bring the thread's entries to those of the running chain, outermost first. */
static void rebuild(int stack)
{
    if (stack < 0)
        return;
    rebuild(model.stacks[stack].resumer);
    for (uint32_t i = 0; i < model.stacks[stack].n; i++) {
        struct host_entry *e = entry_at(stack, i);
        uint32_t id = model.stacks[stack].at[i].id;
        const jsprof_function *f = id == JSP_FUNCTION_NONE ? NULL : jsp_function_at(id);
        if (e->form == HOST_LINK) {
            e->link.up = me->top;
            me->top = &e->link;
        } else if (e->form == HOST_ARRAY) {
            me->frames[me->depth++] = (jsprof_frame){ .function = f, .sp = (uintptr_t)e };
        }
    }
}

static void switch_to(int stack)
{
    tick(2);
    model.running = stack;
    for (int s = stack; s >= 0; s = model.stacks[s].resumer)
        host_stacks[s].c.resumer =
            model.stacks[s].resumer > 0 ? &host_stacks[model.stacks[s].resumer].c : NULL;
    jsprof_stack_switch(me, stack ? &host_stacks[stack].c : NULL);
    me->top = NULL;
    me->depth = 0;
    rebuild(stack);
}

static void do_resume(void)
{
    int stack = 1 + (int)below(MODEL_STACKS - 1);
    if (on_chain(stack))
        return;
    model.stacks[stack].resumer = model.running;
    switch_to(stack);
}

static void do_yield(void)
{
    int from = model.running, to = model.stacks[from].resumer;
    if (to < 0)
        return;
    if (!below(4)) { /* to another stack, which then has the same resumer */
        int other = 1 + (int)below(MODEL_STACKS - 1);
        if (!on_chain(other)) {
            model.stacks[other].resumer = to;
            to = other;
        }
    }
    switch_to(to);
    model.stacks[from].resumer = -1;
}

static void do_forget(void)
{
    int stack = 1 + (int)below(MODEL_STACKS - 1);
    if (on_chain(stack))
        return;
    jsprof_stack_forget(me, &host_stacks[stack].c);
    model.stacks[stack].n = 0;
}

/* -- Trees ------------------------------------------------------------------------ */

/* Do one random event. */
static void host_step(void)
{
    uint32_t what = below(64);
    if (what < 24)
        do_enter();
    else if (what < 46)
        do_leave();
    else if (what < 50)
        do_tail();
    else if (what < 54)
        do_alloc();
    else if (what < 57)
        do_resume();
    else if (what < 60)
        do_yield();
    else if (what < 61)
        do_forget();
    else if (what < 62)
        do_odd_leave();
    else if (what < 63 && !below(8))
        do_modes();
    else if (what == 63 && below(4))
        do_unwind();
    else if (what == 63)
        do_unwind_all();
}

/* End all coroutines and calls. */
static void host_finish(void)
{
    while (model.running)
        do_yield();
    while (running()->n)
        do_leave();
}

#endif
