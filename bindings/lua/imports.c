/* imports.c - see imports.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "imports.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api.h"
#include "bounds.h"

enum { IMPORTS_OBJECTS = 128, IMPORTS_LOADED = 4096 };

/* The objects only grow in number. One that was unloaded keeps its entry until another one is
 * at its place. */
static struct jsp_lua_importer imports_objects[IMPORTS_OBJECTS];
static _Atomic uint32_t imports_n;
static pthread_mutex_t imports_lock = PTHREAD_MUTEX_INITIALIZER;

/* The parts of an object's dynamic section that are used here. */
struct imports_dynamic {
    uintptr_t base, low, high;
    const uint16_t *versions; /* of the symbols, or NULL */
    const char *needs;        /* the list of the versions' names, or NULL */
    const ElfW(Sym) *symbols;
    const char *strings;
    const ElfW(Rela) *tables[2];
    size_t bytes[2];
    uintptr_t guarded_low, guarded_high; /* words that the loader makes read-only */
};

/* The loader of some systems leaves addresses in that section relative to the object. */
static uintptr_t imports_address(uintptr_t base, uintptr_t value)
{
    return value < base ? base + value : value;
}

static void imports_entry(struct imports_dynamic *d, const ElfW(Dyn) *entry)
{
    uintptr_t at = imports_address(d->base, entry->d_un.d_ptr);
    switch (entry->d_tag) {
    case DT_SYMTAB: d->symbols = (const ElfW(Sym) *)at; break;
    case DT_STRTAB: d->strings = (const char *)at; break;
    case DT_VERSYM: d->versions = (const uint16_t *)at; break;
    case DT_VERNEED: d->needs = (const char *)at; break;
    case DT_RELA: d->tables[0] = (const ElfW(Rela) *)at; break;
    case DT_RELASZ: d->bytes[0] = entry->d_un.d_val; break;
    case DT_JMPREL: d->tables[1] = (const ElfW(Rela) *)at; break;
    case DT_PLTRELSZ: d->bytes[1] = entry->d_un.d_val; break;
    case DT_PLTREL: d->bytes[1] = entry->d_un.d_val == DT_RELA ? d->bytes[1] : 0; break;
    default: break;
    }
}

static void imports_bounds(const struct dl_phdr_info *info, uintptr_t *low, uintptr_t *high)
{
    *low = UINTPTR_MAX;
    *high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD)
            continue;
        *low = at < *low ? at : *low;
        *high = at + p->p_memsz > *high ? at + p->p_memsz : *high;
    }
}

static bool imports_read(struct imports_dynamic *d, const struct dl_phdr_info *info)
{
    const ElfW(Dyn) *entry = NULL;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    *d = (struct imports_dynamic){ .base = info->dlpi_addr };
    imports_bounds(info, &d->low, &d->high);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_DYNAMIC)
            entry = (const ElfW(Dyn) *)at;
        if (p->p_type == PT_GNU_RELRO) {
            d->guarded_low = at & ~(page - 1);
            d->guarded_high = (at + p->p_memsz) & ~(page - 1);
        }
    }
    for (; entry && entry->d_tag != DT_NULL; entry++)
        imports_entry(d, entry);
    return d->symbols && d->strings;
}

/* Write the word, although the loader may have made its page read-only. */
static void imports_write(const struct imports_dynamic *d, _Atomic uintptr_t *word,
                          uintptr_t value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)word & ~(page - 1);
    bool is_guarded = at >= d->guarded_low && at < d->guarded_high;
    /* ORDER: relaxed. Both functions that a thread may read here are always valid. */
    if (atomic_load_explicit(word, memory_order_relaxed) == value)
        return;
    if (is_guarded && mprotect((void *)at, page, PROT_READ | PROT_WRITE) != 0)
        return;
    /* ORDER: relaxed, as above. */
    atomic_store_explicit(word, value, memory_order_relaxed);
    if (is_guarded)
        mprotect((void *)at, page, PROT_READ);
}

