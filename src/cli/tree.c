/* tree.c - `jsprof tree`: who called whom, from the roots or from the leaves.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/tree.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/filter.h"
#include "cli/rows.h"
#include "cli/threads.h"
#include "jsprof.h"

enum { TREE_NUMBERS = 26, TREE_NAME_LEAST = 20 };

static const char tree_help[] =
    "usage: jsprof tree [OPTION]... FILE\n"
    "\n"
    "The call tree: each function below the one that called it. A function that is\n"
    "its caller's only one here stands straight below it.\n"
    "\n"
    "  --bottom-up      from where the time was spent up to the callers; --inverted\n"
    "  --recursion      show every level of a function that calls itself\n"
    "  --lines          a line each for the lines of a function (of native code: as\n"
    "                   addr2line or its like knows them)\n"
    "  --min PERCENT    leave out branches below this share (default 1)\n"
    "  --depth N        so many levels at most; 0 is all (default)\n"
    CLI_ROWS_HELP
    "\n"
    CLI_FILTER_HELP
    "\n"
    "TOTAL is the share of the branch, SELF what the function itself had there.\n";

/* A branch that is open above the current line: more siblings will follow or not. */
struct tree_view {
    struct cli_capture capture;
    struct jsp_tree tree;
    bool *more; /* by level of indentation */
    uint32_t n_more, more_room;
    double min; /* share of 1 */
    uint32_t depth;
};

static double tree_share(const struct tree_view *v, uint64_t value)
{
    uint64_t all = v->tree.nodes[0].total;
    return all ? (double)value / (double)all : 0;
}

/* Deep branches keep their innermost levels, so that a name always has room. */
static int tree_indent(const struct tree_view *v, const char *joint)
{
    const struct cli_style *s = &v->capture.style;
    uint32_t most = s->columns
                        ? (uint32_t)(s->columns - TREE_NUMBERS - TREE_NAME_LEAST) / 3
                        : UINT32_MAX;
    uint32_t outer = joint && v->n_more ? v->n_more - 1 : v->n_more;
    uint32_t from = v->n_more > most ? v->n_more - most : 0;
    for (uint32_t i = from; i < outer; i++)
        fputs(!v->more[i] ? "   " : s->is_utf8 ? "│  " : "|  ", stdout);
    if (outer < v->n_more)
        fputs(joint, stdout);
    return 3 * (int)(v->n_more - from);
}

static const char *tree_joint(const struct tree_view *v)
{
    bool more = v->n_more && v->more[v->n_more - 1];
    if (v->capture.style.is_utf8)
        return more ? "├─ " : "└─ ";
    return more ? "|- " : "`- ";
}

static void tree_line(const struct tree_view *v, const struct jsp_tree_node *n,
                      bool is_joint)
{
    const struct cli_style *s = &v->capture.style;
    const struct jsp_profile *p = &v->capture.profile;
    double total = tree_share(v, n->total), self = tree_share(v, n->self);
    char text[CLI_NUMBER];
    cli_colour(s, total >= 0.10 ? CLI_HOT : total >= 0.02 ? CLI_WARM : CLI_PLAIN);
    printf("%7s", cli_percent(text, total));
    cli_colour(s, CLI_PLAIN);
    printf("%10s", cli_value(text, p, n->total));
    printf("%7s  ", n->self ? cli_percent(text, self) : "");
    cli_colour(s, CLI_DIM);
    int used = TREE_NUMBERS + tree_indent(v, is_joint ? tree_joint(v) : NULL);
    cli_colour(s, CLI_PLAIN);
    char place[CLI_PLACE];
    cli_native_place(place, &v->capture, (struct cli_line){ n->file, n->line });
    int room = s->columns ? s->columns - used - (int)strlen(place) : 0;
    cli_name(s, cli_span(p->functions[n->function].name), room);
    cli_colour(s, CLI_DIM);
    fputs(place, stdout);
    cli_colour(s, CLI_PLAIN);
    putchar('\n');
}

static bool tree_push(struct tree_view *v)
{
    if (jsp_grow(&v->more, &v->more_room, v->n_more, sizeof *v->more) < 0)
        return false;
    v->more[v->n_more++] = false;
    return true;
}

/* How many children of a node are large enough to be shown; they come first. */
static uint32_t tree_visible(const struct tree_view *v, const struct jsp_tree_node *n)
{
    uint32_t shown = 0;
    while (shown < n->n_children) {
        const struct jsp_tree_node *c =
            &v->tree.nodes[v->tree.order[n->first_child + shown]];
        if (tree_share(v, c->total) < v->min)
            break;
        shown++;
    }
    return shown;
}

static uint64_t tree_hidden(const struct tree_view *v, const struct jsp_tree_node *n,
                            uint32_t shown)
{
    uint64_t sum = 0;
    for (uint32_t i = shown; i < n->n_children; i++)
        sum += v->tree.nodes[v->tree.order[n->first_child + i]].total;
    return sum;
}

static void tree_rest(const struct tree_view *v, const struct jsp_tree_node *n,
                      uint32_t shown, uint64_t hidden)
{
    const struct cli_style *s = &v->capture.style;
    char text[CLI_NUMBER];
    cli_colour(s, CLI_DIM);
    printf("%7s", cli_percent(text, tree_share(v, hidden)));
    printf("%10s%9s", cli_value(text, &v->capture.profile, hidden), "");
    tree_indent(v, v->n_more ? tree_joint(v) : NULL);
    printf("(%u smaller)", n->n_children - shown);
    cli_colour(s, CLI_PLAIN);
    putchar('\n');
}

