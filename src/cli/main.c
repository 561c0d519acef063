/* cli/main.c - the `jsprof` command: which command, which help, which exit status.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "follow.h"
#include "nearest.h"
#include "open.h"
#include "pager.h"
#include "jsprof.h"

static const struct cli_command *const main_commands[] = {
    &cli_info,    /* what was recorded */
    &cli_threads,
    &cli_list,
    &cli_report,  /* where the time goes */
    &cli_tree,
    &cli_callers,
    &cli_callees,
    &cli_annotate,
    &cli_calls,
    &cli_loop,
    &cli_stalls,
    &cli_causes,
    &cli_diff,
    &cli_html,    /* elsewhere */
    &cli_view,
    &cli_convert,
    &cli_merge,
    &cli_dump,
    &cli_ps,      /* a process that runs */
    &cli_record,
    &cli_top,
    &cli_serve_fleet,
    &cli_push,
};
enum { MAIN_N_COMMANDS = sizeof main_commands / sizeof *main_commands };

static const char main_head[] =
    "usage: jsprof COMMAND [OPTION]... FILE\n"
    "\n"
    "Reads captures of embedded profilers (.syscap files, as jsprof, Sysprof and GJS\n"
    "write them) and answers questions about them. FILE may be - for standard input.\n"
    "\n";

static const char main_tail[] =
    "\n"
    "  jsprof help COMMAND    the options of one command\n"
    "  jsprof --version       the version of this tool\n"
    "\n"
    "Environment: NO_COLOR turns colours off, COLUMNS sets the width, JSPROF_PAGER or\n"
    "PAGER names a program that shows what is printed on a terminal.\n"
    "Exit status: 0 success, 1 a file could not be read or written, 2 wrong usage.\n";

static int main_help(void)
{
    fputs(main_head, stdout);
    for (int i = 0; i < MAIN_N_COMMANDS; i++)
        printf("  %-8s  %s\n", main_commands[i]->name, main_commands[i]->summary);
    fputs(main_tail, stdout);
    return CLI_OK;
}

static const struct cli_command *main_find(const char *name)
{
    for (int i = 0; i < MAIN_N_COMMANDS; i++)
        if (strcmp(main_commands[i]->name, name) == 0)
            return main_commands[i];
    return NULL;
}

static int main_unknown(const char *name)
{
    struct cli_nearest near = { .word = name, .len = strlen(name) };
    for (int i = 0; i < MAIN_N_COMMANDS; i++)
        cli_nearest_try(&near, main_commands[i]->name);
    return near.best ? cli_usage(NULL, "no command \"%s\", perhaps %s?", name, near.best)
                     : cli_usage(NULL, "no command \"%s\"", name);
}

static int main_help_of(const char *name)
{
    const struct cli_command *c = main_find(name);
    if (!c)
        return main_unknown(name);
    fputs(c->help, stdout);
    return CLI_OK;
}

/* Complete what a command has printed. Return the exit status. */
static int main_end(int status)
{
    errno = 0;
    int err = fflush(stdout) != 0 || ferror(stdout) ? errno : 0;
    const char *missing = cli_pager_end();
    if (err && err != EPIPE) {
        fprintf(stderr, "jsprof: standard output: %s\n", strerror(err));
        return CLI_FAILED;
    }
    if (status == CLI_OK && cli_is_incomplete())
        return cli_fail("standard output", "%s: the answer is not complete", strerror(ENOMEM));
    if (status == CLI_OK && missing)
        return cli_fail("pager", "%s could not be run: the answer is not shown", missing);
    return status;
}

/* Take the word --follow away. Return true if it was there. */
static bool main_take_follow(struct cli_arguments *a)
{
    int n = 0, all = a->n_words;
    bool is_over = false;
    for (int i = 0; i < all; i++) {
        is_over |= strcmp(a->words[i], "--") == 0;
        if (is_over || strcmp(a->words[i], "--follow") != 0)
            a->words[n++] = a->words[i];
    }
    a->n_words = n;
    return n < all;
}

static int main_run(const struct cli_command *c, int n_words, char **words)
{
    for (int i = 0; i < n_words && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0)
            return main_help_of(c->name);
    for (int i = 0; c->documents[0] && i < n_words && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--json-schema") == 0)
            return cli_schema(c);
    struct cli_arguments a = { .command = c->name, .words = words, .n_words = n_words };
    bool does_follow = c->is_followed && main_take_follow(&a);
    a.files = calloc((size_t)n_words + 1, sizeof *a.files);
    if (!a.files)
        return cli_fail(c->name, "%s", strerror(ENOMEM));
    if (!c->is_for_files && !does_follow)
        cli_pager_start();
    int status = does_follow ? cli_follow(c, &a, main_end) : c->run(&a);
    free(a.files);
    return status;
}

static int main_command(int n_words, char **words)
{
    if (n_words == 0)
        return cli_usage(NULL, "no command given");
    if (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0)
        return main_help();
    if (strcmp(words[0], "--version") == 0)
        return puts("jsprof " JSPROF_VERSION_STRING) < 0 ? CLI_FAILED : CLI_OK;
    if (strcmp(words[0], "help") == 0)
        return n_words > 1 ? main_help_of(words[1]) : main_help();
    const struct cli_command *c = main_find(words[0]);
    if (!c)
        return words[0][0] == '-' ? cli_usage(NULL, "unknown option %s", words[0])
                                  : main_unknown(words[0]);
    return main_run(c, n_words - 1, words + 1);
}

int main(int argc, char **argv)
{
    /* Open /dev/null at each standard descriptor that is closed. Otherwise a file of ours could
     * get its number, and what we print would go there. */
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
            break;
    /* A reader that closed the pipe has read enough: ignore the signal and the error. */
    signal(SIGPIPE, SIG_IGN);
    return main_end(main_command(argc - 1, argv + 1));
}
