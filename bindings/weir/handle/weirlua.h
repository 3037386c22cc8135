/* weirlua.h - declarations shared by the files of the Lua binding: the state kept for each lua_State, handles and their
 * checks, userdata that own C memory, results.
 *
 * Conventions. Misuse raises a Lua error; expected failures return nil, message, code. A userdata owns each piece of C
 * memory: the userdata is made empty and filled afterwards, so that an error raised at any point leaks nothing. No
 * longjmp leaves the core: hooks run under lua_pcall, and nothing between entering and leaving weir_match can raise.
 * Every C function has the struct weirlua of the lua_State as first upvalue. */
#ifndef WEIRLUA_H
#define WEIRLUA_H

#include <jansson.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "weir.h"

#define WEIRLUA_BUCKETS         256
#define WEIRLUA_NAMES           64
#define WEIRLUA_NAME_SLOT(text) ((size_t)((uintptr_t)(text) >> 4) % WEIRLUA_NAMES)
#define WEIRLUA_NUMBER_MAX      0xfffffu /* graph numbers are 1..NUMBER_MAX */

/* ---- state.c: one struct weirlua for each lua_State ---- */

/* A graph handle. A new handle is closed (g is NULL). In the lua_State of a policy a handle is borrowed: only the
 * number counts, and the graph belongs to the handle of equal number in the home state. */
struct weirlua_graph {
    weir_graph *g;
    uint32_t number;
    bool borrowed, matching;
    struct weirlua_graph *next; /* in the bucket */
};

struct weirlua {
    struct weirlua *home; /* the state that registers graphs: the struct itself, or the state that loaded the policy */
    bool readonly;        /* true in the state of a policy */
    unsigned watching;    /* WATCH_ bits: what a read of a vertex field does besides */
    weir_vertex ordered;  /* with WATCH_ORDER: the vertex that the hook `order` is called for */
    uint32_t last_number;
    uint64_t serials;
    struct weirlua_graph *recent; /* the graph looked up last */
    struct weirlua_graph *buckets[WEIRLUA_BUCKETS];
    struct {
        const char *text;
        int code;
    } names[WEIRLUA_NAMES]; /* vertex fields by name: interned strings of the lua_State, hashed by address */
};

/* Returns the struct weirlua of L, made at the first call. `home` is NULL for the home state itself. Raises without
 * memory. */
struct weirlua *weirlua_state(lua_State *L, struct weirlua *home);
struct weirlua *weirlua_of(lua_State *L); /* for C functions of the binding: upvalue 1 */
/* Returns the open graph of a number, or NULL. Costs O(1); _find looks at the graph found last first. */
struct weirlua_graph *weirlua_graph_search(struct weirlua *s, uint32_t number);
static inline struct weirlua_graph *weirlua_graph_find(struct weirlua *s, uint32_t number)
{
    struct weirlua_graph *recent = s->home->recent;
    return recent && recent->number == number ? recent : weirlua_graph_search(s, number);
}
void weirlua_graph_register(lua_State *L, struct weirlua *s, struct weirlua_graph *handle);
void weirlua_graph_forget(struct weirlua *s, struct weirlua_graph *handle);
/* Returns a number for the version of a policy. No two policies of a state share a number, and two states cannot share
 * a graph. */
uint64_t weirlua_serial(struct weirlua *s);

/* WATCH_READS: count the read, see weirlua_record(). WATCH_ORDER: the hook `order` runs, and the engine keeps the
 * result; a read of a value that the engine does not follow raises. WATCH_GROUP: likewise for the function of a group,
 * which may read structure, properties and tags of all vertices. */
enum { WATCH_READS = 1, WATCH_ORDER = 2, WATCH_GROUP = 4 };

/* Counts, with WATCH_READS, a read of the key at `arg` (a string) under the name prefix..key. */
void weirlua_record(lua_State *L, const char *prefix, int arg);
/* Pushes {name = reads} and resets the counts. */
void weirlua_push_reads(lua_State *L);

/* Makes a class: metatable `name` in the registry, hidden from getmetatable. `methods` become __index unless `meta` has
 * an __index. */
void weirlua_class(lua_State *L, struct weirlua *s, const char *name, const luaL_Reg *methods, const luaL_Reg *meta);

/* ---- support.c ---- */

