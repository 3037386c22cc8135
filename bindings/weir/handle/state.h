/* state.h - the state of the binding kept for each lua_State: graphs by number, vertex fields by name, classes.
 *
 * Conventions. Misuse raises a Lua error; expected failures return nil, message, code. A userdata owns each piece of C
 * memory: the userdata is made empty and filled afterwards, so that an error raised at any point leaks nothing. No
 * longjmp leaves the core: hooks run under lua_pcall, and nothing between entering and leaving weir_match can raise.
 * Every C function has the struct weirlua of the lua_State as first upvalue. */
#ifndef WEIRLUA_STATE_H
#define WEIRLUA_STATE_H

#include <jansson.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "weir.h"

#define WEIRLUA_BUCKETS         256
#define WEIRLUA_NAMES           64
#define WEIRLUA_NAME_SLOT(text) ((size_t)((uintptr_t)(text) >> 4) % WEIRLUA_NAMES)
#define WEIRLUA_NUMBER_MAX      0xfffffu /* graph numbers are 1..NUMBER_MAX */

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
    unsigned watching;    /* WATCH_ bits: additional effects of a read of a vertex field */
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

#endif
