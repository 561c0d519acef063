/* walk_jit.c - the walker for LuaJIT; see walk.h for the contract.
 *
 * LuaJIT says in its global state which coroutine runs and what the VM does: interpret,
 * run C or compiled code, collect, compile. Every activation of the VM has a frame on the
 * C stack, linked to the one before, so Lua frames have stack addresses; across a resume
 * the next one is found on the C stack above.
 *
 * SPDX-License-Identifier: MIT
 */
#include "walk.h"

#include <luajit.h>
#include <ucontext.h>
#include <unistd.h>

#include "compat.h"
#include "jit_proto.h"
#include "jit_trace.h"

#pragma weak luaJIT_setmode /* as in compat.h */

#if !defined(__x86_64__)
#error "LuaJIT is understood on x86-64 only"
#endif

enum {
    WALK_BEYOND = 8192,     /* frames that are counted when no more fit */
    WALK_COROUTINES = 64,
    WALK_CALLER_WORDS = 2048, /* of the C stack that are looked at for a resumer */
    WALK_CANDIDATES = 128,    /* of them that may be one */
    WALK_NO_POINTER = 65536,
    WALK_RETURN_WORDS = 512,  /* ... for the compiled code that called C */
    WALK_SEARCHED = 256,
    WALK_SOURCE = 512,
    WALK_LABEL = sizeof JSP_LUA_LABEL_CHUNK - 1,
    WALK_BUILTIN = -1,      /* first line of functions that LuaJIT brings as bytecode */
};

/* The coroutine that is being walked. */
struct walk_thread {
    uintptr_t at, base, stack, maxstack, cframe;
};

struct walk {
    struct jsp_lua_walker *w;
    struct jsp_lua_read *read;
    const ucontext_t *context; /* or NULL */
    jsprof_frame *out;
    uint32_t max, n;
    uintptr_t global;
    int32_t vm;            /* vmstate */
    uintptr_t rip, rsp;
    struct walk_thread thread;
    uintptr_t pc;          /* next instruction of the frame to come; 0: not known */
};

void jsp_lua_walk_init(struct jsp_lua_walker *w)
{
    w->read.pid = getpid();
}

const char *jsp_lua_walk_version(void)
{
    return "jit";
}

bool jsp_lua_walk_has_addresses(void)
{
    return true;
}

/* -- Objects ---------------------------------------------------------------- */

static uintptr_t walk_word(struct walk *k, uintptr_t at)
{
    uintptr_t value;
    return jsp_lua_read(k->read, at, &value, sizeof value) ? value : 0;
}

static bool walk_read_thread(struct jsp_lua_read *r, uintptr_t at, struct walk_thread *t,
                             uintptr_t *global)
{
    uint8_t object[JIT_L_BYTES];
    if (!at || at & 7 || !jsp_lua_read(r, at, object, sizeof object) ||
        object[JIT_KIND_AT] != JIT_THREAD)
        return false;
    t->at = at;
    t->base = jsp_lua_pointer(object, JIT_L_BASE);
    t->stack = jsp_lua_pointer(object, JIT_L_STACK);
    t->maxstack = jsp_lua_pointer(object, JIT_L_MAXSTACK);
    t->cframe = jsp_lua_pointer(object, JIT_L_CFRAME) & ~(uintptr_t)3;
    *global = jsp_lua_pointer(object, JIT_L_GLOBAL);
    return true;
}

static bool walk_in_stack(const struct walk_thread *t, uintptr_t at)
{
    return !(at & 7) && at >= t->stack + 16 && at <= t->maxstack + 1024;
}

/* -- Labels ------------------------------------------------------------------- */

static struct jsp_lua_key walk_key(const struct jsp_jit_proto *p)
{
    return (struct jsp_lua_key){ p->at, p->n_code, p->chunk, p->first };
}