/* A userdata that owns one piece of C memory and frees the piece once, with `release`. */
struct weirlua_owner {
    void *p;
    void (*release)(void *p);
};
struct weirlua_owner *weirlua_owner_push(lua_State *L, void (*release)(void *p));
void weirlua_owner_clear(struct weirlua_owner *b);
void weirlua_owner_open(lua_State *L, struct weirlua *s);

/* Reports `bytes` of C memory owned by a new handle to the collector, which advances as if Lua had allocated the
 * bytes. */
void weirlua_weigh(lua_State *L, size_t bytes);

/* Replaces the value at `arg` by the name of the value's type where tostring would show an address. */
void weirlua_hide_address(lua_State *L, int arg);
/* Pushes and returns the text of the value as scripts see the text: without an address. */
const char *weirlua_show(lua_State *L, int idx);
/* Pushes an array of the keys of the table at idx, a positive index, in order, so that results do not depend on the
 * order of pairs. All keys must be strings without zero bytes; the table keeps the keys alive. */
const char **weirlua_push_keys(lua_State *L, int idx, size_t *count);
/* Pushes and returns a text for an error that quotes a caller: at most 100 bytes, with "..." for the rest. */
const char *weirlua_quote(lua_State *L, const char *text);

/* ---- suggest.c ---- */

/* Pushes and returns ` (did you mean "x"?)` for the known word nearest to a mistyped word, or "" where none is near.
 * known: ends with NULL. */
const char *weirlua_hint(lua_State *L, const char *word, const char *const *known);
/* As weirlua_hint(), among the keys of a table that are texts. */
const char *weirlua_hint_of_keys(lua_State *L, const char *word, int table);
/* As weirlua_hint(), among the types and the subsystems of a graph. */
const char *weirlua_hint_of_types(lua_State *L, const char *word, const weir_graph *g);

/* ---- absent.c ---- */

/* Adds the nearest type that the machine has to the error of an infeasible request for a type that the machine has no
 * pool of. O(types of the request * types of the machine) */
void weirlua_tell_absent(lua_State *L, const weir_graph *g, const weir_request *r, weir_err *err);
int weirlua_nearest(lua_State *L);
/* Returns the place of the text at `arg` in a list that ends with NULL, as luaL_checkoption does. */
int weirlua_check_option(lua_State *L, int arg, const char *otherwise, const char *const list[]);

/* Pushes nil, message, code. The message begins with the place (source, line) of the error. Returns 3. */
int weirlua_fail(lua_State *L, const weir_err *err, int code);
/* Pushes nil, message, code for an error whose text already says the place. Returns 3. */
int weirlua_refuse(lua_State *L, const weir_err *err);
/* Raises the text of an error. */
int weirlua_raise(lua_State *L, const weir_err *err);
/* Pushes true where rc is 0, else nil, message, code. Returns the number of values. */
int weirlua_status(lua_State *L, int rc, const weir_err *err);
/* Pushes text made by the core and frees the text; pushes nil, message, code where text is NULL. The caller pushed `b`
 * before asking the core. Returns the number of values. */
int weirlua_text(lua_State *L, struct weirlua_owner *b, char *text, const weir_err *err);
FILE *weirlua_check_file(lua_State *L, int arg);               /* raises unless the file is open */
int weirlua_to_file(void *file, const char *text, size_t len); /* a weir_sink */

int weirlua_numbers(lua_State *L); /* numbers.c: numbers(line) */

/* ---- replay/handle.c ---- */

int weirlua_flat_new(lua_State *L); /* flat{...} */
void weirlua_flat_open(lua_State *L, struct weirlua *s);

/* ---- interrupt.c ---- */

/* Let Ctrl-C, SIGTERM and SIGHUP stop the code that runs in L, until weirlua_interrupts_end(). For programs that host
 * Lua. */
void weirlua_interrupts_begin(lua_State *L);
void weirlua_interrupts_end(void);
int weirlua_interrupts_last(void); /* the last signal of the three, or 0 */
bool weirlua_ending(void);         /* SIGTERM or SIGHUP came: begin no new work */
void weirlua_interrupts_clear(void);

/* ---- editor.c ---- */

int weirlua_editor_new(lua_State *L); /* editor{...} */
bool weirlua_editor_interrupted(void);
void weirlua_editor_open(lua_State *L, struct weirlua *s);

