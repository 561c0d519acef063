/* script.cpp - the object `jsprof`, by which a recorded script writes marks and counters, and sets
 * labels.
 *
 * SPDX-License-Identifier: MIT
 *
 * mark(name, message, begin) records that something happened now, or has lasted since
 * `begin`, a value of now(). counter(name, value) records that a figure has this value
 * now. now() returns nanoseconds. A full buffer loses marks, which the session counts,
 * and throws nothing. label(key, value) sets a label of the thread; label(key, value, f, ...)
 * calls f under it and returns what that returns. trace(trace, span) sets the ids of a trace.
 */
#include "script.h"

#include <cstring>

#include <js-config.h>

#include <jsapi.h>
#include <js/CallAndConstruct.h>
#include <js/CallArgs.h>
#include <js/Conversions.h>
#include <js/GCVector.h>
#include <js/PropertyAndElement.h>
#include <js/PropertySpec.h>
#include <js/Realm.h>
#include <js/RealmIterators.h>
#include <js/RootingAPI.h>
#include <js/ValueArray.h>

#include "recording.h"

namespace {

const char script_group[] = "JavaScript";

JS::UniqueChars script_text(JSContext *cx, JS::HandleValue value)
{
    JS::RootedString text(cx, JS::ToString(cx, value));

    return text ? JS_EncodeStringToUTF8(cx, text) : nullptr;
}

bool script_mark(JSContext *cx, unsigned argc, JS::Value *vp)
{
    const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
    double begin = 0;

    if (!args.requireAtLeast(cx, "jsprof.mark", 1))
        return false;
    const JS::UniqueChars name = script_text(cx, args[0]);
    if (!name)
        return false;
    const JS::UniqueChars message =
        args.get(1).isNullOrUndefined() ? nullptr : script_text(cx, args.get(1));
    if (!message && !args.get(1).isNullOrUndefined())
        return false;
    if (!args.get(2).isUndefined() && !JS::ToNumber(cx, args.get(2), &begin))
        return false;
    recording_mark(script_group, begin >= 1 ? static_cast<uint64_t>(begin) : 0, name.get(),
                   message.get());
    args.rval().setUndefined();
    return true;
}

bool script_counter(JSContext *cx, unsigned argc, JS::Value *vp)
{
    const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
    double value;

    if (!args.requireAtLeast(cx, "jsprof.counter", 2))
        return false;
    const JS::UniqueChars name = script_text(cx, args[0]);
    if (!name || !JS::ToNumber(cx, args[1], &value))
        return false;
    recording_counter(script_group, name.get(), value);
    args.rval().setUndefined();
    return true;
}

/* Call args[2] with what follows it, in a level of its own. */
bool script_label_call(JSContext *cx, const JS::CallArgs &args, const char *key,
                       const char *value)
{
    jsprof_thread *thread = recording_here();
    const JS::HandleValueArray all(args);
    const JS::HandleValueArray rest = JS::HandleValueArray::subarray(all, 3, args.length() - 3);
    const uint32_t before = jsprof_label_push(thread, key, value);
    const bool is_good = JS::Call(cx, JS::UndefinedHandleValue, args[2], rest, args.rval());

    /* The function may have ended the recording. */
    if (recording_here() == thread)
        jsprof_label_pop(thread, before);
    return is_good;
}

bool script_label(JSContext *cx, unsigned argc, JS::Value *vp)
{
    const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);

    if (!args.requireAtLeast(cx, "jsprof.label", 2))
        return false;
    const bool has_value = !args[1].isNullOrUndefined();
    const JS::UniqueChars key = script_text(cx, args[0]);
    const JS::UniqueChars value = key && has_value ? script_text(cx, args[1]) : nullptr;
    if (!key || (has_value && !value))
        return false;
    if (!key[0]) {
        JS_ReportErrorASCII(cx, "jsprof.label: the key is empty");
        return false;
    }
    if (!args.get(2).isUndefined())
        return script_label_call(cx, args, key.get(), value.get());
    (void)jsprof_label_set(recording_here(), key.get(), value.get());
    args.rval().setUndefined();
    return true;
}

/* Read just 2 * n hexadecimal digits. */
bool script_hex(const char *text, uint8_t *out, size_t n)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";

    for (size_t i = 0; i < 2 * n; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : nullptr;
        if (!digit)
            return false;
        out[i / 2] = static_cast<uint8_t>(out[i / 2] << 4 | ((digit - digits) & 15));
    }
    return !text[2 * n];
}

/* Read an id that a script gave, of n bytes. Return false with an exception pending. */
bool script_id(JSContext *cx, JS::HandleValue value, uint8_t *out, unsigned n)
{
    const JS::UniqueChars text = script_text(cx, value);

    if (text && !script_hex(text.get(), out, n))
        JS_ReportErrorASCII(cx, "jsprof.trace: an id of %u hexadecimal digits is needed", 2 * n);
    return !JS_IsExceptionPending(cx);
}

bool script_trace(JSContext *cx, unsigned argc, JS::Value *vp)
{
    const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
    const bool has_trace = !args.get(0).isNullOrUndefined();
    const bool has_span = !args.get(1).isNullOrUndefined();
    uint8_t trace[16] = {}, span[8] = {};

    if ((has_trace && !script_id(cx, args[0], trace, sizeof trace)) ||
        (has_span && !script_id(cx, args[1], span, sizeof span)))
        return false;
    (void)jsprof_trace_set(recording_here(), has_trace ? trace : nullptr,
                           has_span ? span : nullptr);
    args.rval().setUndefined();
    return true;
}

bool script_now(JSContext *, unsigned argc, JS::Value *vp)
{
    JS::CallArgsFromVp(argc, vp).rval().setNumber(static_cast<double>(jsprof_now()));
    return true;
}

const JSFunctionSpec script_functions[] = {
    JS_FN("mark", script_mark, 1, 0),
    JS_FN("counter", script_counter, 2, 0),
    JS_FN("label", script_label, 2, 0),
    JS_FN("trace", script_trace, 2, 0),
    JS_FN("now", script_now, 0, 0),
    JS_FS_END,
};

void script_add_global(JSContext *, void *globals, JS::Realm *realm,
                       const JS::AutoRequireNoGC &)
{
    JSObject *global = JS::GetRealmGlobalOrNull(realm);

    if (global)
        (void)static_cast<JS::RootedObjectVector *>(globals)->append(global);
}

} // namespace

bool script_define(JSContext *cx, JS::HandleObject global)
{
    if (!recording_is_open())
        return true;
    JSAutoRealm realm(cx, global);
    JS::RootedObject object(cx, JS_DefineObject(cx, global, "jsprof", nullptr, 0));

    return object && JS_DefineFunctions(cx, object, script_functions);
}

bool script_define_everywhere(JSContext *cx)
{
    JS::RootedObjectVector globals(cx);

    JS::IterateRealms(cx, &globals, script_add_global);
    for (size_t i = 0; i < globals.length(); i++)
        if (!script_define(cx, globals[i]))
            return false;
    return true;
}
