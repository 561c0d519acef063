/* engine.h - the differences between SpiderMonkey 102 and 140, all in this file.
 *
 * SPDX-License-Identifier: MIT
 *
 * The installed headers show the version. 102, 115, 128 and 140 are the versions with
 * long-term support, which distributions ship. If a change came between two of them, this
 * file treats it as part of the later one.
 */
#ifndef JSPROF_MOZJS_ENGINE_H
#define JSPROF_MOZJS_ENGINE_H

#include <js-config.h>

#include <js/GCAPI.h>
#include <js/Promise.h>
#include <js/Principals.h>
#include <js/ProfilingFrameIterator.h>
#include <js/ProfilingStack.h>
#include <jsapi.h>
#include <jsfriendapi.h>

#include <ucontext.h>

#if MOZJS_MAJOR_VERSION < 102
#error "jsprof-mozjs needs SpiderMonkey 102 or a later one"
#endif

/* Whether a compiled frame begins with its caller's frame pointer and the return address.
 * If so, all compiled code saves the frame pointer. */
constexpr bool ENGINE_HAS_FRAME_POINTERS = MOZJS_MAJOR_VERSION >= 115;

/* Return the stack address of the frame that called the compiled code of this one: its first word,
 * or the sizes in its descriptor, which says how large both are. */
inline uintptr_t engine_outer_frame(uintptr_t frame)
{
    const auto *words = reinterpret_cast<const uintptr_t *>(frame);

    if (ENGINE_HAS_FRAME_POINTERS)
        return words[0];
    const uintptr_t caller_bytes = (words[1] & 0xffffffff) >> 8, header_words = words[1] >> 4 & 7;
    return frame + caller_bytes + header_words * sizeof(uintptr_t);
}

/* The last values are one kind of frame in WebAssembly, or one for each of its
 * compilers. */
inline bool engine_is_wasm(JS::ProfilingFrameIterator::FrameKind kind)
{
    return kind > JS::ProfilingFrameIterator::Frame_Ion;
}

/* -- Registers: those in which WebAssembly keeps its caller while a tail call moves the
 *    frame. A walk that began in the middle of one without them would end the process -- */

#if MOZJS_MAJOR_VERSION < 128
inline void engine_set_tail_call(JS::ProfilingFrameIterator::RegisterState *, const mcontext_t &)
{
}
#elif defined(__x86_64__)
inline void engine_set_tail_call(JS::ProfilingFrameIterator::RegisterState *regs,
                                 const mcontext_t &context)
{
    regs->tempRA = reinterpret_cast<void *>(context.gregs[REG_R10]);
    regs->tempFP = reinterpret_cast<void *>(context.gregs[REG_R12]);
}
#elif defined(__aarch64__)
inline void engine_set_tail_call(JS::ProfilingFrameIterator::RegisterState *regs,
                                 const mcontext_t &context)
{
    regs->tempFP = reinterpret_cast<void *>(context.regs[11]);
}
#endif

/* -- Collections of the nursery: one callback, or a list with a pointer for each -- */

using engine_nursery = void(JSContext *, JS::GCNurseryProgress, JS::GCReason);

#if MOZJS_MAJOR_VERSION < 128
/* The callback that was set before ours. Each context has a thread of its own. */
inline thread_local JS::GCNurseryCollectionCallback engine_nursery_before;

template <engine_nursery *Ours> bool engine_watch_nursery(JSContext *cx)
{
    auto before = JS::SetGCNurseryCollectionCallback(cx, Ours);

    if (before != Ours)
        engine_nursery_before = before;
    return true;
}

/* If other code has set a callback since, which calls ours, ours stays. */
template <engine_nursery *Ours> void engine_unwatch_nursery(JSContext *cx)
{
    auto now = JS::SetGCNurseryCollectionCallback(cx, engine_nursery_before);

    if (now != Ours)
        JS::SetGCNurseryCollectionCallback(cx, now);
}

inline void engine_pass_nursery(JSContext *cx, JS::GCNurseryProgress progress,
                                JS::GCReason reason)
{
    if (engine_nursery_before)
        engine_nursery_before(cx, progress, reason);
}
#else
template <engine_nursery *Ours>
void engine_on_nursery(JSContext *cx, JS::GCNurseryProgress progress, JS::GCReason reason,
                       void *)
{
    Ours(cx, progress, reason);
}

