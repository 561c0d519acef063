/* shim.c - loaded before any program (LD_PRELOAD): interrupts it at random instructions,
 * walks its stack with our unwinder and with libunwind's unw_step from the same
 * registers, and compares the two, frame by frame, address and stack address.
 *
 * WALK_OUT names a file that gets a line a process, and each of the first differences
 * in full; WALK_AS, how to call the program there. WALK_MOST ends the sampling after so
 * many samples (0: never). libunwind takes the loader's lock in the handler, so a program
 * that opens objects all the time would hang sooner or later: storm_test.c
 * does that, without libunwind.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "image/objects.h"
#include "sigsafe/unwind.h"

enum { DEPTH = 256, KEPT = 40, KEPT_FRAMES = 24, PERIOD_NS = 100000, REFRESH_NS = 20000000 };

struct stack {
    uint32_t n;
    int end;
    struct jsp_rec_native frames[DEPTH]; /* cfa of theirs: the next frame's sp */
};

struct difference {
    struct stack ours, theirs;
};

static struct {
    struct jsp_objects objects;
    struct jsp_unwinder unwinder;
    struct stack ours, theirs;
    struct difference kept[KEPT];
    _Atomic int busy;
    timer_t timer;
    pid_t pid;
    uint64_t n, n_equal, n_frames, n_differ, n_failed, n_same, most;
    uint64_t ours_ns, theirs_ns;
    uint32_t random;
    uintptr_t low, high;
    int (*init)(unw_cursor_t *, unw_context_t *, int);
    int (*step)(unw_cursor_t *);
    int (*get)(unw_cursor_t *, int, unw_word_t *);
} shim;

static uint64_t shim_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void shim_arm(void)
{
    shim.random = shim.random * 1664525u + 1013904223u;
    struct itimerspec when = { .it_value.tv_nsec = PERIOD_NS / 2 + shim.random % PERIOD_NS };
    timer_settime(shim.timer, 0, &when, NULL);
}

static void shim_theirs(void *ucontext, struct stack *s)
{
    unw_cursor_t cursor;
    unw_word_t ip, sp;
    s->n = 0;
    s->end = shim.init(&cursor, ucontext, UNW_INIT_SIGNAL_FRAME);
    do {
        if (shim.get(&cursor, UNW_REG_IP, &ip) || shim.get(&cursor, UNW_REG_SP, &sp) || !ip)
            break;
        if (s->n)
            s->frames[s->n - 1].cfa = sp;
        s->frames[s->n++] = (struct jsp_rec_native){ ip, UINTPTR_MAX };
    } while (s->n < DEPTH && (s->end = shim.step(&cursor)) > 0);
}

/* Return whether they differ only after a frame of code without a description, where both
 * guess. n is the first frame that differs. */
static bool shim_is_guess(const struct stack *a, const struct stack *b, uint32_t n)
{
    const struct jsp_unwind_map *map = jsp_objects_map(&shim.objects);
    for (uint32_t i = 0; i <= n && i < a->n && i < b->n; i++)
        if (a->frames[i].ip == b->frames[i].ip &&
            !jsp_unwind_map_find(map, a->frames[i].ip - (i != 0)))
            return true;
    return false;
}

/* What libunwind gave up with an error, while we came to the outermost frame of the
 * program, is a difference that is counted apart, too. */
static void shim_compare(void)
{
    struct stack *a = &shim.ours, *b = &shim.theirs;
    uint32_t n = 0;
    while (n < a->n && n < b->n && a->frames[n].ip == b->frames[n].ip &&
           (n + 1 == a->n || n + 1 == b->n || a->frames[n].cfa == b->frames[n].cfa))
        n++;
    shim.n++;
    shim.n_frames += a->n;
    if (n == a->n && n == b->n) {
        shim.n_equal++;
        return;
    }
    shim.n_same += shim_is_guess(a, b, n);
    if (b->end < 0 && a->end == JSP_STOP_END)
        shim.n_failed++;
    if (shim.n_differ < KEPT)
        shim.kept[shim.n_differ] = (struct difference){ *a, *b };
    shim.n_differ++;
}

static void shim_sample(int sig, siginfo_t *info, void *ucontext)
{
    int saved = errno, idle = 0;
    (void)sig;
    (void)info;
    if (getpid() == shim.pid && atomic_compare_exchange_strong(&shim.busy, &idle, 1)) {
        bool is_main = syscall(SYS_gettid) == shim.pid;
        shim.unwinder.mem.low = is_main ? shim.low : 0;
        shim.unwinder.mem.high = is_main ? shim.high : 0;
        struct jsp_unwound out = { .frames = shim.ours.frames, .max = DEPTH };
        uint64_t t0 = shim_now();
        shim.ours.end = (int)jsp_unwind(&shim.unwinder, jsp_objects_map(&shim.objects),
                                        ucontext, &out);
        jsp_unwind_count(&shim.unwinder, (enum jsp_unwind_stop)shim.ours.end);
        shim.ours.n = out.n;
        uint64_t t1 = shim_now();
        shim_theirs(ucontext, &shim.theirs);
        shim.ours_ns += t1 - t0;
        shim.theirs_ns += shim_now() - t1;
        shim_compare();
        if (!shim.most || shim.n < shim.most)
            shim_arm();
        atomic_store(&shim.busy, 0);
    }
    errno = saved;
}

