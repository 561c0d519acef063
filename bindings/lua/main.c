/* main.c - jsprof-lua5.4 and the other versions: run a Lua program and record it.
 *
 * It replaces the `lua` program: script, arguments, LUA_INIT, messages and exit status
 * are the same. The module does the recording; the script can require it as well.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../printed.h"
#include "environment.h"
#include "fatal_signals.h"
#include "module.h"
#include "module_options.h"

enum { MAIN_USAGE = 2 };

static const char main_help[] =
    "Usage: jsprof-lua [--version " JSPROF_LUA_KNOWN "] [OPTION...] SCRIPT [ARG...]\n"
    "Run a Lua program and record what it does.\n\n"
    "  --profile-output=FILE      record into FILE; %p in it is the process id\n"
    "  --profile-hz=N             samples a second, 1 to 10000; 1000 without it\n"
    "  --profile-clock=cpu|wall   by CPU time (default) or by elapsed time\n"
    "  --profile-mode=sample|calls|both\n"
    "                             samples (default), exact calls, or both\n"
    "  --profile-alloc[=BYTES]    also sample allocations, one in each so many bytes\n"
    "                             (512 KiB); with calls: count the bytes that they allocate\n"
    "  --profile-traces           LuaJIT: also a mark for each trace, with the reason why\n"
    "                             the compiler gave up\n"
    "  --profile-loop             also a mark for each callback of an event loop in C\n"
    "  --profile-tasks            also what coroutines and callbacks ran, and who made them\n"
    "  --profile-stalls=16ms      record only runs of them that took longer\n"
    "  --profile-control          listen: jsprof record PID records it at any moment\n"
    "  -l MODULE                  require MODULE first\n"
    "  -e CODE                    run CODE; the script is then optional\n"
    "  --help                     this text\n\n"
    "SCRIPT - is standard input. Without --profile-output, JSPROF=FILE in the environment\n"
    "(with JSPROF_HZ, JSPROF_CLOCK, JSPROF_COMPACT, JSPROF_CHILDREN, JSPROF_ALLOC,\n"
    "JSPROF_DEPTH, JSPROF_SOURCE, JSPROF_NO_THREAD, JSPROF_CALLS, JSPROF_TRACES,\n"
    "JSPROF_LOOP, JSPROF_TASKS and JSPROF_STALLS) sets where to record. JSPROF_CONTROL=1\n"
    "is --profile-control. JSPROF_CONTINUOUS=FOLDER (with JSPROF_SEGMENT, JSPROF_KEEP and\n"
    "JSPROF_KEEP_MIB) records always. Without all of them, nothing is recorded.\n";

struct main_options {
    const char *output, *output_name, *hz, *clock, *mode;
    const char *hz_name, *clock_name; /* the option or variable that set it */
    const char *alloc, *alloc_name, *stalls, *stalls_name;
    /* From the environment. */
    const char *compact, *children, *depth, *alone, *source, *calls, *listens;
    const char *continuous, *segment, *keep, *keep_mib;
    int environment_traces, environment_loop, environment_tasks; /* the same; -1: not allowed */
    jsprof_options open;            /* the values above, converted */
    bool traces, loop, tasks, control;
    int script;   /* index in argv; argc: no script */
    int n_steps;  /* -e and -l options before it in argv */
};

static int main_fail(const char *what, const char *why)
{
    fprintf(stderr, "jsprof-lua: %s%s%s\n", what, why ? ": " : "", why ? why : "");
    return MAIN_USAGE;
}

/* -- Options -------------------------------------------------------------------- */

static bool main_value(const char *arg, const char *name, const char **value)
{
    size_t n = strlen(name);
    if (strncmp(arg, name, n) != 0 || arg[n] != '=')
        return false;
    *value = arg + n + 1;
    return true;
}

static bool main_option(const char *arg, struct main_options *o)
{
    if (strcmp(arg, "--profile-alloc") == 0) {
        o->alloc = "1"; /* the usual distance */
        return true;
    }
    if (strcmp(arg, "--profile-traces") == 0)
        return o->traces = true;
    if (strcmp(arg, "--profile-loop") == 0)
        return o->loop = true;
    if (strcmp(arg, "--profile-tasks") == 0)
        return o->tasks = true;
    if (strcmp(arg, "--profile-control") == 0)
        return o->control = true;
    return main_value(arg, "--profile-output", &o->output) ||
           main_value(arg, "--profile-alloc", &o->alloc) ||
           main_value(arg, "--profile-stalls", &o->stalls) ||
           main_value(arg, "--profile-hz", &o->hz) ||
           main_value(arg, "--profile-clock", &o->clock) ||
           main_value(arg, "--profile-mode", &o->mode);
}

