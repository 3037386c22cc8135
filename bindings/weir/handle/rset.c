/* rset.c - weir.rset: resource sets (RFC 20). A set never changes: methods that change something return a new set.
 * Wherever a set is expected, an R as text or as a table is accepted. Invariant: a set that a script can reach holds a
 * weir_rset, until the finalizer has run. */
#include "handle/graph.h"
#include "handle/hostlist.h"
#include "handle/idset.h"
#include "handle/query.h"
#include "handle/rset.h"
#include "handle/support.h"
#include "system/json.h"

#include <stdlib.h>
#include <string.h>

#define RSET "weir.rset"

/* ---- the handle ------------------------------------------------------------------------------------------------- */

weir_rset **weirlua_rset_push(lua_State *L)
{
    weir_rset **handle = lua_newuserdatauv(L, sizeof *handle, 0);

    *handle = NULL;
    luaL_setmetatable(L, RSET);
    return handle;
}

int weirlua_rset_finish(lua_State *L, weir_rset *const *handle, int rc, const weir_err *err)
{
    if (rc)
        return weirlua_fail(L, err, rc);
    weirlua_weigh(L, weir_rset_bytes(*handle));
    return 1;
}

static weir_rset *check_set(lua_State *L, int arg)
{
    weir_rset **handle = luaL_checkudata(L, arg, RSET);

    luaL_argcheck(L, *handle, arg, "the resource set is closed");
    return *handle;
}

/* Replaces the R at `arg` (a set, a text, a table) by a set. Returns NULL with nil, message, code pushed. */
static weir_rset *rset_at(lua_State *L, int arg)
{
    int type = lua_type(L, arg), top = lua_gettop(L), rc;
    const char *text;
    weir_rset **handle;
    weir_err err = {0};
    size_t len;

    if (luaL_testudata(L, arg, RSET))
        return check_set(L, arg);
    if (type != LUA_TSTRING && type != LUA_TTABLE)
        luaL_argerror(L, arg,
                      lua_pushfstring(L, "resource set, R as text or table expected, got %s", luaL_typename(L, arg)));
    if (type == LUA_TTABLE)
        weirlua_json_write(L, arg, true, 0);
    else
        lua_pushvalue(L, arg);
    text = lua_tolstring(L, -1, &len);
    handle = weirlua_rset_push(L);
    rc = weir_rset_parse(text, len, NULL, handle, &err);
    if (rc) {
        weirlua_fail(L, &err, rc);
        return NULL;
    }
    weirlua_weigh(L, weir_rset_bytes(*handle));
    lua_replace(L, arg);
    lua_settop(L, top);
    return *handle;
}

/* rset([R[, source]]): a set from an R as text, called `source` in errors, or from a table; without R, a set without
 * ranks. */
int weirlua_rset_new(lua_State *L)
{
    const char *source = luaL_optstring(L, 2, NULL), *text;
    weir_rset **handle;
    weir_err err = {0};
    size_t len;
    int rc;

    lua_settop(L, 1);
    if (lua_isnil(L, 1)) {
        handle = weirlua_rset_push(L);
        *handle = weir_rset_new();
        return weirlua_rset_finish(L, handle, *handle ? WEIR_OK : WEIR_ENOMEM, &err);
    }
    if (lua_type(L, 1) != LUA_TSTRING)
        return rset_at(L, 1) ? 1 : 3;
    text = lua_tolstring(L, 1, &len);
    handle = weirlua_rset_push(L);
    rc = weir_rset_parse(text, len, source, handle, &err);
    return weirlua_rset_finish(L, handle, rc, &err);
}

