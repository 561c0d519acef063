/* session/explain.c - see explain.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "explain.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EXPLAIN_TEXT = 512 };

static atomic_flag explain_busy = ATOMIC_FLAG_INIT;
static long explain_thread; /* the flag protects it and the rest; 0: no sentence */
static int explain_err;
static char explain_text[EXPLAIN_TEXT];

/* Take the flag, or do without: in the child of a fork it may be taken for ever. */
static bool explain_take(void)
{
    /* ORDER: acquire, pairs with the release below: the sentence is complete. */
    return !atomic_flag_test_and_set_explicit(&explain_busy, memory_order_acquire);
}

static void explain_leave(void)
{
    /* ORDER: release, pairs with the acquire of the next thread. */
    atomic_flag_clear_explicit(&explain_busy, memory_order_release);
}

int jsp_explain(int err, const char *format, ...)
{
    va_list args;
    if (!explain_take())
        return err;
    va_start(args, format);
    vsnprintf(explain_text, sizeof explain_text, format, args);
    va_end(args);
    explain_err = err;
    explain_thread = syscall(SYS_gettid);
    explain_leave();
    return err;
}

void jsp_explain_nothing(void)
{
    if (!explain_take())
        return;
    if (explain_thread == syscall(SYS_gettid))
        explain_thread = 0;
    explain_leave();
}

bool jsp_explained(int err, char *text, size_t size)
{
    if (!explain_take())
        return false;
    bool is_known = explain_thread == syscall(SYS_gettid) && explain_err == err;
    if (is_known)
        snprintf(text, size, "%s", explain_text);
    explain_leave();
    return is_known;
}
