/* policy_choice.c - reads `select` where it is data: the name of a choice of the engine, and its groups. Invariant: all
 * texts of the choice live as long as the anchor.
 *
 * @class choice A choice that the engine makes over its indices, without a call: a word, and keys by name.
 *   {"runs", group =, position =}: the longest runs of neighbours first; for a single candidate, the best.
 *   {"shortest", group =, position =}: the shortest run that is long enough; without one the longest runs first.
 *   {"fewest", group =}: of the groups with enough candidates, the group with the fewest; without one the largest
 *   groups first. {"one", group =}: the same of a single group, or the request does not fit. {"each", group =,
 *   emptiest =}: one candidate from each group in turn. {"closest", by =}: candidates that differ least in a number.
 *   {"beside", domain =}: for sibling resources of a slot, such as cores and gpus: of each domain the candidates
 *   for which all resources of the slot are free there, then all others. Single resources follow the order.
 *   Between equally good groups or runs the order decides. A text "options.NAME" means the value of an option.
 * @field group: string | table | function | nil -- "rack": the nearest vertex of a type at or above the candidate;
 *   "properties.KEY" or "TYPE.properties.KEY": the value of a property, of the candidate or of the nearest vertex of a
 *   type; {property =, type =}: the same; {subsystem =, type =}: the first vertex of the type on the way up in another
 *   subsystem, from the node; or fun(v: vertex, options: table): string | number | vertex | nil, which reads what jobs
 *   do not change (no free, state, below, jobs) and is called once for each vertex of a requested type, and again after
 *   a change of the structure, of a property or of a tag. Without `group`: the parent. Vertices
 *   without a group come last, in runs their parent is the group.
 * @field by: string | table | nil -- The number that "closest" compares: "properties.KEY", "TYPE.properties.KEY", or
 *   {property =, type =}. Vertices without come last.
 * @field domain: string? -- For "beside": types with "+" between them, "numanode+socket": the domain of a candidate is
 *   the nearest vertex above of the first type that is above, else the node.
 * @field position: string? -- The property that holds the position in a run, a whole number; without one, the id.
 * @field sort: function? -- fun(candidates: vertex[], request: request, min: integer, max: integer, scores: number[]):
 *   table?. As a function in `select`: puts the candidates in order, best first, before the choice.
 * @field emptiest: boolean? -- For "each", by parent or by type, without evaluate: the groups with the most free units
 *   of the type of the candidates come first, also where hosts for slots are chosen. */
#include "handle/support.h"
#include "policy/policy.h"

#include <string.h>

#define refuse weirlua_policy_refuse

struct choice_reader {
    lua_State *L;
    struct policy_spec *spec;
    int values, anchor; /* stack: values of the options, the anchor */
};

#define KEYS 3

/* The words of choices, with the keys of each; "sort" is a key of all. */
static const struct {
    const char *word;
    int kind;
    const char *keys[KEYS + 1]; /* NULL at the end */
} choices[] = {
    {"runs", WEIR_CHOOSE_LONGEST, {"sort", "group", "position"}},
    {"shortest", WEIR_CHOOSE_SHORTEST, {"sort", "group", "position"}},
    {"fewest", WEIR_CHOOSE_FEWEST, {"sort", "group"}},
    {"one", WEIR_CHOOSE_ONE, {"sort", "group"}},
    {"each", WEIR_CHOOSE_EACH, {"sort", "group", "emptiest"}},
    {"closest", WEIR_CHOOSE_CLOSEST, {"sort", "by"}},
    {"beside", WEIR_CHOOSE_BESIDE, {"sort", "domain"}},
};
#define CHOICES (sizeof choices / sizeof *choices)

/* ---- texts ---- */

/* Replaces "options.NAME" at the top by the value of the option. */
static void resolve(const struct choice_reader *c, const char *key)
{
    lua_State *L = c->L;
    const char *text = lua_tostring(L, -1);

    if (strncmp(text, "options.", 8) != 0)
        return;
    lua_pushstring(L, text + 8);
    if (lua_rawget(L, c->values) == LUA_TNIL)
        refuse(L, c->spec, "field 'select': %s: there is no option '%s'%s", key, weirlua_quote(L, text + 8),
               weirlua_hint_of_keys(L, text + 8, c->values));
    if (lua_type(L, -1) != LUA_TSTRING)
        refuse(L, c->spec, "field 'select': %s: option '%s' must be a string, it is a %s", key,
               weirlua_quote(L, text + 8), luaL_typename(L, -1));
    lua_replace(L, -2);
}

