/* serve/launch.c - see launch.h for the contract.
 *
 * A GJS program is started by jsprof-gjs, which loads a library into it. A Lua interpreter requires
 * our module before its script, by LUA_INIT. Any other program finds JSPROF in its environment,
 * which a host that calls jsprof_start_from_env obeys; into one that does not, the dynamic linker
 * loads the library of bindings/native, which with --children also goes into what those start, and
 * does the same there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "launch.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/open.h"
#include "interpreter.h"
#include "preload.h"

enum launch_kind { LAUNCH_HOST, LAUNCH_GJS, LAUNCH_LUA, LAUNCH_OTHER };
enum { LAUNCH_TEXT = 8192 };

/* -- What it is ------------------------------------------------------------------- */

/* Find a program as execvp does. */
static bool launch_find(const char *program, char path[PATH_MAX])
{
    const char *at = getenv("PATH");
    if (strchr(program, '/'))
        return realpath(program, path);
    for (at = at ? at : "/usr/local/bin:/usr/bin:/bin"; *at; at += *at == ':') {
        char candidate[PATH_MAX];
        size_t n = strcspn(at, ":");
        int len = snprintf(candidate, sizeof candidate, "%.*s/%s", (int)n, n ? at : ".", program);
        at += n;
        if (len < PATH_MAX && access(candidate, X_OK) == 0)
            return realpath(candidate, path);
    }
    return false;
}

/* Read the interpreter of a script: the last word of "#!/usr/bin/env -S gjs", or the first. */
static bool launch_interpreter(const char *path, char out[PATH_MAX])
{
    char line[256] = "", *next = line + 2, *word;
    FILE *f = fopen(path, "re");
    bool is_script = f && fgets(line, sizeof line, f) && line[0] == '#' && line[1] == '!';
    if (f)
        fclose(f);
    while (is_script && (word = strsep(&next, " \t\r\n")) != NULL)
        if (*word && *word != '-' && strcmp(interpreter_base(word), "env") != 0)
            return launch_find(word, out);
    return false;
}

/* What a program is, by its name, or by that of the interpreter in its first line; and else by the
 * libraries that its file names. Store a Lua's version, and why nothing can be preloaded, or
 * NULL. */
static enum launch_kind launch_kind(const char *program, char version[INTERPRETER_VERSION],
                                    const char **why)
{
    char path[PATH_MAX], interpreter[PATH_MAX];
    struct preload_look look;
    *version = 0;
    *why = NULL;
    if (!launch_find(program, path))
        return LAUNCH_HOST;
    const char *its = launch_interpreter(path, interpreter) ? interpreter : path;
    const char *name = interpreter_base(its);
    preload_look(its, &look);
    *why = look.why;
    if (strcmp(name, "gjs") == 0 || strcmp(name, "gjs-console") == 0)
        return LAUNCH_GJS;
    if (interpreter_is_lua(name, version))
        return LAUNCH_LUA;
    return look.has_ours ? LAUNCH_HOST : look.has_gjs ? LAUNCH_GJS : LAUNCH_OTHER;
}

/* -- Its environment ------------------------------------------------------------------ */

/* Write the path of a file of ours, from the folder above that of this program. */
static bool launch_ours(char out[PATH_MAX], const char *below)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    for (int i = 0; n > 0 && i < 2; i++)
        while (n > 0 && self[--n] != '/')
            continue;
    return n > 0 && snprintf(out, PATH_MAX, "%.*s/%s", (int)n, self, below) < PATH_MAX &&
           access(out, F_OK) == 0;
}

static bool launch_module(char out[PATH_MAX], const char *version)
{
    char below[64];
    snprintf(below, sizeof below, "lib/lua/%s/jsprof.so", version);
    return launch_ours(out, below);
}

/* Write the absolute name of the capture, as a pattern. The program may execute another one in
 * another folder. */
static void launch_place(const struct launch *l, char out[LAUNCH_TEXT])
{
    char here[PATH_MAX];
    size_t n = 0;
    *out = 0;
    if (*l->output != '/' && getcwd(here, sizeof here))
        for (const char *at = here; *at && n < LAUNCH_TEXT - PATH_MAX - 4; at++) {
            out[n++] = *at;
            if (*at == '%')
                out[n++] = '%';
        }
    snprintf(out + n, LAUNCH_TEXT - n, "%s%s", n ? "/" : "", l->output);
}

static void launch_host(const struct launch *l)
{
    char stalls[16], hz[16], output[LAUNCH_TEXT];
    snprintf(hz, sizeof hz, "%u", (unsigned)l->ask->hz);
    launch_place(l, output);
    setenv("JSPROF", output, 1);
    setenv("JSPROF_HZ", hz, 1);
    setenv("JSPROF_CLOCK", l->ask->clock, 1);
    setenv("JSPROF_SOURCE", l->ask->source, 1);
    setenv("JSPROF_COMPACT", l->ask->compact ? "1" : "0", 1);
    setenv("JSPROF_CHILDREN", l->has_children ? "1" : "0", 1);
    if (l->ask->tasks)
        setenv("JSPROF_TASKS", "1", 1);
    if (l->ask->alloc)
        setenv("JSPROF_ALLOC", "1", 1);
    if (l->ask->stall_us) {
        snprintf(stalls, sizeof stalls, "%uus", (unsigned)l->ask->stall_us);
        setenv("JSPROF_STALLS", stalls, 1);
    }
}