template <engine_nursery *Ours> bool engine_watch_nursery(JSContext *cx)
{
    return JS::AddGCNurseryCollectionCallback(cx, engine_on_nursery<Ours>, nullptr);
}

template <engine_nursery *Ours> void engine_unwatch_nursery(JSContext *cx)
{
    JS::RemoveGCNurseryCollectionCallback(cx, engine_on_nursery<Ours>, nullptr);
}

/* SpiderMonkey calls the others. */
inline void engine_pass_nursery(JSContext *, JS::GCNurseryProgress, JS::GCReason)
{
}
#endif

/* -- What the compilers report: one callback, or a second one for what lasts -- */

using engine_event = void(uint64_t took_ns, const char *event, const char *details);

#if MOZJS_MAJOR_VERSION < 140
template <engine_event *Ours> void engine_on_event(const char *event, const char *details)
{
    Ours(0, event, details);
}

template <engine_event *Ours> void engine_watch_events(JSContext *cx)
{
    js::RegisterContextProfilingEventMarker(cx, engine_on_event<Ours>);
}

inline void engine_unwatch_events(JSContext *cx)
{
    js::RegisterContextProfilingEventMarker(cx, nullptr);
}
#else
template <engine_event *Ours>
void engine_on_event(mozilla::MarkerCategory, const char *event, const char *details)
{
    Ours(0, event, details);
}

template <engine_event *Ours>
void engine_on_interval(mozilla::MarkerCategory, const char *event, mozilla::TimeStamp begin,
                        const char *details)
{
    const double us = (mozilla::TimeStamp::Now() - begin).ToMicroseconds();

    Ours(us > 0 ? static_cast<uint64_t>(1000 * us) : 0, event, details);
}

template <engine_event *Ours> void engine_watch_events(JSContext *cx)
{
    js::RegisterContextProfilingEventMarker(cx, engine_on_event<Ours>, engine_on_interval<Ours>);
}

inline void engine_unwatch_events(JSContext *cx)
{
    js::RegisterContextProfilingEventMarker(cx, nullptr, nullptr);
}
#endif

/* -- Evaluated code: one question with its text, or with all that made the text; and the place that
 *    evaluates it -- */

/* The number of a line's first column. */
constexpr uint32_t ENGINE_FIRST_COLUMN = MOZJS_MAJOR_VERSION < 128 ? 0 : 1;

using engine_code_callback = void(JSContext *, JS::RuntimeCode, JS::HandleString);
using engine_host_callbacks = const JSSecurityCallbacks *();

/* Call ours, and then the host's, whose answer counts. */
#if MOZJS_MAJOR_VERSION < 140
template <engine_code_callback *Ours, engine_host_callbacks *Host>
bool engine_on_code(JSContext *cx, JS::RuntimeCode kind, JS::HandleString code)
{
    const JSSecurityCallbacks *host = Host();

    Ours(cx, kind, code);
    return !host || !host->contentSecurityPolicyAllows ||
           host->contentSecurityPolicyAllows(cx, kind, code);
}

inline bool engine_caller(JSContext *cx, JS::AutoFilename *file, uint32_t *line)
{
    return JS::DescribeScriptedCaller(cx, file, line);
}
#else
template <engine_code_callback *Ours, engine_host_callbacks *Host>
bool engine_on_code(JSContext *cx, JS::RuntimeCode kind, JS::Handle<JSString *> code,
                    JS::CompilationType type, JS::Handle<JS::StackGCVector<JSString *>> strings,
                    JS::Handle<JSString *> body, JS::Handle<JS::StackGCVector<JS::Value>> args,
                    JS::Handle<JS::Value> body_arg, bool *allowed)
{
    const JSSecurityCallbacks *host = Host();

    Ours(cx, kind, code);
    if (host && host->contentSecurityPolicyAllows)
        return host->contentSecurityPolicyAllows(cx, kind, code, type, strings, body, args,
                                                 body_arg, allowed);
    *allowed = true;
    return true;
}

inline bool engine_caller(JSContext *cx, JS::AutoFilename *file, uint32_t *line)
{
    return JS::DescribeScriptedCaller(file, cx, line);
}
#endif

/* -- Promise jobs: a queue that passes everything on to the host's -- */

/* SpiderMonkey alone may save a queue, of any class. */
class engine_saves : public JS::JobQueue {
public:
    static auto save(void)
    {
        return &engine_saves::saveJobQueue;
    }
};