/* Sets a field of the table on top of the stack. A text that is NULL is nil. May raise for want of memory. */
void weirlua_set_integer(lua_State *L, const char *key, lua_Integer value);
void weirlua_set_number(lua_State *L, const char *key, lua_Number value);
void weirlua_set_boolean(lua_State *L, const char *key, bool value);
void weirlua_set_text(lua_State *L, const char *key, const char *value);
void weirlua_push_time(lua_State *L, int64_t us); /* seconds; math.huge for no end */
int64_t weirlua_check_time(lua_State *L, int arg);
int64_t weirlua_check_duration(lua_State *L, int arg); /* a positive number is at least 1 microsecond: 0 means no end */
/* Raises for a key of the options table at `arg` outside the NULL-terminated list. Nil and none become an empty table,
 * so that a table is at `arg` afterwards. */
void weirlua_options(lua_State *L, int arg, const char *const *known);
/* Return a field of an options table, or `otherwise` for nil. A value of a wrong type raises, with the field's name.
 * Strings live as long as the table. */
const char *weirlua_field_string(lua_State *L, int table, const char *key, const char *otherwise);
/* Returns the position of a field's word in a list of words that ends with NULL; `otherwise` for nil. Raises for any
 * word beside the list. */
int weirlua_field_choice(lua_State *L, int table, const char *key, int otherwise, const char *const *list);
/* Returns the place of a word in a list that ends with NULL; -1: the word is not in the list. */
int weirlua_word(const char *const *list, const char *word);
int64_t weirlua_field_integer(lua_State *L, int table, const char *key, int64_t otherwise);
int64_t weirlua_field_time(lua_State *L, int table, const char *key, int64_t otherwise);
int64_t weirlua_field_duration(lua_State *L, int table, const char *key, int64_t otherwise);
bool weirlua_field_boolean(lua_State *L, int table, const char *key, bool otherwise);
/* Notes what was looked for without a hit beside the empty list on top of the stack, for a REPL that tells so: `what`
 * is a text, or NULL for jobs. Nothing happens where no REPL has a table for it in the registry. */
#define WEIRLUA_EMPTIES "weir.empties"
void weirlua_note_empty(lua_State *L, const char *what);
void weirlua_set_filled(lua_State *L, const char *key, const char *value); /* unless the text is NULL or empty */
/* Returns the bits of enum weir_strict, from the booleans with these names. */
#define WEIRLUA_STRICT "strict_levels", "strict_pools", "strict_slots"
unsigned weirlua_field_strict(lua_State *L, int table);

/* ---- policy/sandbox.c: only for the state of a script, where `readonly` is true ---- */

/* Charges `steps` of a C function, of a nanosecond or two each, to the script. Raises where the budget of instructions
 * or the time is used up, or a signal came. */
void weirlua_sandbox_spend(lua_State *S, int64_t steps);
/* Steps of a function that scripts and others reach; only those of scripts are charged. */
static inline void weirlua_spend(lua_State *L, const struct weirlua *s, int64_t steps)
{
    if (s->readonly)
        weirlua_sandbox_spend(L, steps);
}
/* Charges a sandbox for a function that may visit many vertices in one call of the core: the clock before the call, and
 * the charge after the call. */
int64_t weirlua_timing(const struct weirlua *s);
void weirlua_spend_since(lua_State *L, const struct weirlua *s, int64_t begin);
/* Charge `bytes` of core memory to the script's state, or return the charge. _take raises where the limit would be
 * exceeded. */
void weirlua_sandbox_take(lua_State *S, size_t bytes);
void weirlua_sandbox_give(lua_State *S, size_t bytes);
/* Returns the bytes that the script may still allocate. */
size_t weirlua_sandbox_left(lua_State *S);

/* ---- graph.c, graph_build.c, graph_copy.c, vertex.c, view.c, walk.c ---- */

enum weirlua_kind { WEIRLUA_VERTEX, WEIRLUA_PROPERTIES, WEIRLUA_TAGS, WEIRLUA_DATA };

#define WEIRLUA_GRAPH "weir.graph"
/* Returns the graph of the handle at `arg`: the registered handle, never the borrowed handle. Raises for a closed
 * graph. */