/* Let the dynamic linker load our library first. */
static void launch_preload(void)
{
    char library[PATH_MAX], text[LAUNCH_TEXT], pid[16];
    const char *before = getenv("LD_PRELOAD");
    if (!launch_ours(library, LAUNCH_BELOW "/libjsprof-native.so") &&
        !launch_ours(library, "lib/jsprof/libjsprof-native.so"))
        return;
    snprintf(text, sizeof text, "%s%s%s", library, before && *before ? ":" : "",
             before ? before : "");
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    setenv("LD_PRELOAD", text, 1);
    setenv("JSPROF_NATIVE_PID", pid, 1);
}

/* Execute jsprof-gjs, which is beside us or in PATH, with the program after its options. */
static void launch_gjs(const struct launch *l)
{
    char output[PATH_MAX + 32], hz[32], clock[32], ours[PATH_MAX], form[32], stalls[48];
    size_t n = 0, n_head = 0;
    while (l->words[n])
        n++;
    char **words = calloc(n + 10, sizeof *words);
    if (!words)
        return;
    snprintf(output, sizeof output, "--profile-output=%s", l->output);
    snprintf(hz, sizeof hz, "--profile-hz=%u", (unsigned)l->ask->hz);
    snprintf(clock, sizeof clock, "--profile-clock=%s", l->ask->clock);
    snprintf(form, sizeof form, "--profile-form=%s", l->ask->compact ? "compact" : "plain");
    snprintf(stalls, sizeof stalls, "--profile-stalls=%uus", (unsigned)l->ask->stall_us);
    setenv("JSPROF_SOURCE", l->ask->source, 1);
    char *const head[] = { launch_ours(ours, "bin/jsprof-gjs") ? ours : "jsprof-gjs",
                           output, hz, clock, form, l->ask->tasks ? "--profile-tasks" : NULL,
                           l->ask->alloc ? "--profile-alloc" : NULL,
                           l->ask->stall_us ? stalls : NULL, "--" };
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        if (head[i])
            words[n_head++] = head[i];
    memcpy(words + n_head, l->words, n * sizeof *words);
    execvp(words[0], words);
    free(words);
}

static void launch_child(const struct launch *l)
{
    char version[INTERPRETER_VERSION], module[PATH_MAX];
    const char *why;
    enum launch_kind kind = launch_kind(l->words[0], version, &why);
    if (kind == LAUNCH_OTHER && why) {
        cli_fail(l->command, "%s %s, so nothing can be loaded into it", l->words[0], why);
        _exit(LAUNCH_NOT_RUN);
    }
    if (kind == LAUNCH_OTHER || (l->has_children && !why))
        launch_preload();
    if (kind != LAUNCH_GJS || l->has_children)
        launch_host(l);
    if (kind == LAUNCH_LUA)
        interpreter_lua(version, launch_module(module, version) ? module : NULL);
    if (kind == LAUNCH_GJS) {
        launch_gjs(l);
        cli_fail(l->command, "jsprof-gjs: %s", strerror(errno));
        _exit(LAUNCH_NOT_RUN);
    }
    execvp(l->words[0], l->words);
    int err = errno;
    cli_fail(l->command, "%s: %s", l->words[0], strerror(err));
    _exit(err == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_RUN);
}

/* -- Its process ---------------------------------------------------------------------- */

static volatile sig_atomic_t launch_pid;

/* Who ends us means the program, whose recording we report then. */
static void launch_pass(int signo)
{
    int saved_errno = errno;
    kill((pid_t)launch_pid, signo);
    errno = saved_errno;
}

/* How we take these signals while the program runs. Ctrl-C is for the program; we report what it
 * has recorded. A signal that is ignored (nohup) stays ignored, in the report, too. */
static struct launch_signal {
    int signo;
    void (*handler)(int);
    struct sigaction before;
} launch_signals[] = { { .signo = SIGTERM, .handler = launch_pass },
                       { .signo = SIGHUP, .handler = launch_pass },
                       { .signo = SIGINT, .handler = SIG_IGN },
                       { .signo = SIGQUIT, .handler = SIG_IGN } };

enum { LAUNCH_SIGNALS = sizeof launch_signals / sizeof *launch_signals };

static void launch_catch(void)
{
    for (int i = 0; i < LAUNCH_SIGNALS; i++) {
        struct launch_signal *s = &launch_signals[i];
        struct sigaction action = { .sa_handler = s->handler, .sa_flags = SA_RESTART };
        sigaction(s->signo, NULL, &s->before);
        if (s->before.sa_handler != SIG_IGN)
            sigaction(s->signo, &action, NULL);
    }
}

static void launch_uncatch(void)
{
    for (int i = 0; i < LAUNCH_SIGNALS; i++)
        sigaction(launch_signals[i].signo, &launch_signals[i].before, NULL);
}

pid_t launch_begin(const struct launch *l)
{
    sigset_t both, before;
    fflush(stdout);
    sigemptyset(&both);
    sigaddset(&both, SIGTERM);
    sigaddset(&both, SIGHUP);
    sigprocmask(SIG_BLOCK, &both, &before);
    pid_t child = fork();
    if (child < 0)
        cli_fail(l->command, "%s", strerror(errno));
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        signal(SIGPIPE, SIG_DFL);
        launch_child(l);
    }
    launch_pid = child;
    launch_catch();
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child;
}

int launch_end(pid_t child)
{
    siginfo_t ended;
    int status = 0;
    if (child < 0)
        return LAUNCH_NOT_RUN;
    while (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        continue;
    launch_uncatch(); /* its number is another one's soon */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFSIGNALED(status) ? LAUNCH_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}
