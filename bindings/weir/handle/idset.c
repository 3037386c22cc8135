/* idset.c - weir.idset: sets of ids (RFC 22). add, remove and take change a set; operators, and the methods named like
 * operators, make a new set; nothing is added or removed without an argument. == compares ids. As a key of a table a
 * set is compared by identity: use the text of the set as a key to compare by content. Wherever a set is expected, an
 * id, a list of ids or a text is accepted. Invariant: a set that a script can reach holds a weir_idset, until the
 * finalizer has run. */
#include "handle/idset.h"
#include "handle/support.h"

#define IDSET "weir.idset"

weir_idset **weirlua_idset_push(lua_State *L)
{
    weir_idset **handle = lua_newuserdatauv(L, sizeof *handle, 0);

    *handle = NULL;
    luaL_setmetatable(L, IDSET);
    return handle;
}

int weirlua_idset_finish(lua_State *L, weir_idset *const *handle, int rc)
{
    if (rc)
        return luaL_error(L, "%s", rc == WEIR_ENOMEM ? "out of memory" : weir_status_name(rc));
    weirlua_weigh(L, weir_idset_bytes(*handle));
    return 1;
}

static weir_idset *check_set(lua_State *L, int arg)
{
    weir_idset **handle = luaL_checkudata(L, arg, IDSET);

    luaL_argcheck(L, *handle, arg, "the idset is closed");
    return *handle;
}

static void check_rc(lua_State *L, int rc)
{
    if (rc)
        luaL_error(L, "out of memory");
}

/* Returns the id at `arg`; raises for a wrong id, with the value in the message. */
static uint32_t check_id(lua_State *L, int arg)
{
    int exact;
    lua_Integer id = lua_tointegerx(L, arg, &exact);

    if (lua_type(L, arg) != LUA_TNUMBER)
        luaL_argerror(L, arg, lua_pushfstring(L, "id expected, got %s", luaL_typename(L, arg)));
    if (!exact || id < 0 || id > (lua_Integer)WEIR_IDSET_MAX)
        luaL_argerror(L, arg,
                      lua_pushfstring(L, "id from 0 to 4294967295 expected, got %s", luaL_tolstring(L, arg, NULL)));
    return (uint32_t)id;
}

/* ---- conversion to a set ---- */

/* Adds the ids of a list. The list is measured before: Lua may run finalizers when memory is allocated, and finalizers
 * may change the table. */
static void add_list(lua_State *L, int list, weir_idset *set)
{
    size_t n = 0, i = 0;
    uint32_t *ids;

    luaL_checkstack(L, 5, "idset");
    for (lua_pushnil(L); lua_next(L, list); lua_pop(L, 1), n++)
        if (!lua_isinteger(L, -2))
            luaL_argerror(L, list,
                          lua_pushfstring(L, "list of ids expected, this has the key '%s'",
                                          weirlua_quote(L, luaL_tolstring(L, -2, NULL))));
    ids = lua_newuserdatauv(L, n * sizeof *ids, 0);
    lua_pushnil(L);
    while (i < n && lua_next(L, list)) {
        int exact;
        lua_Integer id = lua_tointegerx(L, -1, &exact);
        if (lua_type(L, -1) != LUA_TNUMBER || !exact || id < 0 || id > (lua_Integer)WEIR_IDSET_MAX)
            luaL_argerror(L, list,
                          lua_pushfstring(L, "list of ids from 0 to 4294967295 expected, there is '%s' in it",
                                          weirlua_quote(L, luaL_tolstring(L, -1, NULL))));
        ids[i++] = (uint32_t)id;
        lua_pop(L, 1);
    }
    check_rc(L, weir_idset_add_list(set, ids, i));
}

static int make_set(lua_State *L, int arg, weir_idset **handle, weir_err *err)
{
    size_t len;
    const char *text;

    if (lua_type(L, arg) == LUA_TSTRING) {
        text = lua_tolstring(L, arg, &len);
        return weir_idset_parse(text, len, handle, err);
    }
    *handle = weir_idset_new();
    check_rc(L, *handle ? WEIR_OK : WEIR_ENOMEM);
    if (lua_type(L, arg) == LUA_TTABLE)
        add_list(L, arg, *handle);
    else
        check_rc(L, weir_idset_add_id(*handle, check_id(L, arg)));
    return WEIR_OK;
}

