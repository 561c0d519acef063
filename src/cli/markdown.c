/* cli/markdown.c - a whole answer as Markdown.
 *
 * Names are in code spans: a name can not become a link, a picture or a heading.
 *
 * SPDX-License-Identifier: MIT
 */
#include "markdown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "head.h"
#include "hints.h"
#include "native.h"
#include "options.h"

enum {
    MARKDOWN_ROWS = 12,  /* functions, unless the user asks for another number */
    MARKDOWN_ALL = 4000, /* bytes of all; some lines are estimates */
    MARKDOWN_REST = 750,  /* bytes of these for the account and what is next */
    MARKDOWN_NAME = 80,  /* bytes of a name */
    MARKDOWN_MORE = 16,  /* bytes around it at most */
    MARKDOWN_HEAD = 450, /* headings, counts */
    MARKDOWN_PATHS = 700, /* bytes for the categories and the path */
    MARKDOWN_ACCOUNT = 300,
    MARKDOWN_LEAST = 16, /* no name becomes shorter */
    MARKDOWN_LINE = 40,  /* bytes of a row without its names */
    MARKDOWN_AGAIN = 48, /* the same after the table of functions */
    MARKDOWN_PATH = 16,  /* steps of the hottest path */
    MARKDOWN_GROUPS = 8,
    MARKDOWN_ASIDE = 3,  /* commands to go on with */
};

static const double markdown_thin = 0.05; /* the path ends where its share is below this */

struct markdown {
    struct cli_capture *c;
    const struct cli_functions *rows;
    bool is_short; /* the user named no limit */
    size_t used;   /* bytes so far */
};

static double markdown_share(const struct markdown *m, uint64_t value)
{
    return cli_functions_share(m->rows, value);
}

