/* public/thread.c - the public functions of functions, threads and their stacks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "public.h"

#include <dlfcn.h>
#include <fcntl.h>

#include "calls/event.h"
#include "session/crash.h"
#include "session/function.h"
#include "session/function_lines.h"
#include "sigsafe/backtrace.h"
#include "sigsafe/resume.h"

/* -- Functions -------------------------------------------------------------- */

int jsprof_function_new(jsprof_function **out, const char *name, const char *file,
                        uint32_t line, enum jsprof_kind kind)
{
    struct jsp_function_def def = { name, file, line, kind };
    if (!out || !name || (unsigned)kind > JSPROF_KIND_SYNTH)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_function_new(out, &def);
    public_leave(&host);
    return err;
}

jsprof_function *jsprof_function_ref(jsprof_function *f)
{
    if (f)
        jsp_function_ref(f);
    return f;
}

int jsprof_function_lines(jsprof_function *f, const jsprof_code_line *rows, uint32_t n)
{
    if (!f || (n && !rows))
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_function_lines_set(f, rows, n);
    public_leave(&host);
    return err;
}

void jsprof_function_free(jsprof_function *f)
{
    struct public_host host = public_enter();
    jsp_function_free(f);
    public_leave(&host);
}

/* In debug builds of hosts a macro calls this instead of jsprof_function_free. */
void jsprof_function_free_checked(jsprof_function *f)
{
    if (f && !jsp_function_is_shared(f))
        jsp_function_check(f);
    struct public_host host = public_enter();
    jsp_function_free(f);
    public_leave(&host);
}

/* -- Threads ---------------------------------------------------------------- */

int jsprof_thread_attach(jsprof *p, const char *name, jsprof_thread **out)
{
    struct jsp_thread *t = NULL;
    if (!p || !out)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_session_attach(p, name ? name : "thread", &t);
    public_leave(&host);
    if (!err) {
        /* Outside of the session's lock, because the loader has one, too. */
        const void *const volatile *shared = dlsym(RTLD_DEFAULT, JSP_TAGS_SHARED);
        /* ORDER: relaxed. The pointer is all that is shared. */
        atomic_store_explicit(&t->sampled.tags.shared, shared, memory_order_relaxed);
        *out = &t->sampled.own;
    }
    return err;
}

int jsprof_thread_detach(jsprof_thread *t)
{
    struct public_host host = public_enter();
    int err = t ? jsp_session_detach(public_thread(t)) : 0;
    public_leave(&host);
    return err;
}

void jsprof_thread_pause(jsprof_thread *t)
{
    if (t)
        jsp_sampled_pause(&public_thread(t)->sampled, 1);
}

void jsprof_thread_resume(jsprof_thread *t)
{
    if (t)
        jsp_sampled_pause(&public_thread(t)->sampled, -1);
}

void jsprof_wait_begin(jsprof_thread *t, const char *what)
{
    if (t)
        jsp_sampled_wait_begin(&public_thread(t)->sampled, what);
}

void jsprof_wait_end(jsprof_thread *t)
{
    if (t)
        jsp_sampled_wait_end(&public_thread(t)->sampled);
}

int jsprof_thread_set_stack(jsprof_thread *t, const jsprof_stack *stack)
{
    enum { OLDEST = offsetof(jsprof_stack, host) + sizeof(void *) };
    jsprof_stack copy = { 0 };
    if (!t || (stack && (stack->size < OLDEST || stack->size > sizeof copy)))
        return -EINVAL;
    if (stack)
        memcpy(&copy, stack, stack->size);
    int err = jsp_session_owns(public_thread(t));
    if (!err && stack)
        err = jsp_vmstack_check(&copy);
    if (err)
        return err;
    jsprof_thread_pause(t);
    public_thread(t)->sampled.vm.host = copy;
    jsprof_thread_resume(t);
    return 0;
}

void *jsprof_scratch(jsprof_thread *t, size_t bytes)
{
    return t ? jsp_vmstack_scratch(&public_thread(t)->sampled.vm, bytes) : NULL;
}

bool jsprof_read(jsprof_thread *t, void *to, const void *from, size_t bytes)
{
    return t && jsp_vmstack_peek(&public_thread(t)->sampled.vm, to, from, bytes);
}

int jsprof_thread_set_walker(jsprof_thread *t, jsprof_walk_sigsafe_fn walk, void *host)
{
    if (!t)
        return -EINVAL;
    int err = jsp_session_owns(public_thread(t));
    if (err)
        return err;
    jsprof_thread_pause(t);
    public_thread(t)->sampled.vm.walk_sigsafe = walk;
    public_thread(t)->sampled.vm.walk_host = host;
    jsprof_thread_resume(t);
    return 0;
}

