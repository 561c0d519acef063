/* rows.c - compares the rows that src/image makes of a file's .eh_frame with the rows
 * that readelf --debug-dump=frames-interp prints of the same bytes.
 *
 *   rows FILE...     one line a file, one for all; exit 1 when a row differs
 *
 * Each of readelf's rows is looked up at its first and at its last byte; and no row of
 * ours may start where readelf has none.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/block.h"
#include "image/elf.h"
#include "image/table.h"
#include "sigsafe/regs.h"

enum { COLUMNS = 40, WORD = 24, SHOWN = 5, CIES = 1 << 20 };

struct row {
    char cfa[WORD], ra[WORD], sp[WORD], fp[WORD], extra[WORD];
};

struct reading {
    const char *path;
    struct jsp_table table;
    char columns[COLUMNS][WORD];
    int n_columns;
    struct row row;         /* the last one that was printed */
    uint64_t at;            /* and where */
    bool has_row;
    uint64_t start, end;    /* of the FDE; equal: a CIE's rows */
    struct row *initial;    /* of CIEs, by their offset as printed */
    unsigned cie;
    uint64_t *starts;       /* that readelf has */
    size_t n_starts, room_starts;
    uint64_t n_rows, n_compared, n_bad;
};

#if defined(__x86_64__)
static const char *const names[JSP_N_REGS] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi",
    "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip" };
#else
static const char *const names[JSP_N_REGS] = { "x0", "x1", "x2", "x3", "x4", "x5", "x6",
    "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19",
    "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp" };
#endif

/* -- Ours, in readelf's words ---------------------------------------------------- */

static void word_of_cell(char to[WORD], const struct jsp_unwind_cell *cell)
{
    switch ((enum jsp_cell)cell->is) {
    case JSP_CELL_AT: snprintf(to, WORD, "c%+d", cell->value); break;
    case JSP_CELL_IS: snprintf(to, WORD, "v%+d", cell->value); break;
    case JSP_CELL_REG: snprintf(to, WORD, "r%d", cell->reg); break;
    case JSP_CELL_AT_EXPR: strcpy(to, "exp"); break;
    case JSP_CELL_IS_EXPR: strcpy(to, "vexp"); break;
    default: strcpy(to, "u");
    }
}

static void row_of_rule(struct row *row, const struct jsp_unwind_rule *rule)
{
    if (rule->cfa.is == JSP_CELL_REG)
        snprintf(row->cfa, WORD, "%s%+d", names[rule->cfa.reg], rule->cfa.value);
    else
        strcpy(row->cfa, "exp");
    word_of_cell(row->ra, &rule->ra);
    word_of_cell(row->sp, &rule->sp);
    word_of_cell(row->fp, &rule->fp);
    word_of_cell(row->extra, &rule->extra);
}

static void row_of_how(struct row *row, const struct jsp_unwind_object *o, uint32_t how)
{
    memset(row, 0, sizeof *row);
    if (jsp_how_kind(how) == JSP_HOW_NONE || jsp_how_kind(how) == JSP_HOW_END) {
        strcpy(row->cfa, jsp_how_kind(how) == JSP_HOW_END ? "end" : "none");
        return;
    }
    if (jsp_how_kind(how) == JSP_HOW_RULE) {
        row_of_rule(row, &o->rules[jsp_how_rule(how)]);
        return;
    }
    int reg = jsp_how_kind(how) == JSP_HOW_SP ? JSP_REG_SP : JSP_REG_FP;
    snprintf(row->cfa, WORD, "%s+%u", names[reg], jsp_how_cfa(how) * 8);
    strcpy(row->sp, "u");
    strcpy(row->fp, "u");
    strcpy(row->extra, "u");
    if (jsp_how_fp(how))
        snprintf(row->fp, WORD, "c-%u", jsp_how_fp(how) * 8);
    if (jsp_how_extra(how))
        snprintf(row->extra, WORD, "c-%u", jsp_how_extra(how) * 8);
    strcpy(row->ra, JSP_RA_IN_EXTRA ? row->extra : "c-8");
}

/* -- Comparing ------------------------------------------------------------------- */

