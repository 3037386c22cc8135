/* weirlua.h - what the files of the Lua binding share: the state of one lua_State, handles and how they are checked,
 * boxes for C memory, results.
 *
 * Conventions. Misuse raises a Lua error; expected outcomes return nil, message, code. C memory that must be given back
 * lives in a box (a userdata made empty, then filled), so that an error raised at any point leaks nothing. The core is
 * never left by a longjmp: hooks run under lua_pcall, and nothing that can raise stands between entering and leaving
 * weir_match. Every C function has the struct weirlua of its lua_State as its first upvalue.
 */
#ifndef WEIRLUA_H
#define WEIRLUA_H

#include <jansson.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "weir.h"

#define WEIRLUA_BUCKETS    256
#define WEIRLUA_NAMES      64
#define WEIRLUA_NAME_SLOT(text) ((size_t)((uintptr_t)(text) >> 4) % WEIRLUA_NAMES)
#define WEIRLUA_NUMBER_MAX 0xfffffu /* graph numbers are 1..NUMBER_MAX */

/* ---- state.c: one per lua_State ---- */

/* A graph handle. Created closed (g NULL). In the state of a policy it is borrowed: only the number counts, and the
 * graph itself belongs to the handle of that number in the home state. */
struct weirlua_graph {
    weir_graph *g;
    uint32_t number;
    bool borrowed, matching;
    struct weirlua_graph *next; /* in its bucket */
};

struct weirlua {
    struct weirlua *home; /* where graphs are registered: itself, or the state that loaded the policy */
    bool readonly;        /* the state of a policy */
    bool recording;       /* counts what is read of vertices, see weirlua_record() */
    uint32_t last_number;
    uint64_t serials;
    struct weirlua_graph *recent; /* the graph looked up last */
    struct weirlua_graph *buckets[WEIRLUA_BUCKETS];
    struct {
        const char *text;
        int code;
    } names[WEIRLUA_NAMES]; /* of the fields of a vertex: the strings of this lua_State, hashed by address */
};

/* Makes the state, or finds the one that is there. Raises. */
struct weirlua *weirlua_state(lua_State *L, struct weirlua *home);
struct weirlua *weirlua_of(lua_State *L); /* inside a C function of ours */
/* A live graph by number, or NULL. */
struct weirlua_graph *weirlua_graph_search(struct weirlua *s, uint32_t number);
static inline struct weirlua_graph *weirlua_graph_find(struct weirlua *s, uint32_t number)
{
    struct weirlua_graph *recent = s->home->recent;
    return recent && recent->number == number ? recent : weirlua_graph_search(s, number);
}
void weirlua_graph_register(lua_State *L, struct weirlua *s, struct weirlua_graph *box);
void weirlua_graph_forget(struct weirlua *s, struct weirlua_graph *box);
/* A number that tells policy versions apart: no two in one state are alike, and two states cannot share a graph. */
uint64_t weirlua_serial(struct weirlua *s);

/* While s->recording: counts a read of the key at `arg` (a string) under prefix..key. */
void weirlua_record(lua_State *L, const char *prefix, int arg);
/* Pushes {name = reads}, and starts anew. */
void weirlua_push_reads(lua_State *L);

/* A class: metatable `name` in the registry, closed to getmetatable. `methods` become __index unless `meta` has it. */
void weirlua_class(lua_State *L, struct weirlua *s, const char *name, const luaL_Reg *methods, const luaL_Reg *meta);

/* ---- support.c ---- */

/* A box for one piece of C memory. */
struct weirlua_box {
    void *p;
    void (*release)(void *p);
};
struct weirlua_box *weirlua_box_push(lua_State *L, void (*release)(void *p));
void weirlua_box_clear(struct weirlua_box *b);
void weirlua_box_open(lua_State *L, struct weirlua *s);

/* Tells the collector of C memory that a new handle holds, so that it works for it as for Lua's own. */
void weirlua_weigh(lua_State *L, size_t bytes);

/* Puts the name of its type in the place of a value whose text would be an address. */
void weirlua_hide_address(lua_State *L, int arg);
/* Pushes a text for the value, as tostring gives it to scripts: without an address. */
const char *weirlua_show(lua_State *L, int idx);