weir_idset *weirlua_idset_at(lua_State *L, int arg, weir_err *err)
{
    weir_idset **handle;
    int type = lua_type(L, arg), top = lua_gettop(L);

    if (luaL_testudata(L, arg, IDSET))
        return check_set(L, arg);
    if (type != LUA_TSTRING && type != LUA_TTABLE && type != LUA_TNUMBER)
        luaL_argerror(L, arg,
                      lua_pushfstring(L, "idset, id, list of ids or text expected, got %s", luaL_typename(L, arg)));
    handle = weirlua_idset_push(L);
    if (make_set(L, arg, handle, err))
        return NULL;
    weirlua_weigh(L, weir_idset_bytes(*handle));
    lua_settop(L, top + 1);
    lua_replace(L, arg);
    return *handle;
}

/* idset([ids]): a new set of no ids, a text, an id, a list of ids, or a copy of a set. */
int weirlua_idset_new(lua_State *L)
{
    weir_idset **handle;
    weir_err err = {0};
    int rc;

    lua_settop(L, lua_gettop(L) > 0 ? 1 : 0);
    if (lua_gettop(L) == 0) {
        handle = weirlua_idset_push(L);
        *handle = weir_idset_new();
        return weirlua_idset_finish(L, handle, *handle ? WEIR_OK : WEIR_ENOMEM);
    }
    if (!luaL_testudata(L, 1, IDSET)) {
        if (!weirlua_idset_at(L, 1, &err))
            return weirlua_refuse(L, &err);
        lua_settop(L, 1);
        return 1;
    }
    handle = weirlua_idset_push(L);
    rc = weir_idset_copy(check_set(L, 1), handle);
    return weirlua_idset_finish(L, handle, rc);
}

/* copy(): a new set of the same ids. */
static int set_copy(lua_State *L)
{
    const weir_idset *set = check_set(L, 1);
    weir_idset **out = weirlua_idset_push(L);

    return weirlua_idset_finish(L, out, weir_idset_copy(set, out));
}

/* ---- algebra ---- */

typedef int operation(const weir_idset *a, const weir_idset *b, weir_idset **out);

/* Replaces the two operands on the stack, at least one of them a set, by sets. Returns false for a wrong text, with the
 * reason in err. */
static bool convert(lua_State *L, weir_idset **a, weir_idset **b, weir_err *err)
{
    lua_settop(L, 2);
    if (!luaL_testudata(L, 2, IDSET))
        check_set(L, 1);
    *a = weirlua_idset_at(L, 1, err);
    *b = *a ? weirlua_idset_at(L, 2, err) : NULL;
    return *b != NULL;
}

/* Applies `op` to the operands on the stack. Pushes and returns the new set; NULL for a wrong text, with the reason in
 * err. */
static weir_idset **operate(lua_State *L, operation *op, weir_err *err)
{
    weir_idset **out, *a, *b;

    if (!convert(L, &a, &b, err))
        return NULL;
    out = weirlua_idset_push(L);
    weirlua_idset_finish(L, out, op(a, b, out));
    return out;
}

static int operate_raising(lua_State *L, operation *op)
{
    weir_err err = {0};

    return operate(L, op, &err) ? 1 : luaL_error(L, "%s", err.text);
}

static int operate_telling(lua_State *L, operation *op)
{
    weir_err err = {0};

    check_set(L, 1);
    if (lua_gettop(L) == 1 && op != weir_idset_intersect)
        return set_copy(L);
    luaL_checkany(L, 2);
    return operate(L, op, &err) ? 1 : weirlua_refuse(L, &err);
}

/* a + b, a | b */
static int meta_union(lua_State *L)
{
    return operate_raising(L, weir_idset_union);
}

/* a * b, a & b */
static int meta_intersect(lua_State *L)
{
    return operate_raising(L, weir_idset_intersect);
}

/* a - b */
static int meta_difference(lua_State *L)
{
    return operate_raising(L, weir_idset_difference);
}

/* union(x): a new set of the ids in either set. */
static int set_union(lua_State *L)
{
    return operate_telling(L, weir_idset_union);
}

/* intersect(x): a new set of the ids in both sets. */
static int set_intersect(lua_State *L)
{
    return operate_telling(L, weir_idset_intersect);
}

/* difference(x): a new set of the ids not in x. */
static int set_difference(lua_State *L)
{
    return operate_telling(L, weir_idset_difference);
}

/* a == b: false where an operand is no set. */
static int meta_eq(lua_State *L)
{
    lua_settop(L, 2);
    if (luaL_testudata(L, 1, IDSET) && luaL_testudata(L, 2, IDSET))
        lua_pushboolean(L, weir_idset_equal(check_set(L, 1), check_set(L, 2)));
    else
        lua_pushboolean(L, check_set(L, luaL_testudata(L, 2, IDSET) ? 2 : 1) == NULL);
    return 1;
}

static void check_two(lua_State *L, weir_idset **a, weir_idset **b)
{
    weir_err err = {0};

    if (!convert(L, a, b, &err))
        luaL_error(L, "%s", err.text);
}