static bool row_is(const struct row *theirs, const struct row *ours)
{
    if (strcmp(ours->cfa, "end") == 0)
        return strcmp(theirs->ra, "u") == 0;
    return strcmp(theirs->cfa, ours->cfa) == 0 && strcmp(theirs->ra, ours->ra) == 0 &&
           strcmp(theirs->sp, ours->sp) == 0 && strcmp(theirs->fp, ours->fp) == 0 &&
           strcmp(theirs->extra, ours->extra) == 0;
}

static void compare_at(struct reading *r, const struct row *theirs, uint64_t at)
{
    const struct jsp_unwind_object *o = &r->table.object;
    struct row ours = { .cfa = "outside" };
    if (at >= o->start && at < o->end)
        row_of_how(&ours, o, jsp_unwind_object_how(o, at));
    r->n_compared++;
    if (row_is(theirs, &ours) || r->n_bad++ >= SHOWN)
        return;
    printf("%s: %" PRIx64 ": readelf cfa %s ra %s fp %s extra %s, ours %s %s %s %s\n", r->path,
           at, theirs->cfa, theirs->ra, theirs->fp, theirs->extra, ours.cfa, ours.ra, ours.fp,
           ours.extra);
}

static void note_start(struct reading *r, uint64_t at)
{
    if (r->n_starts == r->room_starts) {
        r->room_starts = r->room_starts ? r->room_starts * 2 : 4096;
        r->starts = realloc(r->starts, r->room_starts * sizeof *r->starts);
    }
    if (!r->starts)
        exit(2);
    r->starts[r->n_starts++] = at;
}

/* The row that was printed last ends here. */
static void finish_row(struct reading *r, uint64_t until)
{
    if (!r->has_row || r->at >= until || r->at >= r->end)
        return;
    if (until > r->end)
        until = r->end;
    r->n_rows++;
    note_start(r, r->at);
    compare_at(r, &r->row, r->at);
    compare_at(r, &r->row, until - 1);
}

static void finish_block(struct reading *r)
{
    if (r->start == r->end) {
        if (r->has_row)
            r->initial[r->cie] = r->row;
    } else {
        if (!r->has_row) {
            r->row = r->initial[r->cie];
            r->at = r->start;
            r->has_row = true;
        }
        finish_row(r, r->end);
        note_start(r, r->end);
    }
    r->has_row = false;
    r->start = r->end = 0;
}

/* -- Reading readelf --------------------------------------------------------------- */

static void read_columns(struct reading *r, char *line)
{
    r->n_columns = 0;
    for (char *word = strtok(line, " \n"); word && r->n_columns < COLUMNS;
         word = strtok(NULL, " \n"))
        snprintf(r->columns[r->n_columns++], WORD, "%s", word);
}

static void read_row(struct reading *r, char *line)
{
    static const struct row none = { "?", "u", "u", "u", "u" };
    int i = 0;
    char *word = strtok(line, " \n");
    uint64_t at = strtoull(word, NULL, 16);
    finish_row(r, at);
    r->row = none;
    r->at = at;
    r->has_row = true;
    for (; word && i < r->n_columns; word = strtok(NULL, " \n")) {
        if (*word == '(')
            continue; /* "r9 (r9)": a register's number, then its name */
        const char *column = r->columns[i++], *value = strcmp(word, "s") == 0 ? "u" : word;
        if (strcmp(column, "CFA") == 0)
            snprintf(r->row.cfa, WORD, "%s", value);
        if (strcmp(column, "ra") == 0)
            snprintf(r->row.ra, WORD, "%s", value);
        if (strcmp(column, names[JSP_REG_SP]) == 0)
            snprintf(r->row.sp, WORD, "%s", value);
        if (strcmp(column, names[JSP_REG_FP]) == 0)
            snprintf(r->row.fp, WORD, "%s", value);
        if (strcmp(column, names[JSP_REG_EXTRA]) == 0 || (JSP_RA_IN_EXTRA &&
            strcmp(column, "ra") == 0))
            snprintf(r->row.extra, WORD, "%s", value);
    }
}