/* Return whether the name of a version ends with this Lua's, as "LUA_5.4" does. */
static bool imports_is_our_version(const char *version)
{
    const char *ours = strchr(LUA_VERSION, ' ') + 1;
    size_t n = strlen(version), n_ours = strlen(ours);
    return n >= n_ours && strcmp(version + n - n_ours, ours) == 0;
}

/* Return whether the loader would find a symbol in this Lua. */
static bool imports_finds_ours(const struct imports_dynamic *d, size_t symbol)
{
    uint32_t version = d->versions ? d->versions[symbol] & 0x7FFF : 0;
    const char *at = version > VER_NDX_GLOBAL ? d->needs : NULL;
    while (at) {
        const ElfW(Verneed) *need = (const ElfW(Verneed) *)(const void *)at;
        const char *name = at + need->vn_aux;
        for (uint32_t i = 0; i < need->vn_cnt; i++) {
            const ElfW(Vernaux) *aux = (const ElfW(Vernaux) *)(const void *)name;
            if ((aux->vna_other & 0x7FFF) == version)
                return imports_is_our_version(d->strings + aux->vna_name);
            name += aux->vna_next;
        }
        at = need->vn_next ? at + need->vn_next : NULL;
    }
    return true;
}

/* Return whether a word is for the function that is to be replaced. A process may have another
 * Lua, too. Before its first call, a word has an address in its own object. */
static bool imports_is_theirs(const struct imports_dynamic *d, const struct jsp_lua_import *i,
                              _Atomic uintptr_t *word, size_t symbol)
{
    /* ORDER: relaxed. Only the address counts. */
    uintptr_t now = atomic_load_explicit(word, memory_order_relaxed);
    bool is_unknown = now >= d->low && now < d->high;
    return !i->theirs || now == i->theirs || now == i->ours ||
           (is_unknown && imports_finds_ours(d, symbol));
}

/* Return how many of the words are replaced now. */
static uint32_t imports_table(const struct imports_dynamic *d, int which,
                              const struct jsp_lua_import *list)
{
    uint32_t n = 0;
    const ElfW(Rela) *end = d->tables[which] + (d->tables[which] ? d->bytes[which] : 0) /
                                                   sizeof(ElfW(Rela));
    for (const ElfW(Rela) *r = d->tables[which]; r < end; r++) {
        size_t symbol = sizeof(uintptr_t) == 8 ? (size_t)((uint64_t)r->r_info >> 32)
                                               : (size_t)(r->r_info >> 8);
        if (!symbol || r->r_addend || d->symbols[symbol].st_shndx != SHN_UNDEF)
            continue;
        const char *name = d->strings + d->symbols[symbol].st_name;
        for (const struct jsp_lua_import *i = list; i->name; i++)
            if (strcmp(i->name, name) == 0) {
                _Atomic uintptr_t *word = (_Atomic uintptr_t *)(d->base + r->r_offset);
                if (!imports_is_theirs(d, i, word, symbol))
                    continue;
                imports_write(d, word, i->ours);
                n++;
            }
    }
    return n;
}

/* "/usr/lib/lua/5.4/_cqueues.so" is called "cqueues", and the program by its own name. */
static void imports_name(char *to, const char *path)
{
    const char *name = *path ? path : program_invocation_short_name, *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    name += *name == '_';
    const char *end = strstr(name, ".so");
    size_t n = end ? (size_t)(end - name) : strlen(name);
    n = n < JSP_LUA_IMPORT_NAME - 1 ? n : JSP_LUA_IMPORT_NAME - 1;
    memcpy(to, name, n);
    to[n] = 0;
}

/* Return the entry of an object at this place, or a new one; NULL: there is no room. */
static struct jsp_lua_importer *imports_place(uintptr_t low, uintptr_t high, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && (imports_objects[i].high <= low || imports_objects[i].low >= high))
        i++;
    return i < IMPORTS_OBJECTS ? &imports_objects[i] : NULL;
}

/* The objects that the loader has linked. */
struct imports_look {
    const struct jsp_lua_import *list;
    uintptr_t lua; /* an address in it */
    uintptr_t linked[IMPORTS_LOADED];
    size_t n;
};

