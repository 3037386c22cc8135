/* policy.c - policies as Lua values: made from a file or a text (in a sandbox) or from a table (trusted, in the state
 * of its user). Invariant: a policy that a script can reach is complete; it never changes. */
#include "policy.h"

#include <string.h>

static struct policy *push_closed(lua_State *L)
{
    struct policy *p = lua_newuserdatauv(L, sizeof *p, 1);

    memset(p, 0, sizeof *p);
    luaL_setmetatable(L, WEIRLUA_POLICY);
    return p;
}

/* "policies/low.lua" -> "low" */
static void push_name(lua_State *L, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');

    if (dot && dot != name && strcmp(dot, ".lua") == 0)
        lua_pushlstring(L, name, (size_t)(dot - name));
    else
        lua_pushstring(L, name);
}

static int open_sandboxed(lua_State *L, const char *path, const char *text, size_t len, const char *name)
{
    struct weirlua *s = weirlua_of(L);
    struct policy *p = push_closed(L);
    weir_err err = {0};
    int rc = weirlua_sandbox_open(&p->sandbox, s, path, text, len, name, &p->spec, &err);

    if (rc)
        return weirlua_fail(L, &err, rc);
    p->serial = weirlua_serial(s);
    p->open = true;
    return 1;
}

/* policy_load(path) */
int weirlua_policy_load(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);

    push_name(L, path);
    return open_sandboxed(L, path, NULL, 0, lua_tostring(L, -1));
}

/* policy_source(text[, name]) */
int weirlua_policy_source(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);

    return open_sandboxed(L, NULL, text, len, luaL_optstring(L, 2, "policy"));
}

/* A trusted policy of the table at `arg`. */
static int open_trusted(lua_State *L, struct weirlua *s, int arg)
{
    struct policy *p = push_closed(L);

    lua_pushcfunction(L, weirlua_policy_read);
    lua_pushvalue(L, arg);
    lua_pushlightuserdata(L, &p->spec);
    lua_pushliteral(L, "(table)");
    if (lua_pcall(L, 3, 1, 0) != LUA_OK) {
        lua_pushnil(L);
        lua_insert(L, -2);
        lua_pushstring(L, weir_status_name(WEIR_EPOLICY));
        return 0;
    }
    lua_setiuservalue(L, -2, 1);
    p->serial = weirlua_serial(s);
    p->open = true;
    return 1;
}

int weirlua_policy_at(lua_State *L, struct weirlua *s, int arg)
{
    if (lua_isnoneornil(L, arg)) {
        lua_pushnil(L);
        return 1;
    }
    if (lua_type(L, arg) == LUA_TTABLE)
        return open_trusted(L, s, arg);
    if (!luaL_testudata(L, arg, WEIRLUA_POLICY))
        luaL_argerror(L, arg, lua_pushfstring(L, "policy or table expected, got %s", luaL_typename(L, arg)));
    lua_pushvalue(L, arg);
    return 1;
}

static int policy_gc(lua_State *L)
{
    struct policy *p = luaL_checkudata(L, 1, WEIRLUA_POLICY);

    p->open = false;
    weirlua_sandbox_close(&p->sandbox);
    return 0;
}

static int policy_index(lua_State *L)
{
    struct policy *p = luaL_checkudata(L, 1, WEIRLUA_POLICY);
    const char *key = luaL_checkstring(L, 2);

    luaL_argcheck(L, p->open, 1, "the policy is closed");
    if (strcmp(key, "name") == 0)
        lua_pushstring(L, p->spec.name);
    else if (strcmp(key, "doc") == 0)
        lua_pushstring(L, p->spec.doc);
    else if (strcmp(key, "sandboxed") == 0)
        lua_pushboolean(L, p->sandbox.S != NULL);
    else
        return luaL_error(L, "a policy has no field '%s'; it has name, doc, sandboxed", key);
    return 1;
}

static int policy_tostring(lua_State *L)
{
    struct policy *p = luaL_checkudata(L, 1, WEIRLUA_POLICY);

    lua_pushfstring(L, "policy %s", p->open ? p->spec.name : "(closed)");
    return 1;
}

void weirlua_policy_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg meta[] = {
        {"__gc", policy_gc}, {"__index", policy_index}, {"__tostring", policy_tostring}, {NULL, NULL}};

    weirlua_class(L, s, WEIRLUA_POLICY, NULL, meta);
}
