/* cli/tree.c - `jsprof tree`: who called whom, from the roots or from the leaves.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "filter.h"
#include "head.h"

enum { TREE_NUMBERS = 26, TREE_NAME_LEAST = 20 };

static const char tree_help[] =
    "usage: jsprof tree [OPTION]... FILE...\n"
    "\n"
    "Prints the call tree: each function below its caller. If the caller has only one\n"
    "callee here, the callee is not indented. Several captures count as one.\n"
    "\n"
    "  --bottom-up      innermost functions first, then callers; also --inverted\n"
    "  --async          above each stack the one that scheduled what ran, to the root\n"
    "  --recursion      show every level of a function that calls itself\n"
    "  --lines          show each line of a function by itself, also of native code\n"
    "  --min PERCENT    hide branches below this share (default 1; 0 for programs)\n"
    "  --depth N        show at most N levels; 0 is all (default)\n"
    CLI_FORM_FOLLOW_HELP
    "\n"
    CLI_FILTER_HELP
    "\n"
    "TOTAL is the share of the branch, SELF the share of the function itself there.\n";

/* The view of a tree. For each open branch above the current line, `more` is true if
 * siblings follow. */
struct tree_view {
    struct cli_capture capture;
    jsprof_read_tree *tree;
    jsprof_read_node root;
    bool *more; /* by level of indentation */
    uint32_t n_more, more_room;
    double min; /* share of 1 */
    uint32_t depth;
    struct cli_form form;
};

/* A row is a node. In text it may also sum up the smaller children of a node. */
struct tree_row {
    jsprof_read_node node;
    uint32_t parent; /* the id of the branch above */
    uint32_t n_hidden; /* 0: the row is the node itself */
    uint64_t total;
    bool is_joint; /* a branch leads to it */
};

static double tree_share(const struct tree_view *v, uint64_t value)
{
    return v->root.total ? (double)value / (double)v->root.total : 0;
}

/* Deep branches keep their innermost levels, so that a name always has room. */
static int tree_indent(const struct tree_view *v, bool is_joint)
{
    const struct cli_style *s = &v->capture.style;
    uint32_t most = s->columns
                        ? (uint32_t)(s->columns - TREE_NUMBERS - TREE_NAME_LEAST) / 3
                        : UINT32_MAX;
    uint32_t outer = is_joint && v->n_more ? v->n_more - 1 : v->n_more;
    uint32_t from = v->n_more > most ? v->n_more - most : 0;
    for (uint32_t i = from; i < outer; i++)
        fputs(!v->more[i] ? "   " : s->is_utf8 ? "│  " : "|  ", stdout);
    bool more = v->n_more && v->more[v->n_more - 1];
    if (outer < v->n_more && s->is_utf8)
        fputs(more ? "├─ " : "└─ ", stdout);
    else if (outer < v->n_more)
        fputs(more ? "|- " : "`- ", stdout);
    return 3 * (int)(v->n_more - from);
}

/* Read a node. Without memory it is empty, which is noted. */
static jsprof_read_node tree_node(const struct tree_view *v, uint64_t number)
{
    jsprof_read_node node = { .size = sizeof node, .name = "", .kind = "", .module = "",
                              .file = "" };
    cli_incomplete(jsprof_read_nodes(v->tree, number, &node, 1) != 1);
    return node;
}

/* Return how many children of a node are large enough. They come first. Add up the others. */
static uint32_t tree_visible(const struct tree_view *v, uint64_t number,
                             const jsprof_read_node *n, uint64_t *hidden)
{
    uint32_t shown = 0, child = (uint32_t)number + 1;
    *hidden = 0;
    if (v->min <= 0)
        return n->n_children;
    for (uint32_t i = 0; i < n->n_children; i++) {
        const jsprof_read_node c = tree_node(v, child);
        if (shown == i && tree_share(v, c.total) >= v->min)
            shown++;
        else
            *hidden += c.total;
        if (!shown)
            break; /* nobody asks for the rest of a node without visible ones */
        child = c.next;
    }
    return shown;
}

/* -- Columns ---------------------------------------------------------------- */

static struct cli_cell tree_total_share(CLI_OF_ROW)
{
    const struct tree_row *r = row;
    struct cli_cell cell = cli_cell_real(tree_share(of, r->total));
    cell.colour = r->n_hidden ? CLI_DIM : cli_heat(cell.real);
    return cell;
}

static struct cli_cell tree_self_share(CLI_OF_ROW)
{
    const struct tree_row *r = row;
    struct cli_cell cell = cli_cell_real(tree_share(of, r->node.self));
    cell.is_blank = r->n_hidden || !r->node.self;
    return cell;
}