static const struct jsp_lua_label *walk_add(struct jsp_lua_walker *w,
                                            const struct jsp_jit_proto *p, const char *name)
{
    struct jsp_lua_key key = walk_key(p);
    char source[WALK_SOURCE], where[JSP_LUA_WHERE];
    int64_t whole = jsp_jit_string(&w->read, p->chunk, source, sizeof source);
    bool is_builtin = (int32_t)p->first == WALK_BUILTIN;
    struct jsp_lua_chunk chunk = { "=?", 2, 2, p->first };

    if (whole >= 0)
        chunk = (struct jsp_lua_chunk){ source, whole < WALK_SOURCE ? (size_t)whole : WALK_SOURCE,
                                        (uint64_t)whole, is_builtin ? 0 : p->first };
    bool is_label = whole > WALK_LABEL && memcmp(source, JSP_LUA_LABEL_CHUNK, WALK_LABEL) == 0;
    if (is_label)
        chunk.line = 0;
    jsp_lua_where(&chunk, where);
    if (is_label)
        return jsp_lua_label_add(&w->labels, &key, where + WALK_LABEL - 1, NULL);
    if (!name)
        name = p->first ? "function" : "main chunk";
    return jsp_lua_label_add(&w->labels, &key, name, where);
}

/* Functions have names where they are made; see walk.c. */
static void walk_search(struct walk *k, uintptr_t outermost)
{
    uintptr_t *waiting = k->w->to_search;
    uint32_t n = 0;
    waiting[n++] = outermost;
    while (n && k->w->searches) {
        struct jsp_jit_defined made;
        struct jsp_jit_proto p, inner;
        uint32_t at = 0;
        k->w->searches--;
        if (!jsp_jit_proto_read(k->read, waiting[--n], &p))
            continue;
        while ((at = jsp_jit_defined_next(k->read, &p, at, &made)) != UINT32_MAX) {
            if (n < JSP_LUA_TO_SEARCH)
                waiting[n++] = made.proto;
            if (!made.is_named || !jsp_jit_proto_read(k->read, made.proto, &inner))
                continue;
            struct jsp_lua_key key = walk_key(&inner);
            if (!jsp_lua_label_find(&k->w->labels, &key))
                walk_add(k->w, &inner, made.name);
        }
    }
}

/* -- Links between frames ------------------------------------------------------- */

/* The frame below the one whose base is `base`; 0: there is none. */
static uintptr_t walk_below(struct walk *k, uintptr_t base, uintptr_t link)
{
    uint32_t call;
    uintptr_t size;
    if (link & JIT_LINK_TYPE) {
        size = link & ~(uintptr_t)JIT_LINK_TYPEP;
    } else {
        if (!jsp_lua_read(k->read, link - 4, &call, sizeof call))
            return 0;
        size = 8 * (2 + (uintptr_t)(call >> 8 & 0xFF));
    }
    uintptr_t below = base - size;
    return size && below < base && walk_in_stack(&k->thread, below) ? below : 0;
}

/* The activation that called C, which called back: its frame on the C stack says where
 * it was. */
static uintptr_t walk_saved_pc(struct walk *k)
{
    return k->thread.cframe ? walk_word(k, k->thread.cframe + JIT_C_PC) : 0;
}

/* -- Coroutines ------------------------------------------------------------------- */

/* The first activation of this one stands on the C stack below its resumer's, mostly
 * right below it. The outermost coroutine has none. */
static bool walk_resumer(struct walk *k, uintptr_t bottom)
{
    uintptr_t at = (bottom + JIT_C_BYTES) & ~(uintptr_t)7, global;
    uint32_t candidates = 0;
    if (k->thread.at == k->w->root)
        return false;
    for (uint32_t i = 0; i < WALK_CALLER_WORDS && candidates < WALK_CANDIDATES; i++, at += 8) {
        struct walk_thread t;
        uintptr_t l = walk_word(k, at + JIT_C_L);
        if (l < WALK_NO_POINTER || l > JIT_POINTER || l & 7 || l == k->thread.at)
            continue;
        candidates++;
        if (walk_read_thread(k->read, l, &t, &global) && global == k->global && t.cframe == at) {
            k->thread = t;
            k->pc = walk_saved_pc(k);
            return true;
        }
    }
    return false;
}

