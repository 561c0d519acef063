/* cli/options.c - the words after `jsprof COMMAND`.
 *
 * SPDX-License-Identifier: MIT
 */
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "text.h"

int cli_usage(const char *command, const char *format, ...)
{
    struct cli_style plain = { 0 };
    char *what = NULL;
    va_list arguments;
    va_start(arguments, format);
    char *text = vasprintf(&what, format, arguments) < 0
                     ? NULL
                     : cli_clean(&plain, cli_span(what));
    fprintf(stderr, "jsprof%s%s: %s", command ? " " : "", command ? command : "",
            text ? text : strerror(ENOMEM));
    free(text);
    free(what);
    fprintf(stderr, " (try: jsprof %s%s--help)\n", command ? command : "",
            command ? " " : "");
    va_end(arguments);
    return CLI_USAGE;
}

static const struct cli_option *options_find(const struct cli_option *o, const char *name,
                                             size_t len)
{
    for (; o->name; o++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

/* Find the option of a word, and store the value that the word contains, or NULL. A name of
 * one letter has one dash, and its value may follow it directly. Every other name has two
 * dashes, and its value may follow "=". */
static const struct cli_option *options_of(const char *word,
                                           const struct cli_option *options,
                                           const char **value)
{
    if (word[1] != '-') {
        *value = word[2] ? word + 2 : NULL;
        return options_find(options, word + 1, 1);
    }
    const char *name = word + 2, *equal = strchr(name, '=');
    size_t len = equal ? (size_t)(equal - name) : strlen(name);
    *value = equal ? equal + 1 : NULL;
    return len > 1 ? options_find(options, name, len) : NULL;
}

static int options_unknown(const char *command, const char *word,
                           const struct cli_option *options)
{
    size_t len = strcspn(word, "=");
    const char *name = word + strspn(word, "-");
    struct cli_nearest near = { .word = name, .len = (size_t)(word + len - name) };
    for (const struct cli_option *o = options; o->name; o++)
        if (o->name[1])
            cli_nearest_try(&near, o->name);
    return near.best ? cli_usage(command, "unknown option %.*s, perhaps --%s?", (int)len, word,
                                 near.best)
                     : cli_usage(command, "unknown option %.*s", (int)len, word);
}

/* Read the word at *i and, for a value, the next one. */
static int options_word(struct cli_arguments *a, const struct cli_option *options, int *i)
{
    const char *word = a->words[*i], *value;
    const struct cli_option *o = options_of(word, options, &value);
    if (!o)
        return options_unknown(a->command, word, options);
    const char *dashes = o->name[1] ? "--" : "-";
    if (o->flag && value)
        return cli_usage(a->command, "%s%s takes no value", dashes, o->name);
    if (o->flag) {
        *o->flag = true;
        return CLI_OK;
    }
    if (!value)
        value = ++*i < a->n_words ? a->words[*i] : NULL;
    if (!value)
        return cli_usage(a->command, "%s%s wants a value", dashes, o->name);
    if (!o->number) {
        *o->text = value;
        return CLI_OK;
    }
    if (o->text) {
        if (*o->number == CLI_VALUES)
            return cli_usage(a->command, "--%s: more than %d times", o->name, CLI_VALUES);
        o->text[(*o->number)++] = value;
        return CLI_OK;
    }
    char *end;
    errno = 0;
    unsigned long n = strtoul(value, &end, 10);
    if (errno || *end || end == value || value[0] == '-' || n > UINT32_MAX)
        return cli_usage(a->command, "--%s wants a number, not \"%s\"", o->name, value);
    *o->number = (uint32_t)n;
    return CLI_OK;
}

int cli_options(struct cli_arguments *a, const struct cli_option *options)
{
    bool is_over = false;
    for (int i = 0; i < a->n_words; i++) {
        const char *word = a->words[i];
        if (is_over || word[0] != '-' || !word[1]) {
            a->files[a->n_files++] = word;
        } else if (strcmp(word, "--") == 0) {
            is_over = true;
        } else {
            int err = options_word(a, options, &i);
            if (err)
                return err;
        }
    }
    return CLI_OK;
}

int cli_choice(const char *command, const char *option, const char *word,
               const char *const *names)
{
    char known[256] = "";
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], word) == 0)
            return i;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s",
                 i == 0 ? "" : names[i + 1] ? ", " : " and ", names[i]);
    }
    cli_usage(command, "--%s knows %s, not \"%s\"", option, known, word);
    return -1;
}

const char *cli_one_file(const struct cli_arguments *a)
{
    if (a->n_files == 1)
        return a->files[0];
    cli_usage(a->command, a->n_files ? "one capture at a time" : "no capture named");
    return NULL;
}