/* Print the branch, then the name and its line. */
static void tree_draw(const struct cli_table *t, const void *row, int room)
{
    const struct tree_view *v = cli_table_of(t);
    const struct tree_row *r = row;
    const struct cli_style *s = &v->capture.style;
    char place[CLI_PLACE];
    cli_colour(s, CLI_DIM);
    int indent = tree_indent(v, r->is_joint);
    if (r->n_hidden)
        printf("(%u smaller)", r->n_hidden);
    cli_colour(s, CLI_PLAIN);
    if (r->n_hidden)
        return;
    cli_native_place(place, &v->capture, (struct cli_line){ r->node.file, r->node.line });
    cli_name(s, cli_span(r->node.name),
             room ? room - indent - (int)strlen(place) : 0);
    cli_colour(s, CLI_DIM);
    fputs(place, stdout);
    cli_colour(s, CLI_PLAIN);
}

#define TREE_FIELD(field) .offset = offsetof(struct tree_row, field)

static const struct cli_column tree_columns[] = {
    { .name = "id", .type = CLI_TYPE_COUNT, .get = cli_get_u32,
      TREE_FIELD(node.met), .means = "The number of the branch." },
    { .name = "parent", .type = CLI_TYPE_COUNT, .get = cli_get_u32,
      TREE_FIELD(parent),
      .means = "The id of the branch above; 0 is the root, which has no row." },
    { .name = "depth", .type = CLI_TYPE_COUNT, .get = cli_get_u32,
      TREE_FIELD(node.depth), .means = "Levels below the root." },
    { .name = "function", .head = "FUNCTION", .type = CLI_TYPE_TEXT,
      .get = cli_get_string, TREE_FIELD(node.name),
      .draw = tree_draw, .place = 40, .means = "The name of the function." },
    { .name = "kind", .type = CLI_TYPE_WORD, .get = cli_get_string,
      TREE_FIELD(node.kind), .words = cli_kinds,
      .means = "What the function is." },
    { .name = "module", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      TREE_FIELD(node.module),
      .means = "The file of native code; empty where there is none." },
    { .name = "file", .type = CLI_TYPE_TEXT, .get = cli_get_string, TREE_FIELD(node.file),
      .means = "The source file of `line`; empty where the name has it." },
    { .name = "line", .type = CLI_TYPE_COUNT, .get = cli_get_u32, TREE_FIELD(node.line),
      .means = "The line in the function, with --lines; 0: not known." },
    { .name = "self", .type = CLI_TYPE_VALUE, .get = cli_get_u64, TREE_FIELD(node.self),
      .means = "What was spent in the function itself on this branch." },
    { .head = "TOTAL", .type = CLI_TYPE_SHARE, .get = tree_total_share, .place = 10,
      .width = 7 },
    { .name = "total", .head = "TIME",
      .heading = cli_table_unit, .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      TREE_FIELD(total), .place = 20, .width = 10,
      .means = "What was spent in the branch." },
    { .head = "SELF", .type = CLI_TYPE_SHARE, .get = tree_self_share, .place = 30,
      .width = 7 },
    { .name = "samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      TREE_FIELD(node.samples),
      .means = "Samples in the branch." },
    { 0 }
};

static const struct cli_document tree_document = {
    .means = "The call tree: parents come before their children.",
    .head = cli_head_columns,
    .lists = { { .name = "rows", .means = "The branches.", .columns = tree_columns } },
};

/* -- Rows ------------------------------------------------------------------- */

/* Open a branch. Return 0 or -ENOMEM. */
static int tree_more(struct tree_view *v)
{
    if (v->n_more == v->more_room) {
        uint32_t room = v->more_room ? 2 * v->more_room : 64;
        bool *more = realloc(v->more, room * sizeof *more);
        if (cli_incomplete(!more))
            return -ENOMEM;
        v->more = more;
        v->more_room = room;
    }
    v->more[v->n_more++] = false;
    return 0;
}

