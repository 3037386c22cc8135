/* hostlist.c - weir.hostlist: ordered lists of host names (RFC 29). Positions count from 1. append, delete, delete_at,
 * sort and uniq change a list. == compares the names and the order. As a key of a table a list is compared by identity:
 * use the text of the list as a key to compare by content. Wherever a list is expected, a text or a list of texts is
 * accepted. Invariant: a list that a script can reach holds a weir_hostlist, until the finalizer has run. */
#include "handle/hostlist.h"
#include "handle/support.h"

#include <stdio.h>
#include <string.h>

#define HOSTLIST     "weir.hostlist"
#define INDEX_AFTER  8 /* searches in an unchanged list before an index pays */
#define USUAL_LENGTH 256

struct hostlist {
    weir_hostlist *h;
    unsigned searches; /* since the last change */
};

weir_hostlist **weirlua_hostlist_push(lua_State *L)
{
    struct hostlist *handle = lua_newuserdatauv(L, sizeof *handle, 0);

    *handle = (struct hostlist){0};
    luaL_setmetatable(L, HOSTLIST);
    return &handle->h;
}

int weirlua_hostlist_finish(lua_State *L, weir_hostlist *const *h, int rc)
{
    if (rc)
        return luaL_error(L, "%s", rc == WEIR_ENOMEM ? "out of memory" : weir_status_name(rc));
    weirlua_weigh(L, weir_hostlist_bytes(*h));
    return 1;
}

static struct hostlist *check_handle(lua_State *L, int arg)
{
    struct hostlist *handle = luaL_checkudata(L, arg, HOSTLIST);

    luaL_argcheck(L, handle->h, arg, "the hostlist is closed");
    return handle;
}

static weir_hostlist *check_list(lua_State *L, int arg)
{
    return check_handle(L, arg)->h;
}

/* Returns the list at `arg`, to be changed: resets the count of searches. */
static weir_hostlist *check_changing(lua_State *L, int arg)
{
    struct hostlist *handle = check_handle(L, arg);

    handle->searches = 0;
    return handle->h;
}

/* Returns the position at `arg`, counted from 0; UINT64_MAX for a number that is no position. */
static uint64_t check_position(lua_State *L, int arg)
{
    lua_Integer i = luaL_checkinteger(L, arg);

    return i > 0 ? (uint64_t)i - 1 : UINT64_MAX;
}

/* Pushes the name at a position from 0, or nil. */
static int push_name(lua_State *L, const weir_hostlist *h, uint64_t i)
{
    char usual[USUAL_LENGTH];
    size_t len = weir_hostlist_nth(h, i, usual, sizeof usual);
    luaL_Buffer b;

    if (len == 0) {
        lua_pushnil(L);
    } else if (len < sizeof usual) {
        lua_pushlstring(L, usual, len);
    } else {
        weir_hostlist_nth(h, i, luaL_buffinitsize(L, &b, len + 1), len + 1);
        luaL_pushresultsize(&b, len);
    }
    return 1;
}

/* ---- conversion to a list ---- */

/* Puts the number of the entry before the text of an error. */
static void name_entry(weir_err *err, lua_Integer i)
{
    char text[sizeof err->text];

    memcpy(text, err->text, sizeof text);
    snprintf(err->text, sizeof err->text, "entry %lld: %.480s", (long long)i, text);
}

static int append_texts(lua_State *L, int list, weir_hostlist *h, weir_err *err)
{
    lua_Integer n = (lua_Integer)lua_rawlen(L, list), seen = 0;

    luaL_checkstack(L, 4, "hostlist");
    for (lua_pushnil(L); lua_next(L, list); lua_pop(L, 1), seen++)
        if (lua_type(L, -1) != LUA_TSTRING)
            luaL_argerror(L, list,
                          lua_pushfstring(L, "list of texts expected, there is a %s in it", luaL_typename(L, -1)));
    luaL_argcheck(L, seen == n, list, "list of texts expected, this has other keys or holes");
    for (lua_Integer i = 1; i <= n; i++) {
        size_t len;
        const char *text;
        int rc;
        luaL_argcheck(L, lua_rawgeti(L, list, i) == LUA_TSTRING, list, "list of texts expected");
        text = lua_tolstring(L, -1, &len);
        rc = weir_hostlist_append(h, text, len, err);
        if (rc) {
            name_entry(err, i);
            return rc;
        }
        lua_pop(L, 1);
    }
    return WEIR_OK;
}

static int make_list(lua_State *L, int arg, weir_hostlist **h, weir_err *err)
{
    size_t len;
    const char *text;

    if (lua_type(L, arg) == LUA_TSTRING) {
        text = lua_tolstring(L, arg, &len);
        return weir_hostlist_parse(text, len, h, err);
    }
    *h = weir_hostlist_new();
    if (!*h)
        luaL_error(L, "out of memory");
    return append_texts(L, arg, *h, err);
}