/* (faults): the list of the faults. Runs under lua_pcall. */
static int push_faults(lua_State *L)
{
    uint32_t n;
    const weir_fault *list = weir_faults_list(lua_touserdata(L, 1), &n);

    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        lua_createtable(L, 0, 2);
        weirlua_set_text(L, "place", list[i].place);
        weirlua_set_text(L, "text", list[i].text);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* check_R(text[, most]): the list of all faults of an R by RFC 20, {place =, text =} each; at most `most`, 1000 if not
 * given. */
int weirlua_check_R(lua_State *L)
{
    weir_faults *faults = NULL;
    weir_err err = {0};
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    lua_Integer most = luaL_optinteger(L, 2, 1000);
    int rc;

    luaL_argcheck(L, most > 0 && most <= 1000000, 2, "a number from 1 to 1000000 expected");
    rc = weir_rset_check(text, len, (uint32_t)most, &faults, &err);
    if (rc < 0)
        return weirlua_fail(L, &err, rc);
    lua_pushcfunction(L, push_faults);
    lua_pushlightuserdata(L, faults);
    rc = lua_pcall(L, 1, 1, 0);
    weir_faults_free(faults);
    return rc == LUA_OK ? 1 : lua_error(L);
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

/* Pushes a copy of a set of ids. */
static void push_ids(lua_State *L, const weir_idset *ids)
{
    weir_idset **handle = weirlua_idset_push(L);

    weirlua_idset_finish(L, handle, weir_idset_copy(ids, handle));
}

/* count([type]): the number of ids of a type, or of ranks. */
static int set_count(lua_State *L)
{
    const weir_rset *r = check_set(L, 1);

    lua_pushinteger(L, (lua_Integer)weir_rset_count(r, luaL_optstring(L, 2, NULL)));
    return 1;
}

static int meta_len(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)weir_rset_count(check_set(L, 1), NULL));
    return 1;
}

/* ranks(): an idset of the ranks. */
static int set_ranks(lua_State *L)
{
    push_ids(L, weir_rset_ranks(check_set(L, 1)));
    return 1;
}

/* hosts(): a hostlist in the order of the ranks; nil for a set without nodelist. */
static int set_hosts(lua_State *L)
{
    const weir_rset *r = check_set(L, 1);
    weir_hostlist **handle = weirlua_hostlist_push(L);
    weir_err err = {0};
    int rc = weir_rset_hosts(r, handle, &err);

    if (rc == WEIR_ENOENT) {
        lua_pushnil(L);
        return 1;
    }
    if (rc == WEIR_OK && !*handle)
        *handle = weir_hostlist_new();
    return weirlua_hostlist_finish(L, handle, rc == WEIR_OK && !*handle ? WEIR_ENOMEM : rc);
}

/* Pushes {type = idset} of an entry. */
static void push_children(lua_State *L, const weir_rset *r, uint32_t entry)
{
    const weir_idset *ids;
    const char *type;

    lua_newtable(L);
    for (uint32_t k = 0; weir_rset_entry_child(r, entry, k, &type, &ids); k++) {
        lua_pushstring(L, type);
        push_ids(L, ids);
        lua_rawset(L, -3);
    }
}

/* children(rank[, type]): {core = idset, ...}, or the ids of one type; nil where the rank has no such children. */
static int set_children(lua_State *L)
{
    const weir_rset *r = check_set(L, 1);
    lua_Integer rank = luaL_checkinteger(L, 2);
    const char *type = luaL_optstring(L, 3, NULL);
    const weir_idset *ranks = NULL, *ids = type ? weir_rset_children(r, rank, type) : NULL;
    uint32_t i = 0;

    if (rank >= 0 && rank <= (lua_Integer)WEIR_IDSET_MAX)
        while (weir_rset_entry(r, i, &ranks) && !weir_idset_test(ranks, (uint32_t)rank))
            i++;
    if (type && ids)
        push_ids(L, ids);
    else if (!type && ranks && weir_idset_test(ranks, (uint32_t)rank))
        push_children(L, r, i);
    else
        lua_pushnil(L);
    return 1;
}

