/* policy_read.c - checks and reads the table of a policy. Invariant: the table is read raw and once; the anchor keeps
 * all values used later, so that changes of the table have no effect. */
#include "handle/support.h"
#include "handle/vertex.h"
#include "policy/policy.h"
#include "system/json.h"

#include <string.h>

/* Stack: 1 policy table, 2 spec, 3 default name, 4 options given, 5 anchor. */
#define TABLE  1
#define GIVEN  4
#define ANCHOR 5

#define CANDIDATES_MAX 1000000000

int weirlua_policy_refuse(lua_State *L, const struct policy_spec *spec, const char *fmt, ...)
{
    va_list args;

    lua_pushfstring(L, "policy %s: ", spec->name);
    va_start(args, fmt);
    lua_pushvfstring(L, fmt, args);
    va_end(args);
    lua_concat(L, 2);
    return lua_error(L);
}

#define refuse weirlua_policy_refuse

static int field(lua_State *L, const char *key)
{
    lua_pushstring(L, key);
    return lua_rawget(L, TABLE);
}

static bool is_utf8(const char *s, size_t len)
{
    const unsigned char *at = (const unsigned char *)s;

    for (size_t i = 0, n; i < len; i += n) {
        n = at[i] < 0x80 ? 1 : weirlua_wide(at + i, len - i);
        if (n == 0)
            return false;
    }
    return true;
}

/* Whether a text in UTF-8 has a control character: below 32, 127, or from 128 to 159. */
static bool has_control(const char *s)
{
    for (const unsigned char *c = (const unsigned char *)s; *c; c++)
        if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
            return true;
    return false;
}

/* Pops a string, which lives as long as the anchor, and returns the address. */
static const char *keep(lua_State *L, const struct policy_spec *spec, const char *key)
{
    const char *s;
    size_t len;

    if (lua_type(L, -1) != LUA_TSTRING)
        refuse(L, spec, "field '%s': string expected, got %s", key, luaL_typename(L, -1));
    s = lua_tolstring(L, -1, &len);
    if (strlen(s) != len || len > WEIR_NAME_MAX)
        refuse(L, spec, "field '%s': the string is too long, or has a zero byte", key);
    if (!is_utf8(s, len))
        refuse(L, spec, "field '%s': the string is not UTF-8", key);
    lua_rawseti(L, ANCHOR, (lua_Integer)lua_rawlen(L, ANCHOR) + 1);
    return s;
}

/* Reads a string or a list of strings. Returns the number of strings. */
static uint32_t keep_list(lua_State *L, const struct policy_spec *spec, const char *key, const char **out, uint32_t max)
{
    uint32_t n = 0;
    int type = field(L, key);

    if (type == LUA_TNIL)
        return 0;
    if (type == LUA_TSTRING) {
        out[0] = keep(L, spec, key);
        return 1;
    }
    if (type != LUA_TTABLE)
        refuse(L, spec, "field '%s': string or list of strings expected, got %s", key, luaL_typename(L, -1));
    while (lua_rawgeti(L, -1, (lua_Integer)n + 1) != LUA_TNIL) {
        if (n == max)
            refuse(L, spec, "field '%s': at most %d entries", key, (int)max);
        out[n++] = keep(L, spec, key);
    }
    lua_pop(L, 2);
    return n;
}

