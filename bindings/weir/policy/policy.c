/* policy.c - policies as Lua values: made from a file or a text (in a sandbox) or from a table (trusted, in the user's
 * state). Invariant: a policy that a script can reach is complete and never changes. */
#include "handle/support.h"
#include "policy/policy.h"
#include "system/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct policy *push_closed(lua_State *L)
{
    struct policy *p = lua_newuserdatauv(L, sizeof *p, 5);

    memset(p, 0, sizeof *p);
    luaL_setmetatable(L, WEIRLUA_POLICY);
    return p;
}

/* Pushes the name of a policy for a path: "policies/low.lua" -> "low". */
static void push_name(lua_State *L, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');

    if (dot && dot != name && strcmp(dot, ".lua") == 0)
        lua_pushlstring(L, name, (size_t)(dot - name));
    else
        lua_pushstring(L, name);
}

/* ---- sandboxed policies ---- */

/* Pushes a field that is a table as JSON, and returns the text; pushes nil and returns NULL for nil or an empty
 * table. */
static const char *push_json(lua_State *L, int table, const char *key)
{
    if (lua_getfield(L, table, key) == LUA_TNIL)
        return NULL;
    luaL_checktype(L, -1, LUA_TTABLE);
    lua_pushnil(L);
    if (lua_next(L, -2) == 0) { /* JSON would be an array */
        lua_pushnil(L);
        lua_replace(L, -2);
        return NULL;
    }
    lua_pop(L, 2);
    weirlua_json_write(L, -1, false, 0);
    lua_replace(L, -2);
    return lua_tostring(L, -1);
}

/* Reads {options =, parts =, origin =, instructions =, memory =, seconds =} at `arg`. Pushes two values that keep the
 * texts of options and parts alive, and the origin or nil. */
static void read_settings(lua_State *L, int arg, struct policy_source *from)
{
    static const char *const known[] = {"options", "parts", "origin", "instructions", "memory", "seconds", NULL};

    weirlua_options(L, arg, known);
    from->budget = (struct sandbox_budget){SANDBOX_INSTRUCTIONS, SANDBOX_BYTES, SANDBOX_SECONDS};
    weirlua_sandbox_budget(L, arg, &from->budget);
    from->options = push_json(L, arg, "options");
    from->parts = push_json(L, arg, "parts");
    if (lua_getfield(L, arg, "origin") != LUA_TNIL && lua_type(L, -1) != LUA_TSTRING)
        luaL_error(L, "field 'origin': string expected, got %s", luaL_typename(L, -1));
}

/* Returns the number of bytes of a name, UTF-8, that a label has: whole characters, at most 60 bytes. */
static int label_bytes(const char *name)
{
    size_t n = strnlen(name, 61);

    if (n > 60)
        for (n = 60; ((unsigned char)name[n] & 0xc0) == 0x80; n--)
            continue;
    return (int)n;
}

/* Pushes a sandboxed policy. Stack: source text at `text`, settings at `settings`, path at `path` unless `path` is
 * 0. */