/* The depth of the recursion is that of the deepest sampled stack. */
static void tree_below(struct tree_view *v, const struct jsp_tree_node *n, uint32_t level)
{
    uint32_t shown = v->depth && level >= v->depth ? 0 : tree_visible(v, n);
    uint64_t hidden = shown ? tree_hidden(v, n, shown) : 0;
    bool has_rest = hidden && tree_share(v, hidden) >= v->min;
    /* Roots and only children need no branch: they stand where their parent stands. */
    bool is_straight = level == 0 || (shown == 1 && !has_rest);
    if (shown == 0 || (!is_straight && !tree_push(v)))
        return;
    for (uint32_t i = 0; i < shown && !ferror(stdout); i++) {
        const struct jsp_tree_node *c = &v->tree.nodes[v->tree.order[n->first_child + i]];
        if (!is_straight)
            v->more[v->n_more - 1] = has_rest || i + 1 < shown;
        tree_line(v, c, !is_straight);
        tree_below(v, c, level + 1);
    }
    if (!is_straight)
        v->more[v->n_more - 1] = false;
    if (has_rest)
        tree_rest(v, n, shown, hidden);
    v->n_more -= !is_straight;
}

static void tree_print(struct tree_view *v)
{
    const struct cli_style *s = &v->capture.style;
    cli_heading(&v->capture);
    cli_colour(s, CLI_DIM);
    printf("%7s%10s%7s  FUNCTION\n", "TOTAL", cli_unit_head(&v->capture.profile), "SELF");
    cli_colour(s, CLI_PLAIN);
    tree_below(v, &v->tree.nodes[0], 0);
    cli_closing(&v->capture, v->tree.nodes[0].n_samples, v->tree.nodes[0].total);
}

static const char *const tree_columns[] = {
    "id", "parent", "depth", "function", "kind", "module", "file", "line",
    "self", "total", "samples", NULL,
};

/* Parents come before their children; those that are hidden hide what is below. */
static void tree_rows_below(const struct tree_view *v, struct cli_rows *rows,
                            uint32_t node, uint32_t depth)
{
    const struct jsp_profile *p = &v->capture.profile;
    const struct jsp_tree_node *n = &v->tree.nodes[node];
    uint32_t shown = v->depth && depth >= v->depth ? 0 : tree_visible(v, n);
    for (uint32_t i = 0; i < shown; i++) {
        uint32_t child = v->tree.order[n->first_child + i];
        const struct jsp_tree_node *c = &v->tree.nodes[child];
        const struct jsp_function *f = &p->functions[c->function];
        cli_rows_u64(rows, child);
        cli_rows_u64(rows, node);
        cli_rows_u64(rows, depth + 1);
        cli_rows_text(rows, cli_span(f->name));
        cli_rows_word(rows, jsp_kind_name(f->kind));
        cli_rows_text(rows, cli_span(f->module));
        cli_rows_text(rows, cli_span(c->file ? p->files[c->file] : ""));
        cli_rows_u64(rows, c->line);
        cli_rows_u64(rows, c->self);
        cli_rows_u64(rows, c->total);
        cli_rows_u64(rows, c->n_samples);
        tree_rows_below(v, rows, child, depth + 1);
    }
}

static int tree_rows(const struct tree_view *v, const struct cli_rows_wish *wish)
{
    struct cli_rows *rows = cli_rows_open(wish, &v->capture, "tree", tree_columns);
    if (rows)
        tree_rows_below(v, rows, 0, 0);
    return cli_rows_close(rows);
}

static int tree_build(struct tree_view *v, struct jsp_tree_options *options)
{
    options->select = v->capture.select;
    int err = jsp_tree_build(&v->tree, &v->capture.profile, options);
    if (err < 0)
        return cli_fail(v->capture.label, "%s", strerror(-err));
    cli_native_complain(&v->capture);
    if (v->tree.n == 1)
        return cli_no_samples(&v->capture);
    return CLI_OK;
}

static int tree_min(const char *word, double *min)
{
    char *end;
    double percent = strtod(word, &end);
    if (end == word || *end || !(percent >= 0 && percent <= 100))
        return cli_usage("tree", "--min wants a percentage from 0 to 100, not \"%s\"",
                         word);
    *min = percent / 100;
    return CLI_OK;
}

static int tree_run(struct cli_arguments *a)
{
    const char *min = "1";
    struct cli_filter filter = { 0 };
    struct cli_rows_wish wish = { 0 };
    struct jsp_tree_options shape = { 0 };
    struct tree_view v = { 0 };
    const struct cli_option options[] = {
        { "bottom-up", &shape.is_bottom_up, NULL, NULL },
        { "inverted", &shape.is_bottom_up, NULL, NULL },
        { "recursion", &shape.is_recursive, NULL, NULL },
        { "min", NULL, &min, NULL },
        { "depth", NULL, NULL, &v.depth },
        { "lines", &filter.native.has_lines, NULL, NULL },
        CLI_ROWS_OPTIONS(&wish),
        CLI_FILTER_OPTIONS(&filter),
        { 0 }
    };
    if (cli_options(a, options) || tree_min(min, &v.min) ||
        cli_rows_check(a->command, &wish))
        return CLI_USAGE;
    shape.has_lines = filter.native.has_lines;
    const char *path = cli_one_file(a);
    if (!path)
        return CLI_USAGE;
    int status = cli_filter_open(&v.capture, path, &filter, a->command);
    if (status)
        return status;
    status = tree_build(&v, &shape);
    if (status == CLI_OK && cli_rows_wanted(&wish))
        status = tree_rows(&v, &wish);
    else if (status == CLI_OK)
        tree_print(&v);
    jsp_tree_free(&v.tree);
    free(v.more);
    cli_close(&v.capture);
    return status;
}

const struct cli_command cli_tree = {
    .name = "tree",
    .summary = "who called whom, from the roots or from the leaves",
    .help = tree_help,
    .run = tree_run,
};
