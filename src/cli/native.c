/* cli/native.c - native code for a person: its files' state, its lines, its options.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lines.h"
#include "analyze/roots.h"
#include "lines.h"
#include "options.h"

enum { NATIVE_ORIGINALS = 5 }; /* source maps about which to complain */

void cli_originals_complain(const char *label, const struct jsp_naming *naming)
{
    const struct jsp_originals *o = naming ? jsp_naming_originals(naming) : NULL;
    uint32_t n_mapped = o ? jsp_originals_n_mapped(o) : 0;
    struct jsp_originals_defect d;
    if (n_mapped)
        cli_fail(label, "names and lines of %u file%s are from source maps "
                           "(--no-source-maps shows the recorded ones)",
                 n_mapped, cli_s(n_mapped));
    for (uint32_t i = 0; o && jsp_originals_defect(o, i, &d); i++) {
        if (i == NATIVE_ORIGINALS) {
            cli_fail(label, "and source maps of more files are not used");
            return;
        }
        cli_fail(label, "the source map of %s is not used: %s", d.file, d.why);
    }
}

void cli_native_complain(const struct cli_capture *c)
{
    cli_originals_complain(c->label, c->profile->naming);
    const struct jsp_native_files *n = &c->profile->natives;
    for (uint32_t i = 0; i < n->n; i++) {
        int reason = n->files[i].reason;
        uint32_t before = 0, after = 0;
        char more[CLI_NUMBER] = "";
        for (uint32_t j = 0; j < n->n; j++)
            if (j != i && n->files[j].is_needed && n->files[j].reason == reason)
                *(j < i ? &before : &after) += 1;
        if (reason == 0 || !n->files[i].is_needed || before)
            continue;
        if (after)
            snprintf(more, sizeof more, " (and %u more)", after);
        char *name = cli_clean(&c->style, cli_span(n->files[i].name));
        cli_fail(c->label, "no names or lines from %s%s: %s", name ? name : "?", more,
                 reason == -ESTALE    ? "is not the file that was recorded"
                 : reason == -EBADMSG ? "is not an ELF file"
                                      : strerror(-reason));
        free(name);
    }
    if (n->unsure)
        cli_fail(c->label, "names of %u file%s are from --symbols, which nothing in the "
                           "capture confirms (it has no build id)",
                 n->unsure, cli_s(n->unsure));
}

int cli_roots(struct cli_capture captures[2])
{
    struct jsp_roots roots;
    int err = jsp_roots_strip(&roots, (struct jsp_profile *[]){ captures[0].profile,
                                                                 captures[1].profile });
    if (err)
        return cli_fail(captures[0].label, "%s", strerror(-err));
    for (uint32_t i = 0; i < roots.n; i++) {
        const char *before = roots.list[i].of[0], *after = roots.list[i].of[1];
        cli_fail(captures[1].label, "files below \"%s\" are compared with those below \"%s\" of %s",
                 after, before, captures[0].label);
    }
    jsp_roots_free(&roots);
    return CLI_OK;
}

/* The addresses of one file, the first `n` of the asks. */
static int native_file_lines(struct cli_capture *c, const struct cli_lines_tool *tool,
                             const struct jsp_line_ask *asks, uint32_t n)
{
    char *text = NULL;
    uint64_t *addresses = calloc(n, sizeof *addresses);
    const struct jsp_native_file *file = &c->profile->natives.files[asks->at.file];
    struct cli_lines_batch batch = { file->from ? file->from : file->name, addresses, n };
    if (!addresses)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        addresses[i] = asks[i].at.vaddr;
    int err = cli_lines_ask(tool, &batch, &text);
    char *at = text; /* a line for each address */
    for (uint32_t i = 0; !err && i < n; i++) {
        char *end = strchr(at, '\n');
        *end = 0;
        struct jsp_line answer = { .line = cli_lines_split(at) };
        answer.file = (struct jsp_read_text){ at, (uint32_t)strlen(at) };
        err = jsp_lines_answer(c->profile, &asks[i], answer);
        at = end + 1;
    }
    free(addresses);
    free(text);
    return err;
}

static void native_ask(struct cli_capture *c, const struct cli_lines_tool *tool,
                       const struct jsp_line_asks *asks)
{
    for (uint32_t at = 0, n; at < asks->n; at += n) {
        uint32_t file = asks->list[at].at.file;
        for (n = 1; at + n < asks->n && asks->list[at + n].at.file == file; n++)
            continue;
        int err = native_file_lines(c, tool, asks->list + at, n);
        if (err == 0)
            continue;
        /* One that fails once will fail for the other files too. */
        cli_fail(c->label, "%s gave no lines for %s: %s", tool->path,
                 c->profile->natives.files[file].name,
                 err == -EBADMSG ? "it failed, or answered something else"
                                 : strerror(-err));
        return;
    }
}

void cli_native_lines(struct cli_capture *c, const struct cli_native *n,
                      const struct jsp_select *select)
{
    struct cli_lines_tool tool;
    struct jsp_line_asks asks;
    if (!n->has_lines || n->is_vm_only)
        return;
    int err = jsp_lines_collect(c->profile, select, &asks);
    if (err < 0) {
        cli_fail(c->label, "no lines of native code: %s", strerror(-err));
        return;
    }
    if (asks.n && cli_lines_find(&tool) < 0)
        cli_fail(c->label, "no lines of native code: eu-addr2line, llvm-symbolizer and "
                           "addr2line are not in PATH");
    else if (asks.n)
        native_ask(c, &tool, &asks);
    jsp_lines_free(&asks);
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
    const char *path = line.file ? c->profile->files[line.file] : "";
    const char *slash = strrchr(path, '/');
    *out = ' ';
    native_put(out + 1, c, slash ? slash + 1 : path, CLI_PLACE - CLI_NUMBER);
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
