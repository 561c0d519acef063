/* cli/text.c - what the terminal is; numbers, bars, colours.
 *
 * SPDX-License-Identifier: MIT
 */
#include "text.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "pager.h"

enum { TEXT_LEAST_COLUMNS = 40 };

struct cli_style cli_style_get(void)
{
    struct cli_style s = { 0 };
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    setlocale(LC_CTYPE, "");
    s.is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    /* Names are UTF-8 in any locale, and their widths need a locale of UTF-8. */
    if (!s.is_utf8)
        setlocale(LC_CTYPE, "C.UTF-8");
    s.is_colour = isatty(cli_terminal()) && !(no_colour && *no_colour) &&
                  !(term && strcmp(term, "dumb") == 0);
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    s.columns = columns ? atoi(columns) : 0;
    if (s.columns <= 0 && ioctl(cli_terminal(), TIOCGWINSZ, &size) == 0)
        s.columns = size.ws_col;
    if (s.columns <= 0)
        s.columns = isatty(cli_terminal()) ? 80 : 0;
    else if (s.columns < TEXT_LEAST_COLUMNS)
        s.columns = TEXT_LEAST_COLUMNS;
    return s;
}

void cli_colour(const struct cli_style *s, enum cli_colour c)
{
    static const char *const codes[] = {
        [CLI_PLAIN] = "0", [CLI_BOLD] = "1",  [CLI_DIM] = "2",   [CLI_HOT] = "1;31",
        [CLI_WARM] = "33", [CLI_GOOD] = "32", [CLI_KIND] = "36",
    };
    if (s->is_colour)
        printf("\033[%sm", codes[c]);
}

enum cli_colour cli_heat(double share)
{
    return share >= 0.10 ? CLI_HOT : share >= 0.02 ? CLI_WARM : CLI_PLAIN;
}

const char *cli_count(char out[CLI_NUMBER], uint64_t n)
{
    char digits[CLI_NUMBER];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n), to = 0;
    for (int i = 0; i < len; i++) {
        out[to++] = digits[i];
        if ((len - i - 1) % 3 == 0 && i + 1 < len)
            out[to++] = ',';
    }
    out[to] = 0;
    return out;
}

const char *cli_s(uint64_t n)
{
    return n == 1 ? "" : "s";
}

const char *cli_duration(char out[CLI_NUMBER], uint64_t ns)
{
    double v = (double)ns;
    if (ns < 1000000)
        snprintf(out, CLI_NUMBER, "%.0f us", v / 1e3);
    else if (ns < 10000000)
        snprintf(out, CLI_NUMBER, "%.2f ms", v / 1e6);
    else if (ns < 999500000)
        snprintf(out, CLI_NUMBER, "%.0f ms", v / 1e6);
    else if (v < 99.995e9)
        snprintf(out, CLI_NUMBER, "%.2f s", v / 1e9);
    else
        snprintf(out, CLI_NUMBER, "%.0f s", v / 1e9);
    return out;
}

const char *cli_exact_duration(char out[CLI_NUMBER], uint64_t ns)
{
    double v = (double)ns;
    if (ns < 1000)
        snprintf(out, CLI_NUMBER, "%" PRIu64 " ns", ns);
    else if (v < 999500)
        snprintf(out, CLI_NUMBER, "%.*f us", v < 9995 ? 2 : v < 99950 ? 1 : 0, v / 1e3);
    else if (v < 999.5e6)
        snprintf(out, CLI_NUMBER, "%.*f ms", v < 9.995e6 ? 2 : v < 99.95e6 ? 1 : 0, v / 1e6);
    else
        snprintf(out, CLI_NUMBER, "%.*f s", v < 9.995e9 ? 2 : v < 99.95e9 ? 1 : 0, v / 1e9);
    return out;
}

const char *cli_bytes(char out[CLI_NUMBER], uint64_t bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double v = (double)bytes;
    int unit = 0;
    for (; v >= 1023.5 && unit < 6; unit++)
        v /= 1024;
    snprintf(out, CLI_NUMBER, "%.*f %s", !unit || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2, v,
             units[unit]);
    return out;
}

bool cli_unit_is_count(const char *unit)
{
    return strcmp(unit, "samples") == 0;
}

bool cli_unit_is_bytes(const char *unit)
{
    return strcmp(unit, "alloc_bytes") == 0 || strcmp(unit, "live_bytes") == 0;
}

const char *cli_value_of(char out[CLI_NUMBER], const char *unit, uint64_t value)
{
    return strcmp(unit, "samples") == 0 ? cli_count(out, value)
           : cli_unit_is_bytes(unit)    ? cli_bytes(out, value)
                                        : cli_duration(out, value);
}

const char *cli_percent(char out[CLI_NUMBER], double share)
{
    snprintf(out, CLI_NUMBER, "%.1f%%", 100 * share);
    return out;
}

void cli_wrap(const struct cli_style *s, const char *sentence)
{
    int room = s->columns ? s->columns : 80, used = 0;
    for (const char *at = sentence; *at; at += *at == ' ') {
        int n = (int)strcspn(at, " ");
        if (used && used + 1 + n > room)
            used = 0, putchar('\n');
        used += printf("%s%.*s", used ? " " : "", n, at);
        at += n;
    }
    putchar('\n');
}

void cli_more(int columns, uint32_t n, const char *what)
{
    char number[CLI_NUMBER];
    if (n)
        printf("%*s%s more %s%s (--limit 0 shows %s)\n", columns, "", cli_count(number, n), what,
               cli_s(n), n == 1 ? "it" : "them");
}

void cli_repeat(const char *what, int times)
{
    for (int i = 0; i < times; i++)
        fputs(what, stdout);
}

/* Return how many of `width` cells a share fills; at most all, whatever the share is. */
static int text_cells(double share, int width)
{
    return share >= 1 ? width : share > 0 ? (int)(share * width + 0.5) : 0;
}

void cli_bar(const struct cli_style *s, double self, double total, int width)
{
    static const char *const part[8] =
        { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    int light = text_cells(total, width);
    if (!s->is_utf8) {
        int solid = text_cells(self, width);
        cli_repeat("#", solid);
        cli_repeat("-", light - solid);
        cli_repeat(" ", width - (light > solid ? light : solid));
        return;
    }
    /* Draw to an eighth of a cell, so that the solid part ends where the share ends. */
    int eighths = text_cells(self, width * 8), cells = eighths / 8;
    cli_colour(s, CLI_WARM);
    cli_repeat("█", cells);
    if (eighths % 8 && cells < width)
        fputs(part[eighths % 8], stdout), cells++;
    cli_colour(s, CLI_PLAIN);
    cli_colour(s, CLI_DIM);
    for (; cells < light; cells++)
        fputs("░", stdout);
    cli_colour(s, CLI_PLAIN);
    cli_repeat(" ", width - cells);
}
