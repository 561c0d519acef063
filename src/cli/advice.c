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
    ADVICE_UNSERVED = 10, /* more than 1 part in so many had no processor */
    ADVICE_LUA = 5,      /* percent of the time, below which Lua is rare */
};

static uint64_t advice_time(const struct jsp_account *a, enum jsp_clock clock)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < a->n_threads; i++)
        sum += a->threads[i].clock_ns[clock];
    return sum;
}

/* Only idle stacks count. */
static bool advice_is_of_idle(const struct cli_capture *c)
{
    return c->select.left_out && !c->idle.samples;
}

/* Return true if every expiration came too late for a sample, as those of a short program do. */
static bool advice_is_short(const struct jsp_account_thread *t)
{
    return t->samples == 0 &&
           t->expirations == t->lost[JSP_LOST_UNDELIVERED] + t->lost[JSP_LOST_LATE];
}

/* Return the cause of most losses. */
static const struct jsp_loss_row *advice_cause(const struct jsp_account_thread *t)
{
    int most = 0;
    for (int cause = 1; cause < JSP_N_LOSSES; cause++)
        most = t->lost[cause] > t->lost[most] ? cause : most;
    return &jsp_losses[most];
}

/* Return the part of the time that threads had work, but no processor. */
static double advice_unserved(const struct jsp_profile *p)
{
    uint64_t waited = p->by_state[JSP_STATE_WAITING];
    uint64_t ready = waited + p->by_state[JSP_STATE_RUNNING];
    return waited >= ADVICE_FEW ? (double)waited / (double)ready : 0;
}

bool cli_advice(const struct cli_capture *c, char *out, size_t size)
{
    const struct jsp_profile *p = c->profile;
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

    if (jsp_unit_is_bytes(p->unit) || p->account.n_threads == 0 || !p->hz || !p->clock[0])
        return false;
    if (c->select.threads || c->select.filter || advice_is_of_idle(c) || c->is_part)
        return false;
    uint64_t forks = p->account.session.forks;
    if (forks && t->samples < ADVICE_FEW)
        snprintf(out, size, "%she program forked %s %s, whose work is not recorded: "
                            "JSPROF_CHILDREN=1 records it, too",
                 t->samples ? "T" : "t", cli_count(n, forks), forks == 1 ? "child" : "children");
    else if (advice_is_short(t) && !is_wall)
        snprintf(out, size, "its threads used %s of CPU time, %u Hz asked for: a higher rate or "
                            "the wall clock would take some",
                 cli_duration(cpu, ran), p->hz);
    else if (advice_is_short(t))
        snprintf(out, size, "its threads were recorded for %s, %u Hz asked for: a higher rate "
                            "would take some",
                 cli_duration(cpu, passed), p->hz);
    else if (t->samples == 0)
        snprintf(out, size, "all %s timer expirations were lost, most of them as \"%s\": "
                            "jsprof info shows more",
                 cli_count(n, t->expirations), advice_cause(t)->name);
    else if (counts_waits && advice_unserved(p) * (double)ADVICE_UNSERVED > 1)
        snprintf(out, size, "Threads that had work waited for a processor in %s of the time, "
                            "because others had it or a quota was used up: --state waiting "
                            "shows where", cli_percent(share, advice_unserved(p)));
    else if (counts_waits && t->samples >= ADVICE_FEW && ran < passed / ADVICE_WAITING)
        snprintf(out, size, "The threads waited for %s of the time: --clock cpu shows the rest",
                 cli_percent(share, (double)(passed - ran) / (double)passed));
    else if (!is_wall && !counts_waits && ran < passed / ADVICE_WAITING)
        snprintf(out, size, "The threads waited for %s of the time, which the CPU clock does not "
                            "see: the wall clock shows where",
                 cli_percent(share, (double)(passed - ran) / (double)passed));
    else if (!is_wall && t->samples >= ADVICE_FEW && t->samples < t->expirations / ADVICE_SELDOM)
        snprintf(out, size, "A sample counts for %s expirations, because the kernel measures CPU "
                            "time at its own tick; the wall clock is sampled at the full rate",
                 cli_count(n, (t->kept + t->samples / 2) / t->samples));
    else
        return false;
    return true;
}

/* Return the share of the stacks that count in which a Lua function runs. */
static double advice_lua(struct cli_capture *c)
{
    static struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
    struct jsp_profile *p = c->profile;
    uint64_t lua = 0, all = 0;
    for (uint32_t s = 0; s < p->n_stacks; s++) {
        bool is_left_out = c->select.left_out && c->select.left_out[s];
        int n = is_left_out ? 0 : jsp_profile_frames(p, s, frames);
        bool has_lua = false;
        for (int i = 0; i < n && !has_lua; i++)
            has_lua = frames[i].kind == JSPROF_KIND_VM || frames[i].kind == JSPROF_KIND_JIT;
        lua += has_lua ? p->stacks[s].value : 0;
        all += is_left_out ? 0 : p->stacks[s].value;
    }
    return all ? (double)lua / (double)all : 1;
}

void cli_lua_note(struct cli_capture *c)
{
    char share[CLI_NUMBER];
    if (!c->profile->is_of_lua || jsp_unit_is_bytes(c->profile->unit) || advice_is_of_idle(c))
        return;
    double lua = advice_lua(c);
    if (100 * lua >= (double)ADVICE_LUA)
        return;
    printf("Lua is in %s of the time; the rest is C code that no Lua function called, or "
           "waiting.\nA state that other threads run is seen there only where the module is "
           "preloaded (LD_PRELOAD).\n", cli_percent(share, lua));
}
