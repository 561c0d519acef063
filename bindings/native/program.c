/* native/program.c - see program.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "program.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/interpreter.h"

enum { PROGRAM_NUMBER = 16 };

/* -- The environment ------------------------------------------------------------------ */

static char **program_entry(const char *name)
{
    size_t n = strlen(name);
    char **entry = environ;
    while (entry && *entry && (strncmp(*entry, name, n) != 0 || (*entry)[n] != '='))
        entry++;
    return entry && *entry ? entry : NULL;
}

const char *native_get(const char *name)
{
    char **entry = program_entry(name);
    return entry ? *entry + strlen(name) + 1 : NULL;
}

void native_rename(const char *name, const char *other)
{
    char **entry = program_entry(name), *text = NULL;
    if (entry && asprintf(&text, "%s=%s", other, native_get(name)) > 0)
        *entry = text;
}

/* Give a variable that is there another value. */
static void program_change(const char *name, const char *value)
{
    char **entry = program_entry(name), *text = NULL;
    if (entry && asprintf(&text, "%s=%s", name, value) > 0)
        *entry = text;
}

/* -- The capture ------------------------------------------------------------------------- */

void native_place(char path[NATIVE_PATH], bool is_first)
{
    static const char each[] = ".%p"; /* its parent may have added it */
    const char *pattern = native_get("JSPROF");
    size_t n = strlen(pattern), n_each = sizeof each - 1;
    bool has_each = n > n_each && strcmp(pattern + n - n_each, each) == 0;
    snprintf(path, NATIVE_PATH, "%s%s", pattern, is_first || has_each ? "" : each);
}

void native_remove(const char *pattern)
{
    char path[NATIVE_PATH];
    struct stat is;
    size_t n = 0;
    for (const char *at = pattern; *at && n < sizeof path - PROGRAM_NUMBER; at++) {
        if (at[0] == '%' && at[1] == 'p')
            n += (size_t)snprintf(path + n, PROGRAM_NUMBER, "%d", (int)getpid());
        else
            path[n++] = *at;
        at += at[0] == '%' && (at[1] == 'p' || at[1] == '%');
    }
    path[n] = 0;
    if (lstat(path, &is) == 0 && S_ISREG(is.st_mode)) /* and no device */
        unlink(path);
}

/* -- A program with the library ------------------------------------------------------------ */

/* Search the constants of the program, which is the first object. */
static int program_search(struct dl_phdr_info *info, size_t size, void *found)
{
    static const char mark[] = "JSPROF_CONTINUOUS"; /* the library's own environment */
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags == PF_R &&
            memmem((const char *)info->dlpi_addr + p->p_vaddr, p->p_filesz, mark, sizeof mark))
            *(bool *)found = true;
    }
    return 1;
}

/* Return true if the program has the library, and so obeys JSPROF. */
static bool program_has_ours(void)
{
    bool found = dlsym(RTLD_DEFAULT, "jsprof_start_from_env") != NULL;
    if (!found)
        dl_iterate_phdr(program_search, &found);
    return found;
}

/* -- A Lua interpreter ---------------------------------------------------------------------- */

/* Write the path of a file of ours, from the folder of this library. */
static bool program_ours(char out[NATIVE_PATH], const char *below)
{
    Dl_info us;
    const char *path = dladdr(&native_leaves, &us) ? us.dli_fname : NULL;
    const char *base = path ? interpreter_base(path) : NULL;
    int n = base ? snprintf(out, NATIVE_PATH, "%.*s%s", (int)(base - path), path, below)
                 : NATIVE_PATH;
    return n < NATIVE_PATH && access(out, R_OK) == 0;
}