int jsprof_thread_set_asleep_walker(jsprof_thread *t, jsprof_walk_asleep_fn walk, void *host)
{
    if (!t)
        return -EINVAL;
    struct public_host before = public_enter();
    int err = jsp_session_set_asleep(public_thread(t), walk, host);
    public_leave(&before);
    return err;
}

/* -- Coroutines -------------------------------------------------------------- */

void jsprof_stack_switch(jsprof_thread *t, const jsprof_cstack *stack)
{
    struct jsp_regs_core here = jsp_regs_here();
    if (!t)
        return;
    if (jsprof_counting(t) > JSPROF_CALLS_COUNT)
        jsp_calls_switch(public_thread(t)->calls, t, stack);
    jsp_resume_switch(&public_thread(t)->sampled, stack, &here);
}

void jsprof_stack_forget(jsprof_thread *t, const jsprof_cstack *stack)
{
    if (t && jsprof_counting(t))
        jsp_calls_forget(public_thread(t)->calls, t, stack);
}

/* -- Sampled allocations ---------------------------------------------------- */

/* In a function of its own, because its registers are where the walk begins. */
__attribute__((noinline)) void jsprof_sample_allocated(jsprof_thread *t, const void *block,
                                                       size_t bytes)
{
    struct jsp_sampled *self = &public_thread(t)->sampled;
    int saved_errno = errno;
    jsp_regs_store(&self->alloc.asked);
    jsp_alloc_sample(self, block, bytes);
    errno = saved_errno;
}

void jsprof_sample_freed(jsprof_thread *t, const void *block)
{
    int saved_errno = errno;
    jsp_alloc_freed(&public_thread(t)->sampled, block);
    errno = saved_errno;
}

void jsprof_sample_moved(jsprof_thread *t, const void *from, const void *to)
{
    jsp_alloc_moved(&public_thread(t)->sampled, from, to);
}

/* -- A stack on demand ------------------------------------------------------ */

/* Check the arguments. The caller has set `here`, because the registers must be its
 * own. */
static int public_backtrace_begin(jsprof_thread *t, struct jsp_backtrace_from *from)
{
    int err = t ? jsp_session_owns(public_thread(t)) : -EINVAL;
    if (err || from->ucontext)
        return err;
    sigaltstack(NULL, &from->alt);
    if (!(from->alt.ss_flags & SS_ONSTACK))
        from->alt.ss_size = 0;
    return 0;
}

int jsprof_backtrace(jsprof_thread *t, const void *ucontext, jsprof_backtrace_frame *out,
                     uint32_t max)
{
    struct jsp_backtrace_from from = { .ucontext = ucontext, .here = jsp_regs_here() };
    int saved_errno = errno, n = public_backtrace_begin(t, &from);
    if (!n)
        n = out ? jsp_backtrace(&public_thread(t)->sampled, &from, out, max) : -EINVAL;
    errno = saved_errno;
    return n;
}

static int public_backtrace_write(int (*write_as)(struct jsp_sampled *,
                                                  const struct jsp_backtrace_from *, int),
                                  jsprof_thread *t, struct jsp_backtrace_from *from, int fd)
{
    int saved_errno = errno, err = public_backtrace_begin(t, from);
    if (!err)
        err = write_as(&public_thread(t)->sampled, from, fd);
    errno = saved_errno;
    return err;
}

int jsprof_backtrace_print(jsprof_thread *t, const void *ucontext, int fd)
{
    struct jsp_backtrace_from from = { .ucontext = ucontext, .here = jsp_regs_here() };
    return public_backtrace_write(jsp_backtrace_print, t, &from, fd);
}

int jsprof_backtrace_json(jsprof_thread *t, const void *ucontext, int fd)
{
    struct jsp_backtrace_from from = { .ucontext = ucontext, .here = jsp_regs_here() };
    return public_backtrace_write(jsp_backtrace_json, t, &from, fd);
}

int jsprof_crash_report(int fd, uint32_t flags)
{
    if (fd < -1 || flags & ~(uint32_t)JSPROF_CRASH_JSON)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = fd >= 0 && fcntl(fd, F_GETFD) < 0 ? -errno : 0;
    if (!err)
        err = jsp_crash_report(fd, flags & JSPROF_CRASH_JSON);
    public_leave(&host);
    return err;
}