/* The outermost frame of the running coroutine on the C stack. */
static uintptr_t walk_bottom(struct walk *k, uintptr_t cframe)
{
    for (uint32_t i = 0; cframe && i < 256; i++) {
        uintptr_t before = walk_word(k, cframe + JIT_C_PREV) & ~(uintptr_t)3;
        if (!before)
            return cframe;
        cframe = before;
    }
    return 0;
}

/* The functions on this coroutine's stack: look through those that were not yet. */
static void walk_search_thread(struct walk *k)
{
    uintptr_t base = k->thread.base;
    for (; base && k->w->searches; k->w->searches -= k->w->searches > 0) {
        struct jsp_jit_function f;
        jsp_jit_function_read(k->read, walk_word(k, base - 16) & JIT_POINTER, &f);
        if (f.kind == JSP_JIT_LUA) {
            struct jsp_lua_key key = walk_key(&f.proto);
            const struct jsp_lua_label *label = jsp_lua_label_find(&k->w->labels, &key);
            if (!label || !label->is_searched) {
                walk_search(k, f.proto.at);
                if (label || (!f.proto.first && (label = walk_add(k->w, &f.proto, NULL))))
                    jsp_lua_label_set_searched(label);
            }
        }
        base = walk_below(k, base, walk_word(k, base - 8));
    }
}

/* Somebody is seen for the first time: whoever made it may be on the stack. */
static void walk_search_stack(const struct walk *k)
{
    struct walk all = *k;
    uintptr_t bottom;
    uint32_t i = 0;
    do {
        bottom = walk_bottom(&all, all.thread.cframe);
        walk_search_thread(&all);
    } while (i++ < WALK_COROUTINES && bottom && walk_resumer(&all, bottom));
}

/* -- Frames ------------------------------------------------------------------- */

static jsprof_frame *walk_next_frame(struct walk *k)
{
    k->n++;
    if (k->n > k->max)
        return NULL;
    jsprof_frame *frame = &k->out[k->n - 1];
    memset(frame, 0, sizeof *frame);
    frame->sp = k->thread.cframe ? k->thread.cframe + 8 : 0;
    return frame;
}

static void walk_doing(struct walk *k, const char *what, enum jsprof_kind kind)
{
    jsprof_frame *frame = walk_next_frame(k);
    if (frame) {
        frame->label = what;
        frame->kind = (uint32_t)kind;
    }
}

/* `pc` is the instruction itself. */
static void walk_lua_frame(struct walk *k, const struct jsp_jit_proto *p, uintptr_t pc,
                           enum jsprof_kind kind)
{
    struct jsp_lua_key key = walk_key(p);
    jsprof_frame *frame = walk_next_frame(k);
    if (!frame)
        return;
    const struct jsp_lua_label *label = jsp_lua_label_find(&k->w->labels, &key);
    if (!label && k->w->searches) {
        walk_search_stack(k);
        label = jsp_lua_label_find(&k->w->labels, &key);
    }
    if (!label)
        label = walk_add(k->w, p, NULL);
    uint32_t index = jsp_jit_index(p, pc);
    frame->label = label->name;
    frame->detail = label->where;
    frame->line = index == UINT32_MAX || !label->where ? 0 : jsp_jit_line(k->read, p, index);
    frame->kind = (uint32_t)JSPROF_JOIN_PAREN;
    frame->kind |= (uint32_t)(label->where ? kind : JSPROF_KIND_LABEL);
}