/* Pushes nil, message, code. */
int weirlua_fail(lua_State *L, const weir_err *err, int code);
/* The same for an error whose message tells the place in the text itself. */
int weirlua_refuse(lua_State *L, const weir_err *err);
/* Raises the text of an error. */
int weirlua_raise(lua_State *L, const weir_err *err);
/* Pushes true, or nil, message, code. */
int weirlua_status(lua_State *L, int rc, const weir_err *err);
/* Pushes text made by the core, which is freed; on NULL nil, message, code. `b` was pushed before the call. */
int weirlua_text(lua_State *L, struct weirlua_box *b, char *text, const weir_err *err);
FILE *weirlua_check_file(lua_State *L, int arg);               /* an open file, or it raises */
int weirlua_to_file(void *file, const char *text, size_t len); /* a weir_sink */

int weirlua_numbers(lua_State *L); /* numbers.c: numbers(line) */

/* ---- interrupt.c ---- */

/* From now on Ctrl-C, SIGTERM and SIGHUP stop what runs in L. For a program that is a host of Lua. */
void weirlua_interrupts_begin(lua_State *L);
void weirlua_interrupts_end(void);
int weirlua_interrupts_last(void); /* the last of these signals; 0: none came */
bool weirlua_ending(void);         /* SIGTERM or SIGHUP came: nothing is to begin any more */
void weirlua_interrupts_clear(void);
int weirlua_guarded(lua_State *L); /* guarded(f, ...) */
int weirlua_watch(lua_State *L);   /* watch(co) */

/* ---- editor.c ---- */

int weirlua_editor_new(lua_State *L); /* editor{...} */
bool weirlua_editor_interrupted(void);
void weirlua_editor_open(lua_State *L, struct weirlua *s);

void weirlua_push_time(lua_State *L, int64_t us); /* seconds; math.huge for no end */
int64_t weirlua_check_time(lua_State *L, int arg);
/* Refuses keys of an options table that are not in the NULL-terminated list; nil and none are an empty table. The
 * table is at `arg` afterwards. */
void weirlua_options(lua_State *L, int arg, const char *const *known);
/* Fields of an options table; they raise with the field's name. Strings live as long as the table. */
const char *weirlua_field_string(lua_State *L, int table, const char *key, const char *otherwise);
int64_t weirlua_field_integer(lua_State *L, int table, const char *key, int64_t otherwise);
int64_t weirlua_field_time(lua_State *L, int table, const char *key, int64_t otherwise);
bool weirlua_field_boolean(lua_State *L, int table, const char *key, bool otherwise);
/* enum weir_reading, from booleans of these names. */
#define WEIRLUA_READINGS "links", "slot_parent", "slot_sums", "strict_levels", "whole_pools"
unsigned weirlua_field_reading(lua_State *L, int table);

/* ---- policy/sandbox.c: in the state of a script only, which is `readonly` ---- */

/* Charges a C function that took this many steps, a nanosecond or two each, and raises where budget or time is over, or a
 * signal came. */
void weirlua_sandbox_spend(lua_State *S, int64_t steps);
/* Charges memory of the core to the state that made it; raises where it has no more. Gives it back. */
void weirlua_sandbox_take(lua_State *S, size_t bytes);
void weirlua_sandbox_give(lua_State *S, size_t bytes);
/* Bytes that the script may still have. */
size_t weirlua_sandbox_left(lua_State *S);

/* ---- graph.c, graph_build.c, graph_copy.c, vertex.c, view.c, walk.c ---- */

enum weirlua_kind { WEIRLUA_VERTEX, WEIRLUA_PROPERTIES, WEIRLUA_TAGS, WEIRLUA_DATA };

#define WEIRLUA_GRAPH "weir.graph"
/* An open graph: the registered handle, never the borrowed one. */
struct weirlua_graph *weirlua_check_graph(lua_State *L, struct weirlua *s, int arg);
/* Raises when the graph may not be changed now: in a policy, while a match runs, or in a finalizer, as that may run in
 * the middle of any of our functions. */
void weirlua_check_writable(lua_State *L, const struct weirlua *s, const struct weirlua_graph *box);
/* Pushes the handle of a live graph. */
void weirlua_push_graph(lua_State *L, struct weirlua *s, struct weirlua_graph *box);
/* The same, to keep the graph from being collected: needed where a vertex is all one has, and the graph is read after
 * something was allocated in Lua, which may collect garbage. */