weir_hostlist *weirlua_hostlist_at(lua_State *L, int arg, weir_err *err)
{
    weir_hostlist **h;
    int type = lua_type(L, arg), top = lua_gettop(L);

    if (luaL_testudata(L, arg, HOSTLIST))
        return check_list(L, arg);
    if (type != LUA_TSTRING && type != LUA_TTABLE)
        luaL_argerror(L, arg,
                      lua_pushfstring(L, "hostlist, text or list of texts expected, got %s", luaL_typename(L, arg)));
    h = weirlua_hostlist_push(L);
    if (make_list(L, arg, h, err))
        return NULL;
    weirlua_weigh(L, weir_hostlist_bytes(*h));
    lua_settop(L, top + 1);
    lua_replace(L, arg);
    return *h;
}

/* hostlist([hosts]): a new list of no hosts, a text, a list of texts, or a copy of a list. */
int weirlua_hostlist_new(lua_State *L)
{
    weir_hostlist **h;
    weir_err err = {0};

    lua_settop(L, lua_gettop(L) > 0 ? 1 : 0);
    if (lua_gettop(L) > 0 && !luaL_testudata(L, 1, HOSTLIST)) {
        if (!weirlua_hostlist_at(L, 1, &err))
            return weirlua_refuse(L, &err);
        lua_settop(L, 1);
        return 1;
    }
    h = weirlua_hostlist_push(L);
    if (lua_gettop(L) > 1)
        return weirlua_hostlist_finish(L, h, weir_hostlist_copy(check_list(L, 1), h));
    *h = weir_hostlist_new();
    return weirlua_hostlist_finish(L, h, *h ? WEIR_OK : WEIR_ENOMEM);
}

/* ---- changes ---- */

/* Pushes the list itself, or nil, message, code. */
static int changed(lua_State *L, int rc, weir_err *err)
{
    if (rc) {
        err->code = rc;
        return weirlua_refuse(L, err);
    }
    lua_settop(L, 1);
    return 1;
}

/* append(x): appends hosts, and returns the list. */
static int list_append(lua_State *L)
{
    weir_hostlist *h = check_changing(L, 1), *more;
    weir_err err = {0};

    luaL_checkany(L, 2);
    more = weirlua_hostlist_at(L, 2, &err);
    if (!more)
        return weirlua_refuse(L, &err);
    return changed(L, weir_hostlist_append_list(h, more, &err), &err);
}

/* delete(x): removes the first occurrence of each name of x; returns the number of names removed. */
static int list_delete(lua_State *L)
{
    weir_hostlist *h = check_changing(L, 1), *names;
    uint64_t gone = 0;
    weir_err err = {0};

    luaL_checkany(L, 2);
    names = weirlua_hostlist_at(L, 2, &err);
    if (!names || weir_hostlist_delete_list(h, names, &gone, &err))
        return weirlua_refuse(L, &err);
    lua_pushinteger(L, (lua_Integer)gone);
    return 1;
}

/* delete_at(i): removes the i-th name, and returns the name. */
static int list_delete_at(lua_State *L)
{
    weir_hostlist *h = check_changing(L, 1);
    uint64_t i = check_position(L, 2);
    weir_err err = {0};
    int rc;

    lua_settop(L, 2);
    push_name(L, h, i);
    rc = weir_hostlist_delete_at(h, i);
    if (rc == WEIR_ENOENT) {
        lua_pushnil(L);
        lua_pushfstring(L, "hostlist: there is no name %s", luaL_tolstring(L, 2, NULL));
        lua_remove(L, -2);
        lua_pushstring(L, weir_status_name(rc));
        return 3;
    }
    return rc ? weirlua_fail(L, &err, rc) : 1;
}

static int rearrange(lua_State *L, int (*how)(weir_hostlist *h))
{
    int rc = how(check_changing(L, 1));
    weir_err err = {.code = rc,
                    .text = "hostlist: too many names that come more than once or have something behind a bracket"};

    if (rc == WEIR_ENOMEM)
        luaL_error(L, "out of memory");
    return changed(L, rc, &err);
}

/* sort(): sorts by the text before the number, the length of the number, and the number; returns the list. */
static int list_sort(lua_State *L)
{
    return rearrange(L, weir_hostlist_sort);
}

/* uniq(): sorts, and keeps each name once; returns the list. */
static int list_uniq(lua_State *L)
{
    return rearrange(L, weir_hostlist_uniq);
}

/* copy(): a new list of the same names. */
static int list_copy(lua_State *L)
{
    const weir_hostlist *h = check_list(L, 1);
    weir_hostlist **out = weirlua_hostlist_push(L);

    return weirlua_hostlist_finish(L, out, weir_hostlist_copy(h, out));
}

/* ---- questions ---- */