static int open_sandboxed(lua_State *L, int text, int settings, int path, const char *chunk, const char *name)
{
    struct weirlua *s = weirlua_of(L);
    struct policy_source from = {.chunk = chunk, .name = name};
    struct policy *p;
    weir_err err = {0};
    int rc, origin;

    from.text = lua_tolstring(L, text, &from.len);
    read_settings(L, settings, &from);
    origin = lua_gettop(L);
    p = push_closed(L);
    p->spec.origin = lua_tostring(L, origin);
    rc = weirlua_sandbox_open(&p->sandbox, s, &from, &p->spec, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    snprintf(p->label, sizeof p->label, "%.*s@%016" PRIx64, label_bytes(p->spec.name), p->spec.name,
             weirlua_policy_hash(from.text, from.len));
    lua_pushvalue(L, text);
    lua_setiuservalue(L, -2, 2);
    if (path) {
        lua_pushvalue(L, path);
        lua_setiuservalue(L, -2, 3);
    }
    lua_pushvalue(L, origin);
    lua_setiuservalue(L, -2, 5);
    p->serial = weirlua_serial(s);
    p->open = true;
    return 1;
}

/* Pushes the content of the file, or nil, message, code. */
static int push_file(lua_State *L, const char *path)
{
    struct weirlua_owner *owner = weirlua_owner_push(L, weir_free);
    weir_err err = {0};
    char *text = NULL;
    size_t len = 0;
    int rc = weir_file_read(path, "a policy", WEIR_POLICY_MAX, &text, &len, &err);

    /* some editors begin UTF-8 with a byte order mark */
    int mark = !rc && len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

    owner->p = text;
    if (rc)
        return weirlua_fail(L, &err, rc);
    lua_pushlstring(L, text + mark, len - (size_t)mark);
    weirlua_owner_clear(owner);
    lua_replace(L, -2);
    return 1;
}

/* policy_load(path[, settings]) */
int weirlua_policy_load(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    int n;

    lua_settop(L, 2);
    n = push_file(L, path);
    if (n > 1)
        return n;
    push_name(L, path);
    return open_sandboxed(L, 3, 2, 1, path, lua_tostring(L, 4));
}

/* policy_source(text[, name[, settings]]) */
int weirlua_policy_source(lua_State *L)
{
    const char *name;

    luaL_checkstring(L, 1);
    name = luaL_optstring(L, 2, "policy");
    lua_settop(L, 3);
    return open_sandboxed(L, 1, 3, 0, name, name);
}

/* ---- trusted policies ---- */

/* Pushes a trusted policy made from the table at `arg`, with the options at `options` (0: no options). */
static int open_trusted(lua_State *L, struct weirlua *s, int arg, int options)
{
    struct policy *p = push_closed(L);

    lua_pushcfunction(L, weirlua_policy_read);
    lua_pushvalue(L, arg);
    lua_pushlightuserdata(L, &p->spec);
    lua_pushliteral(L, "(table)");
    if (options)
        lua_pushvalue(L, options);
    else
        lua_pushnil(L);
    if (lua_pcall(L, 4, 1, 0) != LUA_OK) {
        lua_pushnil(L);
        lua_insert(L, -2);
        lua_pushstring(L, weir_status_name(WEIR_EPOLICY));
        return 0;
    }
    lua_setiuservalue(L, -2, 1);
    snprintf(p->label, sizeof p->label, "%.*s", label_bytes(p->spec.name), p->spec.name);
    p->serial = weirlua_serial(s);
    p->open = true;
    return 1;
}

/* policy_table(table[, options]) */
int weirlua_policy_table(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    return open_trusted(L, weirlua_of(L), 1, 2) ? 1 : 3;
}

int weirlua_policy_at(lua_State *L, struct weirlua *s, int arg)
{
    const struct policy *p;

    if (lua_isnoneornil(L, arg)) {
        lua_pushnil(L);
        return 1;
    }
    if (lua_type(L, arg) == LUA_TTABLE)
        return open_trusted(L, s, arg, 0);
    p = luaL_testudata(L, arg, WEIRLUA_POLICY);
    if (!p)
        luaL_argerror(L, arg, lua_pushfstring(L, "policy or table expected, got %s", luaL_typename(L, arg)));
    luaL_argcheck(L, p->open, arg, "the policy is closed");
    lua_pushvalue(L, arg);
    return 1;
}

static int policy_gc(lua_State *L)
{
    struct policy *p = luaL_checkudata(L, 1, WEIRLUA_POLICY);

    p->open = false;
    weirlua_sandbox_close(&p->sandbox);
    free(p->profile);
    p->profile = NULL;
    return 0;
}

/* Pushes the options: {name = {type =, value =, default =, doc =, ...}}. */
static void push_options(lua_State *L, const struct policy *p)
{
    if (weirlua_json_read(L, p->spec.options, strlen(p->spec.options)) != 1)
        lua_error(L);
}

static void push_hook_names(lua_State *L, const struct policy *p)
{
    lua_newtable(L);
    for (int i = 0; i < HOOKS; i++)
        if (p->spec.has[i] || (i == HOOK_ORDER && p->spec.norder) || (i == HOOK_SELECT && p->spec.chooses)) {
            lua_pushstring(L, weirlua_hook_names[i]);
            lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
        }
}

static void add_name(lua_State *L, const char *name, size_t len)
{
    lua_pushlstring(L, name, len);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* Pushes the types that the rules of a policy name. */
static void push_types(lua_State *L, const struct policy_spec *spec)
{
    lua_newtable(L);
    for (uint32_t i = 0; i < spec->norder; i++) {
        const char *at = spec->order[i] + (spec->order[i][0] == '-'), *dot = strchr(at, '.');
        if (dot && strncmp(at, "properties.", 11) != 0)
            add_name(L, at, (size_t)(dot - at));
    }
    for (uint32_t i = 0; i < spec->nexclusive; i++)
        add_name(L, spec->exclusive[i], strlen(spec->exclusive[i]));
    for (uint32_t i = 0; i < spec->nlocality; i++)
        add_name(L, spec->locality[i], strlen(spec->locality[i]));
    for (uint32_t i = 0; i < spec->ndescend; i++)
        if (strncmp(spec->descend[i], "tags.", 5) != 0)
            add_name(L, spec->descend[i], strlen(spec->descend[i]));
    for (const char *at = spec->choice.type; at && *at;) { /* the domains of "beside" are TYPE+TYPE */
        size_t len = strcspn(at, "+");
        add_name(L, at, len);
        at += len + (at[len] == '+');
    }
}

/* Pushes the properties that the order and the choice of a policy name. */
static void push_properties(lua_State *L, const struct policy_spec *spec)
{
    const char *const chosen[] = {spec->choice.property, spec->choice.position};

    lua_newtable(L);
    for (uint32_t i = 0; i < spec->norder; i++) {
        const char *at = strstr(spec->order[i], "properties.");
        if (at)
            add_name(L, at + 11, strlen(at + 11));
    }
    for (int i = 0; i < 2; i++)
        if (chosen[i])
            add_name(L, chosen[i], strlen(chosen[i]));
}

static bool is_static(const struct policy *p)
{
    for (int i = 0; i < HOOKS; i++)
        if (p->spec.has[i])
            return false;
    return true;
}

/* Pushes the words of the order of a policy that is an order and nothing else, or prefers nothing; else nil. */
static void push_order(lua_State *L, const struct policy *p)
{
    const struct policy_spec *spec = &p->spec;

    if (!is_static(p) || spec->chooses || spec->nexclusive || spec->nlocality || spec->ndescend || spec->candidates ||
        spec->rotate || spec->state || spec->subsystem) {
        lua_pushnil(L);
        return;
    }
    lua_createtable(L, (int)spec->norder, 0);
    for (uint32_t i = 0; i < spec->norder; i++) {
        lua_pushstring(L, spec->order[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static void push_budget(lua_State *L, const struct policy *p)
{
    lua_createtable(L, 0, 3);
    weirlua_set_integer(L, "instructions", p->sandbox.budget);
    weirlua_set_integer(L, "memory", (lua_Integer)p->sandbox.limit);
    weirlua_set_number(L, "seconds", p->sandbox.seconds);
}

/* Returns why the results of a hook are not remembered; NULL: the results are remembered, or the policy has no such
 * hook. */
static const char *why_not(const struct policy *p, int hook, const struct policy_memory *m)
{
    if (!p->spec.has[hook])
        return NULL;
    return !p->sandbox.S ? "a policy without a sandbox may read anything" : m->refused ? m->why : NULL;
}

/* @class loaded_policy A policy after reading: the result of weir.policy, and the second result of e:policy().
 * @field name: string -- The name.
 * @field doc: string? -- The description, a line.
 * @field version: string? -- The version given by the file.
 * @field hash: string? -- The hash of the file's text; nil for a table.
 * @field label: string -- name@hash: kept with every job matched by the policy.
 * @field source: string? -- The text.
 * @field path: string? -- The file.
 * @field origin: string? -- Distinguishes the policy from others of the same name: the file, without symbolic links;
 * the parts of a combined policy; nil for a policy that comes with weir, for texts and for tables.
 * @field state_key: string? -- The key of the data of the machine's root under which the state is kept; nil without a
 *   state.
 * @field options: table<string, table> -- The options: {value =, default =, type =, doc =, ...} each.
 * @field hooks: string[] -- The hooks that the policy has, of order, prune, evaluate, select, admit, init, placed.
 * @field parts: string[] -- The parts that a match can be made without, of admit, prune, evaluate, exclusive, locality,
 *   select.
 * @field budget: table? -- The limits of one match: {instructions =, memory = bytes, seconds =}; nil for a table.
 * @field overran: number? -- The seconds of the last match, where more than twice the budget of seconds; else nil.
 * @field sandboxed: boolean -- Whether the policy has a sandbox.
 * @field uncached: string? -- Why the scores of evaluate are not remembered between matches, as far as is known by now;
 *   nil where the scores are remembered, or without evaluate.
 * @field uncached_prune: string? -- Why the answers of prune are not remembered; nil where they are, or without prune.
 * @field traceback: string? -- The functions of the file that ran at the last error, innermost first, a line each; nil
 *   without an error, and for a table.
 * @field types: string[] -- The types of vertices that order, exclusive, locality, descend and select name.
 * @field properties: string[] -- The properties that order and select name.
 * @field static: boolean -- Whether no function of the policy is called: a policy of rules only.
 * @field order: string[]? -- The words of the order of a policy that is an order and nothing else, none for a policy
 *   that prefers nothing; nil for any other policy.
 * @method profile(on: boolean?): table? -- true starts counting, false ends counting; without argument the counts:
 *   {hooks =, lines =, samples =, reads =}. */
static bool push_field(lua_State *L, const struct policy *p, const char *key)
{
    const char *at = strchr(p->label, '@');

    if (strcmp(key, "name") == 0)
        lua_pushstring(L, p->spec.name);
    else if (strcmp(key, "doc") == 0)
        lua_pushstring(L, p->spec.doc);
    else if (strcmp(key, "version") == 0)
        lua_pushstring(L, p->spec.version);
    else if (strcmp(key, "label") == 0)
        lua_pushstring(L, p->label);
    else if (strcmp(key, "hash") == 0)
        lua_pushstring(L, at && p->sandbox.S ? at + 1 : NULL);
    else if (strcmp(key, "source") == 0)
        lua_getiuservalue(L, 1, 2);
    else if (strcmp(key, "path") == 0)
        lua_getiuservalue(L, 1, 3);
    else if (strcmp(key, "origin") == 0)
        lua_pushstring(L, p->spec.origin);
    else if (strcmp(key, "state_key") == 0)
        lua_pushstring(L, p->spec.state_key);
    else if (strcmp(key, "options") == 0)
        push_options(L, p);
    else if (strcmp(key, "hooks") == 0)
        push_hook_names(L, p);
    else if (strcmp(key, "parts") == 0)
        weirlua_push_parts(L, &p->spec);
    else if (strcmp(key, "budget") == 0 && p->sandbox.S)
        push_budget(L, p);
    else if (strcmp(key, "budget") == 0)
        lua_pushnil(L);
    else if (strcmp(key, "uncached") == 0)
        lua_pushstring(L, why_not(p, HOOK_EVALUATE, &p->memory[MEMORY_SCORES]));
    else if (strcmp(key, "uncached_prune") == 0)
        lua_pushstring(L, why_not(p, HOOK_PRUNE, &p->memory[MEMORY_PRUNE]));
    else if (strcmp(key, "overran") == 0 && p->sandbox.overran > 0)
        lua_pushnumber(L, p->sandbox.overran);
    else if (strcmp(key, "overran") == 0)
        lua_pushnil(L);
    else if (strcmp(key, "traceback") == 0)
        lua_pushstring(L, p->sandbox.S && p->sandbox.trace[0] ? p->sandbox.trace : NULL);
    else if (strcmp(key, "sandboxed") == 0)
        lua_pushboolean(L, p->sandbox.S != NULL);
    else if (strcmp(key, "types") == 0)
        push_types(L, &p->spec);
    else if (strcmp(key, "properties") == 0)
        push_properties(L, &p->spec);
    else if (strcmp(key, "static") == 0)
        lua_pushboolean(L, is_static(p));
    else if (strcmp(key, "order") == 0)
        push_order(L, p);
    else if (strcmp(key, "profile") == 0)
        lua_pushvalue(L, lua_upvalueindex(2));
    else
        return false;
    return true;
}

static int policy_index(lua_State *L)
{
    static const char *const fields[] = {"name",      "doc",     "version",   "label",   "hash",       "source",
                                         "path",      "origin",  "state_key", "options", "hooks",      "parts",
                                         "budget",    "order",   "sandboxed", "static",  "uncached",   "uncached_prune",
                                         "traceback", "overran", "profile",   "types",   "properties", NULL};
    struct policy *p = luaL_checkudata(L, 1, WEIRLUA_POLICY);
    const char *key = luaL_checkstring(L, 2);

    luaL_argcheck(L, p->open, 1, "the policy is closed");
    if (!push_field(L, p, key))
        return luaL_error(L,
                          "a policy has no field '%s'%s; it has name, doc, version, label, hash, source, path, origin, "
                          "state_key, options, hooks, parts, budget, overran, sandboxed, uncached, uncached_prune, "
                          "static, order, types, properties, traceback, profile",
                          weirlua_quote(L, key), weirlua_hint(L, key, fields));
    return 1;
}

/* policy_stamp(path): a text that changes with the file; nil for a missing file. */
int weirlua_policy_stamp(lua_State *L)
{
    struct stat st;

    if (stat(luaL_checkstring(L, 1), &st) != 0)
        return 0;
    lua_pushfstring(L, "%I.%I.%I.%I", (LUAI_UACINT)st.st_mtim.tv_sec, (LUAI_UACINT)st.st_mtim.tv_nsec,
                    (LUAI_UACINT)st.st_size, (LUAI_UACINT)st.st_ino);
    return 1;
}

/* Pushes a path without symbolic links, "." and ".."; a path without a file is pushed unchanged. */
static const char *push_real(lua_State *L, const char *path)
{
    struct weirlua_owner *owner = weirlua_owner_push(L, free);

    owner->p = realpath(path, NULL);
    lua_pushstring(L, owner->p ? owner->p : path);
    weirlua_owner_clear(owner);
    lua_replace(L, -2);
    return lua_tostring(L, -1);
}

/* policy_origin(path, directory): the path without symbolic links, which distinguishes policies of one name, and the
 * hash of the path; no value for a file in the directory of the policies that come with weir. */
int weirlua_policy_origin(lua_State *L)
{
    const char *path = push_real(L, luaL_checkstring(L, 1)), *directory = push_real(L, luaL_checkstring(L, 2));
    size_t len = strlen(directory);
    char hash[24];

    if (strncmp(path, directory, len) == 0 && path[len] == '/' && !strchr(path + len + 1, '/'))
        return 0;
    snprintf(hash, sizeof hash, "%016" PRIx64, weirlua_policy_hash(path, strlen(path)));
    lua_pushstring(L, path);
    lua_pushstring(L, hash);
    return 2;
}

static int policy_tostring(lua_State *L)
{
    struct policy *p = luaL_checkudata(L, 1, WEIRLUA_POLICY);

    lua_pushfstring(L, "policy %s", p->open ? p->spec.name : "(closed)");
    return 1;
}

void weirlua_policy_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg meta[] = {{"__gc", policy_gc}, {"__tostring", policy_tostring}, {NULL, NULL}};

    weirlua_job_open(L);
    weirlua_class(L, s, WEIRLUA_POLICY, NULL, meta);
    luaL_getmetatable(L, WEIRLUA_POLICY);
    lua_pushlightuserdata(L, s);
    lua_pushlightuserdata(L, s);
    lua_pushcclosure(L, weirlua_policy_profile, 1);
    lua_pushcclosure(L, policy_index, 2);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
