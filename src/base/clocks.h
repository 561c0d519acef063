/* base/clocks.h - the clocks that can drive a recording, in one table from option to
 * output.
 *
 * Every layer names a clock by enum jsp_clock. Its row has its words: its name in
 * options, environment variables and files, the unit of the values that it measures, and
 * the nouns of reports. A new clock needs a row, a constant of enum jsprof_clock, and
 * the code that docs/design.md lists ("To add X, open Y"). Every layer may include this.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_BASE_CLOCKS_H
#define JSP_BASE_CLOCKS_H

#include "jsprof.h"

/* X(CLOCK, key, unit, name, meaning) */
#define JSP_CLOCKS(X) \
    X(CPU, "cpu", "cpu_ns", "CPU time", "CPU time of each thread") \
    X(WALL, "wall", "wall_ns", "elapsed time", "elapsed time")

#define JSP_CLOCKS_ENUM(CLOCK, key, unit, name, meaning) JSP_CLOCK_##CLOCK = JSPROF_CLOCK_##CLOCK,
enum jsp_clock { JSP_CLOCKS(JSP_CLOCKS_ENUM) JSP_N_CLOCKS };

struct jsp_clock_row {
    enum jsp_clock clock;
    const char *key;     /* in options and in the file */
    /* of values in JSON and CSV; also the file's key of the time armed */
    const char *unit;
    const char *name;    /* in reports */
    const char *meaning; /* after the key in `jsprof info` */
};
extern const struct jsp_clock_row jsp_clocks[JSP_N_CLOCKS]; /* index: enum jsp_clock */

/* "cpu or wall": the keys, for the message that refuses another word. */
#define JSP_CLOCKS_OR(CLOCK, key, unit, name, meaning) " or " key
#define JSP_CLOCKS_KEYS (&(JSP_CLOCKS(JSP_CLOCKS_OR))[sizeof " or " - 1])

/* Return the row with this key, or NULL. */
const struct jsp_clock_row *jsp_clock_find(const char *key);

#endif
