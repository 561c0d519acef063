/* ruby.c - Ruby 3 as a host of jsprof, without a change to it.
 *
 *     JSPROF=OUT.cap [JSPROF_CALLS=all] ./ruby PROGRAM.rb
 *
 * rb_profile_frames copies the stack and allocates nothing; Ruby's profilers call it in handlers.
 * In a collection, which moves what it reads, the walker repeats the copy made at its beginning.
 * A job of Ruby's names new frames; TracePoint counts calls and reports collections.
 * SPDX-License-Identifier: MIT
 */
#include <ruby.h>
#include <ruby/debug.h>
#include <jsprof.h>

enum { MOST = 1 << 14, NEW = 64, DEEPEST = 1000 };
static struct known { volatile VALUE frame; jsprof_function *function; } known[MOST];
static struct stack { VALUE frames[DEEPEST]; int lines[DEEPEST]; int n; } now, collecting, none;
static const struct stack *volatile held; /* in a collection */
static VALUE asked[NEW]; /* frames without a name */
static volatile int n_known, n_asked;
static __thread jsprof_thread *me; /* NULL in other threads of Ruby, which are not recorded */

static struct known *find(VALUE frame)
{
    size_t at = frame / 8 % MOST;
    while (known[at].frame && known[at].frame != frame)
        at = (at + 1) % MOST;
    return &known[at];
}

static jsprof_function *function_of(VALUE frame)
{
    struct known *k = find(frame);
    if (k->frame || ++n_known > MOST / 2)
        return k->function;
    VALUE name = rb_profile_frame_full_label(frame), file = rb_profile_frame_path(frame);
    VALUE line = rb_profile_frame_first_lineno(frame);
    jsprof_function_new(&k->function, NIL_P(name) ? "[code]" : StringValueCStr(name),
                        NIL_P(file) ? NULL : StringValueCStr(file),
                        NIL_P(line) ? 0 : NUM2UINT(line), JSPROF_KIND_VM);
    rb_gc_register_mark_object(frame); /* no other frame ever has its address */
    __atomic_signal_fence(__ATOMIC_RELEASE); /* the handler of this thread sees it whole */
    k->frame = frame;
    return k->function;
}

static void name_asked(void *data)
{
    (void)data;
    jsprof_thread_pause(me);
    while (me && n_asked)
        function_of(asked[--n_asked]);
    jsprof_thread_resume(me);
}

/* Called in the handler. */
static uint32_t walk(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    const struct stack *from = held ? held : &now;
    (void)host, (void)ucontext;
    if (!held)
        now.n = rb_profile_frames(0, DEEPEST, now.frames, now.lines);
    uint32_t n = 0;
    for (; n < (uint32_t)from->n && n < max; n++) {
        const struct known *k = find(from->frames[n]);
        out[n] = (jsprof_frame){ .label = "[new function]", .line = (uint32_t)from->lines[n] };
        out[n].function = k->frame ? k->function : NULL;
        if (!k->frame && n_asked < NEW)
            asked[n_asked++] = from->frames[n];
    }
    if (n_asked)
        rb_postponed_job_register_one(0, name_asked, NULL);
    return n;
}

static void on_event(VALUE point, void *data)
{
    static uintptr_t depth;
    rb_event_flag_t event = rb_tracearg_event_flag(rb_tracearg_from_tracepoint(point));
    VALUE frame;
    if (!me) {
        held = event == RUBY_INTERNAL_EVENT_GC_ENTER ? &none : NULL;
    } else if (event == RUBY_EVENT_CALL && rb_profile_frames(0, 1, &frame, NULL) > 0) {
        jsprof_call_enter(me, function_of(frame), (void *)++depth);
    } else if (event == RUBY_EVENT_RETURN) { /* also where an exception ends the method */
        jsprof_call_leave_through(me, (void *)depth--);
    } else if (event == RUBY_INTERNAL_EVENT_GC_ENTER) {
        collecting.n = rb_profile_frames(0, DEEPEST, collecting.frames, collecting.lines);
        held = &collecting;
        jsprof_enter_at(me, data, 0); /* 0: the C frame of this function ends earlier */
    } else if (event == RUBY_INTERNAL_EVENT_GC_EXIT && held) {
        jsprof_leave(me);
        held = NULL;
    }
}

int main(int argc, char **argv)
{
    jsprof *prof;
    jsprof_function *collector = NULL;
    ruby_sysinit(&argc, &argv);
    RUBY_INIT_STACK;
    ruby_init();
    void *program = ruby_options(argc, argv);
    for (int i = 0; i < NEW; i++)
        rb_gc_register_address(&asked[i]);
    int err = jsprof_start_from_env(&prof);
    if (err > 0 && !(err = jsprof_thread_attach(prof, "main", &me)) &&
        !(err = jsprof_function_new(&collector, "[collect]", NULL, 0, JSPROF_KIND_GC)))
        err = jsprof_thread_set_walker(me, walk, NULL);
    if (err < 0)
        return fprintf(stderr, "ruby: %s\n", jsprof_strerror(err)), 1;
    rb_event_flag_t gc = RUBY_INTERNAL_EVENT_GC_ENTER | RUBY_INTERNAL_EVENT_GC_EXIT;
    rb_event_flag_t calls = RUBY_EVENT_CALL | RUBY_EVENT_RETURN;
    rb_tracepoint_enable(rb_tracepoint_new(0, gc, on_event, collector));
    if (me && jsprof_counting(me))
        rb_tracepoint_enable(rb_tracepoint_new(0, calls, on_event, NULL));
    int failed = ruby_exec_node(program);
    jsprof_close(prof);
    return ruby_cleanup(failed);
}
