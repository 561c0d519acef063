/* embedded.cpp - a program that embeds SpiderMonkey itself and records its scripts.
 *
 * SPDX-License-Identifier: MIT
 *
 *     embedded CAPTURE SCRIPT     run the file SCRIPT, write its profile to CAPTURE
 */
#include <cstdio>
#include <cstring>

#include <jsapi.h>
#include <js/CompilationAndEvaluation.h>
#include <js/Conversions.h>
#include <js/Initialization.h>
#include <js/SourceText.h>

#include <jsprof-mozjs.h>

/* A function for the scripts: print(value, ...). */
static bool print(JSContext *cx, unsigned argc, JS::Value *vp)
{
    JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
    JS::RootedString text(cx);

    for (unsigned i = 0; i < args.length(); i++) {
        text = JS::ToString(cx, args[i]);
        JS::UniqueChars bytes = text ? JS_EncodeStringToUTF8(cx, text) : nullptr;
        if (!bytes)
            return false;
        printf("%s%s", i ? " " : "", bytes.get());
    }
    putchar('\n');
    args.rval().setUndefined();
    return true;
}

static bool run(JSContext *cx, const char *path)
{
    static const JSClass shape = { "global", JSCLASS_GLOBAL_FLAGS,
                                   &JS::DefaultGlobalClassOps, nullptr, nullptr, nullptr };
    JS::RealmOptions realm_options;
    JS::RootedObject global(cx, JS_NewGlobalObject(cx, &shape, nullptr,
                                                   JS::FireOnNewGlobalHook, realm_options));
    if (!global)
        return false;
    JSAutoRealm realm(cx, global);
    JS::CompileOptions options(cx);
    JS::RootedValue result(cx);
    return JS_DefineFunction(cx, global, "print", print, 0, 0) &&
           JS::EvaluateUtf8Path(cx, options, path, &result);
}

/* The profiler around the script. A host needs no more than this. */
static bool run_recorded(JSContext *cx, const char *path, const char *capture)
{
    jsprof_options options = {};
    jsprof *prof = nullptr;
    jsprof_thread *me = nullptr;
    jsprof_mozjs *js = nullptr;

    options.size = sizeof options;
    options.path = capture;
    int err = jsprof_open(&prof, &options);
    if (err == 0)
        err = jsprof_mozjs_hide(prof, nullptr);
    if (err == 0)
        err = jsprof_thread_attach(prof, "main", &me);
    if (err == 0)
        err = jsprof_mozjs_attach(me, cx, &js);
    if (err == 0)
        err = jsprof_mozjs_tell_collections(js, prof);
    if (err == 0)
        err = jsprof_start(prof);
    char why[300];
    if (err < 0)
        fprintf(stderr, "embedded: %s; not recorded\n", jsprof_error_text(err, why, sizeof why));
    bool good = run(cx, path);
    jsprof_mozjs_detach(js);
    jsprof_thread_detach(me);
    err = jsprof_close(prof);
    if (err < 0)
        fprintf(stderr, "embedded: %s: %s\n", capture, jsprof_strerror(err));
    return good;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: embedded CAPTURE SCRIPT\n");
        return 2;
    }
    JS_Init();
    JSContext *cx = JS_NewContext(64 * 1024 * 1024);
    bool good = cx && JS::InitSelfHostedCode(cx) && run_recorded(cx, argv[2], argv[1]);
    if (!good)
        fprintf(stderr, "embedded: %s: the script failed\n", argv[2]);
    JS_DestroyContext(cx);
    JS_ShutDown();
    return good ? 0 : 1;
}