static void read_header(struct reading *r, const char *line)
{
    const char *pc = strstr(line, " pc="), *cie = strstr(line, " cie=");
    finish_block(r);
    r->cie = (unsigned)((cie ? strtoul(cie + 5, NULL, 16) : strtoul(line, NULL, 16)) / 4 %
                        CIES);
    if (pc)
        sscanf(pc, " pc=%" SCNx64 "..%" SCNx64, &r->start, &r->end);
}

static void read_line(struct reading *r, char *line)
{
    if (strstr(line, " CIE ") || strstr(line, " FDE "))
        read_header(r, line);
    else if (strncmp(line, "   LOC ", 7) == 0)
        read_columns(r, line);
    else if (strspn(line, "0123456789abcdef") == 16 && line[16] == ' ')
        read_row(r, line);
    else if (strstr(line, "ZERO terminator"))
        finish_block(r);
}

/* -- A file ------------------------------------------------------------------------ */

static bool build(struct reading *r)
{
    struct jsp_elf elf;
    int fd = open(r->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || jsp_elf_open(&elf, fd) < 0)
        return false;
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < elf.n_segments; i++) {
        const Elf64_Phdr *p = &elf.segments[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        low = p->p_vaddr < low ? p->p_vaddr : low;
        high = p->p_vaddr + p->p_memsz > high ? p->p_vaddr + p->p_memsz : high;
    }
    const Elf64_Shdr *section = jsp_elf_section(&elf, ".eh_frame", 0);
    uint8_t *bytes = section && high ? jsp_elf_read_section(&elf, section) : NULL;
    int err = -1;
    if (bytes) {
        struct jsp_ehframe_section s = { bytes, section->sh_size, section->sh_addr };
        err = jsp_table_build(&r->table, &s, low, high);
    }
    jsp_block_free(bytes);
    jsp_elf_close(&elf);
    return err == 0;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Rows of ours that start where readelf has nothing. */
static void compare_starts(struct reading *r)
{
    const struct jsp_unwind_object *o = &r->table.object;
    qsort(r->starts, r->n_starts, sizeof *r->starts, by_value);
    for (uint32_t i = 0; i < o->n_rows; i++) {
        uint64_t at = o->start + o->rows[i].start;
        if (!bsearch(&at, r->starts, r->n_starts, sizeof at, by_value) && r->n_bad++ < SHOWN)
            printf("%s: %" PRIx64 ": a row of ours, none of readelf's\n", r->path, at);
    }
}

static bool check(const char *path, uint64_t *sum)
{
    struct reading *r = calloc(1, sizeof *r);
    char command[4096], line[4096];
    if (!r || !(r->initial = calloc(CIES, sizeof *r->initial)))
        exit(2);
    r->path = path;
    if (!build(r)) {
        free(r->initial);
        free(r);
        return true; /* no ELF file of this machine's width, or no .eh_frame */
    }
    snprintf(command, sizeof command, "%s --debug-dump=frames-interp '%s' 2>/dev/null",
             getenv("READELF") ? getenv("READELF") : "readelf", path);
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe))
        read_line(r, line);
    finish_block(r);
    if (!pipe || pclose(pipe) < 0) /* it exits 1 over a missing debug file, too */
        r->n_bad++;
    compare_starts(r);
    printf("%s: %" PRIu64 " rows of readelf, %u of ours, %" PRIu64 " compared, %" PRIu64
           " differ, %" PRIu64 " FDEs, %" PRIu64 " refused\n", path, r->n_rows,
           r->table.object.n_rows, r->n_compared, r->n_bad, r->table.n_fdes,
           r->table.n_refused);
    sum[0]++;
    sum[1] += r->n_rows;
    sum[2] += r->n_bad;
    sum[3] += r->table.n_refused;
    bool good = !r->n_bad && !r->table.n_refused;
    jsp_table_free(&r->table);
    free(r->starts);
    free(r->initial);
    free(r);
    return good;
}

int main(int argc, char **argv)
{
    uint64_t sum[4] = { 0 };
    bool good = true;
    for (int i = 1; i < argc; i++)
        good = check(argv[i], sum) && good;
    printf("all: %" PRIu64 " files with tables, %" PRIu64 " rows of readelf, %" PRIu64
           " differ, %" PRIu64 " FDEs refused\n", sum[0], sum[1], sum[2], sum[3]);
    return good && sum[1] ? 0 : 1;
}
