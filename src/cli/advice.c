/* cli/advice.c - what to record in another way when a capture has little to show.
 *
 * SPDX-License-Identifier: MIT
 */
#include "advice.h"

#include <stdio.h>
#include <string.h>

#include "jsprof.h"

enum {
    ADVICE_WAITING = 10, /* less than 1 part in so many was CPU time: the rest is waits */
    ADVICE_SELDOM = 2,   /* so many expirations a sample */
    ADVICE_FEW = 20,     /* samples, below which their number may be chance */
    ADVICE_LUA = 5,      /* percent of the time, below which Lua is rare */
};

static uint64_t advice_time(const struct jsp_account *a, enum jsp_clock clock)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < a->n_threads; i++)
        sum += a->threads[i].clock_ns[clock];
    return sum;
}

bool cli_advice(const struct cli_capture *c, char *out, size_t size)
{
    const struct jsp_profile *p = &c->profile;
    struct jsp_account_verdict v;
    char cpu[CLI_NUMBER], n[CLI_NUMBER], share[CLI_NUMBER];
    jsp_account_verdict(&p->account, &v);
    const struct jsp_account_thread *t = &v.sum;
    uint64_t ran = advice_time(&p->account, JSP_CLOCK_CPU);
    uint64_t passed = advice_time(&p->account, JSP_CLOCK_WALL);
    /* Idle time that does not count is not in the shares, so it needs no advice. */
    passed -= c->idle.value < passed ? c->idle.value : passed;
    bool is_wall = strcmp(p->clock, "wall") == 0;
    bool counts_waits = p->unit == (enum jsp_value)JSP_CLOCK_WALL;

    if (p->account.n_threads == 0 || !p->hz || !p->clock[0])
        return false;
    bool is_idle_only = c->select.left_out && !c->idle.samples;
    if (c->select.threads || c->select.filter || is_idle_only || c->is_part)
        return false;
    if (t->samples == 0 && t->expirations == 0 && !is_wall)
        snprintf(out, size, "its threads used %s of CPU time, %u Hz asked for: a higher rate or "
                            "the wall clock would take some",
                 cli_duration(cpu, ran), p->hz);
    else if (t->samples == 0 && t->expirations == 0)
        snprintf(out, size, "its threads were recorded for %s, %u Hz asked for: a higher rate "
                            "would take some",
                 cli_duration(cpu, passed), p->hz);
    else if (counts_waits && t->samples >= ADVICE_FEW && ran < passed / ADVICE_WAITING)
        snprintf(out, size, "The threads waited for %s of the time: --clock cpu shows the rest",
                 cli_percent(share, (double)(passed - ran) / (double)passed));
    else if (!is_wall && t->samples >= ADVICE_FEW && t->samples < t->expirations / ADVICE_SELDOM)
        snprintf(out, size, "A sample counts for %s expirations, because the kernel measures CPU "
                            "time at its own tick; the wall clock is sampled at the full rate",
                 cli_count(n, (t->kept + t->samples / 2) / t->samples));
    else
        return false;
    return true;
}

void cli_lua_note(struct cli_capture *c)
{
    static struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
    struct jsp_profile *p = &c->profile;
    char share[CLI_NUMBER];
    uint64_t value = 0; /* of the stacks in which a Lua function runs */
    if (!p->value || !p->is_of_lua)
        return;
    for (uint32_t s = 0; s < p->n_stacks; s++) {
        int n = jsp_profile_frames(p, s, frames);
        bool has_lua = false;
        for (int i = 0; i < n && !has_lua; i++)
            has_lua = frames[i].kind == JSPROF_KIND_VM || frames[i].kind == JSPROF_KIND_JIT;
        value += has_lua ? p->stacks[s].value : 0;
    }
    double lua = (double)value / (double)p->value;
    if (100 * lua >= ADVICE_LUA)
        return;
    printf("Lua is in %s of the time; the rest is C code that no Lua function called, or "
           "waiting.\nA state that other threads run is seen there only where the module is "
           "preloaded (LD_PRELOAD).\n", cli_percent(share, lua));
}