/* The depth of the recursion is that of the deepest sampled stack. */
static void tree_below(struct tree_view *v, struct cli_table *t, uint32_t number,
                       const jsprof_read_node *n)
{
    uint64_t hidden;
    uint32_t shown = tree_visible(v, number, n, &hidden), child = number + 1;
    if (v->depth && n->depth >= v->depth)
        shown = 0;
    bool has_rest = shown && hidden && tree_share(v, hidden) >= v->min;
    /* Roots and only children need no branch: they have the indentation of their parent. */
    bool is_straight = n->depth == 0 || (shown == 1 && !has_rest);
    if (shown == 0)
        return;
    if (!is_straight && tree_more(v) < 0)
        return;
    for (uint32_t i = 0; i < shown && !ferror(stdout); i++) {
        struct tree_row row = { .node = tree_node(v, child), .is_joint = !is_straight };
        row.total = row.node.total;
        if (!is_straight)
            v->more[v->n_more - 1] = has_rest || i + 1 < shown;
        cli_table_row(t, &row);
        tree_below(v, t, child, &row.node);
        child = row.node.next;
    }
    if (!is_straight)
        v->more[v->n_more - 1] = false;
    if (has_rest)
        cli_table_row(t, &(struct tree_row){ .node = *n, .n_hidden = n->n_children - shown,
                                             .total = hidden, .is_joint = v->n_more });
    v->n_more -= !is_straight;
}

/* Print the rows for programs. A hidden branch hides everything below it. */
static void tree_rows_below(const struct tree_view *v, struct cli_table *t, uint32_t number,
                            const jsprof_read_node *n)
{
    uint64_t hidden;
    uint32_t shown = tree_visible(v, number, n, &hidden), child = number + 1;
    if (v->depth && n->depth >= v->depth)
        shown = 0;
    for (uint32_t i = 0; i < shown; i++) {
        struct tree_row row = { .node = tree_node(v, child), .parent = n->met };
        row.total = row.node.total;
        cli_table_row(t, &row);
        tree_rows_below(v, t, child, &row.node);
        child = row.node.next;
    }
}

static int tree_print(struct tree_view *v)
{
    struct cli_head head = { &v->capture, v->root.samples, v->root.total };
    bool is_text = cli_form_is_text(&v->form);
    if (is_text)
        cli_heading(&head);
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = &v->form, .command = "tree",
        .columns = tree_columns, .document = &tree_document,
        .head = &head, .of = v, .capture = &v->capture });
    if (t && is_text)
        tree_below(v, t, 0, &v->root);
    else if (t)
        tree_rows_below(v, t, 0, &v->root);
    int status = cli_table_close(t);
    if (is_text)
        cli_closing(&head);
    return status;
}

static int tree_run(struct cli_arguments *a)
{
    const char *min = NULL;
    struct cli_filter filter = { 0 };
    jsprof_read_shape shape = { .size = sizeof shape };
    jsprof_read_error error = { .size = sizeof error };
    struct tree_view v = { 0 };
    const struct cli_option options[] = {
        { "bottom-up", &shape.is_bottom_up, NULL, NULL },
        { "inverted", &shape.is_bottom_up, NULL, NULL },
        { "async", &filter.has_tasks, NULL, NULL },
        { "recursion", &shape.is_recursive, NULL, NULL },
        { "min", NULL, &min, NULL },
        { "depth", NULL, NULL, &v.depth },
        { "lines", &filter.native.has_lines, NULL, NULL },
        CLI_FORM_OPTIONS(&v.form),
        CLI_FILTER_OPTIONS(&filter),
        { 0 }
    };
    if (cli_options(a, options) || cli_form_check(a->command, &v.form))
        return CLI_USAGE;
    /* Programs get all branches. Only text has lines that sum up hidden ones. */
    char *end;
    if (!min)
        min = cli_form_is_text(&v.form) ? "1" : "0";
    double percent = strtod(min, &end);
    if (end == min || *end || !(percent >= 0 && percent <= 100))
        return cli_usage("tree", "--min wants a percentage from 0 to 100, not \"%s\"", min);
    v.min = percent / 100;
    shape.has_lines = filter.native.has_lines;
    int status = cli_filter_open_all(&v.capture, a, &filter);
    if (status)
        return status;
    shape.is_async = filter.has_tasks;
    if (shape.is_async && !v.capture.info.tasks) {
        status = cli_fail(v.capture.label, CLI_NO_TASKS);
    } else if (jsprof_read_tree_open(&v.tree, v.capture.reader, &shape, &error) < 0) {
        status = cli_refuse(&v.capture, &error, a->command);
    } else {
        cli_native_complain(&v.capture);
        v.root = tree_node(&v, 0);
        status = v.root.n_children ? tree_print(&v) : cli_no_samples(&v.capture);
    }
    jsprof_read_tree_close(v.tree);
    free(v.more);
    cli_close(&v.capture);
    return status;
}

const struct cli_command cli_tree = {
    .name = "tree",
    .summary = "the call tree, from the roots or from the leaves",
    .help = tree_help,
    .run = tree_run,
    .is_followed = true,
    .documents = { &tree_document },
};
