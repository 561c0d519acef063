/* cli/native.h - native code for a person: its files' state, its lines, its options.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_NATIVE_H
#define JSP_CLI_NATIVE_H

#include "analyze/select.h"
#include "open.h"

struct cli_native {
    bool has_native, is_vm_only, has_lines; /* --native, --vm, --lines */
};

/* With --lines, ask addr2line or a similar tool for the lines of the selected stacks' native
 * code. A failure is reported in one line, and everything else continues. */
void cli_native_lines(struct cli_capture *c, const struct cli_native *n,
                      const struct jsp_select *select);

/* After the functions are looked up, report how many generated files are shown by their source
 * maps, and why others are not. */
void cli_originals_complain(const char *label, const struct jsp_naming *naming);

/* Report this and which files of native code could not name theirs, and why. */
void cli_native_complain(const struct cli_capture *c);

/* Compare files of two captures without the folders that differ, and report these. Resolve the
 * stacks before. CLI_OK or CLI_FAILED. */
int cli_roots(struct cli_capture captures[2]);

/* Write " file.c:12" or " :12", made harmless, to `out`; "" where no line is known. */
enum { CLI_PLACE = 64 };
struct cli_line {
    uint32_t file, line;
};
void cli_native_place(char out[CLI_PLACE], const struct cli_capture *c,
                      struct cli_line line);

/* Write the beginning of a name, made harmless. */
void cli_native_text(char out[CLI_PLACE], const struct cli_capture *c, const char *name);

/* Return true if native code has only its module as a name. */
bool cli_native_is_nameless(const char *name, const char *module);

/* Write "  [libc.so.6]" of a function whose name does not contain the module, or "". */
void cli_native_module(char out[CLI_PLACE], const struct cli_capture *c, const char *name,
                       const char *module);

#endif