#define weirlua_anchor weirlua_push_graph
/* Pushes {type = {total, free, idle}}. */
int weirlua_push_aggregate(lua_State *L, const weir_graph *g, weir_vertex v);
void weirlua_graph_open(lua_State *L, struct weirlua *s);
int weirlua_graph_new(lua_State *L);
int weirlua_read_file(lua_State *L);  /* file.c */
int weirlua_read_line(lua_State *L);
int weirlua_write_file(lua_State *L);
int weirlua_draft_new(lua_State *L);
void weirlua_draft_open(lua_State *L, struct weirlua *s);
int weirlua_graph_load(lua_State *L);
int weirlua_graph_parse(lua_State *L);
int weirlua_format_guess(lua_State *L);
int weirlua_graph_synthetic(lua_State *L);
int weirlua_graph_discover(lua_State *L);
int weirlua_graph_format(lua_State *L); /* g:format */
int weirlua_graph_write(lua_State *L);  /* g:write */
int weirlua_graph_resolve(lua_State *L); /* g:resolve */
extern const luaL_Reg weirlua_graph_readers[]; /* methods that a policy may call too */
extern const luaL_Reg weirlua_graph_writers[]; /* methods that change a graph */
extern const luaL_Reg weirlua_graph_copies[];  /* ... that make one from another */
extern const luaL_Reg weirlua_graph_finders[];
extern const luaL_Reg weirlua_graph_savers[];
int weirlua_graph_pieces(lua_State *L); /* graph_pieces.c: g:pieces */
int weirlua_pieces_new(lua_State *L);   /* pieces() */
void weirlua_pieces_open(lua_State *L, struct weirlua *s);

/* ---- http.c ---- */

int weirlua_http_new(lua_State *L); /* http{...} */
int weirlua_base64(lua_State *L);
int weirlua_unbase64(lua_State *L);
void weirlua_http_open(lua_State *L, struct weirlua *s);
void weirlua_map_open(lua_State *L, struct weirlua *s); /* of coarse views */
/* Pushes a closed handle. A function of the core then fills box->g; _finish opens it, or pushes nil, message, code. */
struct weirlua_graph *weirlua_graph_closed(lua_State *L);
int weirlua_graph_finish(lua_State *L, struct weirlua_graph *box, int rc, const weir_err *err);
/* unlink(v, {force = true}): pushes the list of what jobs lost. The vertex was checked. */
int weirlua_unlink_forced(lua_State *L, struct weirlua_graph *box, weir_vertex v);
/* Whether jobs have something of v, what is below it or all above it; pushes then nil, message, code and their list. */
bool weirlua_unlink_refused(lua_State *L, const struct weirlua_graph *box, weir_vertex v);
/* v:jobs(): the list of these. */
int weirlua_vertex_jobs(lua_State *L);
/* A list of vertices of this graph at `arg` as an array, kept alive by a userdata that is pushed. */
weir_vertex *weirlua_check_list(lua_State *L, int arg, const struct weirlua_graph *box, uint32_t *n);
/* Pushes the table of one edge. */
void weirlua_push_edge(lua_State *L, const struct weirlua_graph *box, const weir_edge *e);

struct weirlua_handle {
    struct weirlua_graph *box;
    weir_graph *g;
    weir_vertex v;
    int kind;
};
void weirlua_push_vertex(lua_State *L, const struct weirlua_graph *box, weir_vertex v); /* nil for WEIR_NONE */
/* The light userdata of a vertex of this generation in the graph of this number: vertex.c has what the bits mean. */
static inline void *weirlua_vertex_bits(uint32_t number, weir_vertex v, uint32_t generation)
{
    return (void *)(uintptr_t)((uint64_t)(generation & 1023) << 52 | (uint64_t)number << 32 | v);
}
/* The light userdata that stands for a vertex that there is. */
void *weirlua_vertex_value(const struct weirlua_graph *box, weir_vertex v);
/* Any light userdata: its handle, live or an error. */
struct weirlua_handle weirlua_check_handle(lua_State *L, struct weirlua *s, int arg);
struct weirlua_handle weirlua_check_vertex(lua_State *L, struct weirlua *s, int arg);
/* The vertex must be one of this graph. */
weir_vertex weirlua_check_vertex_of(lua_State *L, struct weirlua *s, int arg, const struct weirlua_graph *box);
/* Pushes one field of a vertex by code, as the policy's `fields` name them too. */
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
    FIELD_PROPERTIES,
    FIELD_TAGS,
    FIELD_DATA
};
int weirlua_field_code(const char *name); /* FIELD_NONE: there is none of that name */
void weirlua_push_field(lua_State *L, const struct weirlua_graph *box, weir_vertex v, int field);