struct weirlua_graph *weirlua_check_graph(lua_State *L, struct weirlua *s, int arg);
/* Raises where the graph may not be changed: in a policy, while a match runs, and in a finalizer, since a finalizer may
 * run in the middle of any function of the binding. */
void weirlua_check_writable(lua_State *L, const struct weirlua *s, const struct weirlua_graph *handle);
/* Pushes the handle of an open graph. */
void weirlua_push_graph(lua_State *L, struct weirlua *s, struct weirlua_graph *handle);
/* Pushes the handle of an open graph, to keep the graph from being collected. Needed where a function was given only a
 * vertex and reads the graph after an allocation in Lua, since an allocation may collect garbage. */
#define weirlua_anchor weirlua_push_graph
/* Pushes {type = {total, free, idle}} of the subtree of v; of the whole graph for WEIR_NONE. Returns 1. */
int weirlua_push_aggregate(lua_State *L, const weir_graph *g, weir_vertex v, bool all);
/* Pushes the aggregates as above with a table of options: {all = with types of which nothing is free, subsystem = the
 * hierarchy}. Returns 1, or 3 for nil, message, code. */
int weirlua_push_sums(lua_State *L, struct weirlua_graph *handle, weir_vertex v, int options);
/* The view of the field `subsystem` of a table of options, for what is below a vertex (WEIR_NONE: all); the graph
 * itself without the field. Raises where the graph must not be changed; NULL: err says why. */
const weir_graph *weirlua_view_of(lua_State *L, int options, struct weirlua_graph *handle, weir_vertex below,
                                  weir_err *err);
void weirlua_graph_open(lua_State *L, struct weirlua *s);
/* Functions of the module weir.core, each table at the end of the file of its name. */
extern const luaL_Reg weirlua_process_functions[], weirlua_graph_functions[], weirlua_file_functions[],
    weirlua_interrupt_functions[], weirlua_snapshot_functions[], weirlua_json_functions[];
void weirlua_draft_open(lua_State *L, struct weirlua *s);
int weirlua_graph_format(lua_State *L); /* g:format */
int weirlua_graph_fold(lua_State *L);   /* fold.c */
int weirlua_graph_write(lua_State *L);  /* g:write */
int weirlua_graph_resolve_flows(lua_State *L);
int weirlua_graph_resolve(lua_State *L);       /* g:resolve */
int weirlua_graph_flow(lua_State *L);          /* g:flow */
extern const luaL_Reg weirlua_graph_readers[]; /* methods that only read: policies have them too */
extern const luaL_Reg weirlua_graph_writers[]; /* methods that change a graph */
extern const luaL_Reg weirlua_graph_copies[];  /* methods that make a graph from a graph */
extern const luaL_Reg weirlua_graph_finders[];
extern const luaL_Reg weirlua_graph_savers[];
extern const luaL_Reg weirlua_graph_differences[];
int weirlua_graph_pieces(lua_State *L); /* graph_pieces.c: g:pieces */
int weirlua_pieces_new(lua_State *L);   /* pieces() */
void weirlua_pieces_open(lua_State *L, struct weirlua *s);

void weirlua_map_open(lua_State *L, struct weirlua *s); /* the class of the maps between a graph and a coarse view */
/* _closed pushes a closed handle. A function of the core then fills handle->g. _finish opens the handle and returns 1,
 * or pushes nil, message, code. */
struct weirlua_graph *weirlua_graph_closed(lua_State *L);
int weirlua_graph_finish(lua_State *L, struct weirlua_graph *handle, int rc, const weir_err *err);
/* Implements unlink(v, {force = true}): unlinks v, and pushes the list of all units that jobs lost. The caller has
 * checked v. */
int weirlua_unlink_forced(lua_State *L, struct weirlua_graph *handle, weir_vertex v);
/* Returns whether a job has a vertex in the subtree of v, or a whole vertex above v. Pushes nil, message, code and the
 * list of jobs then. */
bool weirlua_unlink_refused(lua_State *L, const struct weirlua_graph *handle, weir_vertex v);
/* Implements v:jobs(): pushes the list of the jobs described at weirlua_unlink_refused(). */
int weirlua_vertex_jobs(lua_State *L);
/* Returns the list of vertices at `arg`, all of the graph of `handle`, as an array of *n. A userdata pushed on the
 * stack owns the array. */
