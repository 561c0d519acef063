/* script.cpp - the object `jsprof`, by which a recorded script writes marks and counters.
 *
 * SPDX-License-Identifier: MIT
 *
 * mark(name, message, begin) records that something happened now, or has lasted since
 * `begin`, a value of now(). counter(name, value) records that a figure has this value
 * now. now() returns nanoseconds. A full buffer loses marks, which the session counts,
 * and throws nothing.
 */
#include "script.h"

#include <js-config.h>

#include <jsapi.h>
#include <js/CallArgs.h>
#include <js/Conversions.h>
#include <js/GCVector.h>
#include <js/PropertyAndElement.h>
#include <js/PropertySpec.h>
#include <js/Realm.h>
#include <js/RealmIterators.h>
#include <js/RootingAPI.h>

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

bool script_now(JSContext *, unsigned argc, JS::Value *vp)
{
    JS::CallArgsFromVp(argc, vp).rval().setNumber(static_cast<double>(jsprof_now()));
    return true;
}

const JSFunctionSpec script_functions[] = {
    JS_FN("mark", script_mark, 1, 0),
    JS_FN("counter", script_counter, 2, 0),
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
