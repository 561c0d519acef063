/* cli/hints.c - what a reader of a report should look at.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hints.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/losses.h"
#include "native.h"
#include "options.h"
#include "package.h"

enum {
    HINTS_NAME = 200,  /* bytes of a module's name */
    HINTS_BUILD_ID = 128, /* digits of a build id */
    HINTS_MISSED = 20, /* expirations of a thread without a sample from which it is worth a line */
};

/* Parts of the whole from which it is worth a line. */
static const double hints_gc = 0.1, hints_line = 0.5, hints_nameless = 0.2;

struct hints {
    struct cli_hints *out;
    struct cli_capture *c;
    const struct cli_functions *rows;
    const char *quote; /* around a name: a backtick in Markdown */
};

static double hints_share(const struct hints *h, uint64_t value)
{
    return cli_functions_share(h->rows, value);
}

static char *hints_next(struct hints *h)
{
    return h->out->text[h->out->n++];
}

/* Write a name for a shell's command line: its part before the file, in quotes if a shell would
 * read more into it; or FUNCTION where quotes do not help. */
static void hints_word(const struct hints *h, char out[CLI_PLACE], const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/";
    size_t len = jsprof_read_own_name(name);
    bool is_known = len && len < CLI_PLACE - 4 && *name != '-';
    for (size_t i = 0; i < len && is_known; i++)
        is_known = name[i] >= ' ' && name[i] <= '~' && name[i] != '\'' && name[i] != '`';
    const char *quote = is_known && strspn(name, plain) < len ? "'" : "";
    snprintf(out, CLI_PLACE, "%s%s%.*s%s%s", h->quote, quote, is_known ? (int)len : 8,
             is_known ? name : "FUNCTION", quote, h->quote);
}

/* The collector's functions may call each other: count each stack once. CLI_OK or CLI_FAILED. */
static int hints_collector(struct hints *h)
{
    const jsprof_read_order by_kind = { .size = sizeof by_kind, .by = "kind" };
    const jsprof_read_function *most = NULL;
    struct cli_functions sums;
    uint64_t sum = 0, gc = 0;
    for (uint64_t i = 0; i < h->rows->n; i++) {
        const jsprof_read_function *f = &h->rows->rows[i];
        if (strcmp(f->kind, "gc") != 0)
            continue;
        sum += f->total;
        most = most && most->total >= f->total ? most : f;
    }
    if (!most || hints_share(h, sum) < hints_gc)
        return CLI_OK;
    int status = cli_functions_open(&sums, h->c, &by_kind);
    for (uint64_t i = 0; status == CLI_OK && i < sums.n; i++)
        if (strcmp(sums.rows[i].name, "gc") == 0)
            gc = sums.rows[i].total;
    if (hints_share(h, gc) >= hints_gc) {
        char share[CLI_NUMBER], word[CLI_PLACE];
        hints_word(h, word, most->name);
        snprintf(hints_next(h), CLI_HINT,
                 "Garbage collection takes %s of the time: jsprof callers %s shows where the "
                 "memory is allocated",
                 cli_percent(share, hints_share(h, gc)), word);
    }
    cli_functions_free(&sums);
    return status;
}

static void hints_hot_line(struct hints *h)
{
    const jsprof_read_function *most = NULL;
    char share[CLI_NUMBER], word[CLI_PLACE];
    for (uint64_t i = 0; i < h->rows->n; i++)
        if (h->rows->rows[i].line && (!most || h->rows->rows[i].line_value > most->line_value))
            most = &h->rows->rows[i];
    if (!most || hints_share(h, most->line_value) < hints_line)
        return;
    hints_word(h, word, most->name);
    snprintf(hints_next(h), CLI_HINT,
             "Line %u of %s takes %s of the %s: jsprof annotate%s shows it", most->line, word,
             cli_percent(share, hints_share(h, most->line_value)),
             cli_unit_noun(h->c), cli_measure_option(h->c));
}

/* Keep the beginning of a long name, between characters; and what quotes it out of it. */
static void hints_cut(const struct hints *h, char *name)
{
    size_t n = name ? strlen(name) : 0;
    if (n > HINTS_NAME) {
        for (n = HINTS_NAME; n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80;)
            n--;
        name[n] = 0;
    }
    for (size_t i = 0; i < n && *h->quote; i++)
        if (name[i] == *h->quote)
            name[i] = '\'';
}

/* Find the file of the module that has this path. Return 1, 0, or -ENOMEM. */
static int hints_file(const struct hints *h, const char *path, jsprof_read_native_file *out)
{
    int64_t got;
    *out = (jsprof_read_native_file){ .size = sizeof *out };
    for (uint64_t i = 0; (got = jsprof_read_native_files(h->c->reader, i, out, 1)) == 1; i++)
        if (strcmp(out->path, path) == 0)
            return 1;
    return got < 0 ? -ENOMEM : 0;
}