weir_vertex *weirlua_check_list(lua_State *L, int arg, const struct weirlua_graph *handle, uint32_t *n);
/* Pushes {source, target, subsystem, type, back} for an edge. */
void weirlua_push_edge(lua_State *L, const struct weirlua_graph *handle, const weir_edge *e);

struct weirlua_handle {
    struct weirlua_graph *handle;
    weir_graph *g;
    weir_vertex v;
    int kind;
};
/* Pushes a vertex; nil for WEIR_NONE. */
void weirlua_push_vertex(lua_State *L, const struct weirlua_graph *handle, weir_vertex v);
/* Returns the light userdata for a vertex of a generation in the graph of a number; vertex.c describes the bits. */
static inline void *weirlua_vertex_bits(uint32_t number, weir_vertex v, uint32_t generation)
{
    return (void *)(uintptr_t)((uint64_t)(generation & 1023) << 52 | (uint64_t)number << 32 | v);
}
/* Returns the light userdata of an existing vertex. */
void *weirlua_vertex_value(const struct weirlua_graph *handle, weir_vertex v);
/* Return the graph and the vertex of the light userdata at `arg`. Raise for a vertex that was removed or whose graph
 * was closed. */
struct weirlua_handle weirlua_check_handle(lua_State *L, struct weirlua *s, int arg);
struct weirlua_handle weirlua_check_vertex(lua_State *L, struct weirlua *s, int arg);
/* Returns the vertex in a field of an options table, WEIR_NONE for nil. Raises as the next function. */
weir_vertex weirlua_field_vertex(lua_State *L, int table, const char *key, const struct weirlua_graph *handle);
/* Sets a field of the table on top of the stack to a vertex; nil for WEIR_NONE. */
void weirlua_set_vertex(lua_State *L, const char *key, const struct weirlua_graph *handle, weir_vertex v);
/* Pushes a list of vertices. */
void weirlua_push_vertices(lua_State *L, const struct weirlua_graph *handle, const weir_vertex *list, uint32_t n);
/* Pushes {vertex =, score =} for the vertices of an accumulator in the graph of a number, best first. Raises where the
 * graph is closed or a vertex is no more. */
void weirlua_push_scores(lua_State *L, uint32_t number, weir_accum *a);
/* Returns the vertex at `arg`; raises unless the vertex is in the graph of `handle`. */
weir_vertex weirlua_check_vertex_of(lua_State *L, struct weirlua *s, int arg, const struct weirlua_graph *handle);
/* Pushes a field of a vertex by code. `fields` of policies and walks use the same names. */
enum weirlua_field {
    FIELD_NONE,
    FIELD_TYPE,
    FIELD_BASENAME,
    FIELD_NAME,
    FIELD_ID,
    FIELD_SIZE,
    FIELD_UNIT,
    FIELD_STATE,
    FIELD_RANK,
    FIELD_PATH,
    FIELD_UUID,
    FIELD_EXCLUSIVE,
    FIELD_FREE,
    FIELD_INDEX,
    FIELD_DETACHED,
    FIELD_ALLOCATED,
    FIELD_PROPERTIES,
    FIELD_TAGS,
    FIELD_DATA
};
int weirlua_field_code(const char *name); /* FIELD_NONE for an unknown name */
void weirlua_push_field(lua_State *L, const struct weirlua_graph *handle, weir_vertex v, int field);

/* Fields of a vertex that filters ask to get as arguments: cheap to read, without handles. */
#define WEIRLUA_FIELDS 8
struct weirlua_fields {
    uint32_t n;
    uint8_t codes[WEIRLUA_FIELDS]; /* enum weirlua_field */
};
extern const char weirlua_fields_known[]; /* the names that can be passed, for messages */
/* Adds a field by name. Returns false for a field that cannot be passed, or when the list is full. */
bool weirlua_fields_add(struct weirlua_fields *list, const char *name);
/* Pushes all fields of the list and returns the number. The caller has made room on the stack. */
int weirlua_fields_push(lua_State *L, const struct weirlua_graph *handle, weir_vertex v,
                        const struct weirlua_fields *list);