static int main_parse(int argc, char **argv, struct main_options *o)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "-e") == 0 || strcmp(argv[i], "-l") == 0) {
            if (++i == argc)
                return main_fail(argv[i - 1], "wants an argument");
            o->n_steps++;
        } else if (!main_option(argv[i], o)) {
            return main_fail(argv[i], "no such option (--help lists them)");
        }
    }
    o->script = i;
    if (i == argc && !o->n_steps)
        return main_fail("no script (--help says how)", NULL);
    bool has_other = o->hz || o->clock || o->mode || o->alloc || o->traces || o->loop ||
                     o->tasks || o->stalls;
    if (!o->output && has_other && !o->control && !jsp_lua_environment_asks())
        return main_fail("--profile-output=FILE is missing", NULL);
    return 0;
}

/* Options have precedence; an empty variable counts as unset. */
static void main_variable(const char *variable, const char **value, const char **name)
{
    const char *text = getenv(variable);
    if (*value || !text || !*text)
        return;
    *value = text;
    *name = variable;
}

static void main_environment(struct main_options *o)
{
    const char *output = getenv("JSPROF"), *name;
    o->open = (jsprof_options){ .size = sizeof o->open };
    o->output_name = o->output ? "--profile-output" : "JSPROF";
    o->hz_name = "--profile-hz";
    o->clock_name = "--profile-clock";
    o->alloc_name = "--profile-alloc";
    o->stalls_name = "--profile-stalls";
    if (o->output || o->control || !jsp_lua_environment_asks())
        return;
    o->output = output && *output ? output : NULL;
    main_variable("JSPROF_CONTROL", &o->listens, &name);
    main_variable("JSPROF_CONTINUOUS", &o->continuous, &name);
    main_variable("JSPROF_SEGMENT", &o->segment, &name);
    main_variable("JSPROF_KEEP", &o->keep, &name);
    main_variable("JSPROF_KEEP_MIB", &o->keep_mib, &name);
    main_variable("JSPROF_HZ", &o->hz, &o->hz_name);
    main_variable("JSPROF_CLOCK", &o->clock, &o->clock_name);
    main_variable("JSPROF_ALLOC", &o->alloc, &o->alloc_name);
    main_variable("JSPROF_STALLS", &o->stalls, &o->stalls_name);
    main_variable("JSPROF_COMPACT", &o->compact, &name);
    main_variable("JSPROF_CHILDREN", &o->children, &name);
    main_variable("JSPROF_DEPTH", &o->depth, &name);
    main_variable("JSPROF_NO_THREAD", &o->alone, &name);
    main_variable("JSPROF_SOURCE", &o->source, &name);
    o->calls = jsp_lua_environment_calls();
    o->environment_traces = jsp_lua_environment_flag("JSPROF_TRACES");
    o->environment_loop = jsp_lua_environment_flag("JSPROF_LOOP");
    o->environment_tasks = jsp_lua_environment_flag("JSPROF_TASKS");
}

/* Check here, because the module would name its own options, which the user did not
 * type. */
static int main_check(struct main_options *o)
{
    const struct {
        const char *name, *value;
    } given[] = { { o->hz_name, o->hz }, { o->clock_name, o->clock },
                  { o->alloc_name, o->alloc }, { o->stalls_name, o->stalls },
                  { "JSPROF_COMPACT", o->compact }, { "JSPROF_CHILDREN", o->children },
                  { "JSPROF_DEPTH", o->depth }, { "JSPROF_NO_THREAD", o->alone },
                  { "JSPROF_SOURCE", o->source }, { "JSPROF_CONTROL", o->listens },
                  { "JSPROF_SEGMENT", o->segment }, { "JSPROF_KEEP", o->keep },
                  { "JSPROF_KEEP_MIB", o->keep_mib } };
    char why[300];
    if (o->output && jsp_is_printed(o->output))
        return fprintf(stderr, "jsprof-lua: %s=%s: " JSP_LUA_PRINTED "\n", o->output_name,
                       o->output), 2;
    if (o->environment_traces < 0 || o->environment_loop < 0 || o->environment_tasks < 0)
        return main_fail(o->environment_traces < 0 ? "JSPROF_TRACES"
                         : o->environment_loop < 0 ? "JSPROF_LOOP" : "JSPROF_TASKS",
                         "0 or 1 is allowed");
    if (o->calls && !*o->calls)
        return main_fail("JSPROF_CALLS", JSP_LUA_MODES_ALLOWED);
    o->traces = o->traces || o->environment_traces;
    o->loop = o->loop || o->environment_loop;
    o->tasks = o->tasks || o->environment_tasks;
#ifndef LUA_JITLIBNAME
    if (o->traces)
        return main_fail("--profile-traces", "only LuaJIT compiles");
#endif
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        int err = given[i].value ? jsprof_options_set(&o->open, given[i].name, given[i].value)
                                 : 0;
        if (err < 0)
            return main_fail(jsprof_error_text(err, why, sizeof why), NULL);
    }
    return 0;
}