/* Returns the position from 0 of the name at index 2, or -1. */
static int64_t search(lua_State *L)
{
    struct hostlist *handle = check_handle(L, 1);
    const char *name;
    size_t len;

    luaL_checktype(L, 2, LUA_TSTRING);
    name = lua_tolstring(L, 2, &len);
    if (handle->searches < INDEX_AFTER && ++handle->searches == INDEX_AFTER && weir_hostlist_index(handle->h))
        handle->searches = 0; /* without an index, for lack of memory */
    return weir_hostlist_find(handle->h, name, len);
}

/* find(name): the first position of the name, or nil. */
static int list_find(lua_State *L)
{
    int64_t i = search(L);

    if (i < 0)
        lua_pushnil(L);
    else
        lua_pushinteger(L, i + 1);
    return 1;
}

/* has(name): whether the name is in the list. */
static int list_has(lua_State *L)
{
    lua_pushboolean(L, search(L) >= 0);
    return 1;
}

/* count(), #h: the number of names. */
static int list_count(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)weir_hostlist_count(check_list(L, 1)));
    return 1;
}

/* a == b: false where an operand is no list. */
static int list_eq(lua_State *L)
{
    lua_settop(L, 2);
    if (luaL_testudata(L, 1, HOSTLIST) && luaL_testudata(L, 2, HOSTLIST))
        lua_pushboolean(L, weir_hostlist_equal(check_list(L, 1), check_list(L, 2)));
    else
        lua_pushboolean(L, check_list(L, luaL_testudata(L, 2, HOSTLIST) ? 2 : 1) == NULL);
    return 1;
}

/* h[i]: the i-th name, or nil. h.METHOD: from the table in upvalue 2. */
static int list_index(lua_State *L)
{
    const weir_hostlist *h = check_list(L, 1);
    int exact;
    lua_Integer i;

    lua_settop(L, 2);
    if (lua_type(L, 2) == LUA_TNUMBER) {
        i = lua_tointegerx(L, 2, &exact);
        return push_name(L, h, exact && i > 0 ? (uint64_t)i - 1 : UINT64_MAX);
    }
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) == LUA_TNIL)
        return luaL_error(L, "a hostlist has no method '%s'%s", weirlua_quote(L, luaL_tolstring(L, 2, NULL)),
                          weirlua_hint_of_keys(L, luaL_tolstring(L, 2, NULL), lua_upvalueindex(2)));
    return 1;
}

/* ---- iteration ---- */

/* The iterator of names(). Upvalues: 2 a copy of the list, 3 the next position. */
static int step_names(lua_State *L)
{
    struct hostlist *handle = lua_touserdata(L, lua_upvalueindex(2));
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(3));

    if (!handle->h)
        return luaL_error(L, "the hostlist is closed");
    push_name(L, handle->h, (uint64_t)i);
    if (lua_isnil(L, -1))
        return 1;
    lua_pushinteger(L, i + 1);
    lua_copy(L, -1, lua_upvalueindex(3));
    return 2;
}

/* for name, i in h:names(): all names, in order, of a copy: a loop may change the list. */
static int list_names(lua_State *L)
{
    lua_pushlightuserdata(L, weirlua_of(L));
    list_copy(L);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, step_names, 3);
    return 1;
}

/* ---- texts ---- */

/* format(), tostring(h): the compact text. */
static int list_format(lua_State *L)
{
    const weir_hostlist *h = check_list(L, 1);
    struct weirlua_owner *handle = weirlua_owner_push(L, weir_free);
    weir_err err = {0};
    char *text = weir_hostlist_format(h, &err);

    return text ? weirlua_text(L, handle, text, &err) : weirlua_raise(L, &err);
}

static int list_gc(lua_State *L)
{
    struct hostlist *handle = luaL_checkudata(L, 1, HOSTLIST);
    weir_hostlist *h = handle->h;

    handle->h = NULL;
    weir_hostlist_free(h);
    return 0;
}

void weirlua_hostlist_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg methods[] = {{"append", list_append}, {"delete", list_delete}, {"delete_at", list_delete_at},
                                       {"sort", list_sort},     {"uniq", list_uniq},     {"copy", list_copy},
                                       {"find", list_find},     {"has", list_has},       {"count", list_count},
                                       {"names", list_names},   {"format", list_format}, {NULL, NULL}};
    static const luaL_Reg meta[] = {
        {"__len", list_count}, {"__eq", list_eq}, {"__tostring", list_format}, {"__gc", list_gc}, {NULL, NULL}};

    weirlua_class(L, s, HOSTLIST, methods, meta);
    luaL_getmetatable(L, HOSTLIST);
    lua_getfield(L, -1, "__index");
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "methods"); /* for the specs */
    lua_pushlightuserdata(L, s);
    lua_insert(L, -2);
    lua_pushcclosure(L, list_index, 2);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
