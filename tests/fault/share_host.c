/* share_host.c - programs that might write each other's capture: `share_host MODE [FILE]`,
 * recorded where the environment says. Each process says "PID PATH", with "other" where
 * that is not the path it asked for, works under a name of its own, and ends with 0.
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SHARE_WORKERS = 3 };

static double cpu_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void work(jsprof_thread *me, const char *kind)
{
    char name[64];
    volatile unsigned long sum = 0;
    double left = 120, at = cpu_ms();
    snprintf(name, sizeof name, "%s of %d", kind, (int)getpid());
    jsprof_push(me, name, NULL, 0);
    while (left > 0) { /* a step in which the machine was away counts for a millisecond */
        for (int i = 0; i < 2000; i++)
            sum = sum + 1;
        double now = cpu_ms();
        left -= now - at < 1 ? now - at : 1;
        at = now;
    }
    jsprof_pop(me);
}

static int failed(const char *what, int err)
{
    char why[400];
    printf("%s: %s\n", what, jsprof_error_text(err, why, sizeof why));
    return 1;
}

static const char *say_path(const jsprof *prof)
{
    bool is_other;
    const char *path = jsprof_path(prof, &is_other);
    printf("%d %s%s\n", (int)getpid(), path, is_other ? " other" : "");
    fflush(stdout);
    return path;
}

static int begin(jsprof **prof, jsprof_thread **me)
{
    int err = jsprof_start_from_env(prof);
    if (err < 0)
        return failed("environment", err);
    if (!err)
        return failed("JSPROF is not set", 0);
    err = jsprof_thread_attach(*prof, "main", me);
    if (err)
        return failed("attach", err);
    say_path(*prof);
    return 0;
}

static int finish(jsprof *prof)
{
    int err = jsprof_close(prof);
    return err ? failed("close", err) : 0;
}

static int plain(void)
{
    jsprof *prof;
    jsprof_thread *me;
    if (begin(&prof, &me))
        return 1;
    work(me, "work");
    return finish(prof);
}

/* All of them record at the same time: until FILE is gone. */
static int together(const char *file)
{
    static const struct timespec moment = { 0, 10000000 };
    jsprof *prof;
    jsprof_thread *me;
    if (begin(&prof, &me))
        return 1;
    work(me, "work");
    while (access(file, F_OK) == 0)
        nanosleep(&moment, NULL);
    return finish(prof);
}

static int all_ended(int n)
{
    int bad = 0, status;
    for (int i = 0; i < n; i++)
        bad |= wait(&status) < 0 || status != 0;
    return bad;
}

/* The same program with the same environment, while the first one records. */
static int spawn(char *self)
{
    jsprof *prof;
    jsprof_thread *me;
    if (begin(&prof, &me))
        return 1;
    work(me, "before");
    if (fork() == 0)
        _exit(execl(self, self, "plain", (char *)NULL));
    int bad = all_ended(1);
    work(me, "after");
    return finish(prof) || bad;
}

/* Children that continue in the middle of a call, with a session that they do not know of. */
static int forked(void)
{
    jsprof *prof;
    jsprof_thread *me;
    if (begin(&prof, &me))
        return 1;
    int counter = jsprof_counter(prof, "share", "turns", "", JSPROF_COUNTER_WHOLE);
    jsprof_push(me, "outermost", NULL, 0);
    work(me, "before");
    for (int i = 0; i < SHARE_WORKERS; i++)
        if (fork() == 0) {
            work(me, "work");
            int err = jsprof_counter_set(prof, counter, i + 1);
            if (err)
                exit(failed("counter", err));
            say_path(prof);
            exit(finish(prof));
        }
    int bad = all_ended(SHARE_WORKERS);
    jsprof_counter_set(prof, counter, 100);
    work(me, "after");
    jsprof_pop(me);
    return finish(prof) || bad;
}

static int workers(void)
{
    jsprof *prof;
    jsprof_thread *me;
    if (begin(&prof, &me))
        return 1;
    work(me, "before");
    for (int i = 0; i < SHARE_WORKERS; i++)
        if (fork() == 0) {
            jsprof_close(prof);
            exit(plain());
        }
    int bad = all_ended(SHARE_WORKERS);
    work(me, "after");
    return finish(prof) || bad;
}

/* The first half is in the file, not yet closed. */
static int become(char *self)
{
    jsprof *prof;
    jsprof_thread *me;
    if (begin(&prof, &me))
        return 1;
    work(me, "before");
    int err = jsprof_stop(prof);
    if (err)
        return failed("stop", err);
    return execl(self, self, "plain", (char *)NULL);
}

/* Killed while a child continues, which does not know of the recording. */
static int orphan(void)
{
    jsprof *prof;
    jsprof_thread *me;
    int ready[2];
    char byte;
    if (pipe(ready) || begin(&prof, &me))
        return 1;
    if (fork() == 0) {
        if (write(ready[1], "", 1) == 1)
            sleep(20);
        _exit(0);
    }
    if (read(ready[0], &byte, 1) == 1)
        raise(SIGKILL);
    return 1;
}

/* Sessions of one program, each after the end of the one before; the last is of a child that knows
 * of no session. */
static int in_turn(void)
{
    int err = plain() || plain();
    fflush(stdout);
    if (!err && fork() == 0)
        exit(plain());
    return err || all_ended(1);
}

static int twice(const char *path)
{
    jsprof_options options = { .size = sizeof options, .path = path };
    jsprof *prof[2];
    jsprof_thread *me[2];
    for (int i = 0; i < 2; i++) {
        int err = jsprof_open(&prof[i], &options);
        if (err)
            return failed("open", err);
        if (jsprof_thread_attach(prof[i], "main", &me[i]) || jsprof_start(prof[i]))
            return 1;
        path = say_path(prof[i]);
    }
    work(me[1], "work");
    return finish(prof[0]) || finish(prof[1]);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "", *file = argc > 2 ? argv[2] : "";
    if (!strcmp(mode, "plain"))
        return plain();
    if (!strcmp(mode, "together"))
        return together(file);
    if (!strcmp(mode, "spawn"))
        return spawn(argv[0]);
    if (!strcmp(mode, "workers"))
        return workers();
    if (!strcmp(mode, "forked"))
        return forked();
    if (!strcmp(mode, "become"))
        return become(argv[0]);
    if (!strcmp(mode, "in_turn"))
        return in_turn();
    if (!strcmp(mode, "orphan"))
        return orphan();
    return twice(file);
}
