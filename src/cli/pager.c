/* cli/pager.c - the program that shows long answers on a terminal, where the user has set one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGER_NOT_RUN = 126, PAGER_NOT_FOUND = 127 }; /* the shell's exit status */

static pid_t pager_pid;
static int pager_terminal = STDOUT_FILENO;

int cli_terminal(void)
{
    return pager_terminal;
}

void cli_terminal_set(int fd)
{
    pager_terminal = fd;
}

static void pager_run(const char *program, const int ends[2])
{
    signal(SIGPIPE, SIG_DFL);
    dup2(ends[0], STDIN_FILENO);
    /* less: leave if one screen is enough, show colours, do not clear the screen. */
    setenv("LESS", "FRX", 0);
    setenv("LV", "-c", 0);
    execl("/bin/sh", "sh", "-c", program, (char *)NULL);
    _exit(127);
}

static int pager_wait(void)
{
    int status = 0;
    close(STDOUT_FILENO);
    while (waitpid(pager_pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* A pager stays after Ctrl-C, which also reaches us. If we ended before it, the shell and the
 * pager would both read the terminal. */
static void pager_interrupt(int number)
{
    pager_wait();
    signal(number, SIG_DFL);
    raise(number);
}

static const char *pager_program(void)
{
    const char *program = getenv("JSPROF_PAGER");
    return program ? program : getenv("PAGER");
}

void cli_pager_start(void)
{
    const char *program = pager_program();
    int ends[2];
    if (!program || !*program || strcmp(program, "cat") == 0 || !isatty(STDOUT_FILENO))
        return;
    int terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (terminal < 0)
        return;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        close(terminal);
        return;
    }
    pager_pid = fork();
    if (pager_pid == 0)
        pager_run(program, ends);
    if (pager_pid > 0 && dup2(ends[1], STDOUT_FILENO) >= 0)
        pager_terminal = terminal;
    else
        close(terminal);
    close(ends[0]);
    close(ends[1]);
    if (pager_pid > 0 && signal(SIGINT, pager_interrupt) == SIG_IGN)
        signal(SIGINT, SIG_IGN);
}

const char *cli_pager_end(void)
{
    if (pager_pid <= 0)
        return NULL;
    signal(SIGINT, SIG_IGN);
    fflush(stdout);
    int status = pager_wait(), code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return code == PAGER_NOT_RUN || code == PAGER_NOT_FOUND ? pager_program() : NULL;
}