static void walk_c_frame(struct walk *k, uintptr_t c)
{
    struct jsp_lua_key key = { .at = c };
    jsprof_frame *frame = walk_next_frame(k);
    if (!frame)
        return;
    const struct jsp_lua_label *label = jsp_lua_label_find(&k->w->labels, &key);
    if (!label)
        label = jsp_lua_label_add(&k->w->labels, &key, "C function", "[C]");
    frame->label = label->name;
    frame->detail = label->where;
    frame->kind = (uint32_t)JSPROF_KIND_LABEL | (uint32_t)JSPROF_JOIN_PAREN;
}

/* From the function at k->thread.base down to the coroutine's first. */
static void walk_frames(struct walk *k, bool skip_first, enum jsprof_kind kind)
{
    uintptr_t base = k->thread.base;
    bool skip = skip_first;
    for (uint32_t i = 0; base && i < k->max + WALK_BEYOND; i++) {
        uintptr_t link = walk_word(k, base - 8), of = walk_word(k, base - 16) & JIT_POINTER;
        struct jsp_jit_function f = { .kind = JSP_JIT_NONE };
        if (!skip && of != k->thread.at)
            jsp_jit_function_read(k->read, of, &f);
        if (f.kind == JSP_JIT_LUA)
            walk_lua_frame(k, &f.proto, k->pc - 4, kind);
        else if (f.kind == JSP_JIT_C)
            walk_c_frame(k, f.c);
        kind = JSPROF_KIND_VM;
        skip = (link & JIT_LINK_TYPEP) == JIT_LINK_VARG;
        if (!(link & JIT_LINK_TYPE))
            k->pc = link;
        else if ((link & JIT_LINK_TYPEP) == JIT_LINK_CONT)
            k->pc = walk_word(k, base - 24);
        uintptr_t below = walk_below(k, base, link);
        if ((link & JIT_LINK_TYPE) == JIT_LINK_C && below) {
            k->thread.cframe = walk_word(k, k->thread.cframe + JIT_C_PREV) & ~(uintptr_t)3;
            k->pc = walk_saved_pc(k);
        }
        base = below;
    }
}

/* -- What the VM does ------------------------------------------------------------ */

/* The interpreter's registers: base and program counter, where they are what they are
 * between two instructions. */
static void walk_interpreter(struct walk *k)
{
    k->pc = walk_saved_pc(k);
    if (!k->context || k->rip < k->w->loop_low || k->rip >= k->w->loop_high)
        return;
    uintptr_t base = (uintptr_t)k->context->uc_mcontext.gregs[REG_RDX];
    uintptr_t pc = (uintptr_t)k->context->uc_mcontext.gregs[REG_RBX];
    struct jsp_jit_function f;
    if (walk_in_stack(&k->thread, base)) {
        jsp_jit_function_read(k->read, walk_word(k, base - 16) & JIT_POINTER, &f);
        if (f.kind != JSP_JIT_NONE && walk_below(k, base, walk_word(k, base - 8)))
            k->thread.base = base;
    }
    jsp_jit_function_read(k->read, walk_word(k, k->thread.base - 16) & JIT_POINTER, &f);
    if (f.kind == JSP_JIT_LUA && jsp_jit_index(&f.proto, pc - 4) != UINT32_MAX)
        k->pc = pc;
}

/* Where in the trace the thread is: in it, or in C that it called. */
static uintptr_t walk_trace_pc(struct walk *k, const struct jsp_jit_trace *t)
{
    if (k->rip - t->code < t->code_bytes)
        return k->rip;
    uintptr_t end = k->thread.cframe;
    for (uintptr_t i = 0, at = k->rsp & ~(uintptr_t)7; i < WALK_RETURN_WORDS && at < end;
         i++, at += 8) {
        uintptr_t word = walk_word(k, at);
        if (word - t->code - 1 < t->code_bytes)
            return word - 1;
    }
    return 0;
}