/* Write from where the symbols of a file, or of any, may come. Only a file of this machine is in
 * a package of this machine. */
static void hints_ways(char *out, size_t size, const jsprof_read_native_file *f)
{
    char package[CLI_PACKAGE] = "";
    if (f && f->error == 0)
        cli_package_of_symbols(package, CLI_PACKAGE_LISTS, f->path);
    int n = snprintf(out, size, "%s%s, ", *package ? "package " : "a package",
                     package);
    size_t len = f && strlen(f->build_id) <= HINTS_BUILD_ID ? strlen(f->build_id) : 0;
    if (len && strspn(f->build_id, "0123456789abcdef") == len)
        n += snprintf(out + n, size - (size_t)n, "debuginfod-find debuginfo %s, ", f->build_id);
    snprintf(out + n, size - (size_t)n, "or --symbols DIR");
}

static int hints_without_names(struct hints *h)
{
    const jsprof_read_function *most = NULL;
    jsprof_read_native_file file;
    uint64_t sum = 0;
    char share[CLI_NUMBER], ways[CLI_PACKAGE + HINTS_BUILD_ID + 64];
    for (uint64_t i = 0; i < h->rows->n; i++) {
        const jsprof_read_function *f = &h->rows->rows[i];
        if (strcmp(f->kind, "native") != 0 || !cli_native_is_nameless(f->name, f->module))
            continue;
        sum += f->self;
        if (f->self > (most ? most->self : 0))
            most = f;
    }
    if (!most || hints_share(h, sum) < hints_nameless)
        return 0;
    char *module = cli_clean(&h->c->style, cli_span(most->module));
    if (!module)
        return -ENOMEM;
    hints_cut(h, module);
    hints_ways(ways, sizeof ways, hints_file(h, most->path, &file) == 1 ? &file : NULL);
    snprintf(hints_next(h), CLI_HINT,
             "C functions without names take %s of the %s, most of it in %s%s%s: its debug "
             "symbols (%s) name them",
             cli_percent(share, hints_share(h, sum)), cli_unit_noun(h->c),
             *module ? h->quote : "", *module ? module : "a library", *module ? h->quote : "",
             ways);
    free(module);
    return 0;
}

/* Return how many expirations of this row of the account came while the signal was blocked. */
static uint64_t hints_blocked(const struct hints *h, uint64_t row)
{
    jsprof_read_loss loss = { .size = sizeof loss };
    for (uint64_t i = 0; jsprof_read_account_losses(h->c->reader, row, i, &loss, 1) == 1; i++)
        if (strcmp(loss.key, jsp_losses[JSP_LOST_BLOCKED].key) == 0)
            return loss.count;
    return 0;
}

/* A thread whose signals are blocked or taken by others has nothing but losses. */
static int hints_unseen_thread(struct hints *h)
{
    const jsprof_read_info *info = &h->c->info;
    jsprof_read_account a = { .size = sizeof a }, most = { .name = NULL };
    uint32_t n = 0;
    char time[CLI_NUMBER], more[CLI_NUMBER] = "";
    if (info->is_of_threads || info->is_part || !info->hz || h->out->n == CLI_HINTS)
        return 0;
    for (uint64_t i = 0; jsprof_read_accounts(h->c->reader, i, &a, 1) == 1; i++) {
        if (a.samples || a.unseen < HINTS_MISSED || hints_blocked(h, i) < HINTS_MISSED)
            continue;
        n++;
        most = most.name && most.unseen >= a.unseen ? most : a;
    }
    if (!most.name)
        return 0;
    if (n > 1)
        snprintf(more, sizeof more, " (and %" PRIu32 " more)", n - 1);
    char *name = cli_clean(&h->c->style, cli_span(most.name));
    if (!name)
        return -ENOMEM;
    hints_cut(h, name);
    snprintf(hints_next(h), CLI_HINT,
             "Thread %s%s%s%s has no sample of its %s: jsprof info shows what took its signals",
             h->quote, *name ? name : "without a name", h->quote, more,
             cli_duration(time, (uint64_t)((double)most.unseen * 1e9 / info->hz)));
    free(name);
    return 0;
}

int cli_hints(struct cli_hints *out, struct cli_capture *c, const struct cli_functions *rows,
              bool is_markdown)
{
    struct hints h = { out, c, rows, is_markdown ? "`" : "" };
    out->n = 0;
    int status = cli_unit_is_bytes(c->info.unit) ? CLI_OK : hints_collector(&h);
    if (status)
        return status;
    hints_hot_line(&h);
    int err = hints_without_names(&h);
    if (err == 0)
        err = hints_unseen_thread(&h);
    return err < 0 ? cli_fail(c->label, "%s", strerror(-err)) : CLI_OK;
}
