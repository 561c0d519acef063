/* serve/screen.c - see screen.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "screen.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/pager.h"

enum { SCREEN_ROWS = 24, SCREEN_COLUMNS = 80, SCREEN_CHARACTER = 4 };

static struct termios screen_before;
static bool screen_is_open, screen_has_keys, screen_has_escapes;

/* A picture is printed into a file in memory, because it is cut to the size of the terminal. */
static int screen_terminal = -1, screen_page = -1; /* owned; -1: it is not cut */

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
    screen_terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    screen_page = screen_terminal < 0 ? -1 : memfd_create("picture", MFD_CLOEXEC);
    return true;
}

/* Print to the terminal again. */
static void screen_leave_page(void)
{
    fflush(stdout);
    if (cli_terminal() != screen_terminal || screen_page < 0)
        return;
    dup2(screen_terminal, STDOUT_FILENO);
    cli_terminal_set(STDOUT_FILENO);
}

void screen_close(void)
{
    if (!screen_is_open)
        return;
    screen_is_open = false;
    screen_leave_page();
    if (screen_page >= 0)
        close(screen_page);
    if (screen_terminal >= 0)
        close(screen_terminal);
    screen_page = screen_terminal = -1;
    screen_put("\033[?7h\033[?25h\033[?1049l");
    fflush(stdout);
    if (screen_has_keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &screen_before);
}

/* Store the size of the terminal. */
static void screen_size(int *rows, int *columns)
{
    struct winsize size = { .ws_row = 0 };
    ioctl(cli_terminal(), TIOCGWINSZ, &size);
    *rows = size.ws_row ? size.ws_row : SCREEN_ROWS;
    *columns = size.ws_col ? size.ws_col : SCREEN_COLUMNS;
}

int screen_rows(void)
{
    int rows, columns;
    screen_size(&rows, &columns);
    return rows;
}

void screen_begin(void)
{
    if (screen_page < 0) {
        screen_put("\033[?2026h\033[H\033[2J");
        return;
    }
    fflush(stdout);
    if (ftruncate(screen_page, 0) == 0 && lseek(screen_page, 0, SEEK_SET) == 0 &&
        dup2(screen_page, STDOUT_FILENO) >= 0)
        cli_terminal_set(screen_terminal);
}

/* Return the bytes of an escape sequence of ours, or 0. */
static size_t screen_escape(const char *at, const char *end)
{
    size_t n = 2;
    if (end - at < 3 || at[0] != '\033' || at[1] != '[')
        return 0;
    while (at + n < end && at[n] < '@')
        n++;
    return at + n < end ? n + 1 : 0;
}

/* Return the bytes of a character, and how many columns it takes. */
static size_t screen_character(const char *at, const char *end, int *columns)
{
    mbstate_t state = { 0 };
    wchar_t c = 0;
    size_t n = mbrtowc(&c, at, (size_t)(end - at), &state);
    *columns = n - 1 < SCREEN_CHARACTER ? wcwidth(c) : 1;
    *columns = *columns < 0 ? 1 : *columns;
    return n - 1 < SCREEN_CHARACTER ? n : 1;
}

/* Print what fits. Colours end in the line in which they begin, also one that is cut. */
static void screen_cut(const char *at, size_t size)
{
    int rows, columns, row = 1, used = 0, width;
    const char *end = at + size;
    screen_size(&rows, &columns);
    for (size_t n; at < end; at += n) {
        if (*at == '\n') {
            n = 1;
            used = 0;
            if (++row > rows || at + 1 == end)
                return;
            putchar('\n');
        } else if ((n = screen_escape(at, end)) != 0) {
            fwrite(at, 1, n, stdout);
        } else {
            n = screen_character(at, end, &width);
            used += width;
            if (used <= columns)
                fwrite(at, 1, n, stdout);
        }
    }
}

void screen_end(void)
{
    struct stat is;
    screen_leave_page();
    if (screen_page >= 0) {
        char *at = fstat(screen_page, &is) == 0 && is.st_size > 0
                       ? mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, screen_page, 0)
                       : MAP_FAILED;
        screen_put("\033[?2026h\033[H\033[2J");
        if (at != MAP_FAILED) {
            screen_cut(at, (size_t)is.st_size);
            munmap(at, (size_t)is.st_size);
        }
        if (!screen_has_escapes)
            putchar('\n');
    }
    screen_put("\033[?2026l");
    fflush(stdout);
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