static void *shim_refresh(void *arg)
{
    struct timespec pause = { 0, REFRESH_NS };
    (void)arg;
    for (;;) {
        jsp_objects_build(&shim.objects, 0);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void shim_print_frame(FILE *to, const struct stack *s, uint32_t i)
{
    Dl_info where = { 0 };
    if (i >= s->n) {
        fprintf(to, "  %-58s", "-");
        return;
    }
    char name[100];
    dladdr((void *)(uintptr_t)(s->frames[i].ip - 1), &where);
    const char *file = where.dli_fname ? strrchr(where.dli_fname, '/') : NULL;
    snprintf(name, sizeof name, "%s+%" PRIx64 " %.28s", file ? file + 1 : "?",
             s->frames[i].ip - (uint64_t)(uintptr_t)where.dli_fbase,
             where.dli_sname ? where.dli_sname : "");
    fprintf(to, "  %-45.45s %012" PRIx64, name, s->frames[i].cfa & 0xFFFFFFFFFFFF);
}

static void shim_print(FILE *to, const struct difference *d)
{
    uint32_t n = d->ours.n > d->theirs.n ? d->ours.n : d->theirs.n;
    fprintf(to, "difference: ours %u frames, end %d; theirs %u, end %d\n", d->ours.n,
            d->ours.end, d->theirs.n, d->theirs.end);
    for (uint32_t i = 0; i < n && i < KEPT_FRAMES; i++) {
        shim_print_frame(to, &d->ours, i);
        shim_print_frame(to, &d->theirs, i);
        fprintf(to, "\n");
    }
}

static __attribute__((destructor)) void shim_end(void)
{
    const char *path = getenv("WALK_OUT");
    char host[256] = "?";
    if (!path || !shim.n || getpid() != shim.pid)
        return;
    timer_delete(shim.timer);
    atomic_store(&shim.busy, 1);
    FILE *to = fopen(path, "ae");
    if (!to)
        return;
    const char *as = getenv("WALK_AS");
    if (as)
        snprintf(host, sizeof host, "%s", as);
    else if (readlink("/proc/self/exe", host, sizeof host - 1) < 0)
        host[0] = 0;
    fprintf(to, "walk %s samples %" PRIu64 " equal %" PRIu64 " differ %" PRIu64
            " of_these_theirs_failed %" PRIu64 " frames %" PRIu64 " ours_ns %" PRIu64
            " theirs_ns %" PRIu64 " to_jit %" PRIu64 " stops", host, shim.n, shim.n_equal,
            shim.n_differ, shim.n_failed, shim.n_frames, shim.ours_ns / shim.n,
            shim.theirs_ns / shim.n, shim.n_same);
    for (int i = 0; i < JSP_N_STOPS; i++)
        fprintf(to, " %" PRIu64, jsp_counted(&shim.unwinder.stops[i]));
    fprintf(to, "\n");
    for (uint64_t i = 0; i < shim.n_differ && i < KEPT; i++)
        shim_print(to, &shim.kept[i]);
    fclose(to);
}

static bool shim_find_theirs(void)
{
    void *lib = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        return false;
    *(void **)&shim.init = dlsym(lib, "_ULx86_64_init_local2");
    *(void **)&shim.step = dlsym(lib, "_ULx86_64_step");
    *(void **)&shim.get = dlsym(lib, "_ULx86_64_get_reg");
    return shim.init && shim.step && shim.get;
}

static void shim_find_stack(void)
{
    pthread_attr_t attr;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &low, &size);
        pthread_attr_destroy(&attr);
    }
    shim.low = (uintptr_t)low;
    shim.high = shim.low + size;
}

static __attribute__((constructor)) void shim_begin(void)
{
    struct sigaction act = { .sa_sigaction = shim_sample,
                             .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
    sigset_t all, before;
    pthread_t thread;
    const char *most = getenv("WALK_MOST");
    if (!getenv("WALK_OUT") || !shim_find_theirs() || jsp_objects_init(&shim.objects) < 0)
        return;
    shim.pid = getpid();
    shim.random = (uint32_t)shim.pid;
    shim.most = most ? strtoull(most, NULL, 10) : 0;
    shim_find_stack();
    jsp_unwinder_init(&shim.unwinder, shim.low, shim.high, shim.pid);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_create(&thread, NULL, shim_refresh, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGPROF, &act, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &shim.timer) == 0)
        shim_arm();
}
