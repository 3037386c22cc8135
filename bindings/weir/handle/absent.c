/* absent.c - adds to the error of a match about a type that the machine has no pool of the type that was meant,
 * perhaps. */
#include "handle/request.h"
#include "handle/support.h"

#include <stdio.h>
#include <string.h>

/* Whether a graph has a pool of a type, or a subsystem of the name, of which a request may want units. */
static bool is_there(const weir_graph *g, const char *type)
{
    if (weir_graph_total(g, type) > 0)
        return true;
    for (uint32_t i = 0; i < weir_subsystem_count(g); i++)
        if (strcmp(weir_subsystem_name(g, i), type) == 0)
            return true;
    return false;
}

/* Returns the first type of the resources that the graph lacks; NULL: the graph has all types. */
static const char *first_absent(const weir_graph *g, const weir_resource *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const char *below;

        if (!list[i].slot && !is_there(g, list[i].type))
            return list[i].type;
        below = first_absent(g, list[i].with, list[i].nwith);
        if (below)
            return below;
    }
    return NULL;
}

void weirlua_tell_absent(lua_State *L, const weir_graph *g, const weir_request *r, weir_err *err)
{
    static const char suffix[] = "\" here"; /* at the end of an error that names a type */
    size_t used = strlen(err->text), end = sizeof suffix - 1;
    const weir_resource *list;
    const char *type;
    uint32_t n;

    if (used < end || strcmp(err->text + used - end, suffix) != 0)
        return;
    list = weir_request_resources(r, &n);
    type = first_absent(g, list, n);
    if (!type)
        return;
    snprintf(err->text + used, sizeof err->text - used, "%s", weirlua_hint_of_types(L, type, g));
    lua_pop(L, 1);
}
