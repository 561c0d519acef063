/* labels_host.c - a program that works under a label, in a trace of its own and in one that it
 * shares as tracers do.
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <stdint.h>
#include <time.h>

static struct {
    uint8_t trace[16], span[8], valid, reserved;
    uint16_t attrs_bytes;
} record = { .trace = { 0xC1 }, .span = { 9 }, .valid = 1 };

__attribute__((visibility("default"))) extern __thread void *volatile otel_thread_ctx_v1;
__thread void *volatile otel_thread_ctx_v1;

static volatile unsigned sum;

static void work(void)
{
    clock_t begin = clock();
    while (clock() - begin < CLOCKS_PER_SEC / 5)
        for (unsigned i = 0; i < 1000; i++)
            sum += i;
}

int main(int argc, char **argv)
{
    static const uint8_t trace[16] = { 0xA1, 15 }, span[8] = { 7 };
    jsprof *session;
    jsprof_thread *me;
    const jsprof_options options = { .size = sizeof options, .path = argc > 1 ? argv[1] : NULL };
    if (jsprof_open(&session, &options) < 0 || jsprof_thread_attach(session, "main", &me) < 0 ||
        jsprof_start(session) < 0)
        return 1;
    jsprof_label_set(me, "route", "/login");
    jsprof_label_set(me, "thread.id", "the host's own");
    jsprof_trace_set(me, trace, span);
    work();
    jsprof_trace_set(me, NULL, NULL);
    jsprof_label_set(me, "route", "/shared");
    otel_thread_ctx_v1 = &record;
    work();
    otel_thread_ctx_v1 = NULL;
    jsprof_label_set(me, "route", "/none");
    work();
    return jsprof_close(session) < 0;
}
