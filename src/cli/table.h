/* cli/table.h - the rows that a command prints: as text, as CSV, as JSON.
 *
 * A command describes each column once. The same description makes the text for a person,
 * the CSV and the JSON for programs, and the schema of that JSON. CSV is a line of names
 * and a line for each row. JSON is one object: the head, then one or more arrays of rows.
 * Names from the capture are exact for programs: JSON escapes what could do harm, and CSV
 * makes them harmless where a terminal reads it. One thread, one table at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_TABLE_H
#define JSP_CLI_TABLE_H

#include "open.h"

struct cli_form { /* the options --csv and --json; without both: text */
    bool is_csv, is_json;
};

#define CLI_FORM_OPTIONS(f) \
    { "csv", &(f)->is_csv, NULL, NULL }, { "json", &(f)->is_json, NULL, NULL }

#define CLI_FORM_HELP \
    "  --csv, --json    for programs; --json-schema  the form of the JSON\n"

/* Of a command that is_followed. */
#define CLI_FORM_FOLLOW_HELP \
    "  --csv, --json, --json-schema  for programs; --follow  again while FILE grows\n"

/* Return true if the form is text, neither CSV nor JSON. */
static inline bool cli_form_is_text(const struct cli_form *f)
{
    return !f->is_csv && !f->is_json;
}

/* Refuse both options together: report it and return CLI_USAGE. Otherwise CLI_OK. */
int cli_form_check(const char *command, const struct cli_form *f);

/* What a cell contains. It decides how each form prints the cell. */
enum cli_type {
    CLI_TYPE_TEXT,     /* text: bytes of the capture */
    CLI_TYPE_WORD,     /* text: one of our own words; CSV does not quote it */
    CLI_TYPE_COUNT,    /* u64 */
    CLI_TYPE_INTEGER,  /* i64 */
    CLI_TYPE_VALUE,    /* u64 in the unit of the capture: ns or samples */
    CLI_TYPE_NS,       /* u64, a duration */
    CLI_TYPE_EXACT_NS, /* u64, a duration that people read to three digits */
    CLI_TYPE_TIME,     /* i64, ns since the start of the capture */
    CLI_TYPE_BYTES,    /* u64 */
    CLI_TYPE_SHARE,    /* real: a part of 1 */
    CLI_TYPE_REAL,     /* real; not finite: null */
    CLI_TYPE_BOOL,     /* yes; 0 and 1 in CSV */
    CLI_TYPE_BAR,      /* bar: in text alone */
    CLI_TYPE_WORDS,    /* JSON alone: names[i] for each bit i of u64 */
    CLI_TYPE_NUMBERS,  /* JSON alone: numbers */
    CLI_TYPE_OBJECT,   /* JSON alone: the columns of the column, of `object` as the row */
};

struct cli_cell {
    union {
        struct cli_span text;
        uint64_t u64;
        int64_t i64;
        double real;
        bool yes;
        struct {
            double self, total;
        } bar;
        struct {
            const uint64_t *at;
            uint32_t n;
        } numbers;
        const void *object;
    };
    bool is_none;           /* no value: empty in text and CSV, null in JSON */
    bool is_blank;          /* text alone shows nothing */
    enum cli_colour colour; /* of the text */
    char shown[CLI_NUMBER]; /* text shows this instead, unless it is empty */
};

struct cli_column;
struct cli_table;

/* Return the cell of a row. `of` is what the command gave for the whole table. */
#define CLI_OF_ROW                                                                           \
    __attribute__((unused)) const struct cli_column *c,                                      \
        __attribute__((unused)) const void *of, __attribute__((unused)) const void *row
typedef struct cli_cell cli_get(CLI_OF_ROW);

/* Print a line of text on the whole capture, or nothing. */
typedef void cli_line(const struct cli_capture *c, const char *label);

enum { CLI_IN_CSV = 1, CLI_IN_JSON = 2 };

struct cli_column {
    const char *name;  /* in CSV and JSON; NULL: only in text */
    const char *head;  /* in text; NULL: only for programs */
    const char *means; /* the sentence of the schema */
    enum cli_type type;
    cli_get *get;
    size_t offset;     /* of the field in the row, for the cli_get_... below */

    /* Text. Columns go by place. The width of a column aligned to the right is positive
     * and contains the space before it; aligned to the left it is negative. The last
     * column has width 0 and takes what is left of the line. */
    int place, width;
    int minimum;       /* text shows it on a terminal of so many columns at least */
    int least;         /* the last column gets so much of the line at least */
    /* Prints the cell in place of `get`: of the last column in at most `room` columns (0: no
     * limit), of one aligned to the left in all of them. */
    void (*draw)(const struct cli_table *t, const void *row, int room);
    const char *(*heading)(const struct cli_table *t); /* NULL: it is `head` */
    bool (*fits)(const void *of); /* text shows it only where this holds */

