/* request.c - requests: a text, a shape or a Lua table becomes a jobspec, parsed once. Invariant: a request that a
 * script can reach holds a weir_request and never changes. */
#include "handle/graph.h"
#include "handle/request.h"
#include "handle/support.h"
#include "system/json.h"

#include <math.h>
#include <string.h>

#define REQUEST "weir.request"

struct request_handle {
    weir_request *r;
    uint64_t serial; /* of the handle, never used twice */
};

/* Returns the request of a handle, the value at `arg`. Raises where the handle is closed. */
static weir_request *open_request(lua_State *L, int arg, const struct request_handle *handle)
{
    luaL_argcheck(L, handle->r, arg, "the request is closed");
    return handle->r;
}

static weir_request *check_request(lua_State *L, int arg)
{
    return open_request(L, arg, luaL_checkudata(L, arg, REQUEST));
}

bool weirlua_is_request(lua_State *L, int arg)
{
    return luaL_testudata(L, arg, REQUEST) != NULL;
}

uint64_t weirlua_request_serial(lua_State *L, int arg)
{
    const struct request_handle *handle = luaL_testudata(L, arg, REQUEST);
    return handle ? handle->serial : 0;
}

/* Returns the text of the request at `arg`; a table is written as JSON. */
static const char *text_at(lua_State *L, int arg, size_t *len)
{
    if (lua_type(L, arg) == LUA_TTABLE) {
        weirlua_json_write(L, arg, false, 0);
        lua_replace(L, arg);
    } else if (lua_type(L, arg) != LUA_TSTRING) {
        luaL_argerror(L, arg, lua_pushfstring(L, "request, table or text expected, got %s", luaL_typename(L, arg)));
    }
    return lua_tolstring(L, arg, len);
}

weir_request *weirlua_request_at(lua_State *L, struct weirlua *s, int arg)
{
    struct request_handle *handle = luaL_testudata(L, arg, REQUEST);
    const char *text, *source;
    size_t len;
    weir_err err = {0};
    int rc;

    if (handle)
        return open_request(L, arg, handle);
    source = lua_type(L, arg) == LUA_TTABLE ? "<table>" : "<request>";
    text = text_at(L, arg, &len);
    handle = lua_newuserdatauv(L, sizeof *handle, 0);
    *handle = (struct request_handle){NULL, weirlua_serial(s)};
    luaL_setmetatable(L, REQUEST);
    rc = weir_request_parse(text, len, source, &handle->r, &err);
    if (rc) {
        handle->r = NULL;
        weirlua_fail(L, &err, rc);
        return NULL;
    }
    lua_replace(L, arg);
    return handle->r;
}

/* request(text or table[, duration in seconds, in place of its own]) */
int weirlua_request_new(lua_State *L)
{
    bool lasts = !lua_isnoneornil(L, 2);
    int64_t duration = lasts ? weirlua_check_duration(L, 2) : 0;
    weir_request *r;
    weir_err err = {0};
    int rc;

    luaL_checkany(L, 1);
    luaL_argcheck(L, !lasts || !weirlua_is_request(L, 1), 2, "a request that is made has its duration");
    lua_settop(L, 1);
    r = weirlua_request_at(L, weirlua_of(L), 1);
    rc = r && lasts ? weir_request_set_duration(r, duration, &err) : WEIR_OK;
    if (!r)
        return 3;
    return rc ? weirlua_fail(L, &err, rc) : 1;
}

static int request_gc(lua_State *L)
{
    struct request_handle *handle = luaL_checkudata(L, 1, REQUEST);
    weir_request *r = handle->r;

    handle->r = NULL;
    weir_request_free(r);
    return 0;
}

static int request_duration(lua_State *L)
{
    weirlua_push_time(L, weir_request_duration(check_request(L, 1)));
    return 1;
}

static int request_attribute(lua_State *L)
{
    weir_request *r = check_request(L, 1);

    lua_pushstring(L, weir_request_attribute(r, luaL_checkstring(L, 2)));
    return 1;
}

static int request_constrained(lua_State *L)
{
    lua_pushboolean(L, weir_request_constrained(check_request(L, 1)));
    return 1;
}

/* r:format(["json"|"yaml"|"shape"|"resources"]) */
static int request_format(lua_State *L)
{
    static const char *const formats[] = {"json", "jobspec", "yaml", "shape", "resources", NULL};
    weir_request *r = check_request(L, 1);
    const char *format = formats[weirlua_check_option(L, 2, "json", formats)];
    struct weirlua_owner *text = weirlua_owner_push(L, weir_free);
    weir_err err = {0};

    return weirlua_text(L, text, weir_request_format(r, format, &err), &err);
}