static int imports_collect(struct dl_phdr_info *info, size_t size, void *data)
{
    struct imports_look *look = data;
    (void)size;
    if (look->n < IMPORTS_LOADED)
        look->linked[look->n++] = info->dlpi_addr;
    return look->n == IMPORTS_LOADED;
}

static bool imports_is_linked(const struct imports_look *look, uintptr_t base)
{
    for (size_t i = 0; i < look->n; i++)
        if (look->linked[i] == base)
            return true;
    return false;
}

static int imports_object(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct imports_look *look = data;
    const struct jsp_lua_import *list = look->list;
    struct imports_dynamic d;
    uintptr_t ours = (uintptr_t)imports_object;
    (void)size;
    if (!imports_is_linked(look, info->dlpi_addr) || !imports_read(&d, info) ||
        (ours >= d.low && ours < d.high) || (look->lua >= d.low && look->lua < d.high) ||
        imports_table(&d, 0, list) + imports_table(&d, 1, list) == 0)
        return 0;
    /* ORDER: relaxed. Only the holder of the lock stores it. */
    uint32_t n = atomic_load_explicit(&imports_n, memory_order_relaxed);
    struct jsp_lua_importer *o = imports_place(d.low, d.high, n);
    if (!o)
        return 1;
    o->low = d.low;
    o->high = d.high;
    imports_name(o->name, info->dlpi_name);
    /* ORDER: release, pairs with the acquire in of: the entry is whole. */
    if (o == &imports_objects[n])
        atomic_store_explicit(&imports_n, n + 1, memory_order_release);
    return 0;
}

/* The loader lists an object before it fills the object's words. dlsym and dladdr wait until
 * another thread's dlopen has ended, so objects that were listed before are linked after. Call
 * them without a lock: a constructor that dlopen runs may come here, too, and dl_iterate_phdr
 * holds a lock that dlopen takes. */
void jsp_lua_imports_replace(const struct jsp_lua_import *list)
{
    struct imports_look *look = malloc(sizeof *look);
    Dl_info any;
    if (!look)
        return;
    look->list = list;
    look->lua = jsp_lua_api(JSP_LUA_API_GETTOP);
    look->n = 0;
    dl_iterate_phdr(imports_collect, look);
    dladdr((void *)imports_object, &any);
    pthread_mutex_lock(&imports_lock);
    dl_iterate_phdr(imports_object, look);
    pthread_mutex_unlock(&imports_lock);
    free(look);
}

/* Find a function of Lua. A program that takes its address may have a stub of that name, which
 * calls by a word that is replaced here. */
static void *imports_find(const char *name)
{
    Dl_info its, lua, ours;
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found || !dladdr(found, &its) || !dladdr((void *)imports_find, &ours) ||
        !dladdr((void *)jsp_lua_api(JSP_LUA_API_GETTOP), &lua) ||
        its.dli_fbase == lua.dli_fbase || its.dli_fbase == ours.dli_fbase)
        return found;
    void *library = dlopen(lua.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    if (!library)
        return found;
    found = dlsym(library, name);
    dlclose(library);
    return found;
}

int jsp_lua_imports_begin(struct jsp_lua_import *list, jsprof *session)
{
    struct jsp_lua_bounds b;
    int err = 0;
    for (struct jsp_lua_import *i = list; i->name && !err; i++) {
        bool is_lua = strncmp(i->name, "lua", 3) == 0;
        i->theirs = is_lua ? (uintptr_t)imports_find(i->name) : 0;
        if (is_lua && !i->theirs)
            err = -ENOTSUP;
        else if (jsp_lua_bounds_function(i->ours, &b))
            err = jsprof_interpreter_hide(session, (const void *)b.start, b.end - b.start);
    }
    return err;
}

const struct jsp_lua_importer *jsp_lua_imports_of(uintptr_t address)
{
    /* ORDER: acquire, pairs with the release of a new entry. */
    uint32_t n = atomic_load_explicit(&imports_n, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (address >= imports_objects[i].low && address < imports_objects[i].high)
            return &imports_objects[i];
    return NULL;
}