/* Some versions do not ask whether a queue has stopped. */
template <class Queue>
auto engine_is_stopped(const Queue *q, int) -> decltype(q->isDrainingStopped())
{
    return q->isDrainingStopped();
}
template <class Queue> bool engine_is_stopped(const Queue *, long)
{
    return false;
}

/* Not all of these are virtual in each version, so none says `override`. */
class engine_queue : public JS::JobQueue {
public:
    explicit engine_queue(JS::JobQueue *queue) : theirs(queue) {}

#if MOZJS_MAJOR_VERSION < 140
    JSObject *getIncumbentGlobal(JSContext *cx)
    {
        return theirs->getIncumbentGlobal(cx);
    }
#else
    bool getHostDefinedData(JSContext *cx, JS::MutableHandle<JSObject *> data) const
    {
        return theirs->getHostDefinedData(cx, data);
    }
#endif
    void runJobs(JSContext *cx)
    {
        theirs->runJobs(cx);
    }
    bool empty() const
    {
        return theirs->empty();
    }
    bool isDrainingStopped() const
    {
        return engine_is_stopped(theirs, 0);
    }

protected:
    js::UniquePtr<SavedJobQueue> saveJobQueue(JSContext *cx)
    {
        return (theirs->*engine_saves::save())(cx);
    }

    JS::JobQueue *const theirs; /* borrowed */
};

/* The name of a function, or nullptr. */
#if MOZJS_MAJOR_VERSION < 128
inline JSString *engine_function_name(JSContext *, JS::HandleFunction function)
{
    return JS_GetFunctionDisplayId(function);
}
#else
inline JSString *engine_function_name(JSContext *cx, JS::HandleFunction function)
{
    JS::RootedString name(cx);

    return JS_GetFunctionDisplayId(cx, function, &name) ? name.get() : nullptr;
}
#endif

/* -- Tables of compiled code, as SpiderMonkey 102, 128 and 140 have them in memory. Those of 115
 *    have not been tried. ENGINE_NO_LINES is for the bench, which measures what lines cost -- */

#if (MOZJS_MAJOR_VERSION < 115 || MOZJS_MAJOR_VERSION >= 128) && defined(__x86_64__) && \
    !defined(ENGINE_NO_LINES)
#define ENGINE_HAS_CODE_TABLES

/* The number of the operation JumpTarget, in the order of SpiderMonkey's list of operations. */
constexpr uint8_t ENGINE_JUMP_TARGET = MOZJS_MAJOR_VERSION < 115   ? 143
                                       : MOZJS_MAJOR_VERSION < 140 ? 151
                                                                   : 153;
constexpr uint32_t ENGINE_JUMP_TARGET_BYTES = 5;

/* Optimized code: its scripts, and the regions before this header. */
struct engine_pair {
    JSScript *script;
    const char *name;
};
struct engine_regions {
    uint32_t n;
    uint32_t before[1]; /* bytes from the beginning of a region to this header */
};

#if MOZJS_MAJOR_VERSION < 115
struct engine_scripts {
    uint32_t n;
    engine_pair pairs[1];
};

/* A piece of compiled code, which SpiderMonkey writes. It has spare words, because the
 * real one may be larger. */
struct engine_code {
    enum { OPTIMIZED = 1, BASELINE = 2 };
    void *tower;
    const void *code;
    const uint8_t *begin, *end;
    uint64_t position;
    uint8_t kind : 7; /* the rest of the byte is not set */
    union {
        struct {
            const engine_regions *regions;
            const engine_scripts *scripts;
        } optimized;
        struct {
            JSScript *script;
            const char *name;
        } baseline;
    };
    uint64_t spare[24];
};

/* Write the code at which the iterator is, or nothing. `ask` is its private member, `copy` copies
 * memory or returns false. */
using engine_entry = js::jit::JitcodeGlobalEntry *;
template <class Ask, class Copy> bool engine_take(engine_code *to, Ask ask, Copy)
{
    ask(reinterpret_cast<js::jit::JitcodeGlobalEntry *>(to));
    return true;
}

inline const engine_pair *engine_pairs(const engine_code &code)
{
    return code.optimized.scripts->pairs;
}
template <class Copy> bool engine_n_pairs(const engine_code &code, uint32_t *n, Copy copy)
{
    return copy(&code.optimized.scripts->n, n, sizeof *n);
}
#else
/* A piece of compiled code, as SpiderMonkey has it. That of the baseline compiler ends after its
 * name. */