/* Fields that filters declare, to get them as arguments: those that are cheap to read, and no handles. */
#define WEIRLUA_FIELDS 8
struct weirlua_fields {
    uint32_t n;
    uint8_t codes[WEIRLUA_FIELDS]; /* enum weirlua_field */
};
extern const char weirlua_fields_known[]; /* which can be passed, for messages */
/* Adds one by name; false: it cannot be passed, or the list is full. */
bool weirlua_fields_add(struct weirlua_fields *list, const char *name);
/* Pushes them all; returns how many. There is room for them on the stack. */
int weirlua_fields_push(lua_State *L, const struct weirlua_graph *box, weir_vertex v, const struct weirlua_fields *list);

void weirlua_vertex_open(lua_State *L, struct weirlua *s);
extern const luaL_Reg weirlua_vertex_methods[];
/* Pushes the table of the methods and fields of a vertex, by name. */
void weirlua_push_members(lua_State *L, struct weirlua *s);
int weirlua_view_index(lua_State *L, const struct weirlua_handle *h);
int weirlua_view_newindex(lua_State *L, const struct weirlua_handle *h);
int weirlua_view_pairs(lua_State *L);
int weirlua_view_len(lua_State *L);
const char *weirlua_view_name(int kind);

int weirlua_walk(lua_State *L); /* g:walk{...} */
void weirlua_walk_open(lua_State *L, struct weirlua *s);

/* ---- query.c: conditions on vertices ---- */

int weirlua_query_new(lua_State *L);
int weirlua_constraint_new(lua_State *L);
const weir_constraint *weirlua_check_constraint(lua_State *L, int arg);
void weirlua_query_open(lua_State *L, struct weirlua *s);

/* ---- process.c ---- */

int weirlua_peer(lua_State *L);
int weirlua_user(lua_State *L);
int weirlua_in_group(lua_State *L);
int weirlua_secret(lua_State *L);
int weirlua_same(lua_State *L);
int weirlua_file_mode(lua_State *L);
int weirlua_write_private(lua_State *L);
int weirlua_notify(lua_State *L);
int weirlua_inherited(lua_State *L);
int weirlua_keep_memory(lua_State *L);
int weirlua_release_memory(lua_State *L);
int weirlua_open_files(lua_State *L);
int weirlua_open_own(lua_State *L);
int weirlua_umask(lua_State *L);
int weirlua_uptime(lua_State *L);
int weirlua_lock_file(lua_State *L);
int weirlua_unlock_file(lua_State *L);

/* ---- tls.c ---- */

int weirlua_tls_server(lua_State *L);
int weirlua_tls_client(lua_State *L);
void weirlua_tls_open(lua_State *L, struct weirlua *s);

/* ---- json.c ---- */

void weirlua_json_open(lua_State *L, struct weirlua *s);
/* Pushes the JSON text of the value at idx. `place` names it in errors. */
void weirlua_json_write(lua_State *L, int idx, size_t flags);
/* Pushes the value that the text stands for, or nil, message, code; returns how many values. */
int weirlua_json_read(lua_State *L, const char *text, size_t len);
/* The same; with `keys` an object also has its keys, in their order, as a list. */
int weirlua_json_read_as(lua_State *L, const char *text, size_t len, bool keys);
int weirlua_json_encode(lua_State *L);
int weirlua_json_decode(lua_State *L);
int weirlua_json_array(lua_State *L);
int weirlua_json_line(lua_State *L);
/* Whether a table is a JSON array; raises when it is no list; raises when a key cannot be one of an object. */
bool weirlua_json_is_list(lua_State *L, int idx);
void weirlua_json_check_list(lua_State *L, int idx);
void weirlua_json_check_key(lua_State *L, int idx);

/* ---- document.c ---- */

int weirlua_document(lua_State *L);

/* ---- idset.c, hostlist.c ---- */

/* Replaces what stands for a set at `arg` (a set, an id, a list of ids, a text) by one. NULL: err says what is wrong with
 * the text; the stack has more on it then. */
weir_idset *weirlua_idset_at(lua_State *L, int arg, weir_err *err);
/* Pushes a handle without a set. A function of the core then fills it; _finish takes its status, raises if it failed, and
 * returns 1. */
