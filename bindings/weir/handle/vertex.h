/* vertex.h - vertices as Lua values: light userdata, their fields, and the tables that view their properties. */
#ifndef WEIRLUA_VERTEX_H
#define WEIRLUA_VERTEX_H

#include "handle/graph.h"

enum weirlua_kind { WEIRLUA_VERTEX, WEIRLUA_PROPERTIES, WEIRLUA_TAGS, WEIRLUA_DATA };

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

/* Implements v:jobs(): pushes the list of the jobs described at weirlua_unlink_refused(). */
int weirlua_vertex_jobs(lua_State *L);

#endif