static void walk_traced_function(struct walk *k, const struct jsp_jit_trace *t,
                                 uintptr_t function, uintptr_t pc)
{
    struct jsp_jit_function f;
    jsp_jit_function_read(k->read, function, &f);
    if (f.kind == JSP_JIT_NONE && jsp_jit_proto_read(k->read, t->start, &f.proto) &&
        jsp_jit_index(&f.proto, pc) != UINT32_MAX)
        f.kind = JSP_JIT_LUA;
    if (f.kind == JSP_JIT_LUA)
        walk_lua_frame(k, &f.proto, pc, JSPROF_KIND_JIT);
    else if (f.kind == JSP_JIT_C)
        walk_c_frame(k, f.c);
    else
        walk_doing(k, "compiled function", JSPROF_KIND_JIT);
}

/* Who called into the machine code: the C stack goes on above the VM's frame. */
static void walk_caller(struct walk *k)
{
    uintptr_t cframe = k->thread.cframe;
    jsprof_frame *frame = cframe ? walk_next_frame(k) : NULL;
    if (!frame)
        return;
    frame->kind = JSPROF_FRAME_CALLER;
    frame->pc = walk_word(k, cframe + JIT_C_RETURN);
    frame->sp = cframe + JIT_C_BYTES;
    frame->detail = (const char *)walk_word(k, cframe + JIT_C_FP);
}

/* Compiled code: the functions inside the trace, then the one that it began in. */
static void walk_trace(struct walk *k)
{
    struct jsp_jit_trace t;
    uintptr_t base = walk_word(k, k->global + JIT_G_JIT_BASE);
    if (walk_in_stack(&k->thread, base))
        k->thread.base = base;
    walk_caller(k);
    if (!jsp_jit_trace_find(k->read, k->global, (uint32_t)k->vm, &t)) {
        walk_frames(k, false, JSPROF_KIND_JIT);
        return;
    }
    uintptr_t at = walk_trace_pc(k, &t);
    if (at)
        jsp_jit_trace_at(k->read, at, &t);
    uintptr_t pc = t.pc;
    for (uint32_t i = t.n; i-- > 0;) {
        walk_traced_function(k, &t, t.inlined[i].function, pc);
        pc = t.inlined[i].link ? t.inlined[i].link - 4 : 0;
    }
    if (t.base_function) {
        walk_traced_function(k, &t, t.base_function, pc);
        walk_frames(k, true, JSPROF_KIND_VM);
        return;
    }
    k->pc = pc + 4;
    walk_frames(k, false, JSPROF_KIND_JIT);
}

static void walk_running(struct walk *k)
{
    int32_t state = ~k->vm;
    if (k->vm >= 0) {
        walk_trace(k);
        return;
    }
    if (state == JIT_VM_INTERPRETS)
        walk_interpreter(k);
    else
        k->pc = walk_saved_pc(k);
    if (state == JIT_VM_COLLECTS)
        walk_doing(k, "[garbage collector]", JSPROF_KIND_GC);
    else if (state >= JIT_VM_EXITS && state <= JIT_VM_LAST)
        walk_doing(k, "[JIT compiler]", JSPROF_KIND_LABEL);
    walk_frames(k, false, JSPROF_KIND_VM);
}

/* -- A walk -------------------------------------------------------------------------- */

