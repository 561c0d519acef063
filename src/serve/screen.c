/* serve/screen.c - see screen.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "screen.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { SCREEN_ROWS = 24, SCREEN_LEAST_ROWS = 8 };

static struct termios screen_before;
static bool screen_is_open, screen_has_keys, screen_has_escapes;

static void screen_put(const char *escape)
{
    if (screen_has_escapes)
        fputs(escape, stdout);
}

/* Keys come one by one and are not echoed. Ctrl-C still interrupts; Ctrl-Z would leave the
 * terminal as it is here. */
static void screen_keys(void)
{
    struct termios raw;
    screen_has_keys = tcgetattr(STDIN_FILENO, &screen_before) == 0;
    if (!screen_has_keys)
        return;
    raw = screen_before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    raw.c_cc[VSUSP] = _POSIX_VDISABLE;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

bool screen_open(void)
{
    const char *term = getenv("TERM");
    if (!isatty(STDOUT_FILENO))
        return false;
    screen_has_escapes = term && *term && strcmp(term, "dumb") != 0;
    screen_keys();
    screen_is_open = true;
    atexit(screen_close);
    screen_put("\033[?1049h\033[?25l\033[?7l"); /* long lines end at the margin */
    fflush(stdout);
    return true;
}

void screen_close(void)
{
    if (!screen_is_open)
        return;
    screen_is_open = false;
    screen_put("\033[?7h\033[?25h\033[?1049l");
    fflush(stdout);
    if (screen_has_keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &screen_before);
}

void screen_begin(void)
{
    screen_put("\033[?2026h\033[H\033[2J");
}

void screen_end(void)
{
    screen_put("\033[?2026l");
    fflush(stdout);
}

int screen_rows(void)
{
    struct winsize size;
    int n = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
    return n == 0 ? SCREEN_ROWS : n < SCREEN_LEAST_ROWS ? SCREEN_LEAST_ROWS : n;
}

int screen_key(int ms, int fd)
{
    struct pollfd wait[] = { { .fd = screen_has_keys ? STDIN_FILENO : -1, .events = POLLIN },
                             { .fd = fd, .events = POLLIN } };
    unsigned char key = 0;
    if (poll(wait, 2, ms) <= 0 || !wait[0].revents)
        return 0;
    if (read(STDIN_FILENO, &key, 1) <= 0)
        screen_has_keys = false; /* the terminal is gone */
    return key;
}
