/* engine_hierarchy.c - the hierarchies in which engines search. Invariant: the handle of a graph has the view of a
 * hierarchy only between begin and end; vertices have equal numbers in both, so that handles of vertices stay valid. */
#include "handle/engine.h"
#include "handle/support.h"
#include "policy/policy.h"

#include <string.h>

/* Splits "HIERARCHY" or "HIERARCHY:TYPE". Returns false for any other text. */
static bool split(const char *text, struct hierarchy_choice *c)
{
    const char *colon = strchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : strlen(text);

    if (len == 0 || len >= sizeof c->subsystem || (colon && (!colon[1] || strlen(colon + 1) >= sizeof c->whole)) ||
        (colon && strchr(colon + 1, ':')))
        return false;
    memcpy(c->subsystem, text, len);
    c->subsystem[len] = '\0';
    strcpy(c->whole, colon ? colon + 1 : "");
    return true;
}

void weirlua_hierarchy_read(lua_State *L, int options, int policy, struct hierarchy_choice *c)
{
    const struct policy *p = lua_touserdata(L, policy);
    const char *text = weirlua_engine_granularity(L, 1);

    c->handle = NULL;
    c->subsystem[0] = c->whole[0] = c->follow[0] = '\0';
    if (p && p->open && p->spec.subsystem)
        text = p->spec.subsystem;
    if (options && !lua_isnil(L, options))
        text = weirlua_field_string(L, options, "subsystem", text);
    if (*text && !split(text, c))
        luaL_error(L,
                   "field 'subsystem': a hierarchy such as power, or containment:rack to give whole racks, "
                   "expected, got '%s'",
                   weirlua_quote(L, text));
    if (!options || lua_isnil(L, options))
        return;
    text = weirlua_field_string(L, options, "follow", "");
    if (strlen(text) >= sizeof c->follow)
        luaL_error(L, "field 'follow': a subsystem expected, got '%s'", weirlua_quote(L, text));
    strcpy(c->follow, text);
}

int weirlua_hierarchy_begin(struct hierarchy_choice *c, struct weirlua_graph *handle, weir_match_options *o,
                            weir_err *err)
{
    weir_graph *view;
    int rc;

    c->own = handle->g;
    o->subsystem = c->subsystem[0] ? c->subsystem : NULL;
    o->whole = c->whole[0] ? c->whole : NULL;
    o->follow = c->follow[0] ? c->follow : NULL;
    if (!o->subsystem)
        return WEIR_OK;
    rc = weir_graph_hierarchy(handle->g, o->subsystem, &view, err);
    if (rc)
        return rc;
    c->handle = handle;
    handle->g = view;
    return WEIR_OK;
}

void weirlua_hierarchy_end(struct hierarchy_choice *c)
{
    if (c->handle)
        c->handle->g = c->own;
    c->handle = NULL;
}

void weirlua_granularity_read(lua_State *L, int options, char out[HIERARCHY_SIZE])
{
    const char *text = weirlua_field_string(L, options, "granularity", "");
    struct hierarchy_choice c;

    if (*text && (strlen(text) >= HIERARCHY_SIZE || !split(text, &c)))
        luaL_error(L,
                   "field 'granularity': a hierarchy such as power, or containment:rack to give whole racks, "
                   "expected, got '%s'",
                   weirlua_quote(L, text));
    if (*text)
        strcpy(out, text);
}

/* hierarchy([policy]): where matches with the policy, or with the engine's, search, as a text; nil: containment. */
int weirlua_engine_hierarchy(lua_State *L)
{
    struct hierarchy_choice c;
    struct weirlua_graph *handle;

    weirlua_engine_idle(L, &handle);
    lua_settop(L, 2);
    if (lua_isnil(L, 2))
        lua_getiuservalue(L, 1, 2);
    else if (!luaL_testudata(L, 2, WEIRLUA_POLICY))
        lua_pushnil(L); /* what is no policy has no hierarchy of its own */
    weirlua_hierarchy_read(L, 0, lua_gettop(L), &c);
    if (!c.subsystem[0])
        lua_pushnil(L);
    else
        lua_pushfstring(L, c.whole[0] ? "%s:%s" : "%s", c.subsystem, c.whole);
    return 1;
}
