/* trace.h - the events of a match. */
#ifndef WEIRLUA_TRACE_H
#define WEIRLUA_TRACE_H

#include "handle/state.h"

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

#endif
