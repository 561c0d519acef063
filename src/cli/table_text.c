/* cli/table_text.c - the rows that a command prints: as text.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table_text.h"

#include <string.h>

enum { TEXT_GAP = 2, TEXT_OPEN_BAR = 16 };

const struct cli_style *cli_table_style(const struct cli_table *t)
{
    return &t->style;
}

const void *cli_table_of(const struct cli_table *t)
{
    return t->show.of;
}

const char *cli_table_unit(const struct cli_table *t)
{
    const char *unit = t->show.capture->info.unit;
    return cli_unit_is_count(unit) ? "SAMPLES" : cli_unit_is_bytes(unit) ? "BYTES" : "TIME";
}

/* Skip columns; the spaces are printed when something follows them on the line. */
static void text_skip(struct cli_table *t, int columns)
{
    t->pending += columns;
    t->used += columns;
}

static void text_flush(struct cli_table *t)
{
    cli_repeat(" ", t->pending);
    t->pending = 0;
}

static int text_columns(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

static void text_end(struct cli_table *t)
{
    t->used = t->pending = 0;
    putchar('\n');
}

/* All bars are as wide as the terminal allows. */
static int text_width(const struct cli_table *t, const struct cli_column *c)
{
    int columns = t->style.columns;
    if (c->type != CLI_TYPE_BAR)
        return c->width;
    return -(columns == 0 ? TEXT_OPEN_BAR : columns >= 140 ? 20 : 8) - TEXT_GAP;
}

static bool text_has(const struct cli_table *t, const struct cli_column *c)
{
    const struct cli_show *s = &t->show;
    if ((c->when && !c->when(s->of)) || (c->fits && !c->fits(s->of)))
        return false;
    return !c->minimum || t->style.columns == 0 ||
           t->style.columns >= c->minimum + s->extra;
}

/* A left column after a right one begins after a gap, whether it is shown or not. */
static void text_gap(struct cli_table *t, int i)
{
    if (i > 0 && t->order[i]->width <= 0 && t->order[i - 1]->width > 0)
        text_skip(t, TEXT_GAP);
}

/* The cell as text; a word of the capture is printed by cli_name instead. */
static const char *text_of(const struct cli_capture *of, const struct cli_column *c,
                           const struct cli_cell *cell, char out[CLI_NUMBER])
{
    if (*cell->shown)
        return cell->shown;
    switch (c->type) {
    case CLI_TYPE_COUNT: return cli_count(out, cell->u64);
    case CLI_TYPE_INTEGER: snprintf(out, CLI_NUMBER, "%lld", (long long)cell->i64); return out;
    case CLI_TYPE_VALUE: return cli_value_of(out, of->info.unit, cell->u64);
    case CLI_TYPE_NS: return cli_duration(out, cell->u64);
    case CLI_TYPE_EXACT_NS: return cli_exact_duration(out, cell->u64);
    case CLI_TYPE_BYTES: return cli_bytes(out, cell->u64);
    case CLI_TYPE_SHARE: return cli_percent(out, cell->real);
    case CLI_TYPE_REAL: snprintf(out, CLI_NUMBER, "%.4g", cell->real); return out;
    case CLI_TYPE_BOOL: return cell->yes ? "yes" : "no";
    case CLI_TYPE_TIME: /* has `shown` */
    case CLI_TYPE_TEXT:
    case CLI_TYPE_WORD:
    case CLI_TYPE_BAR:
    case CLI_TYPE_WORDS:
    case CLI_TYPE_NUMBERS:
    case CLI_TYPE_OBJECT: break;
    }
    return "";
}

static void text_right(struct cli_table *t, const struct cli_column *c,
                       const struct cli_cell *cell)
{
    char buffer[CLI_NUMBER];
    const char *text = text_of(t->show.capture, c, cell, buffer);
    int room = c->width - text_columns(text);
    text_skip(t, room > 0 || !t->used ? room : 1); /* one too long gets a space at least */
    text_flush(t);
    if (cell->colour)
        cli_colour(&t->style, cell->colour);
    fputs(text, stdout);
    t->used += c->width - room;
    if (cell->colour)
        cli_colour(&t->style, CLI_PLAIN);
}

static void text_left(struct cli_table *t, const struct cli_column *c,
                      const struct cli_cell *cell, int width)
{
    int room = -width, used = 0;
    text_flush(t);
    if (cell->colour)
        cli_colour(&t->style, cell->colour);
    if (c->type == CLI_TYPE_BAR) {
        used = room - TEXT_GAP;
        cli_bar(&t->style, cell->bar.self, cell->bar.total, used);
    } else {
        used = cli_name(&t->style, cell->text, room);
    }
    if (cell->colour)
        cli_colour(&t->style, CLI_PLAIN);
    t->used += used;
    if (room > used)
        text_skip(t, room - used);
}

static void text_last(struct cli_table *t, const struct cli_column *c, const void *row)
{
    int columns = t->style.columns;
    int room = !columns ? 0 : columns - t->used > c->least ? columns - t->used : c->least;
    if (c->draw) {
        text_flush(t);
        c->draw(t, row, room);
        return;
    }
    struct cli_cell cell = c->get(c, t->show.of, row);
    if (cell.is_none || cell.is_blank)
        return;
    text_flush(t);
    cli_name(&t->style, cell.text, room);
}

static void text_cell(struct cli_table *t, const struct cli_column *c, const void *row)
{
    int width = text_width(t, c);
    if (c->draw) {
        text_flush(t);
        c->draw(t, row, -width);
        t->used -= width;
        return;
    }
    struct cli_cell cell = c->get(c, t->show.of, row);
    if (cell.is_none || cell.is_blank)
        text_skip(t, width > 0 ? width : -width);
    else if (width > 0)
        text_right(t, c, &cell);
    else
        text_left(t, c, &cell, width);
}

void cli_table_text_row(struct cli_table *t, const void *row)
{
    for (int i = 0; i < t->n; i++) {
        const struct cli_column *c = t->order[i];
        text_gap(t, i);
        if (!text_has(t, c))
            continue;
        if (c->width == 0)
            text_last(t, c, row);
        else
            text_cell(t, c, row);
    }
    text_end(t);
}

void cli_table_text_open(struct cli_table *t)
{
    bool has_heads = false;
    /* The columns by place; those of one place stay in order. */
    for (const struct cli_column *c = t->show.columns; !cli_column_is_end(c); c++) {
        int at = t->n;
        if (!c->head || t->n == CLI_TABLE_COLUMNS)
            continue;
        for (; at > 0 && t->order[at - 1]->place > c->place; at--)
            t->order[at] = t->order[at - 1];
        t->order[at] = c;
        t->n++;
        has_heads |= *c->head;
    }
    if (!has_heads)
        return;
    cli_colour(&t->style, CLI_DIM);
    for (int i = 0; i < t->n; i++) {
        const struct cli_column *c = t->order[i];
        int width = text_width(t, c);
        text_gap(t, i);
        if (!text_has(t, c))
            continue;
        const char *head = c->heading ? c->heading(t) : c->head;
        if (!t->style.is_utf8 && strcmp(head, "±") == 0)
            head = "+-";
        int n = text_columns(head);
        if (width > 0)
            text_skip(t, width - n);
        if (*head)
            text_flush(t);
        fputs(head, stdout);
        if (width < 0)
            text_skip(t, -width - n);
    }
    cli_colour(&t->style, CLI_PLAIN);
    text_end(t);
}

void cli_label(const struct cli_style *s, const char *label)
{
    cli_colour(s, CLI_DIM);
    printf("  %-*s ", CLI_LABEL - 3, label);
    cli_colour(s, CLI_PLAIN);
}

void cli_table_lines(const struct cli_column *columns, const struct cli_capture *of,
                     const void *row)
{
    for (const struct cli_column *c = columns; !cli_column_is_end(c); c++) {
        char number[CLI_NUMBER];
        if (c->label && c->line)
            c->line(of, c->label);
        if (!c->label || c->line)
            continue;
        struct cli_cell cell = c->get(c, of, row);
        if (cell.is_none || cell.is_blank)
            continue;
        cli_label(&of->style, c->label);
        bool is_text = c->type == CLI_TYPE_TEXT || c->type == CLI_TYPE_WORD;
        cli_name(&of->style, is_text ? cell.text : cli_span(text_of(of, c, &cell, number)), 0);
        putchar('\n');
    }
}