/* Return the length of the longest run of backticks. */
static size_t markdown_run(const char *text)
{
    size_t longest = 0, run = 0;
    for (; *text; text++) {
        run = *text == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Copy a text without its middle, if it is longer than about `most` bytes. */
static void markdown_middle(char *out, const char *text, size_t most)
{
    size_t n = strlen(text), from = most / 2, to = n - most + from;
    if (n <= most + 8) {
        memcpy(out, text, n + 1);
        return;
    }
    while (from && ((unsigned char)text[from] & 0xC0) == 0x80)
        from--; /* cut between characters */
    while (((unsigned char)text[to] & 0xC0) == 0x80)
        to++;
    memcpy(out, text, from);
    memcpy(out + from, "...", 3);
    memcpy(out + from + 3, text + to, n - to + 1);
}

/* Return how many bytes a text has as code in a table. */
static size_t markdown_bytes(const char *text)
{
    size_t n = 2 * markdown_run(text) + 4;
    for (; *text; text++)
        n += *text == '|' ? 2 : 1;
    return n;
}

/* Print about `most` bytes of a name as code: between more backticks than it has in a row. A long
 * one loses its middle. In a table "|" needs a backslash. */
static void markdown_cut(struct markdown *m, struct cli_span name, size_t most)
{
    static const struct cli_style plain = { .is_utf8 = true };
    char *text = cli_clean(&plain, name), *shown = text ? malloc(strlen(text) + 1) : NULL;
    if (cli_incomplete(!shown)) {
        free(text);
        return;
    }
    for (size_t left = most;; left /= 2) {
        markdown_middle(shown, text, left);
        if (left <= MARKDOWN_LEAST || markdown_bytes(shown) <= most + MARKDOWN_MORE)
            break;
    }
    int ticks = (int)markdown_run(shown) + 1;
    bool is_padded = ticks > 1 || !*shown;
    cli_repeat("`", ticks);
    fputs(is_padded ? " " : "", stdout);
    for (const char *at = shown; *at; at++) {
        if (*at == '|')
            putchar('\\');
        putchar(*at);
    }
    fputs(is_padded ? " " : "", stdout);
    cli_repeat("`", ticks);
    m->used += markdown_bytes(shown);
    free(text);
    free(shown);
}

static void markdown_code(struct markdown *m, struct cli_span name)
{
    markdown_cut(m, name, MARKDOWN_NAME);
}

/* Return whether a summary of limited length has room for `bytes` more. */
static bool markdown_fits(const struct markdown *m, size_t bytes)
{
    return !m->is_short || m->used + bytes <= MARKDOWN_ALL;
}

static void markdown_functions(struct markdown *m, uint32_t limit)
{
    uint64_t n = limit && limit < m->rows->n ? limit : m->rows->n;
    uint64_t rest = 0;
    char a[CLI_NUMBER], b[CLI_NUMBER], s[CLI_NUMBER], place[CLI_PLACE];
    puts("## Functions\n\n| Self | Total | Samples | Kind | Function |\n"
         "|---:|---:|---:|:---|:---|");
    for (uint64_t i = 0; i < m->rows->n; i++) {
        const jsprof_read_function *f = &m->rows->rows[i];
        if (i < n && !markdown_fits(m, MARKDOWN_PATHS + MARKDOWN_REST))
            n = i;
        if (i >= n) {
            rest += f->self;
            continue;
        }
        m->used += MARKDOWN_LINE;
        printf("| %s | %s | %s | %s | ", cli_percent(a, markdown_share(m, f->self)),
               cli_percent(b, markdown_share(m, f->total)), cli_count(s, f->self_samples),
               f->kind);
        markdown_code(m, cli_span(f->name));
        cli_native_place(place, m->c, (struct cli_line){ f->file, f->line });
        if (f->line && f->self) {
            fputs(", mostly ", stdout);
            markdown_code(m, cli_span(place + strspn(place, " ")));
        }
        puts(" |");
    }
    if (n < m->rows->n)
        printf("\n%s more function%s %s %s of self.\n", cli_count(a, m->rows->n - n),
               cli_s(m->rows->n - n), m->rows->n - n == 1 ? "has" : "have",
               cli_percent(b, markdown_share(m, rest)));
    putchar('\n');
}

/* Print the largest categories. CLI_OK or CLI_FAILED. */
static int markdown_categories(struct markdown *m)
{
    const jsprof_read_order by = { .size = sizeof by, .by = "category" };
    struct cli_functions sums;
    char a[CLI_NUMBER];
    int status = cli_functions_open(&sums, m->c, &by);
    fputs("Self by category:", stdout);
    for (uint64_t i = 0; status == CLI_OK && i < sums.n && i < MARKDOWN_GROUPS; i++)
        if (sums.rows[i].self) {
            printf("%s %s ", i ? "," : "",
                   cli_percent(a, markdown_share(m, sums.rows[i].self)));
            markdown_cut(m, cli_span(sums.rows[i].name), MARKDOWN_AGAIN);
        }
    puts(".\n");
    cli_functions_free(&sums);
    return status;
}

/* Print the way from the root by the largest callee, which is the next node. Steps where nearly
 * nothing branches off are put together. Return 0 or -ENOMEM. */
static int markdown_steps(struct markdown *m, const jsprof_read_tree *tree)
{
    jsprof_read_node node = { .size = sizeof node }, below = { .size = sizeof below };
    uint32_t shown = 0, folded = 0;
    char a[CLI_NUMBER];
    int64_t got = jsprof_read_nodes(tree, 0, &below, 1);
    for (uint64_t at = 1; got == 1 && below.n_children && shown < MARKDOWN_PATH; at++) {
        if ((got = jsprof_read_nodes(tree, at, &node, 1)) != 1)
            break;
        if (node.n_children)
            got = jsprof_read_nodes(tree, at + 1, &below, 1);
        bool is_thick = node.n_children && (double)below.total > 0.99 * (double)node.total;
        if (markdown_share(m, node.total) < markdown_thin || !markdown_fits(m, MARKDOWN_REST))
            break;
        below = node;
        if (is_thick) {
            folded++;
            continue;
        }
        m->used += (size_t)printf("%u. %s ", ++shown,
                                  cli_percent(a, markdown_share(m, node.total)));
        markdown_cut(m, cli_span(node.name), MARKDOWN_AGAIN);
        if (folded)
            m->used += (size_t)printf(" (below %u more)", folded);
        putchar('\n');
        folded = 0;
    }
    return got < 0 ? -ENOMEM : 0;
}

static int markdown_path(struct markdown *m)
{
    jsprof_read_error error = { .size = sizeof error };
    jsprof_read_tree *tree;
    if (jsprof_read_tree_open(&tree, m->c->reader, NULL, &error) < 0)
        return cli_refuse(m->c, &error, "report");
    puts("## Hottest path\n");
    cli_incomplete(markdown_steps(m, tree) < 0);
    putchar('\n');
    jsprof_read_tree_close(tree);
    return CLI_OK;
}

/* Print a command for each of the functions with the most self. */
static int markdown_next(struct markdown *m)
{
    char advice[CLI_ADVICE];
    struct cli_hints hints;
    bool is_file = strcmp(m->c->label, m->c->path) == 0;
    struct cli_span file = cli_span(is_file ? m->c->path : "FILE");
    puts("## Next\n");
    if (cli_advice(m->c, advice, sizeof advice))
        m->used += (size_t)printf("- %s.\n", advice);
    int status = cli_hints(&hints, m->c, m->rows, true);
    for (int i = 0; i < hints.n; i++)
        m->used += (size_t)printf("- %s.\n", hints.text[i]);
    for (uint64_t i = 0; i < m->rows->n && i < MARKDOWN_ASIDE; i++) {
        const jsprof_read_function *f = &m->rows->rows[i];
        bool is_vm = strcmp(f->kind, "vm") == 0 || strcmp(f->kind, "jit") == 0;
        bool has_lines = f->line && is_vm;
        if (f->self == 0 || !markdown_fits(m, MARKDOWN_LINE + 2 * MARKDOWN_AGAIN))
            continue;
        m->used += MARKDOWN_LINE;
        printf("- `jsprof %s%s` on ", has_lines ? "annotate" : "callers",
               cli_measure_option(m->c));
        markdown_cut(m, file, MARKDOWN_AGAIN);
        fputs(has_lines ? " shows the lines of " : " shows who calls ", stdout);
        markdown_cut(m, cli_span(f->name), MARKDOWN_AGAIN);
        puts(".");
    }
    return status;
}

int cli_markdown(struct cli_capture *c, const struct cli_functions *rows, uint32_t limit)
{
    struct markdown m = { c, rows, limit == UINT32_MAX, MARKDOWN_HEAD };
    struct cli_head head = { c, rows->sum.samples, rows->sum.value };
    fputs("# Profile of ", stdout);
    markdown_code(&m, cli_head_command(c));
    puts("\n");
    cli_head_counts(&head, true);
    putchar('\n');
    markdown_functions(&m, m.is_short ? MARKDOWN_ROWS : limit);
    int status = markdown_categories(&m);
    if (status == CLI_OK)
        status = markdown_path(&m);
    fputs("## Account\n", stdout);
    cli_closing(&head);
    m.used += MARKDOWN_ACCOUNT;
    putchar('\n');
    return status ? status : markdown_next(&m);
}