/* -- Running -------------------------------------------------------------------- */

static int main_traceback(lua_State *L)
{
    const char *message = lua_tostring(L, 1);
    if (!message) {
        if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING)
            return 1;
        message = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
    }
    lua_getglobal(L, "debug");
    if (!lua_istable(L, -1))
        return 1;
    lua_getfield(L, -1, "traceback");
    if (!lua_isfunction(L, -1))
        return 1;
    lua_pushstring(L, message);
    lua_pushinteger(L, 2);
    lua_call(L, 2, 1);
    return 1;
}

/* Call the function below its `n` arguments, and report an error. */
static int main_call(lua_State *L, int n)
{
    int base = lua_gettop(L) - n;
    lua_pushcfunction(L, main_traceback);
    lua_insert(L, base);
    int status = lua_pcall(L, n, 0, base);
    lua_remove(L, base);
    if (status == LUA_OK)
        return 0;
    const char *message = lua_tostring(L, -1);
    fprintf(stderr, "jsprof-lua: %s\n", message ? message : "(error without a message)");
    lua_pop(L, 1);
    return 1;
}

/* Handle the result of luaL_load...: a chunk to run, or a message. */
static int main_loaded(lua_State *L, int status)
{
    if (status == LUA_OK)
        return main_call(L, 0);
    fprintf(stderr, "jsprof-lua: %s\n", lua_tostring(L, -1));
    lua_pop(L, 1);
    return 1;
}

static int main_step(lua_State *L, const char *kind, const char *text)
{
    if (strcmp(kind, "-e") == 0)
        return main_loaded(L, luaL_loadbuffer(L, text, strlen(text), "=(command line)"));
    lua_getglobal(L, "require");
    lua_pushstring(L, text);
    int err = lua_pcall(L, 1, 1, 0);
    if (err)
        fprintf(stderr, "jsprof-lua: %s\n", lua_tostring(L, -1));
    else
        lua_setglobal(L, text);
    return err ? 1 : 0;
}

/* Run LUA_INIT, or the variable for this version. */
static int main_init(lua_State *L)
{
    char name[32];
    snprintf(name, sizeof name, "LUA_INIT_%d_%d", LUA_VERSION_NUM / 100, LUA_VERSION_NUM % 100);
    const char *init = LUA_VERSION_NUM > 501 ? getenv(name) : NULL;
    if (!init)
        init = getenv("LUA_INIT");
    if (!init)
        return 0;
    if (init[0] == '@')
        return main_loaded(L, luaL_loadfile(L, init + 1));
    return main_loaded(L, luaL_loadbuffer(L, init, strlen(init), "=LUA_INIT"));
}

static int main_script(lua_State *L, int argc, char **argv, int script)
{
    const char *name = strcmp(argv[script], "-") == 0 ? NULL : argv[script];
    int status = luaL_loadfile(L, name);
    if (status != LUA_OK)
        return main_loaded(L, status);
    luaL_checkstack(L, argc - script + 3, "too many arguments");
    for (int i = script + 1; i < argc; i++)
        lua_pushstring(L, argv[i]);
    return main_call(L, argc - script - 1);
}

static void main_start_field(lua_State *L, const char *name, const char *value)
{
    if (!value)
        return;
    lua_pushstring(L, value);
    lua_setfield(L, -2, name);
}

static void main_start_number(lua_State *L, const char *name, uint32_t value)
{
    if (!value)
        return;
    lua_pushnumber(L, (lua_Number)value);
    lua_setfield(L, -2, name);
}

