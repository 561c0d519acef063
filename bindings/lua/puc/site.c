/* site.c - names of functions in code. A call's instruction has the variable or field
 * from which it loads the function; where a function is made, the code has the variable
 * or field that receives it. See proto.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "proto.h"

#include JSPROF_LUA_LAYOUT

enum { SITE_MAX_BACK = 400, SITE_MAX_LOCALS = 256, SITE_LOCVAR_BYTES = 16 };

static uint32_t site_bits(uint32_t instruction, uint32_t shift, uint32_t n)
{
    return instruction >> shift & ((1u << n) - 1);
}

static uint32_t site_op(uint32_t i)
{
    return site_bits(i, 0, layout.op_bits);
}

static uint32_t site_a(uint32_t i)
{
    return site_bits(i, layout.op_bits, 8);
}

static bool site_fetch(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t index,
                       uint32_t *instruction)
{
    return index < p->n_code &&
           jsp_lua_read(r, p->code + 4ull * index, instruction, sizeof *instruction);
}

static bool site_constant(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t k,
                          char *to, size_t room)
{
    uint8_t value[16];
    return k < p->n_k && jsp_lua_read(r, p->k + 16ull * k, value, sizeof value) &&
           (value[8] & 0xF) == layout.tag_string &&
           jsp_lua_text(r, jsp_lua_pointer(value, 0), to, room);
}

bool jsp_lua_upvalue_name(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t n,
                          char *to)
{
    uintptr_t name;
    return n < p->n_upvalues &&
           jsp_lua_read(r, p->upvalues + (uintptr_t)n * layout.upvalue_bytes, &name,
                        sizeof name) &&
           jsp_lua_text(r, name, to, JSP_LUA_NAME);
}

/* Copy the name of the local variable in a register when `index` runs. */
static bool site_local(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t reg,
                       uint32_t index, char *to, size_t room)
{
    uint32_t n = p->n_locvars < SITE_MAX_LOCALS ? p->n_locvars : SITE_MAX_LOCALS;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t var[SITE_LOCVAR_BYTES];
        if (!jsp_lua_read(r, p->locvars + (uintptr_t)i * sizeof var, var, sizeof var) ||
            jsp_lua_u32(var, 8) > index)
            return false;
        if (index < jsp_lua_u32(var, 12) && reg-- == 0)
            return jsp_lua_text(r, jsp_lua_pointer(var, 0), to, room);
    }
    return false;
}

/* Copy the field name in C: always a constant in some instructions, marked as one in
 * others. */
static bool site_field(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t i,
                       char *to, size_t room)
{
    uint32_t c = site_bits(i, layout.c_shift, layout.bc_bits);
    if (layout.constant_bit) {
        if (!(c >> layout.constant_bit & 1))
            return false;
        c &= (1u << layout.constant_bit) - 1;
    } else if (site_op(i) == layout.op_self && !layout.self_is_constant &&
               !site_bits(i, layout.bx_shift, 1)) {
        return false;
    }
    return site_constant(r, p, c, to, room);
}

/* Copy the name of the variable or field from which instruction `i` loads its
 * register. */
static bool site_loaded(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t index,
                        uint32_t i, char *to, size_t room)
{
    uint32_t op = site_op(i), b = site_bits(i, layout.b_shift, layout.bc_bits);
    if (op == layout.op_move)
        return b >= p->n_params && site_local(r, p, b, index, to, room);
    if (op == layout.op_getupval)
        return jsp_lua_upvalue_name(r, p, b, to);
    if (op == layout.op_getglobal)
        return site_constant(r, p, i >> layout.bx_shift, to, room);
    return site_field(r, p, i, to, room);
}

static bool site_is_load(uint32_t op)
{
    return op == layout.op_move || op == layout.op_getupval || op == layout.op_getglobal ||
           op == layout.op_gettabup || op == layout.op_getfield || op == layout.op_self;
}