struct engine_code {
    enum { OPTIMIZED = 0, BASELINE = 2 };
    const uint8_t *begin, *end;
    const void *code;
    uint64_t position;
    uint8_t kind;
    union {
        struct {
            const engine_pair *pairs;
            uint64_t n_pairs, room;
            engine_pair first[2]; /* used if there are no more */
            const engine_regions *regions;
        } optimized;
        struct {
            JSScript *script;
            const char *name;
        } baseline;
    };
};

using engine_entry = const js::jit::JitcodeGlobalEntry **;
template <class Ask, class Copy> bool engine_take(engine_code *to, Ask ask, Copy copy)
{
    const js::jit::JitcodeGlobalEntry *entry = nullptr;

    ask(&entry);
    return entry && copy(entry, to, sizeof *to);
}

inline const engine_pair *engine_pairs(const engine_code &code)
{
    return code.optimized.pairs;
}
template <class Copy> bool engine_n_pairs(const engine_code &code, uint32_t *n, Copy)
{
    *n = static_cast<uint32_t>(code.optimized.n_pairs);
    return *n == code.optimized.n_pairs;
}
#endif

/* Baseline code: the return addresses of its calls, and their places in the script. */
struct engine_return {
    uint32_t code_offset;
    uint32_t script_offset : 28;
    uint32_t kind : 4;
};
struct engine_baseline {
    const void *code;
    uint64_t others[3];
    uint32_t returns_begin, returns_end; /* bytes from the beginning of this */
};

/* A script has a record of its compilers, which contains the baseline code: the numbers of
 * these words. */
constexpr uint32_t ENGINE_SCRIPT_RECORD = 1;
constexpr uint32_t ENGINE_RECORD_BASELINE = MOZJS_MAJOR_VERSION < 115 ? 14 : 5;

struct engine_place {
    JSScript *script;
    int32_t offset;
};

/* For debuggers: where SpiderMonkey has its compiled frames and the table of its code. Offsets in
 * bytes; its numbers for kinds of code and types of frames, ENGINE_NONE if it has no such. */
constexpr uint32_t ENGINE_NONE = 255;
struct engine_layout {
    uint32_t record_name; /* in a script's record of its compilers */
    uint32_t kinds;       /* the bits of a kind */
    /* Optimized, its caches, baseline, its interpreter, code without names, shared code. */
    uint32_t kind[6];
    /* Of the caller: optimized, baseline, its stub, C++, the entry of baseline's interpreter,
     * arguments rectifier, optimized code's cache, trampoline. */
    uint32_t type[8];
    uint32_t frame_callee;
    uint32_t entry_saved; /* the saved frame pointer, after the frame that C++ called */
    uint32_t cx_activation, activation_previous, activation_exit, activation_frame, activation_site;
    uint32_t runtime_jit, jit_table, table_first;
};
#if MOZJS_MAJOR_VERSION < 115
#define ENGINE_PAIRS optimized.scripts
constexpr engine_layout ENGINE_LAYOUT = {
    0x60, 0x7f, { 1, ENGINE_NONE, 2, 3, 4, ENGINE_NONE },
    { 0, 1, 2, 3, ENGINE_NONE, 4, 5, ENGINE_NONE }, 16, 48, 0x138, 24, 112, 208, 216,
    0x4e8, 0x200, 0x70
};
#elif MOZJS_MAJOR_VERSION < 140
#define ENGINE_PAIRS optimized.pairs
constexpr engine_layout ENGINE_LAYOUT = {
    0x18, 0xff, { 0, 1, 2, 3, 4, ENGINE_NONE }, { 0, 1, 2, 3, 4, 5, 6, 10 }, 24, 0, 0x100, 24,
    112, 208, 216, 0x520, 0x228, 0x78
};
#else
#define ENGINE_PAIRS optimized.pairs
constexpr engine_layout ENGINE_LAYOUT = {
    0x18, 0xff, { 0, 1, 2, 3, 4, 5 }, { 0, 1, 2, 3, 4, ENGINE_NONE, 5, 9 }, 24, 0, 0x108, 24,
    112, 208, 216, 0x5b8, 0x230, 0x80
};
#endif
#endif

/* -- Lines. The column is not asked for: its origin differs -- */

using engine_line = decltype(&JS_PCToLineNumber);

#endif
