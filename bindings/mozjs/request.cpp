/* request.cpp - the request for a recording: its source, its options, its destination.
 *
 * SPDX-License-Identifier: MIT
 */
#include "request.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "../printed.h"
#include "environment.h"

namespace {

/* A thread's stacks can be deep: about 400 samples of 512 frames fit. */
constexpr uint32_t REQUEST_RING_BYTES = 4u << 20;

/* One of the library's options, with the name that our option or variable has for it. */
bool request_set(const char *program, const char *name, const char *text, jsprof_options *o)
{
    char why[300];
    int err = jsprof_options_set(o, name, text);

    if (err < 0)
        fprintf(stderr, "%s: %s\n", program, jsprof_error_text(err, why, sizeof why));
    return err >= 0;
}

bool request_read_toggle(const char *program, const char *text, bool *begins_stopped)
{
    if (strcmp(text, "on") == 0 || strcmp(text, "off") == 0) {
        *begins_stopped = strcmp(text, "off") == 0;
        return true;
    }
    fprintf(stderr, "%s: --profile-toggle=%s: neither on nor off\n", program, text);
    return false;
}

bool request_read_form(const char *program, const char *text, uint32_t *flags)
{
    if (strcmp(text, "plain") == 0 || strcmp(text, "compact") == 0) {
        *flags |= strcmp(text, "compact") == 0 ? JSPROF_COMPACT : 0;
        return true;
    }
    fprintf(stderr, "%s: --profile-form=%s: neither plain nor compact\n", program, text);
    return false;
}

bool request_read_threads(const char *program, const char *text)
{
    if (strcmp(text, "main") == 0 || strcmp(text, "all") == 0)
        return true;
    fprintf(stderr, "%s: --profile-threads=%s: neither main nor all\n", program, text);
    return false;
}

/* `allowed` says what else than "signals" may be there. */
bool request_read_tasks(const char *program, const char *name, const char *text,
                        const char *allowed)
{
    if (strcmp(text, "signals") == 0 || strcmp(text, "1") == 0)
        return true;
    fprintf(stderr, "%s: %s=%s: %s\n", program, name, text, allowed);
    return false;
}

/* Set the session's options, except the destination. */
bool request_read(const profile_options *asked, const char *program, jsprof_options *o,
                  bool *begins_stopped)
{
    *o = {};
    o->size = sizeof *o;
    o->ring_bytes = REQUEST_RING_BYTES;
    const char *hz = asked->is_environment ? "JSPROF_HZ" : "--profile-hz";
    const char *clock = asked->is_environment ? "JSPROF_CLOCK" : "--profile-clock";
    const char *source = environment_get("JSPROF_SOURCE");
    return (!asked->output ||
            request_is_apart(program, "--profile-output", asked->output)) &&
           (!asked->hz || request_set(program, hz, asked->hz, o)) &&
           (!asked->clock || request_set(program, clock, asked->clock, o)) &&
           (!source || request_set(program, "JSPROF_SOURCE", source, o)) &&
           (!asked->form || request_read_form(program, asked->form, &o->flags)) &&
           (!asked->threads || request_read_threads(program, asked->threads)) &&
           (!asked->alloc || request_set(program, "--profile-alloc", asked->alloc, o)) &&
           (!asked->tasks ||
            request_read_tasks(program, "--profile-tasks", asked->tasks,
                               "only signals is allowed")) &&
           (!asked->stalls || request_set(program, "--profile-stalls", asked->stalls, o)) &&
           (!asked->toggle || request_read_toggle(program, asked->toggle, begins_stopped));
}

bool request_refuse(const char *program, const request *r, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", program, r->name, why);
    return false;
}

/* libgjs's profiler would take the script's stack from us. */
bool request_is_alone(const request_program *program, const request *r)
{
    return !program->gjs_profiler ||
           request_refuse(program->name, r, "can not be combined with --profile");
}

/* If another process writes the file, leave it alone and write a file next to it. */
bool request_print_path(const request_program *program, const request *r)
{
    bool is_other;
    const char *path = jsprof_path(r->session, &is_other);

    if (is_other)
        fprintf(stderr, "%s: %s: another process records into it; this one into %s\n",
                program->name, r->name, path);
    return true;
}

/* -- Our own options, and JSPROF ------------------------------------------------------ */

bool request_open_file(const profile_options *asked, const request_program *program,
                       request *r)
{
    jsprof_options o;

    if (!request_read(asked, program->name, &o, &r->begins_stopped))
        return false;
    r->toggles = asked->toggle != nullptr;
    r->allocates = o.alloc != 0;
    r->has_tasks = asked->tasks || o.stalls != 0;
    r->has_signals = asked->tasks && strcmp(asked->tasks, "signals") == 0;
    r->all_threads = asked->threads && strcmp(asked->threads, "all") == 0;
    o.path = asked->output;
    snprintf(r->name, sizeof r->name, "--profile-output: %s", asked->output);
    if (!asked->output[0])
        return request_refuse(program->name, r, "a file name is needed");
    if (!request_is_alone(program, r))
        return false;
    int err = jsprof_open(&r->session, &o);
    if (err < 0)
        return request_refuse(program->name, r,
                              err == -ETXTBSY ? jsprof_strerror(err) : strerror(-err));
    return request_print_path(program, r);
}

/* Return the value of a variable, or nullptr if that is empty. */
const char *request_variable(const char *name)
{
    const char *value = environment_get(name);

    return value && value[0] ? value : nullptr;
}

/* Without a path and a folder the program listens, and records when `jsprof record` asks
 * for it. */
bool request_open_env(const request_program *program, request *r)
{
    const char *path = request_variable("JSPROF");
    const char *folder = request_variable("JSPROF_CONTINUOUS");

    snprintf(r->name, sizeof r->name, "%s%s",
             path ? "JSPROF: " : folder ? "JSPROF_CONTINUOUS: " : "JSPROF_CONTROL",
             path ? path : folder ? folder : "");
    const char *tasks = request_variable("JSPROF_TASKS");
    if (tasks && strcmp(tasks, "0") == 0)
        tasks = nullptr;
    if ((path && !request_is_apart(program->name, "JSPROF", path)) ||
        !request_is_alone(program, r) ||
        (tasks && !request_read_tasks(program->name, "JSPROF_TASKS", tasks,
                                      "0, 1 or signals is allowed")))
        return false;
    int err = jsprof_start_from_env(&r->session);
    if (err < 0) {
        char why[4400];
        fprintf(stderr, "%s: %s\n", program->name, jsprof_error_text(err, why, sizeof why));
    }
    const char *alloc = environment_get("JSPROF_ALLOC");
    r->allocates = alloc && strcmp(alloc, "0") != 0;
    r->has_tasks = tasks || environment_get("JSPROF_STALLS");
    r->has_signals = tasks && strcmp(tasks, "signals") == 0;
    return err >= 0 && request_print_path(program, r);
}

/* -- Sysprof --------------------------------------------------------------------------- */

/* Return the open descriptor that this variable names, or -1. A variable that has
 * outlived its descriptor is no reason to stop. */
int request_descriptor(const char *variable)
{
    const char *text = environment_get(variable);
    char *end;

    if (!text || !text[0])
        return -1;
    long fd = strtol(text, &end, 10);
    if (*end || fd < 1 || fd > INT16_MAX || fcntl(static_cast<int>(fd), F_GETFD) < 0)
        return -1;
    return static_cast<int>(fd);
}

/* Open a file for us alone: programs that we start do not write to it. */
int request_to_file(const char *variable, int fd, relay **out, int *input)
{
    int err = relay_to_file(out, fd, input);

    if (err < 0)
        return err;
    close(fd);
    environment_unset(variable);
    return 0;
}

/* Open the first of its ways that works; *input stays -1 if there is none. */
int request_join_sysprof(const request_program *program, request *r, int *input)
{
    static const char *const files[] = { "GJS_TRACE_FD", "SYSPROF_TRACE_FD" };
    int fd;

    /* Sysprof sets both, and gjs ignores both at a prompt. */
    bool for_gjs = environment_get("GJS_ENABLE_PROFILER") && !program->interactive;

    for (int i = for_gjs ? 0 : 1; i < 2; i++) {
        fd = request_descriptor(files[i]);
        snprintf(r->name, sizeof r->name, "%s", files[i]);
        if (fd >= 0)
            return request_to_file(files[i], fd, &r->passes_on, input);
    }
    snprintf(r->name, sizeof r->name, "SYSPROF_CONTROL_FD");
    fd = request_descriptor("SYSPROF_CONTROL_FD");
    return fd >= 0 ? relay_to_ring(&r->passes_on, fd, input) : 0;
}

/* If the other end does not answer as Sysprof does, print this, but let the program
 * run. */
bool request_open_sysprof(const profile_options *asked, const request_program *program,
                          request *r)
{
    jsprof_options o;
    relay_result result;
    int input = -1;

    if (!request_read(asked, program->name, &o, &r->begins_stopped))
        return false;
    int err = request_join_sysprof(program, r, &input);
    if (err < 0)
        request_refuse(program->name, r, strerror(-err));
    if (input < 0)
        return true;
    o.flags = JSPROF_USE_FD;
    o.fd = input;
    err = jsprof_open(&r->session, &o);
    close(input);
    if (err >= 0)
        return true;
    relay_close(r->passes_on, &result);
    r->passes_on = nullptr;
    return request_refuse(program->name, r, jsprof_strerror(err));
}

bool request_without_output(const profile_options *o, const char *program)
{
    const char *option = o->hz        ? "--profile-hz"
                         : o->clock   ? "--profile-clock"
                         : o->toggle  ? "--profile-toggle"
                         : o->form    ? "--profile-form"
                         : o->threads ? "--profile-threads"
                         : o->alloc   ? "--profile-alloc"
                         : o->tasks   ? "--profile-tasks"
                         : o->stalls  ? "--profile-stalls"
                                      : nullptr;

    if (!option)
        return false;
    fprintf(stderr, "%s: %s: needs --profile-output=FILE\n", program, option);
    return true;
}

/* JSPROF_HZ and JSPROF_CLOCK also apply to Sysprof's recordings. */
profile_options request_sysprof_options(void)
{
    profile_options o = {};

    o.is_environment = true;
    o.hz = environment_get("JSPROF_HZ");
    o.clock = environment_get("JSPROF_CLOCK");
    return o;
}

} // namespace

bool request_open(const profile_options *options, const request_program *program,
                  request *out)
{
    const char *control = request_variable("JSPROF_CONTROL");

    *out = {};
    if (control && strcmp(control, "0") == 0)
        control = nullptr;
    if (options->output)
        return request_open_file(options, program, out);
    if (request_without_output(options, program->name))
        return false;
    if (request_variable("JSPROF") || request_variable("JSPROF_CONTINUOUS") || control)
        return request_open_env(program, out);
    const profile_options sysprof = request_sysprof_options();
    return program->gjs_profiler || request_open_sysprof(&sysprof, program, out);
}

bool request_is_apart(const char *program, const char *option, const char *path)
{
    if (!jsp_is_printed(path))
        return true;
    fprintf(stderr, "%s: %s=%s: the program prints there; this needs a file of its own\n",
            program, option, path);
    return false;
}

bool request_check(const profile_options *options, const char *program)
{
    jsprof_options o;
    bool begins_stopped;

    return request_read(options, program, &o, &begins_stopped);
}
