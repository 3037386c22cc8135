/* policy_options.c - the options of a policy: declarations, values given, resulting values. Invariant: every declared
 * option has a value of the declared type, or no value where the option has no default and no value was given.
 *
 *   options = { k = 4,                                          the type is the default's
 *               share = { default = 0.5, min = 0, max = 1, doc = "..." },
 *               mode = { default = "strict", choices = { "strict", "loose" } },
 *               file = { type = "string" } }                    no default
 *
 * Types: boolean, integer, number, string, table. Since options come from the command line, a text is accepted for any
 * type when the text can be converted (for a table: from JSON). */
#include "handle/support.h"
#include "policy/policy.h"
#include "system/json.h"

#include <math.h>
#include <string.h>

enum option_type { OPTION_BOOLEAN, OPTION_INTEGER, OPTION_NUMBER, OPTION_STRING, OPTION_TABLE, OPTION_TYPES };

static const char *const type_names[OPTION_TYPES + 1] = {"boolean", "integer", "number", "string", "table", NULL};

/* An option while being read. The declaration is a table at stack index `at`. */
struct option {
    const struct policy_spec *spec;
    const char *name;
    int at, type;
};

static int refuse(lua_State *L, const struct option *o, const char *what)
{
    return weirlua_policy_refuse(L, o->spec, "option '%s': %s", o->name, what);
}

/* Appends a word to the text at `at`. */
static void add_word(lua_State *L, int at, const char *word)
{
    lua_pushfstring(L, "%s %s", lua_tostring(L, at), word);
    lua_replace(L, at);
}

static int raw_field(lua_State *L, int table, const char *key)
{
    lua_pushstring(L, key);
    return lua_rawget(L, table);
}

/* Returns the type of the value on top; -1 for a value that no option can have. */
static int type_of_value(lua_State *L)
{
    switch (lua_type(L, -1)) {
    case LUA_TBOOLEAN: return OPTION_BOOLEAN;
    case LUA_TNUMBER: return lua_isinteger(L, -1) ? OPTION_INTEGER : OPTION_NUMBER;
    case LUA_TSTRING: return OPTION_STRING;
    case LUA_TTABLE: return OPTION_TABLE;
    default: return -1;
    }
}

static bool is_of_type(lua_State *L, int type)
{
    int is = type_of_value(L);
    return is == type || (is == OPTION_INTEGER && type == OPTION_NUMBER);
}

/* ---- declarations ---- */

static void check_keys(lua_State *L, const struct option *o)
{
    static const char *const known[] = {"type", "default", "min", "max", "choices", "doc", NULL};

    for (lua_pushnil(L); lua_next(L, o->at); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        if (weirlua_word(known, key) < 0) {
            const char *shown = weirlua_quote(L, weirlua_show(L, -2));
            refuse(L, o,
                   lua_pushfstring(L, "there is no '%s'%s; an option has type, default, min, max, choices, doc", shown,
                                   weirlua_hint(L, key, known)));
        }
    }
}

/* Replaces a default by a declaration with the default. */
static void expand(lua_State *L, struct option *o)
{
    if (lua_type(L, o->at) == LUA_TTABLE)
        return;
    lua_createtable(L, 0, 2);
    lua_pushvalue(L, o->at);
    lua_setfield(L, -2, "default");
    lua_replace(L, o->at);
}

static void read_type(lua_State *L, struct option *o)
{
    int given = raw_field(L, o->at, "type");

    o->type = given == LUA_TSTRING ? weirlua_word(type_names, lua_tostring(L, -1)) : -1;
    if (given != LUA_TNIL && o->type < 0) {
        const char *shown = weirlua_quote(L, weirlua_show(L, -1));
        refuse(L, o,
               lua_pushfstring(L, "there is no type '%s'%s; expected boolean, integer, number, string or table", shown,
                               weirlua_hint(L, shown, type_names)));
    }
    lua_pop(L, 1);
    if (o->type >= 0)
        return;
    if (raw_field(L, o->at, "choices") != LUA_TNIL)
        o->type = OPTION_STRING;
    else if (raw_field(L, o->at, "default") != LUA_TNIL)
        o->type = type_of_value(L);
    if (o->type < 0)
        refuse(L, o, "expected a type or a default");
    lua_settop(L, o->at);
}