void weirlua_vertex_open(lua_State *L, struct weirlua *s);
extern const luaL_Reg weirlua_vertex_methods[];
/* Pushes a table from the names of the methods and fields of a vertex to the values of the metatable. */
void weirlua_push_members(lua_State *L, struct weirlua *s);
int weirlua_view_index(lua_State *L, const struct weirlua_handle *h);
int weirlua_view_newindex(lua_State *L, const struct weirlua_handle *h);
int weirlua_view_pairs(lua_State *L);
int weirlua_view_len(lua_State *L);
const char *weirlua_view_name(int kind);

int weirlua_walk(lua_State *L); /* g:walk{...} */
void weirlua_walk_open(lua_State *L, struct weirlua *s);
int weirlua_graph_accumulator(lua_State *L); /* g:accumulator(best) */
void weirlua_accumulator_open(lua_State *L, struct weirlua *s);

/* ---- query.c: conditions on vertices ---- */

int weirlua_query_new(lua_State *L);
int weirlua_constraint_new(lua_State *L);
const weir_constraint *weirlua_check_constraint(lua_State *L, int arg);
void weirlua_query_open(lua_State *L, struct weirlua *s);

/* ---- process.c ---- */

/* ---- snapshot.c: functions in a forked copy of the process ---- */

void weirlua_snapshot_open(lua_State *L, struct weirlua *s);

/* ---- json_text.c ---- */

/* Returns the number of bytes of the UTF-8 character at s (whose first byte is 0x80 or more), 0 for a malformed
 * character. */
size_t weirlua_wide(const unsigned char *s, size_t left);

/* ---- json.c ---- */

void weirlua_json_open(lua_State *L, struct weirlua *s);
/* Pushes the JSON text of the value at idx, with the keys of objects in order (`sort`) or in any order, in lines with
 * `indent` blanks a level, or, for 0, compact. */
void weirlua_json_write(lua_State *L, int idx, bool sort, int indent);
/* Pushes the value of a JSON text and returns 1, or pushes nil, message, code and returns 3. */
int weirlua_json_read(lua_State *L, const char *text, size_t len);
/* Like weirlua_json_read(); with `keys`, each object has the list of all keys, in the order of the text, as well. */
int weirlua_json_read_as(lua_State *L, const char *text, size_t len, bool keys);
int weirlua_json_line(lua_State *L);
/* Returns whether a table is written as a JSON array. */
bool weirlua_json_is_list(lua_State *L, int idx);

/* ---- document.c ---- */

int weirlua_document(lua_State *L);

/* ---- idset.c, hostlist.c ---- */

/* Replaces the value at `arg` (a set, an id, a list of ids, a text) by a set and returns the set. Returns NULL for a
 * wrong text, with the reason in err; the stack may have grown then. */
weir_idset *weirlua_idset_at(lua_State *L, int arg, weir_err *err);
/* _push pushes a handle without a set and returns the place of the set, for a function of the core to fill. _finish
 * takes the status of the core, raises on failure, and returns 1. */
weir_idset **weirlua_idset_push(lua_State *L);
int weirlua_idset_finish(lua_State *L, weir_idset *const *set, int rc);
int weirlua_idset_new(lua_State *L);
void weirlua_idset_open(lua_State *L, struct weirlua *s);
/* The functions for host lists are like the three above. A list, a text or a list of texts is accepted. */
weir_hostlist *weirlua_hostlist_at(lua_State *L, int arg, weir_err *err);
weir_hostlist **weirlua_hostlist_push(lua_State *L);
int weirlua_hostlist_finish(lua_State *L, weir_hostlist *const *h, int rc);
int weirlua_hostlist_new(lua_State *L);
void weirlua_hostlist_open(lua_State *L, struct weirlua *s);

/* ---- rset.c: resource sets ---- */

/* _push pushes a handle without a set and returns the place of the set, for a function of the core to fill. _finish
 * takes the status and returns 1, or pushes nil, message, code. */
weir_rset **weirlua_rset_push(lua_State *L);
int weirlua_rset_finish(lua_State *L, weir_rset *const *handle, int rc, const weir_err *err);
int weirlua_rset_new(lua_State *L);
int weirlua_check_R(lua_State *L);
int weirlua_graph_rset(lua_State *L);
void weirlua_rset_open(lua_State *L, struct weirlua *s);

/* ---- request.c, allocation.c, engine.c ---- */

