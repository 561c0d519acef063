/* cli/advice.c - what to record in another way when a capture has little to show.
 *
 * SPDX-License-Identifier: MIT
 */
#include "advice.h"

#include <stdio.h>
#include <string.h>

#include "base/losses.h"

enum {
    ADVICE_WAITING = 10, /* less than 1 part in so many was CPU time: the rest is waits */
    ADVICE_SELDOM = 2,   /* so many expirations a sample */
    ADVICE_FEW = 20,     /* samples, below which their number may be chance */
    ADVICE_UNSERVED = 10, /* more than 1 part in so many had no processor */
    ADVICE_ENDED = 10,    /* more than 1 part in so many was due when its thread ended */
    ADVICE_LUA = 5,      /* percent of the time, below which Lua is rare */
};

/* What the capture says, as far as advice needs it. */
struct advice {
    const jsprof_read_info *info;
    jsprof_read_account sum;       /* of all threads */
    uint64_t ran, passed;          /* their time on the two clocks */
    uint64_t unserved, running;    /* expirations that waited for a processor, and that had one */
    uint64_t forks;
    jsprof_read_loss most;         /* the cause of most losses */
    uint64_t late;                 /* expirations that came too late for a sample */
    uint64_t undelivered;          /* of them those for which no signal came */
};

/* Return false if there is nothing to look at. */
static bool advice_read(struct advice *a, const struct cli_capture *c)
{
    jsprof_reader *r = c->reader;
    jsprof_read_session session = { .size = sizeof session };
    jsprof_read_account account = { .size = sizeof account };
    jsprof_read_loss loss = { .size = sizeof loss };
    jsprof_read_thread thread = { .size = sizeof thread };
    *a = (struct advice){ .info = &c->info, .sum.size = sizeof a->sum };
    jsprof_read_session_of(r, &session, &a->sum);
    a->forks = session.forks;
    uint64_t n = 0;
    for (; jsprof_read_accounts(r, n, &account, 1) == 1; n++) {
        a->ran += account.cpu_ns;
        a->passed += account.wall_ns;
    }
    for (uint64_t i = 0; jsprof_read_threads(r, i, &thread, 1) == 1; i++) {
        a->unserved += thread.waiting;
        a->running += thread.running;
    }
    for (uint64_t i = 0; jsprof_read_losses(r, JSPROF_READ_ALL, i, &loss, 1) == 1; i++) {
        bool is_undelivered = strcmp(loss.key, jsp_losses[JSP_LOST_UNDELIVERED].key) == 0;
        if (is_undelivered || strcmp(loss.key, jsp_losses[JSP_LOST_LATE].key) == 0)
            a->late += loss.count;
        if (is_undelivered)
            a->undelivered = loss.count;
        if (!i || loss.count > a->most.count)
            a->most = loss;
    }
    return n > 0;
}

/* Only idle stacks count. */
static bool advice_is_of_idle(const struct cli_capture *c)
{
    return c->info.is_of_stacks && !c->info.idle_samples;
}

/* Return true if every expiration came too late for a sample, as those of a short program do. */
static bool advice_is_short(const struct advice *a)
{
    return a->sum.samples == 0 && a->sum.expirations == a->late;
}

/* Return the part of the time that threads had work, but no processor. */
static double advice_unserved(const struct advice *a)
{
    uint64_t ready = a->unserved + a->running;
    return a->unserved >= ADVICE_FEW ? (double)a->unserved / (double)ready : 0;
}

bool cli_is_ended(uint64_t undelivered, uint64_t expirations)
{
    return undelivered >= ADVICE_FEW && undelivered > expirations / ADVICE_ENDED;
}