/* ---- values ---- */

/* Converts the text on top to a value of the type, where possible. */
static void from_text(lua_State *L, int type)
{
    const char *text = lua_tostring(L, -1);
    int top = lua_gettop(L);

    if (type == OPTION_BOOLEAN && (strcmp(text, "true") == 0 || strcmp(text, "yes") == 0))
        lua_pushboolean(L, 1);
    else if (type == OPTION_BOOLEAN && (strcmp(text, "false") == 0 || strcmp(text, "no") == 0))
        lua_pushboolean(L, 0);
    else if (type == OPTION_TABLE && (text[0] == '{' || text[0] == '['))
        weirlua_json_read(L, text, strlen(text)); /* nil, message and code for wrong JSON */
    else if ((type != OPTION_INTEGER && type != OPTION_NUMBER) || !lua_stringtonumber(L, text))
        return;
    lua_settop(L, top + 1);
    lua_remove(L, -2);
}

static void check_range(lua_State *L, const struct option *o)
{
    lua_Number value = lua_tonumber(L, -1);

    if (isnan(value))
        refuse(L, o, "it is not a number");
    if (raw_field(L, o->at, "min") != LUA_TNIL && value < lua_tonumber(L, -1))
        refuse(L, o, lua_pushfstring(L, "%f is below %f, the least", value, lua_tonumber(L, -1)));
    lua_pop(L, 1);
    if (raw_field(L, o->at, "max") != LUA_TNIL && value > lua_tonumber(L, -1))
        refuse(L, o, lua_pushfstring(L, "%f is above %f, the most", value, lua_tonumber(L, -1)));
    lua_pop(L, 1);
}

static void check_choice(lua_State *L, const struct option *o)
{
    int value = lua_gettop(L), choices = value + 1;

    if (raw_field(L, o->at, "choices") != LUA_TTABLE) {
        lua_settop(L, value);
        return;
    }
    for (lua_Integer i = 1; lua_rawgeti(L, choices, i) != LUA_TNIL; i++) {
        if (lua_rawequal(L, -1, value)) {
            lua_settop(L, value);
            return;
        }
        lua_pop(L, 1);
    }
    lua_settop(L, choices);
    lua_pushliteral(L, "expected is one of");
    for (lua_Integer i = 1; lua_rawgeti(L, choices, i) == LUA_TSTRING; i++, lua_pop(L, 1))
        add_word(L, choices + 1, lua_tostring(L, -1));
    refuse(L, o, lua_tostring(L, choices + 1));
}

/* Checks the value on top, after converting a text; nil stays nil. */
static void check_value(lua_State *L, const struct option *o)
{
    if (lua_isnil(L, -1))
        return;
    if (lua_type(L, -1) == LUA_TSTRING && o->type != OPTION_STRING)
        from_text(L, o->type);
    if (o->type == OPTION_INTEGER && lua_type(L, -1) == LUA_TNUMBER &&
        (lua_Number)lua_tointegerx(L, -1, NULL) == lua_tonumber(L, -1)) {
        lua_pushinteger(L, lua_tointeger(L, -1));
        lua_remove(L, -2);
    }
    if (!is_of_type(L, o->type))
        refuse(L, o,
               lua_pushfstring(L, "%s expected, got %s", type_names[o->type],
                               lua_type(L, -1) == LUA_TTABLE ? "table" : weirlua_quote(L, weirlua_show(L, -1))));
    if (o->type == OPTION_INTEGER || o->type == OPTION_NUMBER)
        check_range(L, o);
    check_choice(L, o);
}

/* ---- all of them ---- */

