/* sandbox_open.c - opens the lua_State of a policy: the classes of the binding that scripts see, the text, and the
 * table that the text returns. */
#include "handle/accumulator.h"
#include "handle/support.h"
#include "handle/vertex.h"
#include "handle/walk.h"
#include "policy/policy.h"
#include "system/json.h"

#include <string.h>

struct job {
    struct weirlua *home;
    const struct policy_source *source;
    struct policy_spec *spec;
    int code; /* of the failure */
};

void weirlua_compile(lua_State *S, const char *text, size_t len, const char *name)
{
    lua_pushfstring(S, "@%s", name);
    if (luaL_loadbufferx(S, text, len, lua_tostring(S, -1), "t") != LUA_OK)
        lua_error(S);
    lua_remove(S, -2);
}

static void load_chunk(lua_State *S, struct job *job)
{
    const struct policy_source *from = job->source;
    lua_Debug ar;

    job->code = WEIR_EPOLICY;
    weirlua_compile(S, from->text, from->len, from->chunk);
    lua_pushvalue(S, -1);
    lua_getinfo(S, ">S", &ar);
    snprintf(weirlua_sandbox_of(S)->chunk, LUA_IDSIZE, "%s", ar.short_src);
}

/* (text, chunk name, options): adds the part {policy = result of the text, options = values}. */
static void load_part(lua_State *S, int part)
{
    size_t len;
    const char *text;

    lua_getfield(S, part, "text");
    lua_getfield(S, part, "name");
    text = luaL_checklstring(S, -2, &len);
    weirlua_compile(S, text, len, luaL_checkstring(S, -1));
    lua_call(S, 0, 1);
    lua_createtable(S, 0, 2);
    lua_insert(S, -2);
    lua_setfield(S, -2, "policy");
    lua_getfield(S, part, "options");
    if (lua_isnil(S, -1)) {
        lua_pop(S, 1);
        lua_newtable(S);
    }
    lua_setfield(S, -2, "options");
    lua_replace(S, part);
    lua_settop(S, part);
}

/* Pushes the parts of a policy made from several policies; returns the number of parts. */
static int load_parts(lua_State *S, const char *parts)
{
    int list = lua_gettop(S) + 1, n = 0;

    if (!parts)
        return 0;
    weirlua_json_read(S, parts, strlen(parts));
    while (luaL_checkstack(S, 8, "parts"), lua_rawgeti(S, list, n + 1) == LUA_TTABLE) {
        load_part(S, lua_gettop(S));
        n++;
    }
    lua_pop(S, 1);
    lua_remove(S, list);
    return n;
}

static int build(lua_State *S)
{
    struct job *job = lua_touserdata(S, 1);
    struct weirlua *s;

    weirlua_sandbox_libraries(S);
    s = weirlua_state(S, job->home);
    weirlua_owner_open(S, s);
    weirlua_json_open(S, s);
    weirlua_graph_open(S, s);
    weirlua_walk_open(S, s);
    weirlua_accumulator_open(S, s);
    weirlua_vertex_open(S, s);
    weirlua_job_open(S);
    weirlua_sandbox_close_globals(S);
    lua_pushcfunction(S, weirlua_policy_read);
    load_chunk(S, job);
    lua_call(S, load_parts(S, job->source->parts), 1);
    lua_pushlightuserdata(S, job->spec);
    lua_pushstring(S, job->source->name);
    lua_pushnil(S);
    if (job->source->options) {
        lua_pop(S, 1);
        weirlua_json_read(S, job->source->options, strlen(job->source->options));
    }
    lua_call(S, 4, 1);
    weirlua_sandbox_keep(S);
    return 0;
}

int weirlua_sandbox_open(struct sandbox *sb, struct weirlua *home, const struct policy_source *source,
                         struct policy_spec *spec, weir_err *err)
{
    struct job job = {home, source, spec, WEIR_ENOMEM};

    if (!weirlua_sandbox_new(sb, &source->budget)) {
        err->code = WEIR_ENOMEM;
        return WEIR_ENOMEM;
    }
    lua_pushcfunction(sb->S, weirlua_sandbox_locate);
    lua_pushcfunction(sb->S, build);
    lua_pushlightuserdata(sb->S, &job);
    if (lua_pcall(sb->S, 1, 0, 1) == LUA_OK) {
        lua_settop(sb->S, 0);
        return WEIR_OK;
    }
    weirlua_sandbox_error(sb, source->name, NULL, err);
    err->code = job.code;
    weirlua_sandbox_close(sb);
    return job.code;
}
