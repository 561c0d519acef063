/* cli/cell.c - the values of a table's cells.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table.h"

const char *const cli_kinds[] = { "vm",    "jit",    "label", "gc", "native",
                                  "synth", "kernel", "other", NULL };

struct cli_cell cli_cell_none(void)
{
    return (struct cli_cell){ .is_none = true };
}

struct cli_cell cli_cell_u64(uint64_t n)
{
    return (struct cli_cell){ .u64 = n };
}

struct cli_cell cli_cell_i64(int64_t n)
{
    return (struct cli_cell){ .i64 = n };
}

struct cli_cell cli_cell_time(int64_t time, int64_t start, int digits)
{
    struct cli_cell cell = cli_cell_i64((int64_t)((uint64_t)time - (uint64_t)start));
    snprintf(cell.shown, sizeof cell.shown, "%.*f", digits,
             ((double)time - (double)start) / 1e9);
    return cell;
}

struct cli_cell cli_cell_real(double n)
{
    return (struct cli_cell){ .real = n };
}

struct cli_cell cli_cell_bool(bool yes)
{
    return (struct cli_cell){ .yes = yes };
}

struct cli_cell cli_cell_string(const char *text)
{
    return (struct cli_cell){ .text = cli_span(text) };
}

static const void *table_field(const struct cli_column *c, const void *row)
{
    return (const char *)row + c->offset;
}

struct cli_cell cli_get_u64(CLI_OF_ROW)
{
    return cli_cell_u64(*(const uint64_t *)table_field(c, row));
}

struct cli_cell cli_get_u32(CLI_OF_ROW)
{
    return cli_cell_u64(*(const uint32_t *)table_field(c, row));
}

struct cli_cell cli_get_i64(CLI_OF_ROW)
{
    return cli_cell_i64(*(const int64_t *)table_field(c, row));
}

struct cli_cell cli_get_i32(CLI_OF_ROW)
{
    return cli_cell_i64(*(const int32_t *)table_field(c, row));
}

struct cli_cell cli_get_real(CLI_OF_ROW)
{
    return cli_cell_real(*(const double *)table_field(c, row));
}

struct cli_cell cli_get_string(CLI_OF_ROW)
{
    const char *text = *(const char *const *)table_field(c, row);
    return cli_cell_string(text ? text : "");
}

struct cli_cell cli_get_bool(CLI_OF_ROW)
{
    return cli_cell_bool(*(const bool *)table_field(c, row));
}

struct cli_cell cli_get_cell(CLI_OF_ROW)
{
    return *(const struct cli_cell *)table_field(c, row);
}

struct cli_cell cli_get_kind(CLI_OF_ROW)
{
    struct cli_cell cell = cli_get_string(c, of, row);
    cell.colour = CLI_KIND;
    return cell;
}

struct cli_cell cli_get_object(CLI_OF_ROW)
{
    return (struct cli_cell){ .object = table_field(c, row) };
}