/* a <= b: whether every id of a is in b. */
static int meta_le(lua_State *L)
{
    weir_idset *a, *b;

    check_two(L, &a, &b);
    lua_pushboolean(L, weir_idset_contains(b, a));
    return 1;
}

/* a < b: whether every id of a is in b, and b has more ids. */
static int meta_lt(lua_State *L)
{
    weir_idset *a, *b;

    check_two(L, &a, &b);
    lua_pushboolean(L, weir_idset_contains(b, a) && weir_idset_count(a) < weir_idset_count(b));
    return 1;
}

/* Answers a question about the set and a further set. */
static int compare(lua_State *L, bool (*holds)(const weir_idset *set, const weir_idset *other))
{
    const weir_idset *set = check_set(L, 1), *other;
    weir_err err = {0};

    luaL_checkany(L, 2);
    other = weirlua_idset_at(L, 2, &err);
    if (!other)
        return weirlua_refuse(L, &err);
    lua_pushboolean(L, holds(set, other));
    return 1;
}

/* contains(x): whether every id of x is in the set. */
static int set_contains(lua_State *L)
{
    return compare(L, weir_idset_contains);
}

/* overlaps(x): whether some id is in both sets. */
static int set_overlaps(lua_State *L)
{
    return compare(L, weir_idset_has_intersection);
}

/* ---- changes ---- */

struct change {
    int (*range)(weir_idset *set, uint32_t lo, uint32_t hi);
    int (*set)(weir_idset *set, const weir_idset *other);
};

static int change(lua_State *L, const struct change *how)
{
    weir_idset *set = check_set(L, 1), *other;
    weir_err err = {0};

    if (lua_gettop(L) == 1)
        return 1;
    lua_settop(L, 3);
    if (!lua_isnil(L, 3)) {
        uint32_t lo = check_id(L, 2), hi = check_id(L, 3);
        luaL_argcheck(L, lo <= hi, 3, "a range must not end below its start");
        check_rc(L, how->range(set, lo, hi));
    } else if (lua_type(L, 2) == LUA_TNUMBER) {
        uint32_t id = check_id(L, 2);
        check_rc(L, how->range(set, id, id));
    } else {
        other = weirlua_idset_at(L, 2, &err);
        if (!other)
            return weirlua_refuse(L, &err);
        check_rc(L, how->set(set, other));
    }
    lua_settop(L, 1);
    return 1;
}

/* add(x) or add(lo, hi): adds ids to the set, and returns the set. */
static int set_add(lua_State *L)
{
    static const struct change how = {weir_idset_add_range, weir_idset_add};
    return change(L, &how);
}

/* remove(x) or remove(lo, hi): removes ids, present or not, from the set, and returns the set. */
static int set_remove(lua_State *L)
{
    static const struct change how = {weir_idset_remove_range, weir_idset_subtract};
    return change(L, &how);
}

/* take(n): moves the n lowest ids, or all where the set has fewer, to a new set. */
static int set_take(lua_State *L)
{
    weir_idset *set = check_set(L, 1);
    lua_Integer n = luaL_checkinteger(L, 2);
    weir_idset **out;

    luaL_argcheck(L, n >= 0, 2, "a number from 0 on expected");
    out = weirlua_idset_push(L);
    return weirlua_idset_finish(L, out, weir_idset_take(set, (uint64_t)n, out));
}

/* ---- questions ---- */

/* has(id): whether the id is in the set. */
static int set_has(lua_State *L)
{
    const weir_idset *set = check_set(L, 1);

    lua_pushboolean(L, weir_idset_test(set, check_id(L, 2)));
    return 1;
}

/* count(), #s: the number of ids. */
static int set_count(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)weir_idset_count(check_set(L, 1)));
    return 1;
}

/* empty(): whether the set has no ids. */
static int set_empty(lua_State *L)
{
    lua_pushboolean(L, weir_idset_count(check_set(L, 1)) == 0);
    return 1;
}

static int push_id(lua_State *L, int64_t id)
{
    if (id < 0)
        lua_pushnil(L);
    else
        lua_pushinteger(L, id);
    return 1;
}

/* first(): the lowest id, or nil. */
static int set_first(lua_State *L)
{
    return push_id(L, weir_idset_first(check_set(L, 1)));
}

/* last(): the highest id, or nil. */
static int set_last(lua_State *L)
{
    return push_id(L, weir_idset_last(check_set(L, 1)));
}

/* next(id): the lowest id above `id`, or nil. */
static int set_next(lua_State *L)
{
    const weir_idset *set = check_set(L, 1);

    return push_id(L, weir_idset_next(set, check_id(L, 2)));
}