static void main_start_flag(lua_State *L, const char *name, bool is)
{
    lua_pushboolean(L, is);
    lua_setfield(L, -2, name);
}

static int main_preload(lua_State *L)
{
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    lua_pushcfunction(L, luaopen_jsprof);
    lua_setfield(L, -2, "jsprof");
    lua_pop(L, 2);
    return 0;
}

static int main_failed_start(lua_State *L)
{
    fprintf(stderr, "jsprof-lua: %s\n", lua_tostring(L, -1));
    return 1;
}

static bool main_listens(const struct main_options *o)
{
    return o->control || o->open.flags & JSPROF_CONTROL;
}

static int main_start(lua_State *L, const struct main_options *o)
{
    lua_getglobal(L, "require");
    lua_pushstring(L, "jsprof");
    if (lua_pcall(L, 1, 1, 0) != LUA_OK)
        return main_failed_start(L); /* this Lua is unknown to us */
    lua_getfield(L, -1, "start");
    lua_newtable(L);
    main_start_field(L, "output", o->output);
    main_start_number(L, "hz", o->open.hz);
    main_start_field(L, "clock", o->clock);
    main_start_field(L, "mode", o->mode);
    main_start_field(L, "source", o->source);
    main_start_field(L, "calls", o->calls);
    main_start_number(L, "alloc", o->open.alloc);
    main_start_number(L, "max_depth", o->open.max_depth);
    main_start_flag(L, "thread", o->alone && !(o->open.flags & JSPROF_NO_THREAD));
    main_start_flag(L, "compact", o->open.flags & JSPROF_COMPACT);
    main_start_flag(L, "children", o->open.flags & JSPROF_CHILDREN);
    main_start_flag(L, "traces", o->traces);
    main_start_flag(L, "loop", o->loop);
    main_start_flag(L, "tasks", o->tasks);
    main_start_field(L, "stalls", o->stalls);
    main_start_flag(L, "control", main_listens(o));
    main_start_field(L, "continuous", o->continuous);
    main_start_field(L, "segment", o->segment);
    main_start_field(L, "keep", o->keep);
    main_start_number(L, "keep_mib", o->open.keep_mib);
    if (lua_pcall(L, 1, 2, 0) != LUA_OK)
        return main_failed_start(L);
    if (lua_toboolean(L, -1))
        fprintf(stderr, "jsprof-lua: %s: another process records into it; this one into %s\n",
                o->output, lua_tostring(L, -2));
    lua_pop(L, 3);
    return 0;
}

static int main_run(lua_State *L, int argc, char **argv, const struct main_options *o)
{
    int script = o->script < argc ? o->script : 0;
    lua_newtable(L);
    for (int i = 0; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i - script);
    }
    lua_setglobal(L, "arg");
    int failed = main_init(L);
    for (int i = 1; i < o->script && !failed; i++) {
        bool is_step = strcmp(argv[i], "-e") == 0 || strcmp(argv[i], "-l") == 0;
        if (is_step && ++i < o->script)
            failed = main_step(L, argv[i - 1], argv[i]);
    }
    if (!failed && o->script < argc)
        failed = main_script(L, argc, argv, o->script);
    return failed;
}

/* It runs before the module's own function at exit, which is older. */
static void main_reported(void)
{
    jsp_lua_module_finish();
    int err = jsp_lua_module_result();
    if (err)
        fprintf(stderr, "jsprof-lua: the capture is not complete: %s\n",
                jsp_lua_module_why(err));
}

int main(int argc, char **argv)
{
    struct main_options o = { 0 };
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(main_help, stdout) < 0 || fflush(stdout) != 0;
    int err = main_parse(argc, argv, &o);
    if (err)
        return err;
    main_environment(&o);
    err = main_check(&o);
    if (err)
        return err;
    lua_State *L = luaL_newstate();
    if (!L)
        return main_fail("out of memory", NULL), 1;
    luaL_openlibs(L);
#if LUA_VERSION_NUM >= 504
    lua_gc(L, LUA_GCGEN, 0, 0); /* as the interpreter does, but not the library */
#endif
    main_preload(L);
    jsp_lua_module_leave_environment();
    if ((o.output || o.continuous || main_listens(&o)) && (main_start(L, &o) != 0 ||
                     jsp_lua_on_fatal_signal(jsp_lua_module_finish_now) < 0))
        return 1;
    atexit(main_reported);
    err = main_run(L, argc, argv, &o);
    lua_close(L);
    return err;
}
