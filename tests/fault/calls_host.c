/* calls_host.c - a program whose calls are counted, for calls.sh: `calls_host PATH` calls
 * for ever, and says after a flush how often it had until then; `calls_host free WHERE`
 * frees a function that is on a stack: of this thread or of another, linked or array,
 * or on none.
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BEFORE = 100000 };

static jsprof *prof;
static jsprof_function *function;
static pthread_barrier_t stage;

static void call(jsprof_thread *t)
{
    jsprof_link link;
    jsprof_link_enter(t, &link, function);
    jsprof_alloc(t, 8);
    jsprof_link_leave(t, &link);
}

static int call_for_ever(jsprof_thread *t)
{
    if (jsprof_calls_set(prof, JSPROF_CALLS_ALL) != 0 || jsprof_start(prof) != 0)
        return 1;
    for (int i = 0; i < BEFORE; i++)
        call(t);
    if (jsprof_flush(prof) != 0)
        return 1;
    printf("flushed %d\n", (int)BEFORE);
    fflush(stdout);
    for (;;)
        call(t);
}

static void *enter_and_wait(void *unused)
{
    jsprof_thread *t;
    jsprof_link link;
    (void)unused;
    jsprof_thread_attach(prof, "other", &t);
    jsprof_link_enter(t, &link, function);
    pthread_barrier_wait(&stage);
    pthread_barrier_wait(&stage); /* never */
    return NULL;
}

static void free_on(const char *where, jsprof_thread *t)
{
    pthread_t other;
    jsprof_link link;
    jsprof_link_enter(t, &link, strcmp(where, "linked") == 0 ? function : NULL);
    if (strcmp(where, "array") == 0)
        jsprof_enter(t, function);
    pthread_barrier_init(&stage, NULL, 2);
    if (strcmp(where, "other") == 0 && pthread_create(&other, NULL, enter_and_wait, NULL) == 0)
        pthread_barrier_wait(&stage);
    jsprof_function_free(function);
    puts("freed");
    jsprof_link_leave(t, &link);
}

int main(int argc, char **argv)
{
    bool frees = argc > 2 && strcmp(argv[1], "free") == 0;
    jsprof_options options = { .size = sizeof options, .path = frees ? "/dev/null" : argv[1] };
    jsprof_thread *t;
    if (argc < 2 || jsprof_open(&prof, &options) != 0 ||
        jsprof_thread_attach(prof, "main", &t) != 0 ||
        jsprof_function_new(&function, "f", "f.js", 7, JSPROF_KIND_VM) != 0)
        return 1;
    if (!frees)
        return call_for_ever(t);
    free_on(argv[2], t);
    return 0;
}