/* r:format_for(graph): as JSON, with amounts in the units of the graph's pools. */
static int request_format_for(lua_State *L)
{
    weir_request *r = check_request(L, 1);
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 2);
    struct weirlua_owner *text = weirlua_owner_push(L, weir_free);
    weir_err err = {0};

    return weirlua_text(L, text, weir_request_format_for(r, handle->g, &err), &err);
}

/* ---- resources as plain tables ---- */

void weirlua_set_filled(lua_State *L, const char *key, const char *value)
{
    if (value && value[0])
        weirlua_set_text(L, key, value);
}

static void push_count(lua_State *L, const weir_count *c)
{
    char op[2] = {c->op, '\0'};

    lua_createtable(L, 0, 4);
    weirlua_set_integer(L, "min", c->min);
    if (c->max == WEIR_FOREVER)
        weirlua_set_number(L, "max", HUGE_VAL);
    else
        weirlua_set_integer(L, "max", c->max);
    if (c->op) {
        weirlua_set_filled(L, "operator", op);
        weirlua_set_integer(L, "operand", c->operand);
        return;
    }
    lua_createtable(L, (int)c->nset, 0);
    for (uint32_t i = 0; i < c->nset; i++) {
        lua_pushinteger(L, c->set[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "set");
}

static void push_resources(lua_State *L, const weir_resource *list, uint32_t n)
{
    luaL_checkstack(L, 8, "resources");
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        lua_createtable(L, 0, 8);
        weirlua_set_filled(L, "type", list[i].type);
        weirlua_set_filled(L, "unit", list[i].unit);
        weirlua_set_filled(L, "label", list[i].label);
        weirlua_set_filled(L, "id", list[i].id);
        push_count(L, &list[i].count);
        lua_setfield(L, -2, "count");
        if (list[i].exclusive != WEIR_EXCLUSIVE_UNSET)
            weirlua_set_boolean(L, "exclusive", list[i].exclusive == WEIR_EXCLUSIVE_YES);
        if (list[i].nwith) {
            push_resources(L, list[i].with, list[i].nwith);
            lua_setfield(L, -2, "with");
        }
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static int request_resources(lua_State *L)
{
    uint32_t n;
    const weir_resource *list = weir_request_resources(check_request(L, 1), &n);

    push_resources(L, list, n);
    return 1;
}

/* Pushes a request of its own for an alternative. Returns 1, or 3 values of a failure. */
static int push_alternative(lua_State *L, struct weirlua *s, const weir_request *r)
{
    struct weirlua_owner *text = weirlua_owner_push(L, weir_free);
    struct request_handle *handle;
    weir_err err = {0};
    int rc;

    text->p = weir_request_format(r, "json", &err);
    if (!text->p)
        return weirlua_fail(L, &err, err.code);
    handle = lua_newuserdatauv(L, sizeof *handle, 0);
    *handle = (struct request_handle){NULL, weirlua_serial(s)};
    luaL_setmetatable(L, REQUEST);
    rc = weir_request_parse(text->p, strlen(text->p), "<request>", &handle->r, &err);
    if (rc) {
        handle->r = NULL;
        return weirlua_fail(L, &err, rc);
    }
    weirlua_owner_clear(text);
    lua_remove(L, -2);
    return 1;
}

/* r:alternatives(): a list of requests without xor_slots, in the order of preference; {r} for a request without
 * xor_slots. */
static int request_alternatives(lua_State *L)
{
    const weir_request *r = check_request(L, 1);
    uint32_t n = weir_request_alternatives(r);

    lua_settop(L, 1);
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        const weir_request *one = weir_request_alternative(r, i);
        int pushed = 1;
        if (one == r)
            lua_pushvalue(L, 1);
        else
            pushed = push_alternative(L, weirlua_of(L), one);
        if (pushed != 1)
            return pushed;
        lua_rawseti(L, 2, (lua_Integer)i + 1);
    }
    return 1;
}

static int request_tostring(lua_State *L)
{
    lua_pushfstring(L, "request of %I resources", (LUAI_UACINT)weir_request_count(check_request(L, 1)));
    return 1;
}

void weirlua_request_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg methods[] = {{"duration", request_duration},       {"format", request_format},
                                       {"resources", request_resources},     {"attribute", request_attribute},
                                       {"format_for", request_format_for},   {"alternatives", request_alternatives},
                                       {"constrained", request_constrained}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", request_gc}, {"__tostring", request_tostring}, {NULL, NULL}};

    weirlua_class(L, s, REQUEST, methods, meta);
}