/* Pops a text, which lives as long as the anchor. */
static const char *keep_text(const struct choice_reader *c, const char *key)
{
    lua_State *L = c->L;
    const char *text;
    size_t len;

    if (lua_type(L, -1) != LUA_TSTRING)
        refuse(L, c->spec, "field 'select': %s: string expected, got %s", key, luaL_typename(L, -1));
    resolve(c, key);
    text = lua_tolstring(L, -1, &len);
    if (len == 0 || strlen(text) != len || len > WEIR_NAME_MAX)
        refuse(L, c->spec, "field 'select': %s: the string is empty, too long, or has a zero byte", key);
    lua_rawseti(L, c->anchor, (lua_Integer)lua_rawlen(L, c->anchor) + 1);
    return text;
}

/* Pops "properties.KEY", "TYPE.properties.KEY" or, for a group, "TYPE". */
static void read_place(const struct choice_reader *c, const char *key, bool group)
{
    lua_State *L = c->L;
    weir_choice *choice = &c->spec->choice;
    const char *text = keep_text(c, key), *at = strstr(text, "properties.");

    if (at && at[11] && (at == text || (at[-1] == '.' && at - 1 > text))) {
        choice->property = at + 11;
        if (at > text) {
            lua_pushlstring(L, text, (size_t)(at - 1 - text));
            choice->type = keep_text(c, key);
        }
        return;
    }
    if (!group || at)
        refuse(L, c->spec, "field 'select': %s: \"properties.KEY\" or \"TYPE.properties.KEY\" expected, got \"%s\"",
               key, weirlua_quote(L, text));
    choice->type = text;
}

/* Reads {property =, type =}, or for a group {subsystem =, type =}, at the top. */
static void read_parts(const struct choice_reader *c, const char *key, bool group)
{
    static const char *const known[] = {"type", "property", "subsystem", NULL};
    lua_State *L = c->L;
    weir_choice *choice = &c->spec->choice;
    const char **out[] = {&choice->type, &choice->property, &choice->subsystem};
    size_t n = group ? 3 : 2;
    int table = lua_gettop(L);

    for (lua_pushnil(L); lua_next(L, table);) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : luaL_typename(L, -2);
        size_t i = 0;
        while (i < n && strcmp(known[i], name) != 0)
            i++;
        if (i == n)
            refuse(L, c->spec, "field 'select': %s: there is no key '%s'%s; it has type, property%s", key,
                   weirlua_quote(L, name), weirlua_hint(L, name, known), group ? ", subsystem" : "");
        *out[i] = keep_text(c, known[i]);
    }
    if (choice->subsystem ? choice->property || !choice->type : !choice->property && !(group && choice->type))
        refuse(L, c->spec, "field 'select': %s: {property =, type =}%s expected", key,
               group ? " or {subsystem =, type =}" : "");
}

/* ---- keys ---- */

/* Reads the value of a key at the top, and pops the value. */
static void read_key(const struct choice_reader *c, const char *key)
{
    lua_State *L = c->L;
    struct policy_spec *spec = c->spec;
    bool group = strcmp(key, "group") == 0;
    int type = lua_type(L, -1), top = lua_gettop(L);

    if (strcmp(key, "emptiest") == 0) {
        if (type != LUA_TBOOLEAN)
            refuse(L, spec, "field 'select': emptiest: boolean expected, got %s", luaL_typename(L, -1));
        spec->choice.emptiest = lua_toboolean(L, -1);
    } else if (strcmp(key, "position") == 0) {
        const char *text = keep_text(c, key);
        spec->choice.position = strncmp(text, "properties.", 11) == 0 ? text + 11 : text;
    } else if (strcmp(key, "domain") == 0) {
        spec->choice.type = keep_text(c, key);
    } else if (type == LUA_TFUNCTION && (group || strcmp(key, "sort") == 0)) {
        int hook = group ? HOOK_GROUP : HOOK_SELECT;
        spec->has[hook] = true;
        lua_pushvalue(L, -1);
        lua_rawseti(L, c->anchor, hook + 1);
    } else if (strcmp(key, "sort") == 0) {
        refuse(L, spec, "field 'select': sort: function expected, got %s", luaL_typename(L, -1));
    } else if (type == LUA_TTABLE) {
        read_parts(c, key, group);
    } else if (type == LUA_TSTRING) {
        read_place(c, key, group);
    } else {
        refuse(L, spec, "field 'select': %s: %s expected, got %s", key,
               group ? "a type, a property, a table or a function" : "a property", luaL_typename(L, -1));
    }
    lua_settop(L, top - 1);
}

