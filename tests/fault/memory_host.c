/* memory_host.c - calls everything that may ask for memory: `memory_host PATH [TIMES]`. Prints
 * each call that failed and why, continues whatever fails, and ends with the line "done".
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <jsprof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { FUNCTIONS = 12, CODE_BYTES = 1024, ROUNDS = 1 };

static jsprof *prof;
static jsprof_function *functions[FUNCTIONS];
static int status;

static int said(const char *call, int err)
{
    if (err >= 0)
        return err;
    printf("%s: %s\n", call, jsprof_strerror(err));
    if (err != -ENOMEM && err != -EAGAIN)
        status = 1;
    return err;
}

static void turn_ms(long ms)
{
    struct timespec from, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

static void work(jsprof_thread *t)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < FUNCTIONS; i++) {
            jsprof_link link;
            if (!functions[i])
                continue;
            jsprof_link_enter(t, &link, functions[i]);
            if (i % 4 == 0)
                turn_ms(1);
            jsprof_link_leave(t, &link);
        }
}

static void *second(void *unused)
{
    jsprof_thread *t = NULL;
    if (!said("attach of the second", jsprof_thread_attach(prof, "second", &t))) {
        work(t);
        said("detach", jsprof_thread_detach(t));
    }
    return unused;
}

static void code_and_marks(void)
{
    char *code = mmap(NULL, CODE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    jsprof_listing_row rows[] = { { .pc = 1, .text = "first" },
                                  { .pc = 2, .text = "second" } };
    jsprof_listing listing = { sizeof listing, functions[0], rows, 2, 0 };
    int n_code = 0, err;
    for (int i = 0; i < CODE_BYTES; i += 64) {
        jsprof_code one = { .size = sizeof one, .start = code + i, .length = 64, .name = "code" };
        n_code += !said("code_add", jsprof_code_add(prof, &one));
    }
    err = jsprof_code_remove(prof, code);
    said("code_remove", err == -ENOENT && n_code < CODE_BYTES / 64 ? 0 : err);
    said("interpreter_add", jsprof_interpreter_add(prof, (const void *)(uintptr_t)work, 64));
    if (functions[0])
        said("listing_add", jsprof_listing_add(prof, &listing));
    int counter = said("counter", jsprof_counter(prof, "group", "name", "what",
                                                 JSPROF_COUNTER_WHOLE));
    if (counter >= 0)
        said("counter_set", jsprof_counter_set(prof, counter, 7));
    for (int i = 0; i < 100; i++)
        said("mark", jsprof_mark(prof, jsprof_now(), "group", "name", "what"));
}

static void record(void)
{
    jsprof_thread *t = NULL;
    jsprof_calls calls = { .size = sizeof calls };
    pthread_t other;
    int err = said("calls_set", jsprof_calls_set(prof, JSPROF_CALLS_ALL)), has_calls = !err;
    said("start", jsprof_start(prof));
    said("attach", jsprof_thread_attach(prof, "main", &t));
    code_and_marks();
    err = pthread_create(&other, NULL, second, NULL);
    if (t)
        work(t);
    if (!err)
        pthread_join(other, NULL);
    if (has_calls && !said("calls_snapshot", jsprof_calls_snapshot(prof, &calls)))
        jsprof_calls_free(&calls);
    said("flush", jsprof_flush(prof));
    said("stop", jsprof_stop(prof));
    said("start again", jsprof_start(prof));
    turn_ms(1);
    said("close", jsprof_close(prof));
    if (t)
        said("detach after close", jsprof_thread_detach(t));
}

static void one_session(const char *path)
{
    jsprof_options options = { .size = sizeof options, .path = path };
    for (int i = 0; i < FUNCTIONS; i++) {
        char name[32];
        snprintf(name, sizeof name, "function %d", i);
        said("function_new", jsprof_function_new(&functions[i], name, "file", (uint32_t)i,
                                                 JSPROF_KIND_VM));
    }
    if (!said("open", jsprof_open(&prof, &options)))
        record();
    for (int i = 0; i < FUNCTIONS; i++)
        jsprof_function_free(functions[i]);
}

int main(int argc, char **argv)
{
    for (int times = argc > 2 ? atoi(argv[2]) : 1; times > 0; times--)
        one_session(argc > 1 ? argv[1] : NULL);
    puts(status ? "another error than want of memory" : "done");
    return status;
}