uint32_t jsp_lua_walk_sigsafe(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    struct walk k = { .w = host, .context = ucontext, .out = out, .max = max };
    uintptr_t global;

    k.read = &k.w->read;
    jsp_lua_read_begin(k.read);
    jsp_lua_labels_begin(&k.w->labels);
    k.w->searches = WALK_SEARCHED;
    if (!walk_read_thread(k.read, k.w->root, &k.thread, &k.global) ||
        !jsp_lua_read(k.read, k.global + JIT_G_VMSTATE, &k.vm, sizeof k.vm))
        return 0;
    if (!walk_read_thread(k.read, walk_word(&k, k.global + JIT_G_CURRENT), &k.thread, &global) ||
        global != k.global)
        return 0;
    if (ucontext) {
        k.rip = (uintptr_t)k.context->uc_mcontext.gregs[REG_RIP];
        k.rsp = (uintptr_t)k.context->uc_mcontext.gregs[REG_RSP];
    }
    uintptr_t bottom = k.rsp - JIT_C_BYTES; /* of a coroutine that is about to run, or did */
    if (k.thread.cframe) {
        bottom = walk_bottom(&k, k.thread.cframe);
        walk_running(&k);
    } else if (!k.rsp) {
        return 0;
    }
    for (uint32_t i = 0; i < WALK_COROUTINES && bottom && walk_resumer(&k, bottom); i++) {
        bottom = walk_bottom(&k, k.thread.cframe);
        walk_frames(&k, false, JSPROF_KIND_VM);
    }
    return k.n;
}

/* -- Outside of signals ------------------------------------------------------- */

uintptr_t jsp_lua_walk_main(struct jsp_lua_walker *w, uintptr_t state)
{
    struct walk_thread t, main_thread;
    uintptr_t global, of_main, at;
    jsp_lua_read_begin(&w->read);
    if (!walk_read_thread(&w->read, state, &t, &global) ||
        !jsp_lua_read(&w->read, global + JIT_G_MAIN, &at, sizeof at) ||
        !walk_read_thread(&w->read, at, &main_thread, &of_main) || of_main != global)
        return 0;
    return at;
}

static void walk_name_c(struct jsp_lua_walker *w, uintptr_t function, const char *name)
{
    struct jsp_lua_key key = { .at = function };
    if (!jsp_lua_label_find(&w->labels, &key))
        jsp_lua_label_add(&w->labels, &key, name, "[C]");
}

void jsp_lua_walk_name(struct jsp_lua_walker *w, uintptr_t object, uintptr_t c_function,
                       const char *name)
{
    struct jsp_jit_function f;
    (void)c_function; /* many that have one are told apart by their number all the same */
    jsp_lua_read_begin(&w->read);
    jsp_jit_function_read(&w->read, object, &f);
    if (f.kind == JSP_JIT_C) {
        walk_name_c(w, f.c, name);
        return;
    }
    struct jsp_lua_key key = walk_key(&f.proto);
    if (f.kind == JSP_JIT_LUA && f.proto.first && !jsp_lua_label_find(&w->labels, &key))
        walk_add(w, &f.proto, name);
}

void jsp_lua_walk_key(uintptr_t object, uintptr_t c_function, struct jsp_lua_key *key)
{
    const char *f = (const char *)object;
    (void)c_function;
    uint8_t id = jsp_lua_u8(f, JIT_F_ID);
    *key = (struct jsp_lua_key){ .at = id == JIT_ID_C ? jsp_lua_pointer(f, JIT_F_C) : id };
    if (id != JIT_ID_LUA)
        return;
    uintptr_t p = jsp_lua_pointer(f, JIT_F_CODE) - JIT_P_BYTES;
    *key = (struct jsp_lua_key){ p, jsp_lua_u32((const char *)p, JIT_P_N_CODE),
                                 jsp_lua_pointer((const char *)p, JIT_P_CHUNK),
                                 jsp_lua_u32((const char *)p, JIT_P_FIRST) };
}

uintptr_t jsp_lua_walk_global(uintptr_t state)
{
    return jsp_lua_pointer((const void *)state, JIT_L_GLOBAL);
}

void jsp_lua_walk_memory(uintptr_t global, uintptr_t at[2])
{
    at[0] = global + JIT_G_TOTAL;
    at[1] = 0;
}

void jsp_lua_walk_compile(lua_State *L, bool may)
{
    luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | (may ? LUAJIT_MODE_ON : LUAJIT_MODE_OFF));
    if (!may)
        luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_FLUSH);
}