/* @class policy The table returned by a policy file, or given to an engine in a script. All fields are optional.
 * @field name: string? -- The file's name if not given.
 * @field doc: string? -- A line for weir policy list.
 * @field version: string? -- For readers; weir recognizes changes by a hash of the file.
 * @field subsystem: string? -- The hierarchy in which matches search, such as "power"; containment if not given. With a
 *   type, as "containment:rack" or "power:pdu", jobs get whole vertices of this type only. In a hierarchy, parents,
 *   children and sums of the vertices that hooks see are those of the hierarchy; groups of {subsystem = "containment",
 *   type =} are those of containment.
 * @field options: table<string, option>? -- Values that users may set: a default, or {type =, default =, min =, max =,
 *   choices =, doc =}. Types: boolean, integer, number, string, table.
 * @field order: string | string[] | function | nil -- fun(v: vertex, options: table): number?, number?, number?,
 *   number?, boolean?. The static preference, smallest numbers first: a function that returns at most four numbers and
 *   reads fields of the vertex and of the vertices above, but nothing that jobs change (true behind the numbers: all
 *   siblings of the type have the same, and order is not called for the others; then the sequence of the machine's
 *   description decides); or a list of "id", "index" (the place in the tree), "size", "rank", "properties.KEY",
 *   "TYPE.FIELD" of the nearest vertex above with a type, each with "-" in front for descending. The order is kept as
 *   an index: a match calls no Lua for the order, and a changed vertex is sorted again. An order that reads what
 *   changes is refused.
 * @field prune: function? -- fun(v: vertex, request: request, ...): boolean. Called for vertices on the way down: false
 *   leaves out the vertex and all vertices below; true has to be returned for every other vertex. Answers are
 *   remembered as scores are (see evaluate): what prune refused stays refused, and is not looked at, until something
 *   that prune read has changed. So prune may also be called for vertices below a vertex that was left out.
 * @field evaluate: function? -- fun(v: vertex, request: request, ...): number?, boolean?. The score of a candidate that
 *   fits, higher is better; nil: no candidate. true as the second result: all siblings of the type have an equal score,
 *   and evaluate is not called for the others (the cores of a socket: one call a socket). A score is remembered until
 *   something that evaluate read has changed, unless evaluate changes variables outside of the function, or reads
 *   available, jobs, uses, or random numbers: then evaluate is called for each candidate of each match.
 * @field evaluate_siblings: function? -- fun(v: vertex, request: request, ...): number?. In addition to evaluate: a
 * part of the score that all siblings of the type of v share, such as what is read of the parent or of the rack; the
 * score is the sum of both results, and nil from either means no candidate. The part is remembered once for all
 * siblings: where evaluate itself read the free cores of a rack, each job would make the scores of all nodes of the
 * rack stale.
 * @field select: function | choice | string | nil -- fun(candidates: vertex[], request: request, min: integer,
 *   max: integer, scores: number[]): table?. Chooses a set of the candidates, which are given best first: a list of
 *   candidates or of positions, or nil for the best candidates. After a choice of fewer than min, the best remaining
 *   candidates follow. Or a choice that the engine makes without calls, such as {"fewest", group = "rack"} (see
 *   choice); a word alone is a choice without keys: "runs".
 * @field admit: function? -- fun(jobspec: jobspec, options: table, job: job): false | jobspec | nil, string?. Called
 *   for each request: false and a reason reject the request, a table is a jobspec to be matched instead. The answer
 *   for a request object is remembered, unless admit changes variables outside of the function, or reads there a
 *   vertex or a graph, or reads of the job what the request does not say (user, duration, ...), or random numbers.
 * @field init: function? -- fun(graph: graph, options: table). Called before the first match on a graph, and again
 *   after a change of the graph's structure. The graph can only be read.
 * @field state: table? -- What the policy keeps from job to job: names with first values, such as {next = 0}; booleans,
 *   numbers, texts, and tables of these, at most 16 KB as JSON (users may be numbers: state.users[tostring(job.user)]).
 *   Hooks read request.state; only placed and finished change the state. The state belongs to the machine and the
 * policy: a reload keeps the fields that are still declared with the same type, and the state is saved with the
 * machine, in root.data[policy.state_key]. Files of equal names in different folders have states of their own; policies
 * from tables and texts have the state of their name. Previews, explanations, tests of feasibility, and matches that
 * fail leave the state as it was.
 * @field placed: function? -- fun(job: job, state: table, vertices: vertex[], options: table). Called once for each job
 *   that gets resources: in a match (mode now or reserve) and in grow, before the job has the resources; under a queue,
 *   when the job starts. Changes the state: `placed = function(job, state, vertices) state.next = vertices[1].index + 1
 *   end`. An error ends the match, and neither a job nor the state has changed.
 * @field finished: function? -- fun(job: job, state: table, vertices: vertex[], options: table). With placed: called
 * once for each job that has ended, with the vertices that it had: by release, by a shrink that left nothing, at the
 * end of a job that expires, and when a job under a queue is preempted. Changes the state: `finished = function(job,
 * state) state.owner[tostring(job.id)] = nil end`. Where the host does not know the request any more, job has id and
 * duration alone. An error leaves the state as it was, and a job that was to be released has its resources.
 * @field rotate: string? -- With an order of fields that begins with id, index, TYPE.id or TYPE.index: the name of a
 *   number in the state. Vertices whose first field is at least the number come first, in order, then all others, in
 *   order, so that vertices take turns: `order = "node.index", rotate = "next"`, where placed sets state.next. A match
 *   costs what it costs in the order without turns. Not with evaluate, select and descend.
 * @field exclusive: string | string[] | nil -- Types of vertices that jobs get only as a whole.
 * @field locality: string | string[] | nil -- Types of vertices inside a node, smallest first, at most eight, such as
 *   {"numa", "socket"}. The resources of a slot come from a single vertex: of the first type with vertices large
 *   enough, if all were free; where no type is large enough, from anywhere in the node. Types that the machine does not
 *   have are ignored.
 * @field descend: string | string[] | nil -- Types such as {"node", "core"}, instead of order: the search visits, at
 *   each level of the machine, unused and unreserved children first, then children with the most free units below, of
 *   the first of the types found below the children; the last child among equals. Or "tags.KEY": children without the
 *   tag first, then children with the greatest number in the tag. With an order as well, the order decides which
 *   vertices are kept where more vertices were found than the count allows.
 * @field fields: string | string[] | nil -- Fields of the vertex that prune and evaluate get as further arguments:
 *   type, id, size, free, rank, name, state, index. Three times as fast as reading the fields.
 * @field candidates: integer? -- The number of candidates that select gets at a time, without evaluate: the first
 *   candidates in the order, or twice the requested number if greater; the next candidates only where the first do not
 *   suffice. Without the field, select gets all fitting candidates, so that a match visits the whole machine. */