bool cli_advice(const struct cli_capture *c, char *out, size_t size)
{
    const jsprof_read_info *info = &c->info;
    struct advice a;
    char cpu[CLI_NUMBER], n[CLI_NUMBER], share[CLI_NUMBER];
    bool is_there = advice_read(&a, c);
    const jsprof_read_account *t = &a.sum;
    uint64_t ran = a.ran, passed = a.passed, forks = a.forks;
    /* Idle time that does not count is not in the shares, so it needs no advice. */
    passed -= info->idle_value < passed ? info->idle_value : passed;
    bool is_wall = strcmp(info->clock, "wall") == 0;
    bool counts_waits = strcmp(info->unit, "wall_ns") == 0;

    if (cli_unit_is_bytes(info->unit) || !is_there || !info->hz || !*info->clock)
        return false;
    if (info->is_of_threads || info->is_of_frames || advice_is_of_idle(c) || info->is_part)
        return false;
    if (forks && t->samples < ADVICE_FEW)
        snprintf(out, size, "%she program forked %s %s, whose work is not recorded: "
                            "JSPROF_CHILDREN=1 records it, too",
                 t->samples ? "T" : "t", cli_count(n, forks), forks == 1 ? "child" : "children");
    else if (advice_is_short(&a) && !is_wall)
        snprintf(out, size, "its threads used %s of CPU time, %u Hz asked for: a higher rate or "
                            "the wall clock would take some",
                 cli_duration(cpu, ran), info->hz);
    else if (advice_is_short(&a))
        snprintf(out, size, "its threads were recorded for %s, %u Hz asked for: a higher rate "
                            "would take some",
                 cli_duration(cpu, passed), info->hz);
    else if (t->samples == 0)
        snprintf(out, size, "all %s timer expirations were lost, most of them as \"%s\": "
                            "jsprof info shows more",
                 cli_count(n, t->expirations), a.most.name);
    else if (counts_waits && advice_unserved(&a) * (double)ADVICE_UNSERVED > 1)
        snprintf(out, size, "Threads that had work waited for a processor in %s of the time, "
                            "because others had it or a quota was used up: --state waiting "
                            "shows where", cli_percent(share, advice_unserved(&a)));
    else if (counts_waits && t->samples >= ADVICE_FEW && ran < passed / ADVICE_WAITING)
        snprintf(out, size, "The threads waited for %s of the time: --clock cpu shows the rest",
                 cli_percent(share, (double)(passed - ran) / (double)passed));
    else if (!is_wall && !counts_waits && ran < passed / ADVICE_WAITING)
        snprintf(out, size, "The threads waited for %s of the time, which the CPU clock does not "
                            "see: the wall clock shows where",
                 cli_percent(share, (double)(passed - ran) / (double)passed));
    else if (cli_is_ended(a.undelivered, t->expirations))
        snprintf(out, size, "Threads ended before the signals of %s of the timer expirations came: "
                            "the shares lack them. Threads that live longer, as those of a pool "
                            "do, have more samples",
                 cli_percent(share, (double)a.undelivered / (double)t->expirations));
    else if (!is_wall && t->samples >= ADVICE_FEW && t->samples < t->expirations / ADVICE_SELDOM)
        snprintf(out, size, "A sample counts for %s expirations, because the kernel measures CPU "
                            "time at its own tick; the wall clock is sampled at the full rate",
                 cli_count(n, (t->kept + t->samples / 2) / t->samples));
    else
        return false;
    return true;
}

int cli_lua_note(const struct cli_capture *c)
{
    char share[CLI_NUMBER];
    jsprof_read_vm vm = { .size = sizeof vm };
    if (!c->info.is_of_lua || cli_unit_is_bytes(c->info.unit) || advice_is_of_idle(c))
        return 0;
    int err = jsprof_read_vm_of(c->reader, &vm);
    if (err)
        return err;
    double lua = vm.all ? (double)vm.value / (double)vm.all : 1;
    if (100 * lua >= (double)ADVICE_LUA)
        return 0;
    printf("Lua is in %s of the time; the rest is C code that no Lua function called, or "
           "waiting.\nA state that other threads run is seen there only where the module is "
           "preloaded (LD_PRELOAD).\n", cli_percent(share, lua));
    return 0;
}
