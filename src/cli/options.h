/* cli/options.h - the words after `jsprof COMMAND`.
 *
 * Long options, with "=value" or the next word as value, and short ones ("-o FILE", "-oFILE");
 * "--" ends them. A wrong option is reported in one line on standard error. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_OPTIONS_H
#define JSP_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

/* The most values of an option that may be repeated. */
enum { CLI_VALUES = 16 };

struct cli_option {
    const char *name; /* without the dashes */
    bool *flag;       /* one of these three is not NULL; for a list the last two are */
    const char **text; /* of a list, the first of CLI_VALUES */
    uint32_t *number;  /* of a list, how many were given */
};

struct cli_arguments {
    const char *command;
    char **words;
    int n_words;
    const char **files; /* room for n_words; cli_options stores the files here */
    int n_files;
};

/* Read the words. CLI_OK or CLI_USAGE. The options end with a NULL name. */
int cli_options(struct cli_arguments *a, const struct cli_option *options);

/* Find the word of an option among the names, which end with NULL. Return its number, or -1 after
 * an error, which is reported. */
int cli_choice(const char *command, const char *option, const char *word,
               const char *const *names);

/* Return the only file that is named, or NULL after an error, which is reported. */
const char *cli_one_file(const struct cli_arguments *a);

/* Print one line "jsprof COMMAND: ... (try: jsprof COMMAND --help)". Return CLI_USAGE. */
int cli_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