const char *const weirlua_policy_fields[] = {
    "name",     "doc",       "version",           "subsystem", "order",  "prune",      "evaluate", "select", "admit",
    "init",     "exclusive", "locality",          "descend",   "fields", "candidates", "options",  "state",  "placed",
    "finished", "rotate",    "evaluate_siblings", NULL};

/* A misspelt field may be one of a queue policy. */
static const char *hint_of_field(lua_State *L, const char *key)
{
    static const char *const queue_fields[] = {"schedule", "started", NULL};
    const char *hint = weirlua_hint(L, key, weirlua_policy_fields);

    return *hint ? hint : weirlua_hint(L, key, queue_fields);
}

static void check_known(lua_State *L, const struct policy_spec *spec)
{
    for (lua_pushnil(L); lua_next(L, TABLE); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
        if (key && (strcmp(key, "schedule") == 0 || strcmp(key, "started") == 0))
            refuse(L, spec, "there is no field '%s' here: this is a queue policy, which says when jobs start", key);
        if (!key || weirlua_word(weirlua_policy_fields, key) < 0)
            refuse(L, spec,
                   "there is no field '%s'%s; a policy has name, doc, version, subsystem, order, prune, evaluate,"
                   " select, admit, init, exclusive, locality, descend, fields, candidates, options, state, placed,"
                   " finished, rotate, evaluate_siblings",
                   weirlua_quote(L, key ? key : luaL_typename(L, -2)), key ? hint_of_field(L, key) : "");
    }
}

/* Reserves the places of the hooks and the options in the anchor, and stores the hooks. */
static void read_hooks(lua_State *L, struct policy_spec *spec)
{
    for (int i = 0; i < HOOK_GROUP; i++) { /* the choice has the group */
        int type = field(L, weirlua_hook_names[i]);
        spec->has[i] = type == LUA_TFUNCTION;
        if (type != LUA_TNIL && type != LUA_TFUNCTION && i != HOOK_ORDER && i != HOOK_SELECT)
            refuse(L, spec, "field '%s': function expected, got %s", weirlua_hook_names[i], luaL_typename(L, -1));
        if (!spec->has[i]) {
            lua_pop(L, 1);
            lua_pushboolean(L, 0);
        }
        lua_rawseti(L, ANCHOR, i + 1);
    }
    for (int i = HOOK_GROUP + 1; i <= ANCHOR_OPTIONS; i++) {
        lua_pushboolean(L, 0);
        lua_rawseti(L, ANCHOR, i);
    }
    lua_newtable(L);
    lua_rawseti(L, ANCHOR, ANCHOR_GROUPS);
}