static void read_keys(const struct choice_reader *c, int table, size_t at)
{
    lua_State *L = c->L;
    const char *const *keys = choices[at].keys;

    for (lua_pushnil(L); lua_next(L, table);) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
        const char *name = key ? key : luaL_typename(L, -2);
        int i = 0;
        if (!key && lua_isinteger(L, -2) && lua_tointeger(L, -2) == 1) {
            lua_pop(L, 1);
            continue;
        }
        while (key && i < KEYS && keys[i] && strcmp(keys[i], key) != 0)
            i++;
        if (!key || i == KEYS || !keys[i])
            refuse(L, c->spec, "field 'select': \"%s\" has no key '%s'%s; it has %s, %s%s%s", choices[at].word,
                   weirlua_quote(L, name), weirlua_hint(L, name, keys), keys[0], keys[1], keys[2] ? ", " : "",
                   keys[2] ? keys[2] : "");
        read_key(c, keys[i]);
    }
}

/* ---- the choice ---- */

static size_t read_word(const struct choice_reader *c)
{
    lua_State *L = c->L;
    const char *known[CHOICES + 1] = {NULL}, *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    size_t at = 0;

    if (!word)
        refuse(L, c->spec, "field 'select': a word comes first, such as {\"fewest\", group = \"rack\"}, got %s",
               luaL_typename(L, -1));
    for (size_t i = 0; i < CHOICES; i++)
        known[i] = choices[i].word;
    while (at < CHOICES && strcmp(word, known[at]) != 0)
        at++;
    if (at == CHOICES)
        refuse(L, c->spec,
               "field 'select': there is no choice \"%s\"%s; there are runs, shortest, fewest, one, each,"
               " closest, beside",
               weirlua_quote(L, word), weirlua_hint(L, word, known));
    c->spec->choice.kind = choices[at].kind;
    return at;
}

static void check(const struct choice_reader *c)
{
    const weir_choice *choice = &c->spec->choice;

    if (choice->kind == WEIR_CHOOSE_CLOSEST && !choice->property)
        refuse(c->L, c->spec, "field 'select': \"closest\" needs by = \"properties.KEY\"");
    if (choice->kind == WEIR_CHOOSE_BESIDE && !choice->type)
        refuse(c->L, c->spec, "field 'select': \"beside\" needs domain = \"TYPE+TYPE\"");
    if (choice->emptiest && (c->spec->has[HOOK_GROUP] || choice->subsystem || choice->property))
        refuse(c->L, c->spec, "field 'select': emptiest: the group must be a type, or the parent");
    if (choice->emptiest && c->spec->has[HOOK_EVALUATE])
        refuse(c->L, c->spec, "field 'select': emptiest: the policy has an evaluate, which decides already");
}

void weirlua_policy_choice(lua_State *L, struct policy_spec *spec, int select, int values, int anchor)
{
    struct choice_reader c = {L, spec, values, anchor};
    int type = lua_type(L, select), top = lua_gettop(L);
    size_t at;

    spec->choice = (weir_choice){0};
    spec->chooses = type == LUA_TSTRING || type == LUA_TTABLE;
    if (type != LUA_TNIL && type != LUA_TFUNCTION && !spec->chooses)
        refuse(L, spec, "field 'select': function, word or table expected, got %s", luaL_typename(L, select));
    if (!spec->chooses)
        return;
    if (type == LUA_TSTRING)
        lua_pushvalue(L, select);
    else
        lua_rawgeti(L, select, 1);
    at = read_word(&c);
    if (type == LUA_TTABLE)
        read_keys(&c, select, at);
    check(&c);
    lua_settop(L, top);
}
