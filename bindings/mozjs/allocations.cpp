/* allocations.cpp - see allocations.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "allocations.h"

#include <cerrno>
#include <cstdio>
#include <new>

#include <malloc.h>

#include <jsapi.h>
#include <js/AllocPolicy.h>
#include <js/GCVector.h>
#include <js/HeapAPI.h>
#include <js/Object.h>
#include <js/Realm.h>
#include <js/RealmIterators.h>
#include <js/RootingAPI.h>
#include <js/UbiNode.h>
#include <js/Vector.h>

#include "peek.h"

const char mozjs_type_label[] = "new";

using allocations_list = js::Vector<JSObject *, 0, js::SystemAllocPolicy>;

/* SpiderMonkey calls build() for each new object and keeps what it returns with it. */
struct mozjs_allocations final : js::AllocationMetadataBuilder {
    jsprof_mozjs *m;
    mutable allocations_list young; /* sampled objects in the nursery, and elsewhere */
    mutable allocations_list old;
    bool ended; /* objects are not reported any more */

    JSObject *build(JSContext *cx, JS::HandleObject object,
                    js::AutoEnterOOMUnsafeRegion &unsafe) const override;
};

namespace {

/* The bit of an object's first word that says that the rest of the word is its new address. */
constexpr uintptr_t ALLOCATIONS_MOVED = 1, ALLOCATIONS_BITS = 7;
constexpr size_t ALLOCATIONS_TYPE = 80;

size_t allocations_usable(const void *block)
{
    return malloc_usable_size(const_cast<void *>(block));
}

bool allocations_is_young(const JSObject *object)
{
    return js::gc::IsInsideNursery(reinterpret_cast<const js::gc::Cell *>(object));
}

/* Sample the object if the library does, below an entry with its type. Without memory, the
 * object counts as live from now on. */
void allocations_sample(const mozjs_allocations *a, JSObject *object, size_t bytes)
{
    char type[ALLOCATIONS_TYPE];
    jsprof_mozjs *m = a->m;

    snprintf(type, sizeof type, "[new %s]", JS::GetClass(object)->name);
    m->stack.pushLabelFrame(mozjs_type_label, type, __builtin_frame_address(0),
                            JS::ProfilingCategoryPair::OTHER);
    jsprof_allocated(m->thread, object, bytes);
    m->stack.pop();
    if (jsprof_alloc_may_know(m->thread, object))
        (void)(allocations_is_young(object) ? a->young : a->old).append(object);
}

/* The next free entry of a list from which some are taken while it is read. */
void allocations_keep(allocations_list *list, size_t *n, JSObject *object)
{
    (*list)[(*n)++] = object;
}

/* A collection has found out which objects live, and may have moved them. */
void allocations_on_sweep(JSTracer *trc, void *data)
{
    const auto *a = static_cast<mozjs_allocations *>(data);
    size_t n = 0;

    for (JSObject *was : a->old) {
        JSObject *is = was;
        JS_UpdateWeakPointerAfterGCUnbarriered(trc, &is);
        if (is)
            allocations_keep(&a->old, &n, is);
        if (is)
            jsprof_moved(a->m->thread, was, is);
        else
            jsprof_freed(a->m->thread, was);
    }
    a->old.shrinkTo(n);
}

void allocations_add_global(JSContext *, void *globals, JS::Realm *realm,
                            const JS::AutoRequireNoGC &)
{
    JSObject *global = JS::GetRealmGlobalOrNull(realm);

    if (global)
        (void)static_cast<JS::RootedObjectVector *>(globals)->append(global);
}

/* Set this builder, or none, in all realms. */
void allocations_set(JSContext *cx, const mozjs_allocations *a)
{
    JS::RootedObjectVector globals(cx);

    JS::IterateRealms(cx, &globals, allocations_add_global);
    for (size_t i = 0; i < globals.length(); i++) {
        JSAutoRealm realm(cx, globals[i]);
        js::SetAllocationMetadataBuilder(cx, a);
    }
}

} // namespace

JSObject *mozjs_allocations::build(JSContext *, JS::HandleObject object,
                                   js::AutoEnterOOMUnsafeRegion &) const
{
    jsprof_thread *thread = m->thread;

    if (ended || !thread || !jsprof_alloc_homes(thread))
        return nullptr;
    const size_t bytes = JS::ubi::Node(object.get()).size(allocations_usable);
    if (thread->alloc_left < static_cast<int64_t>(bytes))
        allocations_sample(this, object, bytes);
    else
        jsprof_allocated(thread, object, bytes);
    return nullptr;
}

/* The collector has written new addresses into the nursery, and nothing else since. The
 * kernel copies, because the nursery may have become smaller. */
void mozjs_sort_young(jsprof_mozjs *m)
{
    if (!m->allocations || m->allocations->young.empty())
        return;
    mozjs_allocations *a = m->allocations;
    mozjs_peek peek;

    mozjs_peek_begin(&peek, {});
    for (JSObject *was : a->young) {
        uintptr_t word = 0;
        if (!mozjs_peek_at(&peek, was, &word) || !(word & ALLOCATIONS_MOVED)) {
            jsprof_freed(m->thread, was);
            continue;
        }
        auto *is = reinterpret_cast<JSObject *>(word & ~ALLOCATIONS_BITS);
        jsprof_moved(m->thread, was, is);
        (void)a->old.append(is);
    }
    a->young.clear();
}

void mozjs_leave_allocations(jsprof_mozjs *m)
{
    if (!m->allocations)
        return;
    jsprof_mozjs_end_allocations(m);
    if (m->cx)
        allocations_set(m->cx, nullptr);
    delete m->allocations;
    m->allocations = nullptr;
}

/* Realms that are about to end keep a builder that does nothing: it costs less than a look
 * for them. */
void jsprof_mozjs_end_allocations(jsprof_mozjs *m)
{
    if (!m || !m->allocations || m->allocations->ended)
        return;
    JS_RemoveWeakPointerZonesCallback(m->cx, allocations_on_sweep);
    m->allocations->ended = true;
    m->allocations->young.clearAndFree();
    m->allocations->old.clearAndFree();
}

int jsprof_mozjs_tell_allocations(jsprof_mozjs *m)
{
    if (!m || !m->cx || !m->thread || (m->allocations && m->allocations->ended))
        return -EINVAL;
    if (!m->allocations) {
        auto *a = new (std::nothrow) mozjs_allocations;
        if (!a)
            return -ENOMEM;
        a->m = m;
        a->ended = false;
        if (!JS_AddWeakPointerZonesCallback(m->cx, allocations_on_sweep, a)) {
            delete a;
            return -ENOMEM;
        }
        m->allocations = a;
    }
    allocations_set(m->cx, m->allocations);
    return 0;
}
