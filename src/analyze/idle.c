/* analyze/idle.c - stacks of threads that wait for events: the category "idle".
 *
 * SPDX-License-Identifier: MIT
 */
#include "idle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

/* Flags of a function. */
enum { IDLE_KNOWN = 1, IDLE_WAITS = 2, IDLE_LOOPS = 4 };

/* Since glibc 2.41, poll and the like call a function of the library that makes the system
 * call, up to this many deep. A program's own function of such a name may call any code. */
enum { IDLE_BELOW = 4 };

struct idle_find {
    uint8_t *known; /* by function */
    uint32_t n_known, room;
    struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
};

static bool idle_is(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static uint8_t idle_ask(const struct jsp_function *f)
{
    static const char *const waits[] = {
        "poll", "ppoll", "__poll", "__ppoll", "epoll_wait", "epoll_pwait", "epoll_pwait2",
        "select", "pselect", "__select",
    };
    static const char *const loops[] = {
        "g_main_loop_run", "g_main_context_iteration", "g_main_context_iterate",
        "uv_run", "ev_run", "event_base_loop", "sd_event_run",
    };
    if (f->kind != JSPROF_KIND_NATIVE)
        return IDLE_KNOWN;
    if (idle_is(f->name, waits, sizeof waits / sizeof *waits))
        return IDLE_KNOWN | IDLE_WAITS;
    if (idle_is(f->name, loops, sizeof loops / sizeof *loops))
        return IDLE_KNOWN | IDLE_LOOPS;
    return IDLE_KNOWN;
}

/* Return the function's flags, or -ENOMEM. */
static int idle_flags(struct idle_find *f, const struct jsp_profile *p, uint32_t function)
{
    for (; f->n_known < p->n_functions; f->n_known++) {
        if (jsp_grow(&f->known, &f->room, f->n_known, 1) < 0)
            return -ENOMEM;
        f->known[f->n_known] = idle_ask(&p->functions[f->n_known]);
    }
    return f->known[function];
}

static const char *const idle_calls[] = {
    "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2",
};

/* Return true if the thread sleeps in a system call that waits for descriptors. */
static bool idle_is_asleep(const struct jsp_profile_state *s)
{
    char name[16];
    if (s->state != JSP_STATE_ASLEEP || s->detail.len >= sizeof name)
        return false;
    memcpy(name, s->detail.at, s->detail.len);
    name[s->detail.len] = 0;
    return idle_is(name, idle_calls, sizeof idle_calls / sizeof *idle_calls);
}

/* Return 1 if the stack is idle, 0 if not, or -ENOMEM. */
static int idle_stack(struct idle_find *f, struct jsp_profile *p, uint32_t stack)
{
    const struct jsp_profile_state *state = jsp_profile_state(p, stack);
    if (state->state && !idle_is_asleep(state))
        return 0;
    int n = jsp_profile_frames(p, stack, f->frames);
    int flags = n > 0 ? idle_flags(f, p, f->frames[0].function) : n, at = 0;
    if (n <= 0 || flags < 0)
        return n <= 0 ? n : flags;
    const struct jsp_function *leaf = &p->functions[f->frames[0].function];
    while (at + 1 < n && at < IDLE_BELOW && strncmp(leaf->module, "libc.so.", 8) == 0 &&
           !(f->known[f->frames[at].function] & IDLE_WAITS) &&
           strcmp(leaf->module, p->functions[f->frames[at + 1].function].module) == 0)
        at++;
    if (!state->state && !(f->known[f->frames[at].function] & IDLE_WAITS))
        return 0;
    for (int i = state->state ? 0 : at + 1; i < n; i++)
        if (f->known[f->frames[i].function] & IDLE_LOOPS)
            return 1;
    return 0;
}

int jsp_idle_find(struct jsp_profile *p, bool *of)
{
    int n = 0, is = 0;
    memset(of, 0, p->n_stacks);
    if (p->unit != JSP_VALUE_WALL)
        return 0;
    struct idle_find *f = calloc(1, sizeof *f);
    if (!f)
        return -ENOMEM;
    for (uint32_t i = 0; is >= 0 && i < p->n_stacks; i++) {
        is = idle_stack(f, p, i);
        of[i] = is > 0;
        n += is > 0;
    }
    free(f->known);
    free(f);
    return is < 0 ? is : n;
}

int jsp_idle_sum(struct jsp_idle_sum *out, struct jsp_profile *p,
                 const struct jsp_select *select, const bool *of)
{
    struct jsp_profile_frame *frames = malloc(JSP_PROFILE_DEPTH * sizeof *frames);
    int n = frames ? 0 : -ENOMEM;
    *out = (struct jsp_idle_sum){ .is_all = true };
    for (uint32_t i = 0; n >= 0 && i < p->n_stacks; i++) {
        if (!jsp_select_has(select, &p->stacks[i]) || (!of[i] && !out->is_all))
            continue;
        n = jsp_select_frames(select, p, i, frames);
        if (n <= 0)
            continue;
        out->is_all = out->is_all && of[i];
        out->samples += of[i] ? p->stacks[i].samples : 0;
        out->value += of[i] ? p->stacks[i].value : 0;
    }
    free(frames);
    return n < 0 ? n : 0;
}
