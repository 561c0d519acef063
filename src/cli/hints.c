/* cli/hints.c - what a reader of a report should look at.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hints.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"
#include "package.h"
#include "analyze/name_parts.h"
#include "jsprof.h"

enum {
    HINTS_NAME = 200,  /* bytes of a module's name */
    HINTS_MISSED = 20, /* expirations of a thread without a sample from which it is worth a line */
};

/* Parts of the whole from which it is worth a line. */
static const double hints_gc = 0.1, hints_line = 0.5, hints_nameless = 0.2;

struct hints {
    struct cli_hints *out;
    struct cli_capture *c;
    const struct jsp_functions *rows;
    const char *quote; /* around a name: a backtick in Markdown */
};

static double hints_share(const struct hints *h, uint64_t value)
{
    return h->rows->value ? (double)value / (double)h->rows->value : 0;
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
    struct jsp_read_text t = jsp_name_split(name).name;
    bool is_known = t.len && t.len < CLI_PLACE - 4 && *t.at != '-';
    for (uint32_t i = 0; i < t.len && is_known; i++)
        is_known = t.at[i] >= ' ' && t.at[i] <= '~' && t.at[i] != '\'' && t.at[i] != '`';
    const char *quote = is_known && strspn(t.at, plain) < t.len ? "'" : "";
    snprintf(out, CLI_PLACE, "%s%s%.*s%s%s", h->quote, quote, is_known ? (int)t.len : 8,
             is_known ? t.at : "FUNCTION", quote, h->quote);
}

/* The collector's functions may call each other: count each stack once. */
static int hints_collector(struct hints *h)
{
    struct jsp_profile *p = h->c->profile;
    const struct jsp_function_row *most = NULL;
    struct jsp_groups *kinds = NULL;
    struct jsp_functions sums = { 0 };
    uint64_t sum = 0, gc = 0;
    for (uint32_t i = 0; i < h->rows->n; i++) {
        const struct jsp_function_row *f = &h->rows->rows[i];
        if (f->kind != JSPROF_KIND_GC)
            continue;
        sum += f->total;
        most = most && most->total >= f->total ? most : f;
    }
    if (!most || hints_share(h, sum) < hints_gc)
        return 0;
    int err = jsp_groups_open(&kinds, JSP_GROUP_KIND, NULL);
    if (err == 0)
        err = jsp_functions_build_by(&sums, p, &h->c->select, kinds);
    for (uint32_t i = 0; i < sums.n; i++) {
        const char *kind = jsp_functions_name(&sums, p, &sums.rows[i]);
        if (strcmp(kind, jsp_kind_name(JSPROF_KIND_GC)) == 0)
            gc = sums.rows[i].total;
    }
    if (hints_share(h, gc) >= hints_gc) {
        char share[CLI_NUMBER], word[CLI_PLACE];
        hints_word(h, word, p->functions[most->function].name);
        snprintf(hints_next(h), CLI_HINT,
                 "Garbage collection takes %s of the time: jsprof callers %s shows where the "
                 "memory is allocated",
                 cli_percent(share, hints_share(h, gc)), word);
    }
    jsp_functions_free(&sums);
    jsp_groups_close(kinds);
    return err;
}

