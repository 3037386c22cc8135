/* trace.c - the events of a match, as a list for scripts. Invariant: during the match events are only collected, in C;
 * the table is filled afterwards. */
#include "handle/support.h"
#include "handle/trace.h"
#include "handle/vertex.h"

#include <stdlib.h>

#define TRACE_MAX 1000000 /* events kept; further events are only counted */

static void release(void *p)
{
    struct weirlua_trace *t = p;

    free(t->list);
    free(t);
}

struct weirlua_trace *weirlua_trace_push(lua_State *L)
{
    struct weirlua_owner *handle = weirlua_owner_push(L, release);

    handle->p = calloc(1, sizeof(struct weirlua_trace));
    if (!handle->p)
        luaL_error(L, "out of memory");
    return handle->p;
}

void weirlua_trace_event(void *data, const weir_trace *event)
{
    struct weirlua_trace *t = data;

    if (t->n == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 64;
        weir_trace *list = cap > TRACE_MAX ? NULL : realloc(t->list, cap * sizeof *list);
        if (!list) {
            t->lost++;
            return;
        }
        t->list = list;
        t->cap = cap;
    }
    t->list[t->n++] = *event;
}

static void push_event(lua_State *L, const struct weirlua_graph *handle, const weir_trace *event)
{
    static const char *const names[WEIR_EVENTS] = {"visited", "pruned", "state",  "constraint",
                                                   "busy",    "policy", "scored", "chosen"};

    lua_createtable(L, 0, 6);
    weirlua_set_text(L, "event", names[event->event]);
    weirlua_set_vertex(L, "vertex", handle, event->vertex); /* nil: the whole graph */
    weirlua_set_integer(L, "resource", event->resource);
    if (event->type) {
        weirlua_set_text(L, "type", event->type);
        weirlua_set_integer(L, "need", event->need);
        weirlua_set_integer(L, "have", event->have);
    }
    if (event->event == WEIR_EVENT_SCORED) {
        weirlua_set_number(L, "score", event->score);
    } else if (event->event == WEIR_EVENT_CHOSEN) {
        weirlua_set_integer(L, "amount", event->have);
    }
}

void weirlua_trace_fill(lua_State *L, const struct weirlua_trace *t, const struct weirlua_graph *handle, int table)
{
    for (size_t i = 0; i < t->n; i++) {
        push_event(L, handle, &t->list[i]);
        lua_rawseti(L, table, (lua_Integer)i + 1);
    }
    lua_pushinteger(L, (lua_Integer)t->lost);
    lua_setfield(L, table, "lost");
}
