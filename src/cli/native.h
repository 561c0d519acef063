/* cli/native.h - native code for a person: its files' state, its lines, its options.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_NATIVE_H
#define JSP_CLI_NATIVE_H

#include "open.h"

struct cli_native {
    bool has_native, is_vm_only, has_lines; /* --native, --vm, --lines */
};

/* Ask addr2line or a similar tool for the lines of native code in frames that count. A
 * failure is reported in one line, and everything else continues. */
void cli_native_lines(struct cli_capture *c);

/* After the functions are looked up, report how many generated files are shown by their source
 * maps, and why others are not. `unused` stores the i-th of these, or returns false. */
struct cli_originals {
    uint32_t n_mapped;
    bool (*unused)(const void *of, uint32_t i, jsprof_read_unused_map *out);
    const void *of;
};
void cli_originals_complain(const char *label, const struct cli_originals *o);

/* Report what cli_originals_complain does, of this capture. */
void cli_native_originals(const struct cli_capture *c);

/* Report this and which files of native code could not name theirs, and why. */
void cli_native_complain(const struct cli_capture *c);

/* Report the folders without which files of two captures are compared. Return 0 or -ENOMEM. */
int cli_folders_complain(const struct cli_capture captures[2],
                         const jsprof_read_comparison *comparison);

/* Write " file.c:12" or " :12", made harmless, to `out`; "" where no line is known. */
enum { CLI_PLACE = 64 };
struct cli_line {
    const char *file; /* "": it is in the function's name */
    uint32_t line;
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