static void hints_hot_line(struct hints *h)
{
    const struct jsp_function_row *most = NULL;
    char share[CLI_NUMBER], word[CLI_PLACE];
    for (uint32_t i = 0; i < h->rows->n; i++)
        if (h->rows->rows[i].line && (!most || h->rows->rows[i].line_value > most->line_value))
            most = &h->rows->rows[i];
    if (!most || hints_share(h, most->line_value) < hints_line)
        return;
    hints_word(h, word, h->c->profile->functions[most->function].name);
    snprintf(hints_next(h), CLI_HINT,
             "Line %u of %s takes %s of the %s: jsprof annotate%s shows it", most->line, word,
             cli_percent(share, hints_share(h, most->line_value)),
             jsp_unit_noun(h->c->profile->unit), cli_measure_option(h->c->profile));
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

/* Return the file of the module that has this path, or NULL. */
static const struct jsp_native_file *hints_file(const struct hints *h, struct jsp_read_text path)
{
    const struct jsp_native_files *n = &h->c->profile->natives;
    for (uint32_t i = 0; i < n->n; i++)
        if (jsp_read_equal(n->files[i].path, path))
            return &n->files[i];
    return NULL;
}

/* Write from where the symbols of a file may come. Only a file of this machine is in a package of
 * this machine. */
static void hints_ways(char *out, size_t size, const struct jsp_native_file *f)
{
    char package[CLI_PACKAGE] = "";
    if (f && f->reason == 0)
        cli_package_of_symbols(package, CLI_PACKAGE_LISTS, f->name);
    int n = snprintf(out, size, "%s%s, ", *package ? "package " : "a package",
                     package);
    uint32_t len = f && f->build_id.len <= 2 * JSP_ELF_BUILD_ID ? f->build_id.len : 0, n_hex = 0;
    while (n_hex < len && strchr("0123456789abcdef", f->build_id.at[n_hex]))
        n_hex++;
    if (len && n_hex == len)
        n += snprintf(out + n, size - (size_t)n, "debuginfod-find debuginfo %.*s, ", (int)len,
                      f->build_id.at);
    snprintf(out + n, size - (size_t)n, "or --symbols DIR");
}

static int hints_without_names(struct hints *h)
{
    const struct jsp_profile *p = h->c->profile;
    const struct jsp_function *most = NULL;
    uint64_t sum = 0, best = 0;
    char share[CLI_NUMBER], ways[CLI_PACKAGE + 2 * JSP_ELF_BUILD_ID + 64];
    for (uint32_t i = 0; i < h->rows->n; i++) {
        const struct jsp_function_row *f = &h->rows->rows[i];
        const struct jsp_function *function = &p->functions[f->function];
        if (f->kind != JSPROF_KIND_NATIVE ||
            !cli_native_is_nameless(function->name, function->module))
            continue;
        sum += f->self;
        if (f->self > best) {
            best = f->self;
            most = function;
        }
    }
    if (!most || hints_share(h, sum) < hints_nameless)
        return 0;
    char *module = cli_clean(&h->c->style, cli_span(most->module));
    if (!module)
        return -ENOMEM;
    hints_cut(h, module);
    hints_ways(ways, sizeof ways, hints_file(h, most->path));
    snprintf(hints_next(h), CLI_HINT,
             "C functions without names take %s of the %s, most of it in %s%s%s: its debug "
             "symbols (%s) name them",
             cli_percent(share, hints_share(h, sum)), jsp_unit_noun(h->c->profile->unit),
             *module ? h->quote : "", *module ? module : "a library", *module ? h->quote : "",
             ways);
    free(module);
    return 0;
}

/* A thread whose signals are blocked or taken by others has nothing but losses. */
static int hints_unseen_thread(struct hints *h)
{
    const struct jsp_profile *p = h->c->profile;
    const struct jsp_account_thread *most = NULL;
    uint32_t n = 0;
    char time[CLI_NUMBER], more[CLI_NUMBER] = "";
    if (h->c->select.threads || h->c->is_part || !p->hz || h->out->n == CLI_HINTS)
        return 0;
    for (uint32_t i = 0; i < p->account.n_threads; i++) {
        const struct jsp_account_thread *t = &p->account.threads[i];
        if (t->samples || jsp_account_unseen(t) < HINTS_MISSED)
            continue;
        n++;
        most = most && jsp_account_unseen(most) >= jsp_account_unseen(t) ? most : t;
    }
    if (!most)
        return 0;
    if (n > 1)
        snprintf(more, sizeof more, " (and %" PRIu32 " more)", n - 1);
    char *name = cli_clean(&h->c->style, cli_span(most->name));
    if (!name)
        return -ENOMEM;
    hints_cut(h, name);
    snprintf(hints_next(h), CLI_HINT,
             "Thread %s%s%s%s has no sample of its %s: jsprof info shows what took its signals",
             h->quote, *name ? name : "without a name", h->quote, more,
             cli_duration(time, (uint64_t)((double)jsp_account_unseen(most) * 1e9 / p->hz)));
    free(name);
    return 0;
}

int cli_hints(struct cli_hints *out, struct cli_capture *c, const struct jsp_functions *rows,
              bool is_markdown)
{
    struct hints h = { out, c, rows, is_markdown ? "`" : "" };
    out->n = 0;
    int err = jsp_unit_is_bytes(c->profile->unit) ? 0 : hints_collector(&h);
    if (err < 0)
        return err;
    hints_hot_line(&h);
    err = hints_without_names(&h);
    return err < 0 ? err : hints_unseen_thread(&h);
}
