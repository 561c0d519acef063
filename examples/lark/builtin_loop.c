/* builtin_loop.c - timers and promises, and the loop that runs them when the script has ended.
 *
 *     after(10, f, x)                     call f(x) once, in 10 ms; every(10, f, x) repeats
 *     let p = promise(); then(p, f);      call f(7), in a turn of the loop,
 *     resolve(p, 7);                      after this
 *
 * after and every return a number for cancel(n). then returns a promise of what f returns. The
 * loop ends when nothing is left to call, or with the first error.
 *
 * SPDX-License-Identifier: MIT
 */
#include "builtin.h"

#include "code.h"
#include "heap.h"
#include "profile.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A promise is an array of these. */
enum { PROMISE_IS_SETTLED, PROMISE_VALUE, PROMISE_REACTIONS, PROMISE_WORDS };

/* What the loop will call, and a reaction of a promise: an array of these, so that the collector
 * finds it. */
enum {
    JOB_CALLBACK, JOB_ARGUMENT, JOB_PROMISE, JOB_DUE, JOB_EVERY, JOB_NUMBER, JOB_TASK, JOB_WORDS
};

static int64_t loop_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Return the list of jobs, by the time at which they are due. No program can name it. */
static struct lark_array *loop_jobs(struct lark *l)
{
    static const char name[] = "(jobs)";
    struct lark_value *jobs = &l->globals[lark_global_slot(l, name, sizeof(name) - 1)];
    if (jobs->type != LARK_ARRAY) {
        struct lark_array *none = lark_heap_array(l, 0);
        *(jobs = &l->globals[lark_global_slot(l, name, sizeof(name) - 1)]) = lark_array_value(none);
    }
    return jobs->as.array;
}

/* Make a job that is in no list. Its values are elsewhere on the stack meanwhile. */
static struct lark_array *loop_job(struct lark *l, const char *kind, struct lark_value callback)
{
    static int64_t numbers;
    struct lark_array *job = lark_heap_array(l, JOB_WORDS);
    job->items[JOB_CALLBACK] = callback;
    job->items[JOB_DUE] = lark_int(0);
    job->items[JOB_EVERY] = lark_int(0);
    job->items[JOB_NUMBER] = lark_int(++numbers);
    job->items[JOB_TASK] = lark_int((int64_t)lark_profile_task(kind, &callback));
    return job;
}

static jsprof_task loop_task(const struct lark_array *job)
{
    return (jsprof_task)job->items[JOB_TASK].as.i;
}

/* Put a job after those that are due at the same time. */
static void loop_add(struct lark *l, struct lark_array *jobs, struct lark_array *job)
{
    lark_heap_append(l, jobs, lark_array_value(job));
    uint32_t at = jobs->n - 1;
    for (; at && jobs->items[at - 1].as.array->items[JOB_DUE].as.i >
                     job->items[JOB_DUE].as.i; at--)
        jobs->items[at] = jobs->items[at - 1];
    jobs->items[at] = lark_array_value(job);
}

static void loop_remove(struct lark_array *jobs, uint32_t at)
{
    memmove(jobs->items + at, jobs->items + at + 1,
            (jobs->n - at - 1) * sizeof(*jobs->items));
    jobs->n--;
}

/* -- Timers -------------------------------------------------------------------- */

static bool loop_timer(struct lark *l, struct lark_call *call, const char *kind, bool repeats)
{
    if (!lark_builtin_want(l, call, 0, LARK_DOUBLE))
        return false;
    int64_t ns = (int64_t)(lark_to_double(&call->args[0]) * 1e6);
    struct lark_array *jobs = loop_jobs(l), *job = loop_job(l, kind, call->args[1]);
    job->items[JOB_ARGUMENT] = call->n > 2 ? call->args[2] : lark_nil();
    job->items[JOB_DUE].as.i = loop_now() + ns;
    job->items[JOB_EVERY].as.i = repeats ? (ns > 0 ? ns : 1) : 0;
    lark_profile_task_due(loop_task(job), ns);
    loop_add(l, jobs, job);
    call->result = job->items[JOB_NUMBER];
    return true;
}

static bool loop_after(struct lark *l, struct lark_call *call)
{
    return loop_timer(l, call, "timeout", false);
}

static bool loop_every(struct lark *l, struct lark_call *call)
{
    return loop_timer(l, call, "interval", true);
}

static bool loop_cancel(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_INT))
        return false;
    struct lark_array *jobs = loop_jobs(l);
    for (uint32_t i = 0; i < jobs->n; i++) {
        struct lark_array *job = jobs->items[i].as.array;
        if (job->items[JOB_NUMBER].as.i == call->args[0].as.i) {
            lark_profile_task_done(loop_task(job));
            loop_remove(jobs, i);
            break;
        }
    }
    return true;
}

/* label(key, value): samples have it from now on, to the end of the run; nil removes it. */
static bool loop_label(struct lark *l, struct lark_call *call)
{
    bool is_nil = call->args[1].type == LARK_NIL;
    if (!lark_builtin_want(l, call, 0, LARK_STRING) ||
        (!is_nil && !lark_builtin_want(l, call, 1, LARK_STRING)))
        return false;
    lark_profile_label(call->args[0].as.string->bytes,
                       is_nil ? NULL : call->args[1].as.string->bytes);
    return true;
}

/* -- Promises ------------------------------------------------------------------ */

static struct lark_array *loop_promise(struct lark *l, struct lark_value *keep)
{
    struct lark_array *promise = lark_heap_array(l, PROMISE_WORDS);
    promise->items[PROMISE_IS_SETTLED] = lark_bool(false);
    *keep = lark_array_value(promise);
    struct lark_array *reactions = lark_heap_array(l, 0);
    promise->items[PROMISE_REACTIONS] = lark_array_value(reactions);
    return promise;
}