/* Raises for a word of an order that names no field: see weir_policy. */
static void check_order_word(lua_State *L, const struct policy_spec *spec, const char *word)
{
    static const char *const known[] = {"id", "index", "size", "rank", "properties", NULL};
    const char *at = word[0] == '-' ? word + 1 : word, *dot = strchr(at, '.');
    const char *name = dot && strncmp(at, "properties.", 11) != 0 ? dot + 1 : at;
    int i = 0;

    if (strncmp(name, "properties.", 11) == 0 && name[11])
        return;
    while (i < 4 && strcmp(known[i], name) != 0)
        i++;
    if (i == 4 || (dot == at && name != at))
        refuse(L, spec,
               "order field '%s' is not known%s; use id, index, size, rank, properties.KEY, or TYPE.FIELD of "
               "an ancestor, each with '-' in front for descending",
               weirlua_quote(L, word), weirlua_hint(L, name, known));
}

/* Reads the order where it is no function. */
static void read_order(lua_State *L, struct policy_spec *spec)
{
    if (!spec->has[HOOK_ORDER])
        spec->norder = keep_list(L, spec, "order", spec->order, WEIR_ORDER_KEYS);
    for (uint32_t i = 0; i < spec->norder; i++)
        check_order_word(L, spec, spec->order[i]);
}

static void read_options(lua_State *L, struct policy_spec *spec)
{
    field(L, "options");
    weirlua_policy_options(L, spec, lua_gettop(L), GIVEN);
    spec->options = keep(L, spec, "options");
    lua_rawseti(L, ANCHOR, ANCHOR_OPTIONS);
}

/* Returns a field that is a string, or NULL. */
static const char *text_field(lua_State *L, const struct policy_spec *spec, const char *key)
{
    const char *text = field(L, key) == LUA_TNIL ? NULL : keep(L, spec, key);

    lua_settop(L, ANCHOR);
    return text;
}

static void read_fields(lua_State *L, struct policy_spec *spec)
{
    const char *names[WEIRLUA_FIELDS];
    uint32_t n = keep_list(L, spec, "fields", names, WEIRLUA_FIELDS);

    for (uint32_t i = 0; i < n; i++)
        if (!weirlua_fields_add(&spec->fields, names[i]))
            refuse(L, spec, "field 'fields': '%s' cannot be passed; %s can", weirlua_quote(L, names[i]),
                   weirlua_fields_known);
}

static void read_candidates(lua_State *L, struct policy_spec *spec)
{
    int type = field(L, "candidates"), integer;
    lua_Integer n = lua_tointegerx(L, -1, &integer);

    if (type != LUA_TNIL && (type != LUA_TNUMBER || !integer || n < 1 || n > CANDIDATES_MAX))
        refuse(L, spec, "field 'candidates': a count from 1 to %d expected", CANDIDATES_MAX);
    spec->candidates = (uint32_t)n;
}

