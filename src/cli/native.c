/* cli/native.c - native code for a person: its files' state, its lines, its options.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "options.h"

enum { NATIVE_ORIGINALS = 5 }; /* source maps about which to complain */

void cli_originals_complain(const char *label, const struct cli_originals *o)
{
    jsprof_read_unused_map d = { .size = sizeof d };
    if (o->n_mapped)
        cli_fail(label, "names and lines of %u file%s are from source maps "
                           "(--no-source-maps shows the recorded ones)",
                 o->n_mapped, cli_s(o->n_mapped));
    for (uint32_t i = 0; o->unused(o->of, i, &d); i++) {
        if (i == NATIVE_ORIGINALS) {
            cli_fail(label, "and source maps of more files are not used");
            return;
        }
        cli_fail(label, "the source map of %s is not used: %s", d.file, d.why);
    }
}

static bool native_unused(const void *reader, uint32_t i, jsprof_read_unused_map *out)
{
    return jsprof_read_unused_maps((jsprof_reader *)(uintptr_t)reader, i, out, 1) == 1;
}

void cli_native_originals(const struct cli_capture *c)
{
    jsprof_read_info info = { .size = sizeof info };
    jsprof_read_about(c->reader, &info);
    cli_originals_complain(c->label, &(struct cli_originals){ info.mapped_files, native_unused,
                                                              c->reader });
}

/* Return how many files before number `end`, or after it, have no names for the same reason. */
static uint32_t native_alike(const struct cli_capture *c, uint64_t from, uint64_t end, int error)
{
    jsprof_read_native_file f = { .size = sizeof f };
    uint32_t n = 0;
    for (uint64_t i = from; i < end && jsprof_read_native_files(c->reader, i, &f, 1) == 1; i++)
        n += f.is_needed && f.error == error;
    return n;
}

void cli_native_complain(const struct cli_capture *c)
{
    jsprof_read_info info = { .size = sizeof info };
    jsprof_read_native_file f = { .size = sizeof f };
    jsprof_read_about(c->reader, &info);
    cli_native_originals(c);
    for (uint64_t i = 0; jsprof_read_native_files(c->reader, i, &f, 1) == 1; i++) {
        char more[CLI_NUMBER] = "";
        if (f.error == 0 || !f.is_needed || native_alike(c, 0, i, f.error))
            continue;
        uint32_t after = native_alike(c, i + 1, UINT64_MAX, f.error);
        if (after)
            snprintf(more, sizeof more, " (and %u more)", after);
        char *name = cli_clean(&c->style, cli_span(f.path));
        cli_fail(c->label, "no names or lines from %s%s: %s", name ? name : "?", more,
                 f.error == -ESTALE    ? "is not the file that was recorded"
                 : f.error == -EBADMSG ? "is not an ELF file"
                                       : strerror(-f.error));
        free(name);
    }
    if (info.unsure_files)
        cli_fail(c->label, "names of %u file%s are from --symbols, which nothing in the "
                           "capture confirms (it has no build id)",
                 info.unsure_files, cli_s(info.unsure_files));
}

int cli_folders_complain(const struct cli_capture captures[2],
                         const jsprof_read_comparison *comparison)
{
    jsprof_read_folder folder = { .size = sizeof folder };
    int64_t got;
    for (uint64_t i = 0; (got = jsprof_read_folders(comparison, i, &folder, 1)) == 1; i++)
        cli_fail(captures[1].label, "files below \"%s\" are compared with those below \"%s\" of %s",
                 folder.after, folder.before, captures[0].label);
    return (int)got;
}

/* -- Lines ------------------------------------------------------------------- */

struct native_lines {
    struct cli_capture *c;
    struct cli_lines_tool tool;
    bool is_found; /* the tool */
    char *text;    /* its last answer; owned */
};

/* Ask the tool for the lines of addresses of a file. One that fails once will fail for the other
 * files too, and ends the asking. */
static int native_ask(void *context, const jsprof_read_native_file *file,
                      const uint64_t *addresses, jsprof_read_place *out, uint64_t n)
{
    struct native_lines *l = context;
    struct cli_lines_batch batch = { *file->from ? file->from : file->path, addresses,
                                     (uint32_t)n };
    if (!l->is_found && cli_lines_find(&l->tool) < 0) {
        cli_fail(l->c->label, "no lines of native code: eu-addr2line, llvm-symbolizer and "
                              "addr2line are not in PATH");
        return -ENOENT;
    }
    l->is_found = true;
    free(l->text);
    l->text = NULL;
    int err = cli_lines_ask(&l->tool, &batch, &l->text);
    if (err < 0)
        cli_fail(l->c->label, "%s gave no lines for %s: %s", l->tool.path, file->path,
                 err == -EBADMSG ? "it failed, or answered something else" : strerror(-err));
    char *at = l->text; /* a line for each address */
    for (uint64_t i = 0; err == 0 && i < n; i++) {
        char *end = strchr(at, '\n');
        *end = 0;
        out[i].line = cli_lines_split(at);
        out[i].file = at;
        at = end + 1;
    }
    return err;
}

void cli_native_lines(struct cli_capture *c)
{
    struct native_lines l = { .c = c };
    const jsprof_read_asker asker = { .size = sizeof asker, .ask = native_ask, .context = &l };
    int err = jsprof_read_ask_lines(c->reader, &asker, NULL);
    if (err == -ENOMEM)
        cli_fail(c->label, "no lines of native code: %s", strerror(-err));
    free(l.text);
}

/* At most so many bytes of a text, made harmless and never cut inside a character. */
static void native_put(char *out, const struct cli_capture *c, const char *text, int most)
{
    char *clean = cli_clean(&c->style, cli_span(text));
    size_t len = clean ? strlen(clean) : 0, n = len < (size_t)most ? len : (size_t)most;
    while (n < len && n > 0 && ((unsigned char)clean[n] & 0xC0) == 0x80)
        n--;
    if (n)
        memcpy(out, clean, n);
    out[n] = 0;
    free(clean);
}

void cli_native_text(char out[CLI_PLACE], const struct cli_capture *c, const char *name)
{
    native_put(out, c, name, CLI_PLACE - 1);
}

void cli_native_place(char out[CLI_PLACE], const struct cli_capture *c,
                      struct cli_line line)
{
    out[0] = 0;
    if (line.line == 0)
        return;
    const char *slash = strrchr(line.file, '/');
    *out = ' ';
    native_put(out + 1, c, slash ? slash + 1 : line.file, CLI_PLACE - CLI_NUMBER);
    snprintf(out + strlen(out), CLI_PLACE - strlen(out), ":%" PRIu32, line.line);
}

bool cli_native_is_nameless(const char *name, const char *module)
{
    /* The name is "[libc.so.6]" or "libc.so.6+0x1230". */
    size_t len = strlen(module);
    return *name == '[' || (strncmp(name, module, len) == 0 && strncmp(name + len, "+0x", 3) == 0);
}

void cli_native_module(char out[CLI_PLACE], const struct cli_capture *c, const char *name,
                       const char *module)
{
    out[0] = 0;
    if (!*module || cli_native_is_nameless(name, module))
        return;
    strcpy(out, "  [");
    native_put(out + 3, c, module, CLI_PLACE - 5);
    strcat(out, "]");
}