/* Copies the describing fields of a declaration into the table on top. */
static void describe(lua_State *L, const struct option *o)
{
    static const char *const keys[] = {"default", "min", "max", "choices", "doc"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        raw_field(L, o->at, keys[i]);
        lua_setfield(L, -2, keys[i]);
    }
    weirlua_set_text(L, "type", type_names[o->type]);
}

/* Reads one option. Pops the declaration on top. */
static void read_one(lua_State *L, struct option *o, int given, int values, int about)
{
    o->at = lua_gettop(L);
    expand(L, o);
    check_keys(L, o);
    read_type(L, o);
    raw_field(L, o->at, "default");
    check_value(L, o);
    if (lua_type(L, given) == LUA_TTABLE && raw_field(L, given, o->name) != LUA_TNIL)
        check_value(L, o);
    else if (lua_type(L, given) == LUA_TTABLE)
        lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, values, o->name);
    lua_createtable(L, 0, 8);
    lua_insert(L, -2);
    lua_setfield(L, -2, "value");
    describe(L, o);
    lua_setfield(L, about, o->name);
    lua_settop(L, o->at - 1);
}

/* Pushes the sorted names of a table of options as one text, each after a space; quadratic, as options are few. */
static void push_names(lua_State *L, int about)
{
    const char *last = "";
    int names;

    lua_pushliteral(L, "");
    names = lua_gettop(L);
    for (;;) {
        const char *next = NULL;
        for (lua_pushnil(L); lua_next(L, about); lua_pop(L, 1)) {
            const char *name = lua_tostring(L, -2); /* kept alive by the table */
            if (strcmp(name, last) > 0 && (!next || strcmp(name, next) < 0))
                next = name;
        }
        if (!next)
            return;
        add_word(L, names, next);
        last = next;
    }
}

static void check_given(lua_State *L, const struct policy_spec *spec, int given, int about)
{
    const char *name, *names;

    for (lua_pushnil(L); lua_next(L, given); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            weirlua_policy_refuse(L, spec, "options are given by name, such as {k = 4}");
        name = lua_tostring(L, -2);
        if (raw_field(L, about, name) != LUA_TNIL) {
            lua_pop(L, 1);
            continue;
        }
        push_names(L, about);
        names = lua_rawlen(L, -1) ? lua_tostring(L, -1) : " none";
        weirlua_policy_refuse(L, spec, "there is no option '%s'%s; it has%s", weirlua_quote(L, name),
                              weirlua_hint_of_keys(L, name, about), names);
    }
}

/* (values, key): raises for an option that is not declared. Upvalue: the declared options by name. */
static int missing_value(lua_State *L)
{
    const char *key;

    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_type(L, 2) != LUA_TSTRING || lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 0; /* declared, without a default */
    key = weirlua_quote(L, lua_tostring(L, 2));
    return luaL_error(L, "there is no option '%s'%s", key, weirlua_hint_of_keys(L, key, lua_upvalueindex(1)));
}

static void guard_values(lua_State *L, int values, int about)
{
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, about);
    lua_pushcclosure(L, missing_value, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, values);
}

void weirlua_policy_options(lua_State *L, const struct policy_spec *spec, int declared, int given)
{
    int values, about;

    if (lua_type(L, declared) != LUA_TNIL && lua_type(L, declared) != LUA_TTABLE)
        weirlua_policy_refuse(L, spec, "field 'options': table expected, got %s", luaL_typename(L, declared));
    lua_newtable(L);
    values = lua_gettop(L);
    lua_newtable(L);
    about = lua_gettop(L);
    if (lua_type(L, declared) == LUA_TTABLE)
        for (lua_pushnil(L); lua_next(L, declared);) {
            struct option o = {.spec = spec};
            if (lua_type(L, -2) != LUA_TSTRING)
                weirlua_policy_refuse(L, spec, "field 'options': expected names, such as {k = 4}");
            o.name = lua_tostring(L, -2);
            read_one(L, &o, given, values, about);
        }
    if (lua_type(L, given) == LUA_TTABLE)
        check_given(L, spec, given, about);
    guard_values(L, values, about);
    weirlua_json_write(L, about, true, 0);
    lua_remove(L, about);
}