bool jsp_lua_site_is_call(struct jsp_lua_read *r, const struct jsp_lua_proto *caller,
                          uint32_t index)
{
    enum { SITE_OTHER = 1, SITE_CALL };
    struct jsp_lua_fact *fact = jsp_lua_proto_fact(r, caller, index, JSP_LUA_FACT_CALL);
    uint32_t i;
    if (!fact->value && site_fetch(r, caller, index, &i))
        fact->value = site_op(i) == layout.op_call || site_op(i) == layout.op_tailcall
                          ? SITE_CALL
                          : SITE_OTHER;
    return fact->value == SITE_CALL;
}

bool jsp_lua_site_name(struct jsp_lua_read *r, const struct jsp_lua_proto *caller,
                       uint32_t index, char *to, size_t room)
{
    uint32_t call, i;
    if (!jsp_lua_site_is_call(r, caller, index) || !site_fetch(r, caller, index, &call))
        return false;
    for (uint32_t back = 1; back <= index && back <= SITE_MAX_BACK; back++) {
        if (!site_fetch(r, caller, index - back, &i))
            return false;
        uint32_t op = site_op(i);
        if (op == layout.op_call && site_a(i) <= site_a(call))
            return false; /* the value is a result of this call */
        if (site_a(i) == site_a(call) && site_is_load(op))
            return site_loaded(r, caller, index - back, i, to, room);
    }
    return false;
}

/* Copy the key of a store whose value is in this register. */
static bool site_stored(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t i,
                        uint32_t reg, struct jsp_lua_defined *out)
{
    uint32_t op = site_op(i), b = site_bits(i, layout.b_shift, layout.bc_bits);
    if (op == layout.op_setglobal && site_a(i) == reg)
        return site_constant(r, p, i >> layout.bx_shift, out->name, sizeof out->name);
    if (op == layout.op_setupval && site_a(i) == reg)
        return jsp_lua_upvalue_name(r, p, b, out->name);
    if ((op != layout.op_settabup && op != layout.op_setfield) ||
        site_bits(i, layout.c_shift, layout.bc_bits) != reg)
        return false;
    if (layout.constant_bit && !(b >> layout.constant_bit & 1))
        return false;
    if (layout.constant_bit)
        b &= (1u << layout.constant_bit) - 1;
    else if (site_bits(i, layout.bx_shift, 1))
        return false; /* the value is a constant */
    return site_constant(r, p, b, out->name, sizeof out->name);
}

/* Copy the name of the local variable whose life begins here in this register. */
static bool site_born(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t reg,
                      uint32_t index, struct jsp_lua_defined *out)
{
    char before[sizeof out->name];
    return site_local(r, p, reg, index, out->name, sizeof out->name) &&
           !(index && site_local(r, p, reg, index - 1, before, sizeof before) &&
             strcmp(before, out->name) == 0);
}

static void site_define(struct jsp_lua_read *r, const struct jsp_lua_proto *p, uint32_t at,
                        uint32_t closure, struct jsp_lua_defined *out)
{
    struct jsp_lua_proto made;
    uint32_t next;
    out->is_named = false;
    if (!jsp_lua_proto_read(r, out->proto, &made))
        return;
    at += 1 + made.n_after_closure;
    out->is_named = site_born(r, p, site_a(closure), at, out) ||
                    (site_fetch(r, p, at, &next) && site_stored(r, p, next, site_a(closure), out));
}

uint32_t jsp_lua_defined_next(struct jsp_lua_read *r, const struct jsp_lua_proto *p,
                              uint32_t from, struct jsp_lua_defined *out)
{
    uint32_t i;
    for (uint32_t at = from; p->n_p && site_fetch(r, p, at, &i); at++) {
        uint32_t n = i >> layout.bx_shift;
        if (site_op(i) != layout.op_closure || n >= p->n_p ||
            !jsp_lua_read(r, p->p + 8ull * n, &out->proto, sizeof out->proto))
            continue;
        site_define(r, p, at, i, out);
        return at + 1;
    }
    return UINT32_MAX;
}