/* entries(): a list of {ranks = idset, children = {core = idset, ...}}; ranks with equal children share an entry. */
static int set_entries(lua_State *L)
{
    const weir_rset *r = check_set(L, 1);
    const weir_idset *ranks;

    lua_newtable(L);
    for (uint32_t i = 0; weir_rset_entry(r, i, &ranks); i++) {
        lua_createtable(L, 0, 2);
        push_ids(L, ranks);
        lua_setfield(L, -2, "ranks");
        push_children(L, r, i);
        lua_setfield(L, -2, "children");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* properties(): {name = idset of ranks}, and the list of the names, in order. */
static int set_properties(lua_State *L)
{
    const weir_rset *r = check_set(L, 1);
    const weir_idset *ranks;
    const char *name;

    lua_newtable(L);
    for (uint32_t i = 0; weir_rset_property(r, i, &name, &ranks); i++) {
        lua_pushstring(L, name);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, (lua_Integer)i + 1);
        push_ids(L, ranks);
        lua_rawset(L, -3);
    }
    return 1;
}

/* starttime(): seconds; nil where not set. */
static int set_starttime(lua_State *L)
{
    int64_t start = weir_rset_start(check_set(L, 1));

    if (start == 0)
        lua_pushnil(L);
    else
        weirlua_push_time(L, start);
    return 1;
}

/* expiration(): seconds; nil where not set. */
static int set_expiration(lua_State *L)
{
    int64_t end = weir_rset_end(check_set(L, 1));

    if (end == WEIR_FOREVER)
        lua_pushnil(L);
    else
        weirlua_push_time(L, end);
    return 1;
}

/* nslots(): the number of slots of the allocation that the set is, or is a part of; nil where unknown. */
static int set_nslots(lua_State *L)
{
    uint32_t n = weir_rset_nslots(check_set(L, 1));

    if (n == 0)
        lua_pushnil(L);
    else
        lua_pushinteger(L, n);
    return 1;
}

/* writer(): the program that wrote the key "scheduling"; nil for a set without the key. */
static int set_writer(lua_State *L)
{
    lua_pushstring(L, weir_rset_writer(check_set(L, 1)));
    return 1;
}

/* get(key): the value of "scheduling", "attributes", any further key, or "execution.KEY", unchanged. */
static int set_get(lua_State *L)
{
    const weir_rset *r = check_set(L, 1);
    const char *key = luaL_checkstring(L, 2);
    struct weirlua_owner *handle = weirlua_owner_push(L, weir_free);
    weir_err err = {0};
    char *text = weir_rset_get(r, key, &err);
    int n;

    if (!text)
        return weirlua_fail(L, &err, err.code);
    handle->p = text;
    n = weirlua_json_read(L, text, strlen(text));
    weirlua_owner_clear(handle);
    return n;
}

/* validate(): true; or nil, message, code. */
static int set_validate(lua_State *L)
{
    weir_err err = {0};

    return weirlua_status(L, weir_rset_validate(check_set(L, 1), &err), &err);
}

/* format([kind]): the text as "rv1", "rv1_nosched", "rlite" or "rlist". */
static int set_format(lua_State *L)
{
    const weir_rset *r = check_set(L, 1);
    const char *format = luaL_optstring(L, 2, "rv1");
    struct weirlua_owner *handle = weirlua_owner_push(L, weir_free);
    weir_err err = {0};

    return weirlua_text(L, handle, weir_rset_format(r, format, &err), &err);
}

static int meta_tostring(lua_State *L)
{
    lua_settop(L, 1);
    lua_pushliteral(L, "rlist");
    if (set_format(L) == 1)
        return 1;
    lua_pop(L, 1); /* the code: only the message is raised */
    return lua_error(L);
}

/* graph(): the graph of the machine that the set describes. */
static int set_graph(lua_State *L)
{
    const weir_rset *r = check_set(L, 1);
    struct weirlua_graph *handle = weirlua_graph_closed(L);
    weir_err err = {0};

    return weirlua_graph_finish(L, handle, weir_rset_graph(r, &handle->g, &err), &err);
}

/* ---- algebra ---------------------------------------------------------------------------------------------------- */

/* Applies `op` to the two sets on the stack, after conversion. Pushes the new set, or nil, message, code. */
static int operate(lua_State *L, enum weir_rset_op op)
{
    const weir_rset *a, *b;
    weir_rset **out;
    weir_err err = {0};

    lua_settop(L, 2);
    a = rset_at(L, 1);
    b = a ? rset_at(L, 2) : NULL;
    if (!b)
        return 3;
    out = weirlua_rset_push(L);
    return weirlua_rset_finish(L, out, weir_rset_combine(op, a, b, out, &err), &err);
}

static int operate_raising(lua_State *L, enum weir_rset_op op)
{
    return operate(L, op) == 1 ? 1 : luaL_error(L, "%s", lua_tostring(L, -2));
}

/* a + b, a | b */
static int meta_union(lua_State *L)
{
    return operate_raising(L, WEIR_RSET_UNION);
}

/* a * b, a & b */
static int meta_intersect(lua_State *L)
{
    return operate_raising(L, WEIR_RSET_INTERSECT);
}

/* a - b */
static int meta_diff(lua_State *L)
{
    return operate_raising(L, WEIR_RSET_DIFF);
}

/* union(x): a new set of the resources in either set. */
static int set_union(lua_State *L)
{
    check_set(L, 1);
    return operate(L, WEIR_RSET_UNION);
}

/* intersect(x): a new set of the resources in both sets. */
static int set_intersect(lua_State *L)
{
    check_set(L, 1);
    return operate(L, WEIR_RSET_INTERSECT);
}

/* diff(x): a new set of the resources not in x. */
static int set_diff(lua_State *L)
{
    check_set(L, 1);
    return operate(L, WEIR_RSET_DIFF);
}

/* append(x): the union of disjoint sets; nil, message, "exists" for sets with a common resource. */
static int set_append(lua_State *L)
{
    check_set(L, 1);
    return operate(L, WEIR_RSET_APPEND);
}

/* a == b: whether both sets have equal ids on equal ranks of equal hosts; false where an operand is different
 * userdata. */
static int meta_eq(lua_State *L)
{
    lua_settop(L, 2);
    if (luaL_testudata(L, 1, RSET) && luaL_testudata(L, 2, RSET))
        lua_pushboolean(L, weir_rset_equal(check_set(L, 1), check_set(L, 2)));
    else
        lua_pushboolean(L, check_set(L, luaL_testudata(L, 2, RSET) ? 2 : 1) == NULL);
    return 1;
}

/* a <= b: whether every resource of a is in b. */
static int meta_le(lua_State *L)
{
    operate_raising(L, WEIR_RSET_DIFF);
    lua_pushboolean(L, weir_rset_count(check_set(L, -1), NULL) == 0);
    return 1;
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* on_ranks(ids): the part of the set on the given ranks. */
static int set_on_ranks(lua_State *L)
{
    const weir_rset *r = check_set(L, 1);
    const weir_idset *ranks;
    weir_rset **out;
    weir_err err = {0};

    luaL_checkany(L, 2);
    ranks = weirlua_idset_at(L, 2, &err);
    if (!ranks)
        return weirlua_refuse(L, &err);
    out = weirlua_rset_push(L);
    return weirlua_rset_finish(L, out, weir_rset_select_ranks(r, ranks, out, &err), &err);
}

/* on_hosts(list): the part of the set on the given hosts. */
static int set_on_hosts(lua_State *L)
{
    const weir_rset *r = check_set(L, 1);
    const weir_hostlist *hosts;
    weir_rset **out;
    weir_err err = {0};

    luaL_checkany(L, 2);
    hosts = weirlua_hostlist_at(L, 2, &err);
    if (!hosts)
        return weirlua_refuse(L, &err);
    out = weirlua_rset_push(L);
    return weirlua_rset_finish(L, out, weir_rset_select_hosts(r, hosts, out, &err), &err);
}

/* where(constraint): the part of the set on the ranks that meet a constraint. */
static int set_where(lua_State *L)
{
    const weir_rset *r = check_set(L, 1);
    const weir_constraint *c = weirlua_check_constraint(L, 2);
    weir_rset **out = weirlua_rset_push(L);
    weir_err err = {0};

    return weirlua_rset_finish(L, out, weir_rset_select(r, c, out, &err), &err);
}

/* remap([{hosts =, ids =}]): the set with the ranks renumbered to 0, 1, ... */
static int set_remap(lua_State *L)
{
    static const char *const known[] = {"hosts", "ids", NULL};
    const weir_rset *r = check_set(L, 1);
    const weir_hostlist *hosts = NULL;
    weir_rset **out;
    weir_err err = {0};
    bool ids;

    weirlua_options(L, 2, known);
    lua_settop(L, 2);
    ids = weirlua_field_boolean(L, 2, "ids", false);
    lua_pushliteral(L, "hosts");
    if (lua_rawget(L, 2) != LUA_TNIL) {
        hosts = weirlua_hostlist_at(L, 3, &err);
        if (!hosts)
            return weirlua_refuse(L, &err);
    }
    out = weirlua_rset_push(L);
    return weirlua_rset_finish(L, out, weir_rset_remap(r, hosts, ids, out, &err), &err);
}

/* Gives a new set the properties of the table at 3: {name = ranks}, in the order of the names. */
static int set_properties_of(lua_State *L, weir_rset *r, weir_err *err)
{
    const char **names;
    size_t n;
    int rc = WEIR_OK, top;

    for (lua_pushnil(L); lua_next(L, 3); lua_pop(L, 1))
        if (lua_type(L, -2) != LUA_TSTRING)
            luaL_error(L, "field 'properties': names with ranks expected, this has the key '%s'",
                       weirlua_quote(L, luaL_tolstring(L, -2, NULL)));
    names = weirlua_push_keys(L, 3, &n);
    top = lua_gettop(L);
    for (size_t i = 0; rc == WEIR_OK && i < n; i++) {
        const weir_idset *ranks;
        lua_pushstring(L, names[i]);
        lua_rawget(L, 3);
        ranks = weirlua_idset_at(L, top + 1, err);
        rc = ranks ? weir_rset_set_property(r, names[i], ranks, err) : err->code;
        lua_settop(L, top);
    }
    return rc;
}

/* with{starttime =, expiration =, properties = {name = ranks}}: a copy with new times, and further properties. A time
 * of 0 means "not set"; times not given are kept. */
static int set_with(lua_State *L)
{
    static const char *const known[] = {"starttime", "expiration", "properties", NULL};
    const weir_rset *r = check_set(L, 1);
    int64_t start, end;
    weir_rset **out;
    weir_err err = {0};
    int rc;

    weirlua_options(L, 2, known);
    lua_settop(L, 2);
    start = weirlua_field_time(L, 2, "starttime", weir_rset_start(r));
    end = weirlua_field_time(L, 2, "expiration", weir_rset_end(r));
    lua_pushliteral(L, "properties");
    lua_rawget(L, 2);
    luaL_argcheck(L, lua_isnil(L, 3) || lua_istable(L, 3), 2, "properties: a table expected");
    out = weirlua_rset_push(L);
    rc = weir_rset_copy(r, out, &err);
    if (rc == WEIR_OK)
        rc = weir_rset_set_times(*out, start, end == 0 ? WEIR_FOREVER : end, &err);
    if (rc == WEIR_OK && lua_istable(L, 3))
        rc = set_properties_of(L, *out, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    lua_settop(L, 4);
    return weirlua_rset_finish(L, out, rc, &err);
}

/* ---- graphs ----------------------------------------------------------------------------------------------------- */

/* g:rset{state = "all" | "down" | "allocated", scheduling = true}: the set of a graph, or of the resources in a
 * state. */
int weirlua_graph_rset(lua_State *L)
{
    static const char *const known[] = {"state", "scheduling", NULL};
    static const char *const states[] = {"all", "down", "allocated", NULL}; /* enum weir_rset_what */
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    weir_rset **out;
    weir_err err = {0};
    bool scheduling;
    int what;

    weirlua_options(L, 2, known);
    what = weirlua_field_choice(L, 2, "state", 0, states);
    scheduling = weirlua_field_boolean(L, 2, "scheduling", false);
    out = weirlua_rset_push(L);
    return weirlua_rset_finish(L, out, weir_graph_rset(handle->g, (enum weir_rset_what)what, scheduling, out, &err),
                               &err);
}

static int set_gc(lua_State *L)
{
    weir_rset **handle = luaL_checkudata(L, 1, RSET);
    weir_rset *r = *handle;

    *handle = NULL;
    weir_rset_free(r);
    return 0;
}

void weirlua_rset_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg methods[] = {{"count", set_count},
                                       {"ranks", set_ranks},
                                       {"hosts", set_hosts},
                                       {"children", set_children},
                                       {"entries", set_entries},
                                       {"properties", set_properties},
                                       {"starttime", set_starttime},
                                       {"expiration", set_expiration},
                                       {"nslots", set_nslots},
                                       {"writer", set_writer},
                                       {"get", set_get},
                                       {"validate", set_validate},
                                       {"format", set_format},
                                       {"graph", set_graph},
                                       {"union", set_union},
                                       {"intersect", set_intersect},
                                       {"diff", set_diff},
                                       {"append", set_append},
                                       {"on_ranks", set_on_ranks},
                                       {"on_hosts", set_on_hosts},
                                       {"where", set_where},
                                       {"remap", set_remap},
                                       {"with", set_with},
                                       {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__add", meta_union},      {"__bor", meta_union}, {"__mul", meta_intersect},
                                    {"__band", meta_intersect}, {"__sub", meta_diff},  {"__eq", meta_eq},
                                    {"__le", meta_le},          {"__len", meta_len},   {"__tostring", meta_tostring},
                                    {"__gc", set_gc},           {NULL, NULL}};

    weirlua_class(L, s, RSET, methods, meta);
}