/* prev(id): the highest id below `id`, or nil. */
static int set_prev(lua_State *L)
{
    const weir_idset *set = check_set(L, 1);

    return push_id(L, weir_idset_prev(set, check_id(L, 2)));
}

/* ---- iteration: each step searches from the id returned last, so that a loop may change the set ---- */

/* Returns the set of a loop: upvalue 2. */
static const weir_idset *loop_set(lua_State *L)
{
    weir_idset **handle = lua_touserdata(L, lua_upvalueindex(2));

    if (!*handle)
        luaL_error(L, "the idset is closed");
    return *handle;
}

/* The iterator of ids(). Index 2: the id returned last. */
static int step_ids(lua_State *L)
{
    const weir_idset *set = loop_set(L);

    return push_id(L, weir_idset_next(set, lua_isnoneornil(L, 2) ? -1 : (int64_t)check_id(L, 2)));
}

/* for id in s:ids(): all ids, ascending. */
static int set_ids(lua_State *L)
{
    check_set(L, 1);
    lua_pushlightuserdata(L, weirlua_of(L));
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, step_ids, 2);
    return 1;
}

/* The iterator of ranges(). Upvalue 3: the id returned last. */
static int step_ranges(lua_State *L)
{
    const weir_idset *set = loop_set(L);
    int64_t lo = weir_idset_next(set, lua_tointeger(L, lua_upvalueindex(3)));
    int64_t hi = weir_idset_run_end(set, lo);

    if (lo < 0)
        return push_id(L, lo);
    lua_pushinteger(L, hi);
    lua_replace(L, lua_upvalueindex(3));
    lua_pushinteger(L, lo);
    lua_pushinteger(L, hi);
    return 2;
}

/* for lo, hi in s:ranges(): the runs of consecutive ids, ascending; lo and hi included. */
static int set_ranges(lua_State *L)
{
    check_set(L, 1);
    lua_pushlightuserdata(L, weirlua_of(L));
    lua_pushvalue(L, 1);
    lua_pushinteger(L, -1);
    lua_pushcclosure(L, step_ranges, 3);
    return 1;
}

/* ---- texts ---- */

/* format{brackets = false, ranges = true}: the text of the set. With brackets, a set of several ids is put in brackets;
 * without ranges, every id is written. */
static int set_format(lua_State *L)
{
    static const char *const known[] = {"brackets", "ranges", NULL};
    const weir_idset *set = check_set(L, 1);
    unsigned flags;
    struct weirlua_owner *handle;
    weir_err err = {0};

    weirlua_options(L, 2, known);
    flags = (weirlua_field_boolean(L, 2, "ranges", true) ? WEIR_IDSET_RANGES : 0) |
            (weirlua_field_boolean(L, 2, "brackets", false) ? WEIR_IDSET_BRACKETS : 0);
    handle = weirlua_owner_push(L, weir_free);
    return weirlua_text(L, handle, weir_idset_format(set, flags, &err), &err);
}

static int set_tostring(lua_State *L)
{
    const weir_idset *set = check_set(L, 1);
    struct weirlua_owner *handle = weirlua_owner_push(L, weir_free);
    weir_err err = {0};
    char *text = weir_idset_format(set, WEIR_IDSET_RANGES, &err);

    return text ? weirlua_text(L, handle, text, &err) : weirlua_raise(L, &err);
}

static int set_gc(lua_State *L)
{
    weir_idset **handle = luaL_checkudata(L, 1, IDSET);
    weir_idset *set = *handle;

    *handle = NULL;
    weir_idset_free(set);
    return 0;
}

void weirlua_idset_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg methods[] = {{"add", set_add},           {"remove", set_remove},
                                       {"take", set_take},         {"copy", set_copy},
                                       {"union", set_union},       {"intersect", set_intersect},
                                       {"has", set_has},           {"difference", set_difference},
                                       {"contains", set_contains}, {"count", set_count},
                                       {"overlaps", set_overlaps}, {"empty", set_empty},
                                       {"first", set_first},       {"last", set_last},
                                       {"next", set_next},         {"prev", set_prev},
                                       {"ids", set_ids},           {"ranges", set_ranges},
                                       {"format", set_format},     {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__add", meta_union},      {"__bor", meta_union},
                                    {"__mul", meta_intersect},  {"__band", meta_intersect},
                                    {"__sub", meta_difference}, {"__eq", meta_eq},
                                    {"__le", meta_le},          {"__lt", meta_lt},
                                    {"__len", set_count},       {"__tostring", set_tostring},
                                    {"__gc", set_gc},           {NULL, NULL}};

    weirlua_class(L, s, IDSET, methods, meta);
}
