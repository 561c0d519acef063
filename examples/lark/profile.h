/* profile.h - every use of the profiler by Lark.
 *
 * Other hosts may take this file and profile.c as a model: a name per function, made
 * once; an entry in the C frame around each call; the current line, by one store per
 * operation; start and stop. All of it does nothing while nobody profiles.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_PROFILE_H
#define LARK_PROFILE_H

#include <jsprof.h>

struct lark;
struct lark_builtin;

/* A C function declares one of these, calls enter with it, and calls leave at its end. */
struct lark_profile_frame {
    jsprof_link link;
};

extern jsprof_thread *lark_profile_thread; /* NULL while nobody profiles */

static inline void lark_profile_enter(struct lark_profile_frame *frame,
                                      const jsprof_function *function)
{
    jsprof_link_enter(lark_profile_thread, &frame->link, function);
}

static inline void lark_profile_leave(const struct lark_profile_frame *frame)
{
    jsprof_link_leave(lark_profile_thread, &frame->link);
}

/* Native code makes no entry, because the profiler knows its addresses. Its calls are
 * counted all the same. The link is complete also while nothing is counted: counting may begin
 * before the call ends, and the library then looks at the calls that are open. */
static inline void lark_profile_enter_native(struct lark_profile_frame *frame,
                                             const jsprof_function *function)
{
    if (!lark_profile_thread)
        return;
    frame->link.up = lark_profile_thread->top;
    frame->link.function = function;
    if (lark_profile_thread->counting)
        jsprof_count_enter(lark_profile_thread, function, &frame->link);
}

static inline void lark_profile_leave_native(const struct lark_profile_frame *frame)
{
    if (lark_profile_thread && lark_profile_thread->counting)
        jsprof_count_leave(lark_profile_thread, &frame->link, 0);
}

/* Pop the entry; the call that was counted with it continues. */
static inline void lark_profile_go_native(const struct lark_profile_frame *frame)
{
    if (lark_profile_thread)
        lark_profile_thread->top = frame->link.up;
}

/* An object has got so many bytes, when it is made or when it grows. Objects do not move. */
static inline void lark_profile_alloc(const void *object, size_t bytes)
{
    jsprof_alloc(lark_profile_thread, bytes);
    jsprof_allocated(lark_profile_thread, object, bytes);
}

static inline void lark_profile_free(const void *object)
{
    jsprof_freed(lark_profile_thread, object);
}

/* Timers and promises. Each does nothing unless tasks are recorded. */
static inline void lark_profile_label(const char *key, const char *value)
{
    jsprof_label_set(lark_profile_thread, key, value);
}

extern jsprof_thread *lark_profile_tasks; /* NULL while nobody records tasks */
struct lark_value;

/* Make a task that will call this function. */
jsprof_task lark_profile_task(const char *kind, const struct lark_value *callback);

static inline void lark_profile_task_ready(jsprof_task task)
{
    jsprof_task_ready(lark_profile_tasks, task);
}

static inline void lark_profile_task_due(jsprof_task task, int64_t in_ns)
{
    jsprof_task_due(lark_profile_tasks, task, in_ns > 0 ? in_ns : 0);
}

static inline void lark_profile_task_begin(jsprof_task task)
{
    jsprof_task_begin(lark_profile_tasks, task);
}

static inline void lark_profile_task_end(jsprof_task task)
{
    jsprof_task_end(lark_profile_tasks, task);
}

static inline void lark_profile_task_done(jsprof_task task)
{
    jsprof_task_done(lark_profile_tasks, task);
}

static inline void lark_profile_turn_begin(void)
{
    jsprof_turn_begin(lark_profile_tasks);
}

static inline void lark_profile_turn_end(void)
{
    jsprof_turn_end(lark_profile_tasks);
}

/* Line and pc are side by side in an operation and in a link. One volatile store sets
 * both, because a signal handler reads them: the store must happen whole, and at this
 * place. */
typedef uint64_t __attribute__((may_alias)) lark_profile_place;
_Static_assert(offsetof(jsprof_link, pc) == offsetof(jsprof_link, line) + 4, "one store");

static inline void lark_profile_at(struct lark_profile_frame *frame, uint64_t place)
{
    *(volatile lark_profile_place *)(void *)&frame->link.line = place;
}

/* Sections in which Lark works for itself. */
enum lark_profile_work { LARK_PROFILE_GC, LARK_PROFILE_COMPILE, LARK_PROFILE_WORKS };
void lark_profile_enter_work(struct lark_profile_frame *frame,
                             enum lark_profile_work work);

/* Make "name (path:line)". NULL if there is no memory; the frame then has no name. */
jsprof_function *lark_profile_name(const char *name, const char *path, uint32_t line);
void lark_profile_forget(jsprof_function *function);

/* Return the name of a builtin, made at its first call. */
const jsprof_function *lark_profile_builtin(const struct lark_builtin *builtin);

/* Native code that the profiler knows by its addresses. */
struct lark_profile_code {
    const void *start;
    size_t length;
    const jsprof_function *function;
    const jsprof_code_line *lines;
    uint32_t n_lines;
    const jsprof_code_row *rows;
    uint32_t n_rows;
    const jsprof_code_pc *pcs;
    uint32_t n_pcs;
};

/* Register it before it runs; remove it when it never runs again. */
void lark_profile_code_added(const struct lark_profile_code *code);
void lark_profile_code_removed(const void *start);

/* Register its bytecode, once that is complete. */
struct lark_function;
void lark_profile_listing(const struct lark *l, const struct lark_function *f);

struct lark_profile_options {
    jsprof_options open; /* its path NULL: only what the environment asks for */
    bool tasks;          /* record timers and promises */
    uint32_t calls;      /* what is counted of each call: JSPROF_CALLS_... */
};

/* Return false after one line on stderr with the reason why there is no profile. */
bool lark_profile_start(const struct lark_profile_options *options);

/* Complete the capture. Return false after one line on stderr with the reason of a
 * failure. */
bool lark_profile_stop(void);

#endif
