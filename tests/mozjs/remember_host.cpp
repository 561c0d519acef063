/* remember_host.cpp - what the binding remembers of compiled code, and when it forgets:
 * looks where a sample would, from a function that the script calls. Speaks TAP.
 *
 * SPDX-License-Identifier: MIT
 */
#include "context.h"
#include "host.hpp"

#include <string>

#include <ucontext.h>

namespace {

constexpr uint32_t LOOK_MAX = 16;

jsprof_mozjs *attached;
std::string steps; /* how the looks differ from the first */
std::string first;

void forget_pc(ucontext_t *context)
{
#ifdef __aarch64__
    context->uc_mcontext.pc = 0;
#else
    context->uc_mcontext.gregs[REG_RIP] = 0;
#endif
}

/* The names of compiled frames, innermost first; in C++ code, or as if that were none. */
std::string look_now(bool in_cpp = true)
{
    jsprof_frame frames[LOOK_MAX];
    ucontext_t here;
    std::string names;

    getcontext(&here);
    if (!in_cpp)
        forget_pc(&here);
    uint32_t n = mozjs_walk_sigsafe(attached, &here, frames, LOOK_MAX);
    for (uint32_t i = 0; i < n && i < LOOK_MAX; i++)
        if ((frames[i].kind & 0xF) == JSPROF_KIND_JIT) /* whatever its tier */
            names += std::string(frames[i].label) + ";";
    return names;
}

bool look(JSContext *, unsigned argc, JS::Value *vp)
{
    first = look_now();
    JS::CallArgsFromVp(argc, vp).rval().setUndefined();
    return true;
}

void spoil()
{
    for (mozjs_place &place : attached->places)
        for (const char *&label : place.labels)
            label = "spoilt";
}

/* "=": the names of before, "spoilt": what was remembered of them, "?": neither. */
void step(const char *when)
{
    const std::string now = look_now();

    steps += std::string(when) + (now == first ? "=" : "");
    steps += now.find("spoilt") != std::string::npos ? "spoilt " : now == first ? " " : "? ";
}

int n_before; /* calls of who had the callback before us */
int n_nursery_before;

void slice_before(JSContext *, JS::GCProgress progress, const JS::GCDescription &)
{
    n_before += progress == JS::GC_SLICE_END;
}

void nursery_before(JSContext *, JS::GCNurseryProgress progress, JS::GCReason)
{
    n_nursery_before += progress == JS::GCNurseryProgress::GC_NURSERY_COLLECTION_END;
}

bool try_all(JSContext *cx, unsigned argc, JS::Value *vp)
{
    first = look_now();
    step("again");
    spoil();
    step("remembered");
    attached->keeps = true;
    step("keeping");
    attached->keeps = false;
    JS_GC(cx);
    step("collected");
    spoil();
    JS::GCSliceCallback ours = JS::SetGCSliceCallback(cx, nullptr);
    JS_GC(cx);
    step("unheard");
    JS::SetGCSliceCallback(cx, ours);
    JS::CallArgsFromVp(argc, vp).rval().setUndefined();
    return true;
}

int n_depths, n_deeper; /* looks, of which from deeper; those that saw what was remembered */

/* Called from one depth and from three deeper in turn: what is remembered of the one is of
 * use to the other. Rarely the code was compiled anew in between. */
bool look_deeper(JSContext *, unsigned argc, JS::Value *vp)
{
    if (n_depths++ % 2 == 0) {
        (void)look_now();
        spoil();
    } else {
        n_deeper += look_now().find("spoilt") == 0;
        attached->code_epoch = attached->code_epoch + 1;
    }
    JS::CallArgsFromVp(argc, vp).rval().setUndefined();
    return true;
}

std::string wasm_unasked, wasm_asked, wasm_remembered, wasm_kept, wasm_forgotten, wasm_again;

/* WebAssembly calls this. In C++ code SpiderMonkey may be making its name: to ask for the name
 * would wait for the same thread. */
bool look_wasm(JSContext *, unsigned argc, JS::Value *vp)
{
    wasm_unasked = look_now();
    wasm_asked = look_now(false);
    wasm_remembered = look_now();
    attached->keeps = true;
    wasm_kept = look_now();
    attached->keeps = false;
    attached->code_epoch = attached->code_epoch + 1;
    wasm_forgotten = look_now();
    mozjs_keep_frames(attached);
    wasm_again = look_now();
    JS::CallArgsFromVp(argc, vp).rval().setUndefined();
    return true;
}

/* Both are called often enough to be compiled. */
const char script[] =
    "function inner(f) { f(); }\n"
    "function outer(n) { for (let i = 0; i < n; i++) inner(i == n - 1 ? tryAll : look); }\n"
    "for (let i = 0; i < 50; i++) outer(200);\n"
    "function deep(n) { if (n) deep(n - 1); else lookDeeper(); return n; }\n"
    "for (let i = 0; i < 5000; i++) { deep(1); deep(4); } 1\n";

/* Imports m.f, exports g, which calls it. */
const char wasm_script[] =
    "const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0,\n"
    "    2, 7, 1, 1, 109, 1, 102, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 103, 0, 1,\n"
    "    10, 6, 1, 4, 0, 16, 0, 11]);\n"
    "new WebAssembly.Instance(new WebAssembly.Module(bytes), {m: {f: lookWasm}}).exports.g(); 1\n";

void run_attached(JSContext *cx)
{
    JS::RootedObject global(cx, new_global(cx));
    JSAutoRealm realm(cx, global);

    check(JS_DefineFunction(cx, global, "look", look, 0, 0) &&
          JS_DefineFunction(cx, global, "tryAll", try_all, 0, 0) &&
          JS_DefineFunction(cx, global, "lookDeeper", look_deeper, 0, 0) &&
          JS_DefineFunction(cx, global, "lookWasm", look_wasm, 0, 0), "a global");
    check(run(cx, script, "remember.js") == 1, "the script");
    check(run(cx, wasm_script, "remember.js") == 1, "and one in WebAssembly");
}

bool is_named(const std::string &names)
{
    return names.find("wasm-function[1]") != std::string::npos &&
           names.find("WebAssembly;") == std::string::npos;
}

bool is_nameless(const std::string &names)
{
    return names.find("WebAssembly;") != std::string::npos &&
           names.find("wasm-function") == std::string::npos;
}

void check_wasm()
{
    check(is_nameless(wasm_unasked), "whose name is not asked for where it may be being told");
    check(is_named(wasm_asked), "elsewhere it is");
    check(is_named(wasm_remembered), "and remembered");
    check(is_nameless(wasm_kept), "but not for who interrupts that frames are kept");
    check(is_nameless(wasm_forgotten), "nor after a collection has freed code");
    check(is_named(wasm_again), "until frames are kept for the next one");
}

bool seen(const char *what)
{
    return steps.find(what) != std::string::npos;
}

void check_steps()
{
    check(first.find("inner (remember.js") != std::string::npos, "compiled code has names");
    check(seen("again= ") && !seen("again?"), "the same ones when asked again");
    check(seen("rememberedspoilt "), "which are then remembered");
    check(n_depths == 10000 && n_deeper >= 1000, "for the same code deeper on the stack, too");
    check(!seen("keepingspoilt"), "but not used by who takes frames for a collection");
    check(!seen("collectedspoilt") && seen("collected= "), "and forgotten by a collection");
    check(!seen("unheardspoilt") && seen("unheard= "),
          "by one, too, that is not told because somebody took the callback");
}

/* Of the nursery: still, where there is a list. */
bool has_nursery_again(JSContext *cx)
{
    const int n = n_nursery_before;

    JS_GC(cx);
    return n_nursery_before > n;
}

} // namespace

int main()
{
    jsprof *prof = nullptr;
    jsprof_thread *me = nullptr;

    JS_Init();
    JSContext *cx = new_context(32);
    JS::SetGCSliceCallback(cx, slice_before);
    engine_watch_nursery<nursery_before>(cx);
    check(jsprof_open(&prof, nullptr) == 0 && jsprof_thread_attach(prof, "main", &me) == 0 &&
          jsprof_mozjs_attach(me, cx, &attached) == 0, "attach");
    run_attached(cx);
    check_steps();
    check_wasm();
    check(n_before >= 50 && n_nursery_before > 0, "who had the callback before us is called");
    check(jsprof_mozjs_detach(attached) == 0, "detach");
    check(JS::SetGCSliceCallback(cx, nullptr) == slice_before && has_nursery_again(cx),
          "and has it again");
    JS_DestroyContext(cx);
    jsprof_thread_detach(me);
    jsprof_close(prof);
    JS_ShutDown();
    return end_checks();
}