    /* Of a line of text, for cli_table_lines; NULL: none. `line` prints it in place of `get`. */
    const char *label;
    cli_line *line;

    /* Programs. */
    bool (*when)(const void *of); /* any form shows it only where this holds */
    unsigned in;                  /* CLI_IN_...; 0: both forms */
    bool may_lack;                /* the value may be null */
    const char *const *words;     /* all that a word may be; NULL: not listed */
    const struct cli_column *columns; /* of an object; they end like a table's */
};

/* Columns end with one that has neither name nor head nor label. */
static inline bool cli_column_is_end(const struct cli_column *c)
{
    return !c->name && !c->head && !c->label;
}

/* What --json prints: one object with the command, the columns of the head (NULL: none),
 * then lists of rows. */
struct cli_list {
    const char *name, *means;
    const struct cli_column *columns;
    bool may_lack; /* the list is only there with some option */
};

struct cli_document {
    const char *means;
    const struct cli_column *head;
    struct cli_list lists[3]; /* end with a NULL name */
    bool is_one_line;         /* rows do not begin a line in the JSON */
};

struct cli_show {
    const struct cli_form *form;
    const char *command;
    const struct cli_column *columns;    /* for text and CSV */
    const struct cli_document *document; /* for JSON */
    const void *head;                    /* the row of the document's head */
    const void *of;                      /* is passed to every `get` */
    const struct cli_capture *capture;   /* values have its unit; NULL: several captures */
    int extra; /* columns that text needs in addition; it is added to every `minimum` */
};

/* Begin: print the heads of the columns, or the head of the JSON up to its first row. NULL:
 * no memory, which is reported. The pointers must stay valid until cli_table_close. */
struct cli_table *cli_table_open(const struct cli_show *show);

/* Print one row. */
void cli_table_row(struct cli_table *t, const void *row);

/* Begin the next list of the document; only for JSON. */
void cli_table_next(struct cli_table *t);

/* End. CLI_OK, or CLI_FAILED where `t` is NULL. */
int cli_table_close(struct cli_table *t);

/* Print text: "  label      value" for each column with a label that has a value in this row. */
void cli_table_lines(const struct cli_column *columns, const struct cli_capture *c,
                     const void *row);

/* Print the label of a line, in CLI_LABEL columns. */
void cli_label(const struct cli_style *s, const char *label);
enum { CLI_LABEL = 13 }; /* columns */

/* A jsp_sink_write to standard output; main reports its errors. */
int cli_table_write(void *context, const void *bytes, size_t n);

/* Return the style, which `draw` and `heading` may look at. */
const struct cli_style *cli_table_style(const struct cli_table *t);

/* Return what is passed to every `get`. */
const void *cli_table_of(const struct cli_table *t);

/* "TIME" or "SAMPLES", for `heading`. */
const char *cli_table_unit(const struct cli_table *t);

/* Cells of fields at `offset` of the row: the type is in the name; string is a pointer to
 * characters (NULL: empty). */
cli_get cli_get_u64, cli_get_u32, cli_get_i64, cli_get_i32, cli_get_real, cli_get_bool;
cli_get cli_get_string;

/* The same of a field that is a cell; of a string that is a kind's name; of a struct, for
 * CLI_TYPE_OBJECT. */
cli_get cli_get_cell, cli_get_kind, cli_get_object;

/* Return a cell without a value. */
struct cli_cell cli_cell_none(void);

/* Return a cell with a number. */
struct cli_cell cli_cell_u64(uint64_t n);

/* Return a cell with a number that may be below 0. */
struct cli_cell cli_cell_i64(int64_t n);

/* Return a cell with a real number. */
struct cli_cell cli_cell_real(double n);

/* Return a cell with a truth value. */
struct cli_cell cli_cell_bool(bool yes);

/* Return a cell with a text, which is borrowed. */
struct cli_cell cli_cell_string(const char *text);

/* A CLI_TYPE_TIME since `start`. The difference wraps, because a capture may contain any times.
 * Text shows seconds with so many digits after the point. */
struct cli_cell cli_cell_time(int64_t time, int64_t start, int digits);

/* All kinds of jsprof_read_frame; ends with NULL. */
extern const char *const cli_kinds[];

#endif