weir_idset **weirlua_idset_push(lua_State *L);
int weirlua_idset_finish(lua_State *L, weir_idset *const *set, int rc);
int weirlua_idset_new(lua_State *L);
void weirlua_idset_open(lua_State *L, struct weirlua *s);
/* The same for lists of hosts: a list, a text, a list of texts. */
weir_hostlist *weirlua_hostlist_at(lua_State *L, int arg, weir_err *err);
weir_hostlist **weirlua_hostlist_push(lua_State *L);
int weirlua_hostlist_finish(lua_State *L, weir_hostlist *const *h, int rc);
int weirlua_hostlist_new(lua_State *L);
void weirlua_hostlist_open(lua_State *L, struct weirlua *s);

/* ---- rset.c: resource sets ---- */

/* Pushes a handle without a set. A function of the core then fills it; _finish takes its status and returns 1, or pushes nil,
 * message, code. */
weir_rset **weirlua_rset_push(lua_State *L);
int weirlua_rset_finish(lua_State *L, weir_rset *const *box, int rc, const weir_err *err);
int weirlua_rset_new(lua_State *L);
int weirlua_graph_rset(lua_State *L);
void weirlua_rset_open(lua_State *L, struct weirlua *s);

/* ---- request.c, allocation.c, engine.c ---- */

int weirlua_request_new(lua_State *L);
/* Replaces what is at `arg` (request, text or table) by a request. NULL: nil, message, code were pushed. */
weir_request *weirlua_request_at(lua_State *L, struct weirlua *s, int arg);
void weirlua_request_open(lua_State *L, struct weirlua *s);

/* ---- trace.c: what a match looked at ---- */

struct weirlua_trace {
    weir_trace *list;
    size_t n, cap, lost;
};
/* Pushes an empty one, alive as long as its value on the stack. */
struct weirlua_trace *weirlua_trace_push(lua_State *L);
void weirlua_trace_event(void *trace, const weir_trace *event); /* a listener for weir_match */
/* Fills the table at `table` with {event, vertex, resource, ...} and `lost`, the number of those not kept. */
void weirlua_trace_fill(lua_State *L, const struct weirlua_trace *t, const struct weirlua_graph *box, int table);

/* Pushes a copy of an allocation. Raises when out of memory. */
void weirlua_push_allocation(lua_State *L, const struct weirlua_graph *box, const weir_allocation *a);
/* Pushes {vertex =, amount =, exclusive =, resource =}. */
void weirlua_push_pick(lua_State *L, const struct weirlua_graph *box, const weir_pick *p);
/* The job of an allocation on this graph, or an integer, at `arg`. */
int64_t weirlua_check_job(lua_State *L, int arg, const struct weirlua_graph *box);
extern const luaL_Reg weirlua_allocation_methods[];
void weirlua_allocation_open(lua_State *L, struct weirlua *s);

int weirlua_engine_new(lua_State *L);
int weirlua_explain(lua_State *L); /* explain.c */
void weirlua_engine_open(lua_State *L, struct weirlua *s);
/* The graph of the open engine at 1, and its count of visits; raises where a match runs, or it may not be changed. */
uint64_t *weirlua_engine_idle(lua_State *L, struct weirlua_graph **box);
/* engine_queue.c: methods of engines */
int weirlua_engine_place(lua_State *L);
int weirlua_engine_soonest(lua_State *L);
int weirlua_engine_admitted(lua_State *L);
int weirlua_engine_free(lua_State *L);
int weirlua_engine_visits(lua_State *L);
int weirlua_engine_lift(lua_State *L);
int weirlua_engine_put(lua_State *L);
void weirlua_lifted_open(lua_State *L, struct weirlua *s);

__attribute__((visibility("default"))) int luaopen_weir_core(lua_State *L); /* exported from the Lua module */

/* ---- host.c ---- */

/* Pushes the real path of the first of the folders, seen from `dir`, in which `probe` is there; or nil. */
void weirlua_push_folder(lua_State *L, const char *dir, const char *const *folders, const char *probe);
/* weir's Lua files are found in `folder` (NULL: where Lua looks), weir.core is what `core` opens; pushes what require(module)
 * gives. Raises. */
void weirlua_host(lua_State *L, const char *folder, lua_CFunction core, const char *module);

#endif
