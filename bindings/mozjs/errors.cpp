/* errors.cpp - stacks for errors: what GLib logs as an error, a critical message or a warning.
 *
 * SPDX-License-Identifier: MIT
 *
 * GLib lets a program have one writer of structured messages; the old functions, g_warning and its
 * kin, lead to it, too. GLib's functions are looked up: the preloaded library is not linked with
 * it.
 */
#include "errors.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cxxabi.h>
#include <dlfcn.h>
#include <glib.h>
#include <pthread.h>

#include "environment.h"

namespace {

constexpr uint32_t ERRORS_FRAMES = 256;
constexpr uint32_t ERRORS_STACKS = 256; /* different ones that are remembered */
constexpr size_t ERRORS_LINE = 512;
constexpr gsize ERRORS_FIELDS = 64;     /* of a message; one with more has no stack */

struct errors_stack {
    uint64_t hash;
    uint64_t times;
};

struct errors_writing {
    jsprof_backtrace_frame frames[ERRORS_FRAMES];
    char text[ERRORS_FRAMES * ERRORS_LINE]; /* of the stack, or the line of a repeat */
    size_t used;
    char id[24], times[24];
    uint64_t number; /* which of the different stacks, from 1 on; 0: the table was full */
    uint64_t n_times;
};

pthread_mutex_t errors_lock = PTHREAD_MUTEX_INITIALIZER;
errors_stack errors_stacks[ERRORS_STACKS];
uint32_t errors_n;
jsprof_thread *(*errors_here)(void);
decltype(g_log_writer_default) *errors_default;
decltype(g_log_writer_is_journald) *errors_is_journal;

/* Names are unique while the session exists, so their addresses are enough; C frames count by
 * their address. */
uint64_t errors_hash(const jsprof_backtrace_frame *frames, int n)
{
    uint64_t hash = 14695981039346656037u;
    auto mix = [&hash](uint64_t word) { hash = (hash ^ word) * 1099511628211u; };

    for (int i = 0; i < n; i++) {
        mix(reinterpret_cast<uintptr_t>(frames[i].name));
        mix(frames[i].name ? frames[i].line : frames[i].pc);
    }
    return hash;
}

/* Count this stack. */
void errors_count(errors_writing *w, uint64_t hash)
{
    uint32_t at = 0;

    pthread_mutex_lock(&errors_lock);
    while (at < errors_n && errors_stacks[at].hash != hash)
        at++;
    if (at == errors_n && at < ERRORS_STACKS)
        errors_stacks[errors_n++].hash = hash;
    w->number = at < ERRORS_STACKS ? at + 1 : 0;
    w->n_times = at < ERRORS_STACKS ? ++errors_stacks[at].times : 1;
    pthread_mutex_unlock(&errors_lock);
}

void errors_put(errors_writing *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

void errors_put(errors_writing *w, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const int n = vsnprintf(w->text + w->used, sizeof w->text - w->used, format, args);
    va_end(args);
    w->used = MIN(w->used + static_cast<size_t>(MAX(n, 0)), sizeof w->text - 1);
}

/* A C function of this address, or its file. */
void errors_put_native(errors_writing *w, uint64_t pc)
{
    Dl_info info = {};
    const auto at = reinterpret_cast<const char *>(static_cast<uintptr_t>(pc));

    if (!dladdr(at, &info) || !info.dli_fname) {
        errors_put(w, "%#" PRIx64, pc);
        return;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    const char *file = slash ? slash + 1 : info.dli_fname;
    if (info.dli_sname) {
        char *name = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, nullptr);
        errors_put(w, "%.*s+%#tx (%s)", static_cast<int>(ERRORS_LINE) - 128,
                   name ? name : info.dli_sname, at - static_cast<const char *>(info.dli_saddr),
                   file);
        free(name);
    } else {
        errors_put(w, "%s+%#tx", file, at - static_cast<const char *>(info.dli_fbase));
    }
}

void errors_describe(errors_writing *w, int n)
{
    w->used = 0;
    for (int i = 0; i < n; i++) {
        const jsprof_backtrace_frame *frame = &w->frames[i];

        errors_put(w, "%s#%-3d ", i ? "\n" : "", i);
        if (frame->name)
            errors_put(w, "%.*s", static_cast<int>(ERRORS_LINE) - 64, frame->name);
        else
            errors_put_native(w, frame->pc);
        if (frame->name && frame->line)
            errors_put(w, " :%" PRIu32, frame->line);
    }
}

/* Write the message and its stack as one text. */
GLogWriterOutput errors_write_text(const errors_writing *w, GLogLevelFlags level, GLogField *fields,
                                   gsize n)
{
    char *text = nullptr;

    for (gsize i = 0; i < n && !text; i++) {
        if (strcmp(fields[i].key, "MESSAGE") != 0)
            continue;
        const auto *message = static_cast<const char *>(fields[i].value);
        size_t len = fields[i].length < 0 ? strlen(message) : static_cast<size_t>(fields[i].length);
        while (len > 0 && message[len - 1] == '\n')
            len--;
        const size_t bytes = len + sizeof w->text + 128;
        text = static_cast<char *>(malloc(bytes));
        if (!text)
            break;
        if (w->n_times > 1)
            snprintf(text, bytes, "%.*s\n(stack %s, %s times)", static_cast<int>(len), message,
                     w->id, w->times);
        else
            snprintf(text, bytes, "%.*s\n(stack %s)\n%s", static_cast<int>(len), message, w->id,
                     w->text);
        fields[i] = { "MESSAGE", text, -1 };
    }
    const GLogWriterOutput result = errors_default(level, fields, n, nullptr);
    free(text);
    return result;
}

/* Take the stack, without the frames inside of the one that returns to `caller`. Return how
 * many frames there are. */
int errors_take(errors_writing *w, jsprof_thread *thread, uintptr_t caller)
{
    const int n = jsprof_backtrace(thread, nullptr, w->frames, ERRORS_FRAMES);
    int inside = 0;

    while (inside < n && w->frames[inside].pc != caller && w->frames[inside].pc != caller - 1)
        inside++;
    if (inside >= n)
        return n;
    memmove(w->frames, w->frames + inside, static_cast<size_t>(n - inside) * sizeof *w->frames);
    return n - inside;
}

/* Write the message with the stack. */
GLogWriterOutput errors_write_with(errors_writing *w, int n_frames, GLogLevelFlags level,
                                   const GLogField *fields, gsize n)
{
    GLogField all[ERRORS_FIELDS + 3];

    errors_count(w, errors_hash(w->frames, n_frames));
    snprintf(w->id, sizeof w->id, "%" PRIu64, w->number);
    snprintf(w->times, sizeof w->times, "%" PRIu64, w->n_times);
    if (w->n_times == 1)
        errors_describe(w, n_frames);
    memcpy(all, fields, n * sizeof *fields);
    all[n++] = { "JSPROF_STACK_ID", w->id, -1 };
    all[n++] = { "JSPROF_STACK_TIMES", w->times, -1 };
    if (w->n_times == 1)
        all[n++] = { "JSPROF_STACK", w->text, -1 };
    return errors_is_journal(fileno(stderr)) ? errors_default(level, all, n, nullptr)
                                             : errors_write_text(w, level, all, n);
}

GLogWriterOutput errors_write(GLogLevelFlags level, const GLogField *fields, gsize n, gpointer)
{
    constexpr int wanted = G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING;
    jsprof_thread *thread = level & wanted && n <= ERRORS_FIELDS ? errors_here() : nullptr;
    auto *w = thread ? static_cast<errors_writing *>(calloc(1, sizeof(errors_writing))) : nullptr;

    if (!w)
        return errors_default(level, fields, n, nullptr);
    const int n_frames =
        errors_take(w, thread, reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
    const GLogWriterOutput result =
        n_frames > 0 ? errors_write_with(w, n_frames, level, fields, n)
                     : errors_default(level, fields, n, nullptr);
    free(w);
    return result;
}

} // namespace

bool errors_asked(const char *program)
{
    const char *value = environment_get("JSPROF_ERRORS");

    if (!value || !value[0] || strcmp(value, "0") == 0)
        return false;
    if (strcmp(value, "1") == 0)
        return true;
    fprintf(stderr, "%s: JSPROF_ERRORS=%s: neither 0 nor 1\n", program, value);
    return false;
}

void errors_install(jsprof_thread *(*here)(void))
{
    const auto set = reinterpret_cast<decltype(g_log_set_writer_func) *>(
        dlsym(RTLD_DEFAULT, "g_log_set_writer_func"));

    errors_here = here;
    errors_default = reinterpret_cast<decltype(errors_default)>(
        dlsym(RTLD_DEFAULT, "g_log_writer_default"));
    errors_is_journal = reinterpret_cast<decltype(errors_is_journal)>(
        dlsym(RTLD_DEFAULT, "g_log_writer_is_journald"));
    if (set && errors_default && errors_is_journal)
        set(errors_write, nullptr, nullptr);
}