static bool program_exe(char out[NATIVE_PATH])
{
    ssize_t n = readlink("/proc/self/exe", out, NATIVE_PATH - 1);
    out[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* Find the module for the interpreter that the program is. */
static bool program_is_lua(char version[INTERPRETER_VERSION], char module[NATIVE_PATH])
{
    char exe[NATIVE_PATH], below[32];
    if (!program_exe(exe) || !interpreter_is_lua(interpreter_base(exe), version))
        return false;
    snprintf(below, sizeof below, "../lua/%s/jsprof.so", version);
    return program_ours(module, below);
}

/* -- A GJS program ----------------------------------------------------------------------- */

/* Is the SpiderMonkey loaded for which jsprof-gjs's library was built? */
static bool program_has_engine(const char *library)
{
    static const char engine[] = "libmozjs-";
    struct stat is;
    int fd = open(library, O_RDONLY | O_CLOEXEC);
    char *at = fd >= 0 && fstat(fd, &is) == 0
                   ? mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (at == MAP_FAILED)
        return false;
    const char *name = memmem(at, (size_t)is.st_size, engine, sizeof engine - 1);
    bool is_text = name && memchr(name, 0, (size_t)(at + is.st_size - name));
    bool has = is_text && dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    munmap(at, (size_t)is.st_size);
    return has;
}

/* Has jsprof-gjs, or this library, begun the program with that library? It has not read its
 * variables yet. */
static bool program_is_begun(void)
{
    const char *pid = native_get("JSPROF_GJS_PID");
    return pid && native_get("JSPROF_GJS_PRELOAD") && strtol(pid, NULL, 10) == getpid();
}

/* Read the words of the command line. They live as long as the process. */
static char **program_words(void)
{
    char *text = NULL, **words = NULL, *more;
    size_t n = 0, n_words = 0, room = 0;
    ssize_t got = 0;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    do {
        n += (size_t)got;
        room = n + NATIVE_PATH;
        more = realloc(text, room + 1);
        text = more ? more : text;
    } while (fd >= 0 && more && (got = read(fd, text + n, room - n)) > 0);
    if (fd >= 0)
        close(fd);
    if (!more || got < 0 || !n)
        return NULL;
    text[n] = 0;
    for (size_t i = 0; i < n; i++)
        n_words += !text[i];
    words = calloc(n_words + 2, sizeof *words);
    for (size_t i = 0, at = 0; words && at < n; at += strlen(text + at) + 1)
        words[i++] = text + at;
    return words;
}

/* Copy the environment, with two variables more and another list of libraries. */
static char **program_environment(const char *library)
{
    const char *before = native_get("LD_PRELOAD");
    size_t n = 0;
    while (environ[n])
        n++;
    char **copy = calloc(n + 3, sizeof *copy), **entry = program_entry("LD_PRELOAD");
    if (!copy || !entry)
        return NULL;
    memcpy(copy, environ, n * sizeof *copy);
    if (asprintf(&copy[entry - environ], "LD_PRELOAD=%s:%s", library, before) < 0 ||
        asprintf(&copy[n], "JSPROF_GJS_PRELOAD=%s", before) < 0 ||
        asprintf(&copy[n + 1], "JSPROF_GJS_PID=%d", (int)getpid()) < 0)
        return NULL;
    entry = program_entry("JSPROF_GJS_PID"); /* of a parent */
    if (entry)
        copy[entry - environ] = copy[n + 1];
    return copy;
}

/* Execute the program again, with that library. It returns if that can not be. */
static void program_begin_gjs(void)
{
    char exe[NATIVE_PATH], library[NATIVE_PATH];
    if (!program_ours(library, "libjsprof-gjs.so") || !program_has_engine(library) ||
        !program_exe(exe))
        return;
    char **words = program_words(), **environment = words ? program_environment(library) : NULL;
    if (environment)
        execve(exe, words, environment);
}

/* -- All of them --------------------------------------------------------------------------- */

bool native_leaves(bool is_first, bool is_again)
{
    char path[NATIVE_PATH], module[NATIVE_PATH], version[INTERPRETER_VERSION];
    bool is_gjs = dlopen("libgjs.so.0", RTLD_LAZY | RTLD_NOLOAD) != NULL;
    bool is_lua = program_is_lua(version, module);
    if (is_gjs && program_is_begun())
        return true;
    native_place(path, is_first);
    if (is_gjs && !program_has_ours()) {
        if (is_again)
            native_remove(path);
        program_change("JSPROF", path);
        program_begin_gjs();
        return false;
    }
    if (!is_lua && !program_has_ours())
        return false;
    if (is_again)
        native_remove(path);
    program_change("JSPROF", path);
    if (is_lua)
        interpreter_lua(version, module);
    return true;
}