int weirlua_request_new(lua_State *L);
bool weirlua_is_request(lua_State *L, int arg);
/* The number of the handle of a request at `arg`, which no further handle has; 0: no such handle. */
uint64_t weirlua_request_serial(lua_State *L, int arg);
/* Replaces the value at `arg` (a request, a text, a table) by a request and returns the request. Returns NULL with nil,
 * message, code pushed. */
weir_request *weirlua_request_at(lua_State *L, struct weirlua *s, int arg);
void weirlua_request_open(lua_State *L, struct weirlua *s);

/* ---- trace.c: the events of a match ---- */

struct weirlua_trace {
    weir_trace *list;
    size_t n, cap, lost;
};
/* Pushes an empty trace, which lives as long as the value on the stack. */
struct weirlua_trace *weirlua_trace_push(lua_State *L);
void weirlua_trace_event(void *trace, const weir_trace *event); /* a listener for weir_match */
/* Fills the table at `table` with {event, vertex, resource, ...} for each event, and `lost`: the number of events not
 * kept. */
void weirlua_trace_fill(lua_State *L, const struct weirlua_trace *t, const struct weirlua_graph *handle, int table);

/* Pushes a copy of an allocation. Raises without memory. */
void weirlua_push_allocation(lua_State *L, const struct weirlua_graph *handle, const weir_allocation *a);
/* Pushes {vertex =, amount =, exclusive =, resource =}. */
void weirlua_push_pick(lua_State *L, const struct weirlua_graph *handle, const weir_pick *p);
/* Returns the job at `arg`: an integer, or the job of an allocation in the graph of `handle`. */
int64_t weirlua_check_job(lua_State *L, int arg, const struct weirlua_graph *handle);
extern const luaL_Reg weirlua_allocation_methods[];
void weirlua_allocation_open(lua_State *L, struct weirlua *s);

int weirlua_engine_new(lua_State *L);
int weirlua_match_once(lua_State *L);
int weirlua_engine_plain(lua_State *L);
int weirlua_engine_levels(lua_State *L); /* explain.c: a method of engines */
void weirlua_engine_open(lua_State *L, struct weirlua *s);
/* Returns the count of visits of the open engine at index 1, and the engine's graph. Raises while a match runs, and
 * where the graph may not be changed. */
uint64_t *weirlua_engine_idle(lua_State *L, struct weirlua_graph **handle);
int weirlua_engine_scores(lua_State *L); /* enum scores_mode of the engine at index 1 */
/* engine_queue.c: methods of engines */
int weirlua_engine_place(lua_State *L);
/* engine_stage.c: methods of engines */
int weirlua_engine_stages(lua_State *L);
int weirlua_engine_commit(lua_State *L);
int weirlua_engine_drop(lua_State *L);
int weirlua_engine_allocate(lua_State *L); /* a function of the module */
/* Pushes a copy of an allocation of the engine at index 1. Raises without memory. */
void weirlua_push_job(lua_State *L, const struct weirlua_graph *handle, const weir_allocation *a);
/* Sets `job`, or for a negative id `stage`, of the table on top of the stack. */
void weirlua_push_holder(lua_State *L, int64_t job);
int weirlua_engine_soonest(lua_State *L);
int weirlua_engine_hierarchy(lua_State *L); /* engine_hierarchy.c */
int weirlua_engine_admitted(lua_State *L);
int weirlua_engine_placed(lua_State *L);
int weirlua_engine_free(lua_State *L);
int weirlua_engine_visits(lua_State *L);
int weirlua_engine_detach(lua_State *L);
int weirlua_engine_attach(lua_State *L);
int weirlua_engine_record(lua_State *L);
int weirlua_engine_book(lua_State *L);
void weirlua_detached_open(lua_State *L, struct weirlua *s);

__attribute__((visibility("default"))) int luaopen_weir_core(lua_State *L); /* exported by the Lua module */

/* ---- host.c ---- */

/* Pushes the real path of the first folder, relative to `dir`, that contains `probe`; nil where no folder does. */
void weirlua_push_folder(lua_State *L, const char *dir, const char *const *folders, const char *probe);
/* Prepares L to run weir: Lua files are searched in `folder` (NULL: on Lua's own path), and `core` opens weir.core.
 * Pushes the result of require(module). Raises. */
void weirlua_host(lua_State *L, const char *folder, lua_CFunction core, const char *module);

#endif
