/* lines_host.cpp - the lines of compiled code where SpiderMonkey's tables are not as expected:
 * every pointer of them leads in turn to memory that can not be read. Speaks TAP.
 *
 * SPDX-License-Identifier: MIT
 */
#include "compiled.h"
#include "host.hpp"

#include <sys/mman.h>

#ifdef ENGINE_HAS_CODE_TABLES

namespace {

using Walk = JS::ProfilingFrameIterator;
using look_fn = mozilla::Maybe<Walk::Frame> (Walk::*)(engine_entry) const;

constexpr size_t PAGE = 4096;

jsprof_mozjs *attached;
engine_code forged;
unsigned char *pages; /* one that can not be read, one that can, one that can not */

/* SpiderMonkey fills in the entry, or returns a pointer to its own. */
[[maybe_unused]] void forge(js::jit::JitcodeGlobalEntry *to)
{
    memcpy(static_cast<void *>(to), &forged, sizeof forged);
}

[[maybe_unused]] void forge(const js::jit::JitcodeGlobalEntry **to)
{
    *to = reinterpret_cast<const js::jit::JitcodeGlobalEntry *>(&forged);
}

/* In place of SpiderMonkey's own search for the code. */
struct forger {
    mozilla::Maybe<Walk::Frame> look(engine_entry to) const
    {
        forge(to);
        return {};
    }
};

template <class T> T *unreadable()
{
    return reinterpret_cast<T *>(pages + PAGE / 2);
}

template <class Code> auto lose_scripts(Code *code, int) -> decltype((void)code->optimized.scripts)
{
    code->optimized.scripts = reinterpret_cast<decltype(code->optimized.scripts)>(
        unreadable<char>());
}

template <class Code> auto lose_scripts(Code *code, long) -> decltype((void)code->optimized.pairs)
{
    code->optimized.pairs = unreadable<engine_pair>();
}

/* The innermost line at this place, as the tables of `code` have it. */
uint32_t line_by(const engine_code &code, const mozjs_walk &walk, const Walk::Frame *frames,
                 uint32_t n)
{
    const look_fn real = attached->code_of;
    uint32_t lines[MOZJS_INLINED] = {};

    forged = code;
    attached->code_of = reinterpret_cast<look_fn>(&forger::look);
    (void)mozjs_lines_at(attached, walk, frames, n, lines);
    attached->code_of = real;
    return lines[0];
}

void try_optimized(const engine_code &code, const mozjs_walk &walk, const Walk::Frame *frames,
                   uint32_t n, uint32_t line)
{
    const engine_regions *table = code.optimized.regions;
    const uint32_t before = table->before[0];
    auto *copy = pages + PAGE + before; /* the first region begins where the page begins */
    engine_code bad = code;

    check(line > 0 && before < PAGE / 2, "optimized code has a line");
    bad.optimized.regions = unreadable<engine_regions>();
    check(line_by(bad, walk, frames, n) == 0, "not without the table of regions");
    bad = code;
    lose_scripts(&bad, 0);
    check(line_by(bad, walk, frames, n) == 0, "nor without the scripts");
    memcpy(copy - before, reinterpret_cast<const char *>(table) - before,
           before + sizeof *table + table->n * sizeof table->before[0]);
    bad = code;
    bad.optimized.regions = reinterpret_cast<const engine_regions *>(copy);
    check(line_by(bad, walk, frames, n) == line, "from a copy of the table it is the same");
    for (uint32_t i = 0; i < table->n; i++)
        const_cast<engine_regions *>(bad.optimized.regions)->before[i] += PAGE;
    check(line_by(bad, walk, frames, n) == 0, "not where regions can not be read");
    const_cast<engine_regions *>(bad.optimized.regions)->n = UINT32_MAX;
    check(line_by(bad, walk, frames, n) == 0, "nor with more regions than code can have");
    bad = code;
    bad.optimized.regions = reinterpret_cast<const engine_regions *>(pages + 2 * PAGE - 4);
    const uint32_t many = 1000;
    memcpy(pages + 2 * PAGE - 4, &many, sizeof many);
    check(line_by(bad, walk, frames, n) == 0, "nor where the table ends in other memory");
}

void try_baseline(const engine_code &code, const mozjs_walk &walk, const Walk::Frame *frames,
                  uint32_t line)
{
    auto *words = reinterpret_cast<uintptr_t *>(pages + PAGE);
    engine_code bad = code;

    check(line > 0, "baseline code has a line");
    bad.baseline.script = unreadable<JSScript>();
    check(line_by(bad, walk, frames, 1) == 0, "not without the script");
    bad.baseline.script = reinterpret_cast<JSScript *>(words);
    words[ENGINE_SCRIPT_RECORD] = reinterpret_cast<uintptr_t>(unreadable<char>());
    check(line_by(bad, walk, frames, 1) == 0, "nor without its record");
    words[ENGINE_SCRIPT_RECORD] = reinterpret_cast<uintptr_t>(words);
    words[ENGINE_RECORD_BASELINE] = reinterpret_cast<uintptr_t>(unreadable<char>());
    check(line_by(bad, walk, frames, 1) == 0, "nor without the baseline code");
    auto *baseline = reinterpret_cast<engine_baseline *>(pages + PAGE + 512);
    words[ENGINE_RECORD_BASELINE] = reinterpret_cast<uintptr_t>(baseline);
    *baseline = { code.code, {}, PAGE, PAGE + 512 };
    check(line_by(bad, walk, frames, 1) == 0, "nor without the return addresses");
}

bool copy(const void *from, void *to, size_t n)
{
    memcpy(to, from, n);
    return true;
}

bool has_tried[3];

/* Called from compiled code, where a sample would be. */
bool look(JSContext *, unsigned argc, JS::Value *vp)
{
    const mozjs_walk walk(attached, Walk::RegisterState());
    Walk::Frame frames[MOZJS_INLINED];
    uint32_t lines[MOZJS_INLINED];
    engine_code code = {};

    JS::CallArgsFromVp(argc, vp).rval().setUndefined();
    if (walk->done())
        return true;
    const uint32_t n = ((*walk).*attached->extract)(frames, 0, MOZJS_INLINED);
    auto ask = [&walk](engine_entry entry) { (void)((*walk).*attached->code_of)(entry); };
    if (!engine_take(&code, ask, copy))
        return true;
    const uint32_t kind = code.kind;
    if (n == 0 || (kind != engine_code::OPTIMIZED && kind != engine_code::BASELINE) ||
        has_tried[kind])
        return true;
    has_tried[kind] = true;
    (void)mozjs_lines_at(attached, walk, frames, n, lines);
    memset(pages + PAGE, 0, PAGE);
    if (kind == engine_code::OPTIMIZED)
        try_optimized(code, walk, frames, n, lines[0]);
    else
        try_baseline(code, walk, frames, lines[0]);
    return true;
}

/* inner is called often enough to be compiled twice. */
const char script[] =
    "function inner(i) {\n"
    "    let x = 0;\n"
    "    for (let k = 0; k < 50; k++)\n"
    "        x += i ^ k;\n"
    "    look();\n"
    "    return x;\n"
    "}\n"
    "for (let i = 0; i < 20000; i++) inner(i); 1\n";

bool run_all(JSContext *cx)
{
    JS::RootedObject global(cx, new_global(cx));
    JSAutoRealm realm(cx, global);

    return JS_DefineFunction(cx, global, "look", look, 0, 0) && run(cx, script, "lines.js") == 1;
}

} // namespace

int main()
{
    jsprof *prof = nullptr;
    jsprof_thread *me = nullptr;
    void *map = mmap(nullptr, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    pages = static_cast<unsigned char *>(map);
    JS_Init();
    JSContext *cx = new_context(32);
    /* On a busy machine a helper thread may compile later than the script ends. */
    JS_SetOffthreadIonCompilationEnabled(cx, false);
    check(map != MAP_FAILED && mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0 &&
          jsprof_open(&prof, nullptr) == 0 && jsprof_thread_attach(prof, "main", &me) == 0 &&
          jsprof_mozjs_attach(me, cx, &attached) == 0, "attach");
    check(run_all(cx), "the script");
    check(has_tried[engine_code::OPTIMIZED] && has_tried[engine_code::BASELINE],
          "both compilers");
    check(jsprof_mozjs_detach(attached) == 0, "detach");
    JS_DestroyContext(cx);
    jsprof_thread_detach(me);
    jsprof_close(prof);
    JS_ShutDown();
    return end_checks();
}

#else

int main()
{
    puts("1..0 # SKIP: the tables of compiled code are not known of this engine");
    return 0;
}

#endif