/* Reads a hierarchy, with or without a type behind a colon. */
static void read_subsystem(lua_State *L, struct policy_spec *spec)
{
    const char *colon;

    if (field(L, "subsystem") == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    spec->subsystem = keep(L, spec, "subsystem");
    colon = strchr(spec->subsystem, ':');
    if (!spec->subsystem[0] || colon == spec->subsystem || (colon && (!colon[1] || strchr(colon + 1, ':'))) ||
        strlen(spec->subsystem) >= HIERARCHY_SIZE)
        refuse(L, spec,
               "field 'subsystem': a hierarchy such as \"power\", or \"containment:rack\" to give whole racks, "
               "expected, got '%s'",
               weirlua_quote(L, spec->subsystem));
}

static int declared_state(lua_State *L)
{
    weirlua_state_declared(L, 1);
    return 1;
}

static void read_state(lua_State *L, struct policy_spec *spec)
{
    bool declared = field(L, "state") != LUA_TNIL;

    if (declared != spec->has[HOOK_PLACED])
        refuse(L, spec, "the fields 'state' and 'placed' go together: placed(job, state, vertices) changes the state");
    if (spec->has[HOOK_FINISHED] && !declared)
        refuse(L, spec,
               "the field 'finished' goes with 'state' and 'placed': finished(job, state, vertices) changes the state");
    if (!declared)
        return;
    lua_pushcfunction(L, declared_state);
    lua_insert(L, -2);
    if (lua_pcall(L, 1, 1, 0) != LUA_OK)
        refuse(L, spec, "field 'state': %s", lua_tostring(L, -1));
    spec->state = lua_tostring(L, -1);
    lua_rawseti(L, ANCHOR, (lua_Integer)lua_rawlen(L, ANCHOR) + 1);
    weirlua_state_push_key(L, spec->name, spec->origin);
    spec->state_key = keep(L, spec, "name");
}

/* Reads the name of the field of the state that has the turn. */
static void read_rotate(lua_State *L, struct policy_spec *spec)
{
    const char *what = NULL;

    spec->rotate = text_field(L, spec, "rotate");
    if (!spec->rotate)
        return;
    if (field(L, "state") != LUA_TTABLE || lua_getfield(L, -1, spec->rotate) != LUA_TNUMBER)
        refuse(L, spec,
               "field 'rotate': the name of a number in the state expected, such as \"next\" with state = "
               "{next = 0}");
    if (field(L, "select") != LUA_TNIL)
        what = "select";
    what = spec->has[HOOK_EVALUATE] ? "evaluate" : spec->ndescend ? "descend" : what;
    if (what)
        refuse(L, spec, "field 'rotate': a policy that rotates has no %s", what);
    if (spec->norder == 0)
        refuse(L, spec,
               "field 'rotate': an order of fields is needed that begins with id, index, TYPE.id or "
               "TYPE.index");
}

static void read_types(lua_State *L, struct policy_spec *spec)
{
    spec->nexclusive = keep_list(L, spec, "exclusive", spec->exclusive, POLICY_EXCLUSIVE);
    lua_settop(L, ANCHOR);
    spec->nlocality = keep_list(L, spec, "locality", spec->locality, POLICY_LOCALITY);
    lua_settop(L, ANCHOR);
    spec->ndescend = keep_list(L, spec, "descend", spec->descend, WEIR_DESCEND_TYPES);
}

static void read_select(lua_State *L, struct policy_spec *spec)
{
    field(L, "select");
    lua_rawgeti(L, ANCHOR, ANCHOR_OPTIONS);
    weirlua_policy_choice(L, spec, ANCHOR + 1, ANCHOR + 2, ANCHOR);
}

int weirlua_policy_read(lua_State *L)
{
    static void (*const readers[])(lua_State * L, struct policy_spec * spec) = {
        read_order,   read_types, read_fields, read_candidates, read_subsystem,
        read_options, read_state, read_rotate, read_select}; /* the turn follows order and state, the choice by options
                                                              */
    struct policy_spec *spec = lua_touserdata(L, 2);

    *spec = (struct policy_spec){.name = lua_tostring(L, 3), .origin = spec->origin};
    if (lua_type(L, TABLE) != LUA_TTABLE)
        return refuse(L, spec, "the file must return a table, it returned %s", luaL_typename(L, TABLE));
    lua_settop(L, GIVEN);
    lua_createtable(L, 16, 0);
    read_hooks(L, spec);
    lua_pushvalue(L, 3);
    spec->name = keep(L, spec, "name");
    if (field(L, "name") != LUA_TNIL)
        spec->name = keep(L, spec, "name");
    if (has_control(spec->name))
        refuse(L, spec, "field 'name': a name has no control characters, such as line ends");
    lua_settop(L, ANCHOR);
    if (spec->has[HOOK_SIBLINGS] && !spec->has[HOOK_EVALUATE])
        refuse(L, spec, "field 'evaluate_siblings': evaluate is needed, too: the score is the sum of the two");
    spec->doc = text_field(L, spec, "doc");
    spec->version = text_field(L, spec, "version");
    check_known(L, spec);
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        readers[i](L, spec);
        lua_settop(L, ANCHOR);
    }
    return 1;
}