static bool loop_new_promise(struct lark *l, struct lark_call *call)
{
    call->result = lark_array_value(loop_promise(l, &call->args[-1]));
    return true;
}

/* A reaction is due at once, after those that became due before it. */
static void loop_react(struct lark *l, struct lark_array *jobs, struct lark_array *job,
                       struct lark_value value)
{
    job->items[JOB_ARGUMENT] = value;
    job->items[JOB_DUE].as.i = loop_now();
    lark_profile_task_ready(loop_task(job));
    loop_add(l, jobs, job);
}

static void loop_settle(struct lark *l, struct lark_array *promise, struct lark_value value)
{
    struct lark_array *jobs = loop_jobs(l);
    if (lark_is_true(&promise->items[PROMISE_IS_SETTLED]))
        return;
    promise->items[PROMISE_IS_SETTLED] = lark_bool(true);
    promise->items[PROMISE_VALUE] = value;
    struct lark_array *reactions = promise->items[PROMISE_REACTIONS].as.array;
    for (uint32_t i = 0; i < reactions->n; i++)
        loop_react(l, jobs, reactions->items[i].as.array, value);
    reactions->n = 0;
}

static bool loop_wants_promise(struct lark *l, const struct lark_call *call)
{
    return lark_builtin_want(l, call, 0, LARK_ARRAY) &&
           (call->args[0].as.array->n == PROMISE_WORDS ||
            lark_raise(l, "%s wants a promise", call->args[-1].as.builtin->name));
}

static bool loop_then(struct lark *l, struct lark_call *call)
{
    if (!loop_wants_promise(l, call))
        return false;
    struct lark_array *promise = call->args[0].as.array, *jobs = loop_jobs(l);
    struct lark_array *next = loop_promise(l, &call->args[-1]);
    struct lark_array *job = loop_job(l, "promise", call->args[1]);
    job->items[JOB_PROMISE] = call->result = lark_array_value(next);
    if (lark_is_true(&promise->items[PROMISE_IS_SETTLED]))
        loop_react(l, jobs, job, promise->items[PROMISE_VALUE]);
    else
        lark_heap_append(l, promise->items[PROMISE_REACTIONS].as.array, lark_array_value(job));
    return true;
}

static bool loop_resolve(struct lark *l, struct lark_call *call)
{
    if (!loop_wants_promise(l, call))
        return false;
    loop_settle(l, call->args[0].as.array, call->n > 1 ? call->args[1] : lark_nil());
    return true;
}

/* -- The loop ------------------------------------------------------------------ */

static void loop_wait(int64_t until)
{
    struct timespec at = { (time_t)(until / 1000000000), (long)(until % 1000000000) };
    while (until > loop_now())
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL); /* a sample may end it */
}

/* Call the job's callback. The job is on the stack below the call, where the collector finds
 * it. */
static bool loop_run_job(struct lark *l, struct lark_array *job)
{
    struct lark_value *base = l->top;
    if (l->end - l->top < 3)
        return lark_raise(l, "too many calls within calls");
    base[0] = lark_array_value(job);
    base[1] = job->items[JOB_CALLBACK];
    base[2] = job->items[JOB_ARGUMENT];
    bool wants = base[1].type != LARK_FUNCTION || base[1].as.function->n_params > 0;
    l->top += wants ? 3 : 2;
    lark_profile_task_begin(loop_task(job));
    bool ok = lark_call(l, base + 1, wants);
    l->top = base + 2; /* the result is still in use */
    if (ok && job->items[JOB_PROMISE].type == LARK_ARRAY)
        loop_settle(l, job->items[JOB_PROMISE].as.array, base[1]);
    lark_profile_task_end(loop_task(job)); /* it made ready what waited for the promise */
    l->top = base;
    return ok;
}

/* Call what is due now. What becomes due meanwhile waits for the next turn. */
static bool loop_turn(struct lark *l, struct lark_array *jobs)
{
    int64_t now = loop_now();
    bool ok = true;
    while (ok && jobs->n && jobs->items[0].as.array->items[JOB_DUE].as.i <= now) {
        struct lark_array *job = jobs->items[0].as.array;
        int64_t every = job->items[JOB_EVERY].as.i;
        loop_remove(jobs, 0);
        if (every) {
            job->items[JOB_DUE].as.i = now + every;
            lark_profile_task_due(loop_task(job), every);
            loop_add(l, jobs, job);
        }
        ok = loop_run_job(l, job);
    }
    return ok;
}

bool lark_loop_run(struct lark *l)
{
    struct lark_array *jobs = loop_jobs(l);
    bool ok = true;
    while (ok && jobs->n) {
        loop_wait(jobs->items[0].as.array->items[JOB_DUE].as.i);
        lark_profile_turn_begin();
        ok = loop_turn(l, jobs);
        lark_profile_turn_end();
    }
    return ok;
}

static const struct lark_builtin loop_builtins[] = {
    { "after", 2, 3, loop_after },     { "every", 2, 3, loop_every },
    { "cancel", 1, 1, loop_cancel },   { "promise", 0, 0, loop_new_promise },
    { "then", 2, 2, loop_then },       { "resolve", 1, 2, loop_resolve },
    { "label", 2, 2, loop_label },
};

const struct lark_builtin_list lark_builtins_loop = {
    loop_builtins, sizeof(loop_builtins) / sizeof(loop_builtins[0]),
};
