/* cli/native.h - native code for a person: its files' state, its lines, its options.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_NATIVE_H
#define JSP_CLI_NATIVE_H

#include "analyze/select.h"
#include "cli/open.h"

struct cli_native {
    bool has_native, is_vm_only, has_lines; /* --native, --vm, --lines */
};

/* Which frames these options show. CLI_OK or CLI_USAGE. */
int cli_native_show(const char *command, const struct cli_native *n, enum jsp_show *out);

/* With --lines, ask the machine's tool (addr2line and its like) for the lines of the
 * selected stacks' native code. What keeps it from answering is said in a line and
 * keeps nothing else from going on. */
void cli_native_lines(struct cli_capture *c, const struct cli_native *n,
                      const struct jsp_select *select);

/* Once the functions were looked up: which files could not name theirs, and why. */
void cli_native_complain(const struct cli_capture *c);

/* " file.c:12" or " :12", made harmless, in `out`; "" where no line is known. */
enum { CLI_PLACE = 64 };
struct cli_line {
    uint32_t file, line;
};
void cli_native_place(char out[CLI_PLACE], const struct cli_capture *c,
                      struct cli_line line);

/* " [libc.so.6]" of a function whose name does not say it already, or "". */
void cli_native_module(char out[CLI_PLACE], const struct cli_capture *c,
                       const struct jsp_function *f);

#endif
